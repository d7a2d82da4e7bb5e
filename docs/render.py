"""Fill the pages from docs/runs: ``python docs/render.py [--check]``; marks are explained in pages.py.

``--check`` writes nothing and fails where a page differs from its records.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

from pages import ROOT, blocks, pages, record

TABLE = re.compile(r"(<!-- table: (\S+)(?: ([^\n]+))? -->\n).*?(<!-- end -->)", re.DOTALL)
VALUE = re.compile(r"(<!-- value: (\S+) (.+?) @ (.+?) -->).*?(<!-- end -->)")


def rendered(page: Path) -> str:
    """The page as its records have it."""
    text = page.read_text()
    for block in reversed(blocks(page)):
        if block.run and block.shown:
            text = text[: block.shown.start] + record(block.run)["output"] + text[block.shown.stop :]
        elif block.run:
            sys.exit(f"{block.where}: no block shows the output of {block.run}")
    text = TABLE.sub(lambda m: f"{m[1]}\n{table(m[2], m[3])}\n{m[4]}", text)
    return VALUE.sub(lambda m: m[1] + value(*m.groups()[1:4]) + m[5], text)


def table(run: str, first: str | None) -> str:
    """The output of a record and how it was made; ``first``: only the table whose first column has this name."""
    known = record(run)
    if first:
        return next("\n".join(rows) + "\n" for rows in tables(run) if cells(rows[0])[0] == first)
    made = f"{known['processor']}, {known['target']}, {known['date']}, gapcut {known['version']}"
    return f"{known['output']}\n<sub>`{known['command']}`: {made}</sub>\n"


def value(run: str, row: str, column: str) -> str:
    """A cell, without its spread: of the first table that has such a row and column."""
    for rows in tables(run):
        for found in map(cells, rows):
            if found[0] == row and column in cells(rows[0]):
                return re.sub(r" ± [\d.]+", "", found[cells(rows[0]).index(column)])
    sys.exit(f"the record {run} has no row {row!r} with a column {column!r}")


def tables(run: str) -> list[list[str]]:
    """The lines of each table in a record's output."""
    return [
        found.strip().split("\n")
        for found in re.findall(r"(?:^\|.*\n)+", record(run)["output"], re.MULTILINE)
    ]


def cells(line: str) -> list[str]:
    return [cell.strip() for cell in line.strip("|").split("|")]


def main(check: bool) -> None:
    stale = [page for page in pages() if rendered(page) != page.read_text()]
    for page in stale:
        print(page.relative_to(ROOT), "differs from its records" if check else "filled")
        if not check:
            page.write_text(rendered(page))
    sys.exit(bool(check and stale))


if __name__ == "__main__":
    main("--check" in sys.argv[1:])

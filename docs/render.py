"""Fill the pages from docs/runs: ``python docs/render.py [--check]``; marks are explained in pages.py.

``--check`` writes nothing and fails where a page differs from its records.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

from pages import ROOT, blocks, pages, record

TABLE = re.compile(r"(<!-- table: (\S+) -->\n).*?(<!-- end -->)", re.DOTALL)


def rendered(page: Path) -> str:
    """The page as its records have it."""
    text = page.read_text()
    for block in reversed(blocks(page)):
        if block.run and block.shown:
            text = text[: block.shown.start] + record(block.run)["output"] + text[block.shown.stop :]
        elif block.run:
            sys.exit(f"{block.where}: no block shows the output of {block.run}")
    return TABLE.sub(lambda m: f"{m[1]}\n{table(m[2])}\n{m[3]}", text)


def table(run: str) -> str:
    """The table of a record, and under it how it was made."""
    known = record(run)
    made = f"{known['processor']}, {known['target']}, {known['date']}, gapcut {known['version']}"
    return f"{known['output']}\n<sub>`{known['command']}`: {made}</sub>\n"


def main(check: bool) -> None:
    stale = [page for page in pages() if rendered(page) != page.read_text()]
    for page in stale:
        print(page.relative_to(ROOT), "differs from its records" if check else "filled")
        if not check:
            page.write_text(rendered(page))
    sys.exit(bool(check and stale))


if __name__ == "__main__":
    main("--check" in sys.argv[1:])

"""What bridges as one finds them cost each method: ``python benchmarks/harder.py PLAIN FIELD [NAME=FIELD ...]``.

PLAIN and FIELD are results.md of ``gapcut bridges reproduce`` without and with ``--difficulty field`` (or records in
docs/runs that hold one), further ones the same with other options, by name. Shares are of parts of bridges, means over
the folds; surroundings are not counted. Costs are in points of a per cent.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

METHODS = {"gapcut": "nodes right", "node-only": "node-only", "forest only": "forest only"}
"""Method -> its column in the table of folds, where all nodes are parts."""


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("plain", type=Path)
    parser.add_argument("field", type=Path)
    parser.add_argument("others", nargs="*")
    given = parser.parse_args()
    others = {name: Path(path) for name, _, path in (entry.partition("=") for entry in given.others)}
    plain = plain_shares(tables(given.plain)["fold"])
    found = {"as found": given.field, **{f"as found, {name}": path for name, path in others.items()}}
    shares = {name: shares_of_parts(tables(path)["labelled by"]) for name, path in found.items()}
    head = ["parts right", "plain"]
    for name in shares:
        head += [name, "cost"]
    lines = [head, ["---"] * len(head)]
    for method in METHODS:
        cells = [method, f"{plain[method]:.2f} %"]
        for of in shares.values():
            cells += [f"{of[method]:.2f} %", f"{plain[method] - of[method]:.2f}"]
        lines.append(cells)
    print("\n".join("| " + " | ".join(line) + " |" for line in lines))


def tables(path: Path) -> dict[str, list[dict[str, str]]]:
    """Name of the first column -> rows, of all tables of a file."""
    text = path.read_text()
    text = json.loads(text)["output"] if path.suffix == ".json" else text
    found: dict[str, list[dict[str, str]]] = {}
    for block in text.split("\n\n"):
        lines = [line for line in block.strip().split("\n") if line.startswith("|")]
        if len(lines) > 2:
            head, _, *body = ([cell.strip() for cell in line.strip("|").split("|")] for line in lines)
            found[head[0]] = [dict(zip(head, row, strict=True)) for row in body]
    return found


def plain_shares(folds: list[dict[str, str]]) -> dict[str, float]:
    """Of the table of folds, whose row *mean* is the mean of them."""
    mean = next(row for row in folds if row["fold"] == "mean")
    return {method: percent(mean[column]) for method, column in METHODS.items()}


def shares_of_parts(rows: list[dict[str, str]]) -> dict[str, float]:
    return {row["labelled by"]: percent(row["parts right"]) for row in rows}


def percent(cell: str) -> float:
    return float(cell.removesuffix("%"))


if __name__ == "__main__":
    main()

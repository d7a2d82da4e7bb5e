"""``gapcut solve``."""

from __future__ import annotations

from pathlib import Path
from typing import IO, Any

import numpy as np
from rich.console import Console

from gapcut.certificates import at_least, at_most, in_table
from gapcut.cli.counts import counted
from gapcut.cli.exits import DONE, NOT_CERTIFIED
from gapcut.cli.options import Certified, Json
from gapcut.cli.outputs import LABELING, LABELS, Force, check_outputs, write_result
from gapcut.cli.progress import working
from gapcut.cli.show import Cells, emit
from gapcut.files import write_arrays, write_atomically
from gapcut.inference import Energy, MethodName, Solution, read_energy
from gapcut.inference import solve as solve_energy
from gapcut.typing import IntArray

_SETTLED = ("optimal", "infeasible")
_DIGITS = 10


def solve(
    energy: Path,
    /,
    *more: Path,
    method: MethodName = "auto",
    time_limit: float | None = None,
    out: Path | None = None,
    evidence: Path | None = None,
    certified: Certified = False,
    force: Force = False,
    as_json: Json = False,
) -> int:
    """Minimise energies and print energy, proven bound, gap and time of each.

    :param energy: Energy: .uai, .wcsp, .cfn or OpenGM .h5, each also with .gz or .xz.
    :param more: Further energies, solved one after the other.
    :param method: How to minimise them.
    :param time_limit: Stop after so many seconds, on each.
    :param out: Write the labeling: one label number a line, or .npz with energy, bound, gap and status. For several
        energies a folder, in which each gets NAME.labels.
    :param evidence: UAI evidence file: labels known beforehand. For one energy only.
    """
    files = [energy, *more]
    places = _places(files, out)
    if evidence is not None and more:
        raise ValueError("--evidence goes with one energy only")
    kinds = {place: LABELS if _is_npz(place) else LABELING for place in places if place is not None}
    check_outputs(kinds, [*files, evidence], force)
    documents = []
    for file, place in zip(files, places, strict=True):
        with working(f"reading {file} ..."):
            problem = read_energy(file, evidence)
        with working(f"solving {file} ..."):
            found = solve_energy(problem, method=method, time_limit=time_limit)
        if place is not None:
            _write(place, found)
        documents.append({"file": str(file), **_document(problem, found, place)})
    if more:
        emit({"files": documents}, as_json, lambda console: console.print(_table(documents)))
    else:
        emit(documents[0], as_json, lambda console: _show(console, documents[0]))
    settled = all(document["status"] in _SETTLED for document in documents)
    return DONE if settled or not certified else NOT_CERTIFIED


def _places(files: list[Path], out: Path | None) -> list[Path | None]:
    """Where the labeling of each file goes; ``ValueError`` where two would go to one place."""
    if out is None or len(files) == 1:
        return [out] * len(files)
    if not out.is_dir():
        raise ValueError(f"--out {out} must be an existing folder for several energies")
    places = [out / f"{file.name}.labels" for file in files]
    for i, place in enumerate(places):
        if place in places[:i]:
            raise ValueError(f"two energies are called {files[i].name}: their labelings would go to one file")
    return list(places)


def _write(place: Path, found: Solution[IntArray]) -> None:
    write_result(place, lambda path: write_atomically(path, lambda file: _write_labels(file, path, found)))


def _table(documents: list[dict[str, Any]]) -> Cells:
    rows = [
        [
            d["file"],
            d["nodes"],
            at_most(d["energy"], _DIGITS),
            at_least(d["bound"], _DIGITS),
            in_table(d["gap"], at_most),
            d["status"],
            f"{d['seconds']:.3f}",
        ]
        for d in documents
    ]
    return Cells(["file", "nodes", "energy", "bound", "gap", "status", "seconds"], rows)


def _is_npz(out: Path) -> bool:
    return out.suffix.lower() == ".npz"


def _write_labels(file: IO[bytes], out: Path, found: Solution[IntArray]) -> None:
    if not _is_npz(out):
        file.write("".join(f"{label}\n" for label in found.labels).encode())
        return
    numbers = {name: np.array(getattr(found, name)) for name in ("energy", "bound", "gap", "status")}
    write_arrays(file, {"labels": found.labels, **numbers})


def _document(problem: Energy, found: Solution[IntArray], out: Path | None) -> dict[str, Any]:
    labels = problem.n_labels
    return {
        "nodes": problem.n_nodes,
        "edges": problem.n_edges,
        "cliques": problem.n_cliques,
        "labels": [int(labels.min()), int(labels.max())] if len(labels) else [0, 0],
        "energy": found.energy,
        "bound": found.bound,
        "gap": found.gap,
        "status": found.status,
        "seconds": found.seconds,
        "labeling": found.labels,
        "out": None if out is None else str(out),
    }


def _show(console: Console, document: dict[str, Any]) -> None:
    few, many = document["labels"]
    cliques = f", {counted(clique=document['cliques'])}" if document["cliques"] else ""
    labels = counted(label=many) if few == many else f"{few}-{many} labels"
    console.print(
        f"problem      {counted(node=document['nodes'], edge=document['edges'])}{cliques}, {labels}"
    )
    console.print(f"energy       {at_most(document['energy'], _DIGITS)}")
    console.print(f"bound        {at_least(document['bound'], _DIGITS)}")
    console.print(f"gap          {in_table(document['gap'], at_most)}, {document['status']}")
    console.print(f"time         {document['seconds']:.3f} s")
    if document["out"]:
        console.print(f"written      {document['out']}")

"""``gapcut solve``."""

from __future__ import annotations

import math
from pathlib import Path
from typing import IO, Any

import numpy as np
from rich.console import Console

from gapcut.cli.exits import DONE, NOT_CERTIFIED
from gapcut.cli.options import Certified, Json
from gapcut.cli.outputs import LABELING, LABELS, Force, check_outputs, write_result
from gapcut.cli.show import emit, number, working
from gapcut.files import write_atomically
from gapcut.inference import Energy, MethodName, Solution, read_energy
from gapcut.inference import solve as solve_energy
from gapcut.typing import IntArray

_SETTLED = ("optimal", "infeasible")


def solve(
    energy: Path,
    /,
    *,
    method: MethodName = "auto",
    time_limit: float | None = None,
    out: Path | None = None,
    evidence: Path | None = None,
    certified: Certified = False,
    force: Force = False,
    as_json: Json = False,
) -> int:
    """Minimise an energy and print energy, proven bound, gap and time.

    :param energy: Energy: .uai, .wcsp, .cfn or OpenGM .h5, each also with .gz.
    :param method: How to minimise it.
    :param time_limit: Stop after so many seconds.
    :param out: Write the labeling: one label number a line, or .npz with energy, bound, gap and status.
    :param evidence: UAI evidence file: labels known beforehand.
    """
    if out is not None:
        check_outputs({out: LABELS if _is_npz(out) else LABELING}, [energy, evidence], force)
    with working(f"reading {energy} ..."):
        problem = read_energy(energy, evidence)
    with working("solving ..."):
        found = solve_energy(problem, method=method, time_limit=time_limit)
    if out is not None:
        write_result(out, lambda path: write_atomically(path, lambda file: _write_labels(file, path, found)))
    document = _document(problem, found, out)
    emit(document, as_json, lambda console: _show(console, document))
    return DONE if found.status in _SETTLED or not certified else NOT_CERTIFIED


def _is_npz(out: Path) -> bool:
    return out.suffix.lower() == ".npz"


def _write_labels(file: IO[bytes], out: Path, found: Solution[IntArray]) -> None:
    if not _is_npz(out):
        file.write("".join(f"{label}\n" for label in found.labels).encode())
        return
    np.savez_compressed(
        file,
        allow_pickle=False,
        labels=found.labels,
        energy=np.float64(found.energy),
        bound=np.float64(found.bound),
        gap=np.float64(found.gap),
        status=np.array(found.status),
    )


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
    cliques = f", {document['cliques']:,} cliques" if document["cliques"] else ""
    labels = f"{many}" if few == many else f"{few}-{many}"
    console.print(
        f"problem      {document['nodes']:,} nodes, {document['edges']:,} edges{cliques}, {labels} labels"
    )
    console.print(f"energy       {_exact(document['energy'])}")
    console.print(f"bound        {_exact(document['bound'])}")
    console.print(f"gap          {number(document['gap'])}, {document['status']}")
    console.print(f"time         {document['seconds']:.3f} s")
    if document["out"]:
        console.print(f"written      {document['out']}")


def _exact(value: float) -> str:
    return f"{value:.10g}" if math.isfinite(value) else str(value)


COMMANDS = (solve,)

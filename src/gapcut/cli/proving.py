"""``gapcut prove``, and what ``gapcut train`` needs to write a proof."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any, Final

from rich.console import Console

from gapcut.certificates import gap_percent, outwards
from gapcut.cli.exits import DONE, to_the_end
from gapcut.cli.options import DataPath, Jobs, Json, ModelPath, Select, UnpackLimit, claim_again
from gapcut.cli.outputs import GRAPHS, PROOF, Force, Kind, check_outputs, graphs_path, write_result
from gapcut.cli.progress import progress
from gapcut.cli.show import emit
from gapcut.machine import Machine, Proof

CONFIRMED: Final = 1e-4
"""Part of the upper end that a proof may fall short of the certificate: a hundredth of the default gap."""


def prove(
    model: ModelPath,
    data: DataPath,
    /,
    *,
    out: Path,
    select: Select = None,
    unpack_limit: UnpackLimit = None,
    time_limit: float = 600.0,
    jobs: Jobs = -1,
    force: Force = False,
    as_json: Json = False,
) -> int:
    """Write a proof of a model's claim that others can check without gapcut.

    DATA are the graphs the model was trained on. The upper end is proven at the model's weights, the lower end by a
    new training run; both are written to a file for checker/check_proof.py, and the graphs after the feature steps to
    another beside it.

    :param out: Proof file to write (.npz).
    :param time_limit: Seconds to reach the lower end again; what is reached by then is proven.
    """
    check_outputs(proof_outputs(out), [model, data], force)
    svm, graphs = claim_again(model, data, select, unpack_limit, time_limit, jobs)
    with to_the_end(), progress("proving the lower end again") as callback:
        found = svm.prove(graphs, time_limit, callback)
    write_proof(found, out, data, select)
    document = proof_document(found, out)
    emit(document, as_json, lambda console: _show(console, svm, document))
    return DONE


def proof_outputs(proof: Path | None, others: Iterable[Path] = ()) -> dict[Path, Kind]:
    """The files of a proof. Raises ValueError if one of them is among the other outputs."""
    if proof is None:
        return {}
    writes = {proof: PROOF, graphs_path(proof): GRAPHS}
    for path in writes:
        if any(os.path.abspath(path) == os.path.abspath(other) for other in others):
            raise ValueError(f"{path} would be written twice: name another file for the proof")
    return writes


def write_proof(found: Proof, path: Path, data: Path, select: str | None) -> None:
    """The proof and its graphs; it names the raw data, so that they can be compared."""
    digest = None
    if data.is_file():
        with open(data, "rb") as file:
            digest = hashlib.file_digest(file, "sha256").hexdigest()
    write_result(path, found.about(raw_sha256=digest, select=select).save)
    write_result(graphs_path(path), found.save_graphs)


def proof_document(found: Proof, path: Path) -> dict[str, Any]:
    """What was proven, and where it is written. ``confirms``: both ends of the certificate, up to 0.01 %."""
    (lower, upper), slip = found.header["certificate"], CONFIRMED * found.upper
    return {
        "proof": str(path),
        "graphs": str(graphs_path(path)),
        "problem": found.header["problem"],
        "lower": found.lower,
        "upper": found.upper,
        "relative_gap": found.relative_gap,
        "confirms": bool(found.lower >= lower - slip and found.upper <= upper + slip),
        "bytes": path.stat().st_size if path.exists() else None,
    }


def proof_line(document: dict[str, Any]) -> str:
    """One line of it."""
    less = "" if document["confirms"] else " (less than the certificate claims)"
    lower, upper = outwards(document["lower"], document["upper"], 9)
    return (
        f"{document['proof']} shows {lower} <= optimum <= this model <= {upper}, gap "
        f"{gap_percent(document['relative_gap'])}{less}; check it with check_proof.py and {document['graphs']}"
    )


def _show(console: Console, svm: Machine, document: dict[str, Any]) -> None:
    lower, upper = svm.certificate_.shown(9)
    console.print(f"claim         {lower} <= optimum <= this model <= {upper}")
    console.print(f"proof         {proof_line(document)}")

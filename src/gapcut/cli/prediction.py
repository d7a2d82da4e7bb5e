"""``gapcut predict`` and ``gapcut evaluate``."""

from __future__ import annotations

import csv
import time
from collections.abc import Callable
from io import TextIOWrapper
from pathlib import Path
from typing import IO, Annotated, Any

import numpy as np
from rich.console import Console

from gapcut.cli.exits import DONE
from gapcut.cli.options import DataPath, Jobs, Json, ModelPath, Select, UnpackLimit, option, read_graphs
from gapcut.cli.outputs import LABELS, Force, check_outputs, kind_of_ending, write_result
from gapcut.cli.progress import working
from gapcut.cli.show import (
    certificate_document,
    certificate_line,
    emit,
    percent,
    scores_document,
    scores_table,
)
from gapcut.data import GraphSet
from gapcut.extras import needed
from gapcut.files import write_atomically
from gapcut.inference import MethodName, Solution
from gapcut.machine import Machine
from gapcut.metrics import Scores, expected_calibration_error, score_graphs
from gapcut.typing import AnyArray

Inference = Annotated[MethodName | None, option("inference", more=" Default: the model's.")]


def predict(
    model: ModelPath,
    data: DataPath,
    /,
    *,
    out: Path,
    select: Select = None,
    unpack_limit: UnpackLimit = None,
    inference: Inference = None,
    jobs: Jobs = -1,
    force: Force = False,
    as_json: Json = False,
) -> int:
    """Label graphs and write the labels as .npz, .csv or .parquet.

    An .npz has energies, bounds and gaps too; the others are tables of one row a node.

    :param out: File to write; its ending says what: .npz, .csv or .parquet (with pyarrow).
    """
    write = _writer(out)
    check_outputs(
        {out: LABELS if out.suffix.lower() == ".npz" else kind_of_ending(out)}, [model, data], force
    )
    svm = _load(model, jobs, inference)
    graphs = read_graphs(data, select, unpack_limit)
    solutions, seconds = _solve(svm, graphs)
    write_result(out, lambda path: write_atomically(path, lambda file: write(file, graphs, solutions)))
    document = {"out": str(out), **_counts(graphs, solutions, seconds)}
    emit(document, as_json, lambda console: _show_prediction(console, document))
    return DONE


def evaluate(
    model: ModelPath,
    data: DataPath,
    /,
    *,
    select: Select = None,
    unpack_limit: UnpackLimit = None,
    inference: Inference = None,
    jobs: Jobs = -1,
    as_json: Json = False,
) -> int:
    """Compare predicted labels with those of the data, weighted by node weights."""
    svm = _load(model, jobs, inference)
    graphs = read_graphs(data, select, unpack_limit)
    solutions, seconds = _solve(svm, graphs)
    scores = score_graphs(graphs, [s.labels for s in solutions], svm.classes_)
    if not scores.nodes > 0:
        raise ValueError(f"{data}: no labelled node to compare with")
    document = {**scores_document(scores), **_counts(graphs, solutions, seconds)}
    document["calibration_error"] = None
    if svm.model_.temperature is not None:
        chances = svm.predict_proba(graphs, solutions)
        document["calibration_error"] = expected_calibration_error(graphs, chances, svm.classes_)
    document["certificate"] = certificate_document(svm.certificate_)
    emit(document, as_json, lambda console: _show_evaluation(console, svm, scores, document))
    return DONE


def _load(path: Path, jobs: int, inference: MethodName | None) -> Machine:
    svm = Machine.load(path)
    svm.set_params(n_jobs=jobs)
    if inference is not None:
        svm.set_params(inference=inference)
    return svm


def _solve(svm: Machine, graphs: GraphSet) -> tuple[list[Solution[AnyArray]], float]:
    """Solutions and the seconds they took."""
    start = time.monotonic()
    with working(f"labelling {len(graphs):,} graphs ..."):
        solutions = svm.solutions(graphs)
    return solutions, time.monotonic() - start


def _counts(graphs: GraphSet, solutions: list[Solution[AnyArray]], seconds: float) -> dict[str, Any]:
    closed = sum(s.status == "optimal" for s in solutions)
    return {
        "graphs": len(graphs),
        "nodes": sum(g.n_nodes for g in graphs),
        "inference": {
            "seconds": seconds,
            "proven_optimal": closed,
            "largest_gap": max(s.gap for s in solutions),
        },
    }


def _arrays(graphs: GraphSet, solutions: list[Solution[AnyArray]]) -> dict[str, AnyArray]:
    labels = np.concatenate([s.labels for s in solutions])
    return {
        "node_offset": np.cumsum([0, *(g.n_nodes for g in graphs)], dtype=np.int64),
        "labels": labels.astype(str) if labels.dtype == object else labels,
        "names": np.array([g.name or "" for g in graphs]),
        "energy": np.array([s.energy for s in solutions]),
        "bound": np.array([s.bound for s in solutions]),
        "gap": np.array([s.gap for s in solutions]),
        "status": np.array([s.status for s in solutions]),
    }


def _writer(out: Path) -> Callable[[IO[bytes], GraphSet, list[Solution[AnyArray]]], None]:
    """What writes a file of that ending; said before the work if there is none."""
    ending = out.suffix.lower()
    if ending == ".parquet":
        needed("pyarrow.parquet", "Parquet files need", "parquet", ", or name a .csv")
    if ending not in _WRITERS:
        raise ValueError(f"{out}: name a file that ends with one of {', '.join(_WRITERS)}")
    return _WRITERS[ending]


def _write_npz(file: IO[bytes], graphs: GraphSet, solutions: list[Solution[AnyArray]]) -> None:
    np.savez_compressed(file, allow_pickle=False, **_arrays(graphs, solutions))


def _write_csv(file: IO[bytes], graphs: GraphSet, solutions: list[Solution[AnyArray]]) -> None:
    text = TextIOWrapper(file, encoding="utf-8", newline="")
    rows = csv.writer(text, lineterminator="\n")
    rows.writerow(_COLUMNS)
    for number, (graph, solution) in enumerate(zip(graphs, solutions, strict=True)):
        rows.writerows(
            (number, graph.name or "", node, label) for node, label in enumerate(solution.labels.tolist())
        )
    text.detach()


def _write_parquet(file: IO[bytes], graphs: GraphSet, solutions: list[Solution[AnyArray]]) -> None:
    pyarrow = needed("pyarrow.parquet", "Parquet files need", "parquet")
    arrays, sizes = _arrays(graphs, solutions), [g.n_nodes for g in graphs]
    nodes = np.concatenate([np.arange(size) for size in sizes])
    columns = (
        np.repeat(np.arange(len(graphs)), sizes),
        np.repeat(arrays["names"], sizes),
        nodes,
        arrays["labels"],
    )
    pyarrow.parquet.write_table(
        pyarrow.table({n: c.tolist() for n, c in zip(_COLUMNS, columns, strict=True)}), file
    )


_COLUMNS = ("graph", "name", "node", "label")
_WRITERS = {".npz": _write_npz, ".csv": _write_csv, ".parquet": _write_parquet}


def _show_prediction(console: Console, document: dict[str, Any]) -> None:
    console.print(f"labelled     {document['graphs']:,} graphs, {document['nodes']:,} nodes")
    console.print(_inference_line(document))
    console.print(f"written      {document['out']}")


def _show_evaluation(console: Console, svm: Machine, scores: Scores, document: dict[str, Any]) -> None:
    console.print(scores_table(scores))
    for label in scores.never_predicted:
        console.print(
            f"warning      no node is labelled {label!s:.40}, though some are: try train --balanced"
        )
    console.print(f"accuracy     {percent(scores.accuracy)} over nodes of {document['graphs']:,} graphs")
    if document["calibration_error"] is not None:
        console.print(
            f"calibration  expected error {document['calibration_error']:.3f} of the labels' probabilities"
        )
    console.print(_inference_line(document))
    console.print(f"certificate  {certificate_line(svm.certificate_)}")


def _inference_line(document: dict[str, Any]) -> str:
    found = document["inference"]
    return (
        f"inference    {found['proven_optimal']:,} of {document['graphs']:,} graphs proven optimal, "
        f"largest gap {found['largest_gap']:.3g}, {found['seconds']:.2f} s"
    )

"""``gapcut cv``."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Annotated, Any, Literal

import numpy as np
from cyclopts import Parameter
from rich.console import Console

from gapcut.certificates import gap_percent
from gapcut.cli.exits import DONE, NOT_CERTIFIED
from gapcut.cli.options import (
    Certified,
    DataPath,
    Json,
    LearningOptions,
    SearchOptions,
    Select,
    UnpackLimit,
    read_graphs,
)
from gapcut.cli.show import Cells, emit
from gapcut.cli.training import fit_path_to_the_end
from gapcut.data import GraphSet
from gapcut.digits import percent
from gapcut.machine import label_set
from gapcut.metrics import score_graphs
from gapcut.typing import IntArray

_DEFAULTS = SearchOptions()
Asked = float | Literal["cv"]
"""A value of C."""
Folds = Annotated[int, Parameter(help="Number of folds, graphs shuffled by --seed.")]
FoldArray = Annotated[
    str | None,
    Parameter(help="Per-graph array of DATA; each of its values is one test fold."),
]
_SCORES = ("accuracy", "macro_precision", "macro_recall", "macro_f1")
_SHORT = ("accuracy", "precision", "recall", "F1")


def cv(
    data: DataPath,
    /,
    *,
    folds: Folds = 5,
    fold_array: FoldArray = None,
    path: str | None = None,
    select: Select = None,
    unpack_limit: UnpackLimit = None,
    options: SearchOptions = _DEFAULTS,
    certified: Certified = False,
    as_json: Json = False,
) -> int:
    """Cross-validate over graphs: train on all folds but one, test on that one.

    With --path each fold is trained once along all values of C, each certified, and the best is named. A label that the
    training graphs of a fold lack stays a label of its model (--classes names others).

    :param path: Values of C in place of --C, separated by commas; ascending is fastest.
    """
    graphs = read_graphs(data, select, unpack_limit)
    parts = test_folds(graphs, folds, fold_array, options.random_state)
    values = [options.C] if path is None else _path_values(path)
    rows = [row for name, test in parts for row in _run_fold(graphs, name, test, options, values)]
    summary: list[dict[str, Any]] = [
        {"C": C, **{name: _spread([row[name] for row in rows if row["asked"] == C]) for name in _SCORES}}
        for C in values
        if all(any(row["fold"] == name and row["asked"] == C for row in rows) for name, _ in parts)
    ]
    best = max(summary, key=lambda entry: entry["accuracy"]["mean"])
    document = {"graphs": len(graphs), "folds": rows, "path": summary, **best}
    emit(document, as_json, lambda console: _show(console, document))
    return NOT_CERTIFIED if certified and any(row["status"] != "certified" for row in rows) else DONE


def test_folds(graphs: GraphSet, folds: int, fold_array: str | None, seed: int) -> list[tuple[str, IntArray]]:
    """Names and graph numbers of the test folds."""
    if fold_array is None:
        if not 2 <= folds <= len(graphs):
            raise ValueError(f"--folds {folds} must be between 2 and the number of graphs, {len(graphs)}")
        from sklearn.model_selection import KFold

        splits = KFold(folds, shuffle=True, random_state=seed).split(np.arange(len(graphs)))
        return [(str(i), np.sort(test)) for i, (_, test) in enumerate(splits)]
    if fold_array not in graphs.extras:
        have = ", ".join(sorted(graphs.extras)) or "none"
        raise ValueError(f"--fold-array {fold_array}: no such per-graph array in DATA (there is {have})")
    values, fold = np.unique(graphs.extras[fold_array], return_inverse=True)
    if graphs.extras[fold_array].ndim != 1 or len(values) < 2:
        raise ValueError(f"--fold-array {fold_array} must hold at least two different values, one a graph")
    return [(str(value), np.flatnonzero(fold == i)) for i, value in enumerate(values)]


def _path_values(text: str) -> list[float]:
    try:
        values = [float(value) for value in text.split(",")]
    except ValueError:
        raise ValueError(f"--path {text!r} must be numbers separated by commas, as in 0.1,1,10") from None
    if len(set(values)) < len(values):
        raise ValueError(f"--path {text!r} names a C twice: leave one out")
    return values


def _run_fold(
    graphs: GraphSet, name: str, test: IntArray, options: LearningOptions, values: Sequence[Asked]
) -> list[dict[str, Any]]:
    """One row per value of C. Seconds are those since the model before."""
    training = graphs[np.setdiff1d(np.arange(len(graphs)), test)]
    held_out, classes = graphs[test], label_set(graphs)
    rows = []
    start = time.monotonic()
    models = fit_path_to_the_end(training, options, f"fold {name}", values, classes)
    for C, svm in zip(values, models, strict=False):  # memory may end a path
        seconds = svm.history_[-1].seconds if len(values) > 1 else time.monotonic() - start
        scores = score_graphs(held_out, svm.predict(held_out), svm.classes_)
        rows.append(
            {
                "fold": name,
                "asked": C,
                "C": svm.C_,
                "train": len(training),
                "test": len(held_out),
                **{score: getattr(scores, score) for score in _SCORES},
                "relative_gap": svm.certificate_.relative_gap,
                "status": svm.certificate_.status,
                "seconds": seconds,
            }
        )
    return rows


def _number(C: Asked) -> str:
    return C if isinstance(C, str) else f"{C:g}"


def _spread(values: list[float]) -> dict[str, float]:
    known = [v for v in values if np.isfinite(v)]
    if not known:
        return {"mean": float("nan"), "std": float("nan")}
    return {"mean": float(np.mean(known)), "std": float(np.std(known, ddof=1)) if len(known) > 1 else 0.0}


def _show(console: Console, document: dict[str, Any]) -> None:
    folds = document["folds"]
    rows = [
        [
            *(row["fold"], f"{row['C']:g}", *(percent(row[score]) for score in _SCORES)),
            *(
                gap_percent(row["relative_gap"]) + ("" if row["status"] == "certified" else " *"),
                f"{row['seconds']:.1f}",
            ),
        ]
        for row in folds
    ]
    columns = ["fold", "C", *_SHORT, "gap", "seconds"]
    sizes = sorted({row["test"] for row in folds})
    held_out = f"{sizes[0]}" if len(sizes) == 1 else f"{sizes[0]} to {sizes[-1]}"
    title = (
        f"{document['graphs']} graphs, {held_out} held out in turn; precision, recall, F1: means over classes"
    )
    console.print(Cells(columns, rows, title, keys=2))
    if any(row["status"] != "certified" for row in folds):
        console.print("* stopped before its gap was proven")
    if len(document["path"]) > 1:
        means = [
            [_number(entry["C"]), *(_mean_and_spread(entry[score]) for score in _SCORES)]
            for entry in document["path"]
        ]
        console.print(Cells(["C", *_SHORT], means, "Means over folds +- their standard deviation"))
        console.print(f"best C           {_number(document['C'])} (highest mean accuracy)")
        return
    for score in _SCORES:
        console.print(f"{score.replace('_', ' '):16} {_mean_and_spread(document[score])}")


def _mean_and_spread(spread: dict[str, float]) -> str:
    return f"{percent(spread['mean'])} +- {percent(spread['std'])}"

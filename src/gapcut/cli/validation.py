"""``gapcut cv``."""

from __future__ import annotations

import time
from typing import Annotated, Any

import numpy as np
from cyclopts import Parameter
from rich.console import Console
from sklearn.model_selection import KFold

from gapcut.cli.exits import DONE, NOT_CERTIFIED
from gapcut.cli.options import Certified, DataPath, Json, LearningOptions, Select, read_graphs
from gapcut.cli.prediction import score_solutions
from gapcut.cli.show import emit, percent, table
from gapcut.cli.training import fit_to_the_end
from gapcut.data import GraphSet
from gapcut.typing import IntArray

_DEFAULTS = LearningOptions()
_SCORES = ("accuracy", "macro_precision", "macro_recall", "macro_f1")


def cv(
    data: DataPath,
    /,
    *,
    folds: Annotated[int, Parameter(name="--folds", help="Number of folds, graphs shuffled by --seed.")] = 5,
    fold_array: Annotated[
        str | None,
        Parameter(name="--fold-array", help="Per-graph array of DATA; each of its values is one test fold."),
    ] = None,
    select: Select = None,
    options: LearningOptions = _DEFAULTS,
    certified: Certified = False,
    as_json: Json = False,
) -> int:
    """Cross-validate over graphs: train on all folds but one, test on that one."""
    graphs = read_graphs(data, select)
    parts = _test_folds(graphs, folds, fold_array, options.seed)
    rows = [_run_fold(graphs, name, test, options) for name, test in parts]
    spread = {name: _spread([row[name] for row in rows]) for name in _SCORES}
    document = {"graphs": len(graphs), "folds": rows, **spread}
    emit(document, as_json, lambda console: _show(console, document))
    return NOT_CERTIFIED if certified and any(row["status"] != "certified" for row in rows) else DONE


def _test_folds(
    graphs: GraphSet, folds: int, fold_array: str | None, seed: int
) -> list[tuple[str, IntArray]]:
    """Names and graph numbers of the test folds."""
    if fold_array is None:
        if not 2 <= folds <= len(graphs):
            raise ValueError(f"--folds {folds} must be between 2 and the number of graphs, {len(graphs)}")
        splits = KFold(folds, shuffle=True, random_state=seed).split(np.arange(len(graphs)))
        return [(str(i), np.sort(test)) for i, (_, test) in enumerate(splits)]
    if fold_array not in graphs.extras:
        have = ", ".join(sorted(graphs.extras)) or "none"
        raise ValueError(f"--fold-array {fold_array}: no such per-graph array in DATA (there is {have})")
    values, fold = np.unique(graphs.extras[fold_array], return_inverse=True)
    if graphs.extras[fold_array].ndim != 1 or len(values) < 2:
        raise ValueError(f"--fold-array {fold_array} must hold at least two different values, one a graph")
    return [(str(value), np.flatnonzero(fold == i)) for i, value in enumerate(values)]


def _run_fold(graphs: GraphSet, name: str, test: IntArray, options: LearningOptions) -> dict[str, Any]:
    training = graphs[np.setdiff1d(np.arange(len(graphs)), test)]
    held_out = graphs[test]
    start = time.monotonic()
    svm = fit_to_the_end(training, options, f"fold {name}")
    seconds = time.monotonic() - start
    scores = score_solutions(svm, held_out, svm.solutions(held_out))
    return {
        "fold": name,
        "train": len(training),
        "test": len(held_out),
        **{score: getattr(scores, score) for score in _SCORES},
        "relative_gap": svm.certificate_.relative_gap,
        "status": svm.certificate_.status,
        "seconds": seconds,
    }


def _spread(values: list[float]) -> dict[str, float]:
    known = [v for v in values if np.isfinite(v)]
    if not known:
        return {"mean": float("nan"), "std": float("nan")}
    return {"mean": float(np.mean(known)), "std": float(np.std(known, ddof=1)) if len(known) > 1 else 0.0}


def _show(console: Console, document: dict[str, Any]) -> None:
    rows = [
        [
            *(row[key] for key in ("fold", "train", "test")),
            *(percent(row[score]) for score in _SCORES),
            *(percent(row["relative_gap"]), row["status"], f"{row['seconds']:.1f}"),
        ]
        for row in document["folds"]
    ]
    columns = [
        "fold",
        "train",
        "test",
        "accuracy",
        "precision",
        "recall",
        "F1",
        "proven gap",
        "status",
        "seconds",
    ]
    console.print(table(columns, rows, "Cross-validation (precision, recall, F1: means over classes)"))
    for score in _SCORES:
        spread = document[score]
        console.print(f"{score.replace('_', ' '):16} {percent(spread['mean'])} +- {percent(spread['std'])}")


COMMANDS = (cv,)

"""The comparison for programs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, fields
from typing import Any

from gapcut.comparison.folds import Comparison, FoldResult, Row
from gapcut.comparison.labelling import MethodRow

_COLUMNS = ("accuracy", "macro_precision", "macro_recall", "seconds", "cpu_seconds", "passes")


def comparison_document(
    found: Comparison,
    labelled: Sequence[MethodRow],
    graphs: int,
    folds: int,
) -> dict[str, Any]:
    """Rows with means, standard deviations and folds, as JSON-able values (gaps that are not proven are infinite)."""
    rows = []
    for row in found.rows:
        rows.append(
            {
                "name": row.contender.name,
                **asdict(row.contender),
                "problem": row.problem or None,
                **{c: {"mean": row.mean(c), "std": row.spread(c)} for c in _COLUMNS},
                "pooled": _pooled(row),
                "speed_up": found.speed_up(row),
                "worst_relative_gap": row.worst_gap,
                "impossible": row.impossible,
                "status": row.status,
                "failure": row.failure or None,
                "folds": [_fold(fold) for fold in row.folds],
            }
        )
    return {"graphs": graphs, "folds": folds, "rows": rows, "inference": [asdict(row) for row in labelled]}


def _fold(fold: FoldResult) -> dict[str, Any]:
    scores = {name: getattr(fold, name) for name in ("accuracy", "macro_precision", "macro_recall")}
    return {"fold": fold.fold, **scores, **{f.name: getattr(fold, f.name) for f in fields(fold)[2:]}}


def _pooled(row: Row) -> dict[str, Any]:
    scores = row.pooled
    return {
        "accuracy": scores.accuracy,
        "macro_precision": scores.macro_precision,
        "macro_recall": scores.macro_recall,
        "labels": [str(label) for label in scores.labels],
        "confusion": scores.confusion.tolist(),
    }

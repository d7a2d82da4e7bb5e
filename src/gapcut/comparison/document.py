"""The comparison for programs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from gapcut.comparison.folds import Comparison
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
                "speed_up": found.speed_up(row),
                "worst_relative_gap": row.worst_gap,
                "impossible": row.impossible,
                "status": row.status,
                "failure": row.failure or None,
                "folds": [asdict(fold) for fold in row.folds],
            }
        )
    return {"graphs": graphs, "folds": folds, "rows": rows, "inference": [asdict(row) for row in labelled]}

"""The comparison as Markdown tables."""

from __future__ import annotations

import math
from collections.abc import Sequence

from gapcut.certificates import gap_percent
from gapcut.comparison.folds import Comparison, Row
from gapcut.comparison.labelling import MethodRow
from gapcut.digits import mean_and_spread, percent

_COLUMNS = (
    "learner/oracle",
    "accuracy",
    "precision",
    "recall",
    "pooled precision",
    "pooled recall",
    "seconds",
    "CPU s",
    "speed-up",
    "passes",
    "certified gap",
    "problem",
    "status",
    "impossible",
)


def rows_table(comparison: Comparison) -> str:
    """Means and, after +-, the spread over folds; precision and recall are means over classes, and *pooled* those of
    the nodes of all folds together. Below the table, why rows failed."""
    lines = _table(_COLUMNS, [_cells(comparison, row) for row in comparison.rows])
    failures = [f"- {row.contender.name} failed: {row.failure}" for row in comparison.rows if row.failure]
    return "\n".join(lines + (["", *failures] if failures else []))


def methods_table(rows: Sequence[MethodRow]) -> str:
    """Inference methods on the same models and graphs."""
    cells = [
        [
            row.method,
            percent(row.accuracy),
            f"{row.energy:.6g}" if math.isfinite(row.energy) else "-",
            f"{row.seconds:.2f}",
            f"{row.optimal} of {row.graphs}",
        ]
        for row in rows
    ]
    columns = ("inference", "accuracy", "mean energy", "seconds", "proven optimal")
    failures = [f"- {row.method} failed: {row.failure}" for row in rows if row.failure]
    return "\n".join(_table(columns, cells) + (["", *failures] if failures else []))


def comparison_markdown(found: Comparison, labelled: Sequence[MethodRow]) -> str:
    """Both tables."""
    text = rows_table(found)
    if labelled and found.reference is not None:
        text += f"\n\nLabelling held-out graphs with the models of {found.reference.contender.name}:\n\n"
        text += methods_table(labelled)
    return text


def _cells(comparison: Comparison, row: Row) -> list[str]:
    if not row.folds:
        return [row.contender.name, *["-"] * 11, row.status, "-"]
    speed_up = comparison.speed_up(row)
    return [
        row.contender.name,
        *(_spread(row, column) for column in ("accuracy", "macro_precision", "macro_recall")),
        percent(row.pooled.macro_precision),
        percent(row.pooled.macro_recall),
        f"{row.mean('seconds'):.2f} ± {row.spread('seconds'):.2f}",
        f"{row.mean('cpu_seconds'):.2f}",
        "-" if math.isnan(speed_up) else f"{speed_up:.2g}x",
        f"{row.mean('passes'):.0f}",
        gap_percent(row.worst_gap),
        row.problem,
        row.status,
        str(row.impossible),
    ]


def _table(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    align = ["---", *["---:"] * (len(columns) - 1)]
    return [f"| {' | '.join(cell.replace('|', '/') for cell in line)} |" for line in (columns, align, *rows)]


def _spread(row: Row, column: str) -> str:
    return mean_and_spread(row.mean(column), row.spread(column))

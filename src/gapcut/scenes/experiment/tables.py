"""The result as a table for people and as a document for programs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from gapcut.scenes.experiment.folds import FoldResult

COLUMNS = (
    *("fold", "accuracy, nodes", "accuracy, points", "macro precision", "macro recall", "node-only"),
    *("forest only", "proven gap", "graphs proven", "train s", "test s"),
)
PAPER = ("Li and Huber 2017, another data set", 0.9007, *[None] * 7, 4680.0, 89.0)
"""The paper's 25 bridges were never published: its numbers (90.07 %, 1.3 h, 89 s) stand beside, not above."""


def rows(results: Sequence[FoldResult]) -> list[list[object]]:
    """One row a fold, then their mean, then the paper's."""
    values = [
        [
            *(r.nodes.accuracy, r.points.accuracy, r.nodes.macro_precision, r.nodes.macro_recall),
            *(r.node_only.accuracy, r.forest_only.accuracy, r.certificate.relative_gap),
            sum(s.status == "optimal" for s in r.solutions) / len(r.solutions),
            *(r.train_seconds, r.test_seconds),
        ]
        for r in results
    ]
    mean: list[object] = ["mean", *np.mean(values, axis=0).tolist()]
    return [*([str(i + 1), *v] for i, v in enumerate(values)), mean, list(PAPER)]


def shown_rows(results: Sequence[FoldResult]) -> list[list[str]]:
    """The same as text."""
    return [[str(row[0]), *(_cell(i, value) for i, value in enumerate(row[1:], 1))] for row in rows(results)]


def markdown_table(results: Sequence[FoldResult]) -> str:
    """The table in Markdown."""
    lines = [COLUMNS, ["---"] * len(COLUMNS), *shown_rows(results)]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines) + "\n"


def result_document(results: Sequence[FoldResult]) -> dict[str, Any]:
    """Everything of the table, and confusion matrices."""
    return {
        "columns": list(COLUMNS),
        "rows": rows(results),
        "folds": [
            {
                "train": r.train,
                "test": r.test,
                "train_nodes": r.train_nodes,
                "train_edges": r.train_edges,
                "labels": list(r.nodes.labels),
                "confusion": r.nodes.confusion.tolist(),
                "lower": r.certificate.lower,
                "upper": r.certificate.upper,
                "status": r.certificate.status,
                "largest_test_gap": max(s.gap for s in r.solutions),
                "forest_seconds": r.forest_seconds,
            }
            for r in results
        ],
    }


def _cell(column: int, value: object) -> str:
    if not isinstance(value, float):
        return "-"
    return f"{value:.2f}" if COLUMNS[column].endswith(" s") else f"{100 * value:.2f} %"

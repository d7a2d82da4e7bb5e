"""The figure of a comparison: accuracy and training time of every pair."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from gapcut.comparison.folds import Comparison, Row
from gapcut.report.figures import BLUE, GREY, INK, ORANGE, new_figure, plain_log_ticks, quiet_axes

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def comparison_figure(comparison: Comparison, title: str = "Held-out accuracy and training time") -> Figure:
    """Means with the spread over folds; blue: certified in every fold, orange: a proven gap, grey: nothing proven."""
    rows = comparison.rows
    figure = new_figure(10.0, 1.6 + 0.31 * len(rows))
    left, right = figure.subplots(1, 2, sharey=True)
    for axes, column, scale in ((left, "accuracy", 100.0), (right, "cpu_seconds", 1.0)):
        quiet_axes(axes)
        axes.grid(True, axis="x", color="#e6e6e6", linewidth=0.8)
        axes.set_axisbelow(True)
        for y, row in enumerate(rows):
            _draw(axes, y, row, column, scale)
    left.set_yticks(range(len(rows)), [row.contender.name for row in rows], fontsize=9)
    left.set_ylim(len(rows) - 0.5, -0.5)
    left.set_xlabel("accuracy in %")
    right.set_xlabel("training CPU seconds a fold")
    seconds = [row.mean("cpu_seconds") for row in rows if row.mean("cpu_seconds") > 0]
    if seconds:
        right.set_xscale("log")
        plain_log_ticks(right.xaxis, lambda value: f"{value:g}", min(seconds), max(seconds))
    figure.suptitle(title, fontsize=12)
    _legend(figure)
    return figure


def _draw(axes: Any, y: int, row: Row, column: str, scale: float) -> None:
    """One mark and its error bar; a word where there is nothing to draw."""
    mean = scale * row.mean(column)
    if not np.isfinite(mean):
        place = axes.get_yaxis_transform()
        axes.text(0.02, y, "failed", transform=place, va="center", fontsize=9, color=INK)
        return
    # an error bar below zero has no place on a log axis
    spread = min(scale * row.spread(column), 0.95 * mean)
    colour = _colour(row.worst_gap, row.status)
    axes.errorbar(mean, y, xerr=spread, fmt="o", color=colour, markersize=7, capsize=3, elinewidth=1.5)


def _colour(gap: float, status: str) -> str:
    if status == "certified":
        return BLUE
    return ORANGE if np.isfinite(gap) else GREY


def _legend(figure: Figure) -> None:
    from matplotlib.lines import Line2D

    words = ((BLUE, "certified"), (ORANGE, "stopped with a proven gap"), (GREY, "nothing proven"))
    figure.legend(
        handles=[Line2D([], [], color=colour, marker="o", label=word) for colour, word in words],
        loc="outside lower center",
        ncols=3,
        frameon=False,
        fontsize=9,
    )

"""The figure of a comparison: accuracy and training time of every pair."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from gapcut.comparison.folds import Comparison
from gapcut.report.figures import _BLUE, _GREY, _ORANGE, _new_figure, _quiet

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def comparison_figure(comparison: Comparison, title: str = "Held-out accuracy and training time") -> Figure:
    """Bars with the spread over folds; blue: certified in every fold, orange: stopped before, grey: nothing proven."""
    rows = comparison.rows
    figure = _new_figure(10.0, 1.7 + 0.45 * len(rows))
    left, right = figure.subplots(1, 2, sharey=True)
    at = np.arange(len(rows))
    colours = [_colour(row.worst_gap, row.status) for row in rows]
    for axes, column, scale in ((left, "accuracy", 100.0), (right, "seconds", 1.0)):
        means = np.nan_to_num([scale * row.mean(column) for row in rows])
        spreads = [scale * row.spread(column) for row in rows]
        _quiet(axes)
        axes.barh(
            at, means, xerr=spreads, color=colours, height=0.65, error_kw={"elinewidth": 1, "capsize": 2}
        )
        for y, row in zip(at, rows, strict=True):
            if not row.folds:
                axes.annotate("failed", (0, y), (4, 0), textcoords="offset points", va="center", fontsize=9)
    known = [100.0 * (row.mean("accuracy") - row.spread("accuracy")) for row in rows if row.folds]
    floor = max(0.0, 10.0 * np.floor(min(known, default=0.0) / 10.0 - 1.0))
    left.set_xlim(floor if np.isfinite(floor) else 0.0, 100.0)
    left.set_yticks(at, [row.contender.name for row in rows], fontsize=9)
    left.invert_yaxis()
    left.set_xlabel("accuracy in %" + (f" (axis starts at {floor:g})" if floor > 0 else ""))
    right.set_xlabel("training seconds a fold (logarithmic)")
    if any(row.mean("seconds") > 0 for row in rows):
        right.set_xscale("log")
    figure.suptitle(title, fontsize=12)
    _legend(figure)
    return figure


def _colour(gap: float, status: str) -> str:
    if status == "certified":
        return _BLUE
    return _ORANGE if np.isfinite(gap) else _GREY


def _legend(figure: Figure) -> None:
    from matplotlib.patches import Patch

    words = ((_BLUE, "certified"), (_ORANGE, "stopped with a proven gap"), (_GREY, "nothing proven"))
    figure.legend(
        handles=[Patch(color=colour, label=word) for colour, word in words],
        loc="outside lower center",
        ncols=3,
        frameon=False,
        fontsize=9,
    )

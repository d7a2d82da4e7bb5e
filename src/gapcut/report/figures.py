"""Figures of a training run and its model. They are matplotlib ``Figure`` objects; no global state is touched."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from gapcut.certificates import Record, gap_percent
from gapcut.digits import percent, whole_percent
from gapcut.extras import needed
from gapcut.files import write_atomically
from gapcut.metrics import Scores
from gapcut.typing import AnyArray, FloatArray

if TYPE_CHECKING:
    from matplotlib.figure import Figure

# Okabe & Ito: safe for colour-blind readers
BLUE, ORANGE, GREY, INK = "#0072b2", "#d55e00", "#8a8a8a", "#222222"


def new_figure(width: float, height: float) -> Figure:
    """An empty figure of so many inches, without pyplot's global state."""
    matplotlib = needed("matplotlib.figure", "figures need", "plot")
    needed("matplotlib.backends.backend_agg", "figures need", "plot")
    figure: Figure = matplotlib.figure.Figure((width, height), layout="constrained", facecolor="white")
    matplotlib.backends.backend_agg.FigureCanvasAgg(figure)
    return figure


def save_figure(figure: Figure, path: str | os.PathLike[str], dpi: int = 150) -> None:
    """Write a PNG; the file appears whole or not at all."""
    write_atomically(Path(path), lambda file: figure.savefig(file, format="png", dpi=dpi))


def confusion_figure(scores: Scores, title: str = "Confusion matrix", counted: str | None = None) -> Figure:
    """Rows: true label, shares of the row as colour, weight of the nodes as numbers; ``counted``: what a number is
    of, in the plural, default nodes."""
    names = [str(label) for label in scores.labels]
    size = len(names)
    support = scores.confusion.sum(axis=1, keepdims=True)
    share = np.divide(scores.confusion, support, out=np.zeros_like(scores.confusion), where=support > 0)
    side = min(14.0, max(4.2, 1.6 + 0.68 * size))
    figure = new_figure(side + 1.2, side)
    axes = figure.add_subplot()
    image = axes.imshow(share, cmap="Blues", vmin=0.0, vmax=1.0)
    font = 10 if size <= 8 else 8.5 if size <= 13 else 7
    for i in range(size):
        for j in range(size):
            if scores.confusion[i, j] > 0:
                text = f"{whole_percent(share[i, j])}\n{_count(scores.confusion[i, j])}"
                colour = "white" if share[i, j] > 0.55 else INK
                axes.text(j, i, text, ha="center", va="center", color=colour, fontsize=font)
    _label_axes(axes, names, "predicted label", "true label", font + 0.5)
    counted = counted or ("node weight" if scores.weighted else "nodes")
    axes.set_title(
        f"{title}\naccuracy {percent(scores.accuracy, 1)}, {counted} {_count(scores.nodes)}", fontsize=12
    )
    bar = figure.colorbar(image, ax=axes, shrink=0.75, ticks=[0, 0.25, 0.5, 0.75, 1])
    bar.ax.set_yticklabels(["0 %", "25 %", "50 %", "75 %", "100 %"])
    bar.set_label(f"share of the true label's {counted}")
    bar.outline.set_visible(False)
    return figure


def convergence_figure(history: Sequence[Record], title: str = "Convergence") -> Figure:
    """Proven upper and lower bound of the objective against seconds, and the relative gap below."""
    records = [r for r in history if np.isfinite(r.upper)]
    figure = new_figure(7.5, 5.6)
    top, bottom = figure.subplots(2, 1, sharex=True, height_ratios=[3, 2])
    for axes in (top, bottom):
        quiet_axes(axes)
        axes.grid(True, color="#e6e6e6", linewidth=0.8)
        axes.set_axisbelow(True)
    bottom.set_xlabel("seconds")
    bottom.set_ylabel("relative gap")
    top.set_ylabel("objective")
    if not records:
        top.set_title(f"{title}\nno pass ended", fontsize=12)
        return figure
    seconds = np.array([r.seconds for r in records])
    upper = np.array([r.upper for r in records])
    lower = np.array([r.lower for r in records])
    marker = "o" if len(records) < 40 else None
    top.fill_between(seconds, lower, upper, color=GREY, alpha=0.18, linewidth=0, label="gap")
    top.plot(seconds, upper, color=ORANGE, marker=marker, markersize=3.5, label="upper bound (model)")
    top.plot(seconds, lower, color=BLUE, marker=marker, markersize=3.5, label="lower bound (proof)")
    _readable_scale(top, lower, upper)
    top.legend(frameon=False, fontsize=9)
    gaps = np.array([r.relative_gap for r in records])
    if (gaps > 0).any():
        bottom.semilogy(seconds, np.where(gaps > 0, gaps, np.nan), color=INK, marker=marker, markersize=3.5)
        plain_log_ticks(bottom.yaxis, _percent, gaps[gaps > 0].min(), gaps.max())
    if len(seconds) > 2 and seconds[-1] > 50 * max(seconds[0], 1e-3):
        bottom.set_xscale("log")
        plain_log_ticks(bottom.xaxis, lambda value: f"{value:g}", seconds.min(), seconds.max())
    top.set_title(f"{title}\nrelative gap {gap_percent(gaps[-1])} after {seconds[-1]:.3g} s", fontsize=12)
    return figure


def weights_figure(
    pairwise: FloatArray,
    classes: AnyArray,
    edge_names: Sequence[str],
    most: int = 6,
    title: str = "Pairwise weights",
) -> Figure:
    """Heat maps of the pairwise weights, one per edge feature, the ``most`` strongest features first.

    Rows are labels of an edge's tail, columns labels of its head. All maps share one colour scale; exact
    zeros stay blank.
    """
    names = [str(label) for label in classes.tolist()]
    strength = np.abs(pairwise).max(axis=(0, 1), initial=0.0)
    shown = [int(d) for d in np.argsort(-strength, kind="stable")[:most] if strength[d] > 0]
    title = f"{title}\n{np.count_nonzero(pairwise):,} of {pairwise.size:,} weights are not zero"
    if len(shown) < np.count_nonzero(strength):
        title += f"; here the {len(shown)} strongest of {len(strength)} edge features"
    if not shown:
        figure = new_figure(5.0, 2.0)
        figure.suptitle(title, fontsize=12)
        return figure
    columns = min(3, len(shown))
    rows = -(-len(shown) // columns)
    side = min(6.0, max(2.6, 1.3 + 0.27 * len(names)))
    figure = new_figure(side * columns + 1.4, side * rows + 0.9)
    grid = figure.subplots(rows, columns, squeeze=False)
    engine: Any = figure.get_layout_engine()
    engine.set(h_pad=0.08, w_pad=0.06)
    limit = float(strength.max())
    signed = bool((pairwise < 0).any())
    image: Any = None
    for axes, d in zip(grid.flat, shown, strict=False):
        values = np.ma.masked_equal(pairwise[:, :, d], 0.0)
        image = axes.imshow(
            values, cmap="RdBu_r" if signed else "viridis_r", vmin=-limit if signed else 0.0, vmax=limit
        )
        axes.set_title(_shorten(edge_names[d]), fontsize=10)
        _label_axes(axes, names, "", "", 9 if len(names) <= 8 else 7)
    for axes in list(grid.flat)[len(shown) :]:
        axes.set_visible(False)
    figure.supxlabel("label of the head", fontsize=10)
    figure.supylabel("label of the tail", fontsize=10)
    figure.suptitle(title, fontsize=12)
    bar = figure.colorbar(image, ax=grid, shrink=0.8, label="weight (blank: exactly zero)")
    bar.outline.set_visible(False)
    return figure


def _label_axes(axes: Any, names: list[str], x: str, y: str, font: float) -> None:
    short = [_shorten(n, 16) for n in names]
    turn = max(len(n) for n in short) > 3
    axes.set_xticks(range(len(names)), short, rotation=90 if turn else 0, fontsize=font)
    axes.set_yticks(range(len(names)), short, fontsize=font)
    axes.set_xticks(np.arange(0.5, len(names) - 1), minor=True)
    axes.set_yticks(np.arange(0.5, len(names) - 1), minor=True)
    axes.grid(which="minor", color="#ededed", linewidth=0.8)
    axes.tick_params(which="both", length=0)
    axes.set_xlabel(x)
    axes.set_ylabel(y)
    for spine in axes.spines.values():
        spine.set_color("#d0d0d0")


def quiet_axes(axes: Any) -> None:
    axes.spines[["top", "right"]].set_visible(False)
    axes.spines[["left", "bottom"]].set_color("#b0b0b0")
    axes.tick_params(color="#b0b0b0")


def _readable_scale(axes: Any, lower: FloatArray, upper: FloatArray) -> None:
    """Logarithmic if the bounds are positive and far apart; else linear, without the first wild values."""
    if lower.min() > 0 and upper.max() > 30 * lower.min():
        axes.set_yscale("log")
        return
    final = max(float(upper[-1]), 0.0)
    bottom = max(float(lower.min()), -0.5 * final)
    top = min(float(upper.max()), 4.0 * final)
    if top > bottom:
        margin = 0.04 * (top - bottom)
        axes.set_ylim(bottom - margin, top + margin)


def plain_log_ticks(axis: Any, text: Callable[[float], str], low: float, high: float) -> None:
    """Ticks of a logarithmic axis as plain numbers, at 1, 2, 5 times the powers of ten where they are few."""
    from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

    subs = (1.0, 2.0, 5.0) if high < 150 * low else (1.0,)
    axis.set_major_locator(LogLocator(base=10, subs=subs))
    axis.set_major_formatter(FuncFormatter(lambda value, _: text(value)))
    axis.set_minor_formatter(NullFormatter())


def _percent(value: float) -> str:
    return f"{100 * value:.3g} %"


def _count(value: float) -> str:
    return f"{value:,.0f}" if value == round(value) or value >= 1000 else f"{value:.3g}"


def _shorten(text: str, most: int = 32) -> str:
    return text if len(text) <= most else text[: most - 1] + "…"

"""Local search on grids without a list of edges: small windows are solved given all pixels around them."""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import islice, pairwise

import numpy as np

from gapcut.engines import Deadline
from gapcut.inference.energy import Energy
from gapcut.inference.grids import Grid
from gapcut.inference.methods.expansion import move
from gapcut.inference.methods.parts import Known, is_closed
from gapcut.inference.methods.trees import Forests
from gapcut.inference.methods.trws import trws
from gapcut.inference.progress import report
from gapcut.typing import FloatArray, IntArray

ENTRIES = 400_000
"""Of the tables of a window's edges, about."""

MOST_SIDE, LEAST_SIDE = 64, 8

ROUNDS = 10
"""Of expanding every label in a window."""

TREE_EFFORT = 0.02
"""Of the search by forests in a window."""


def improve_windows(
    energy: Energy, known: Known, clock: Deadline, effort: float, passes: int | None = 2
) -> Known:
    """What is known with a labeling that windows have made better.

    A window is solved by TRW-S, and if its gap stays open, by expansions and forests from the better labeling. Windows
    tile the image so many times, first from its corner, then moved by half their side, then at random; ``passes`` is
    None: until the clock has run out. Only better labelings are taken.
    """
    grid = energy.pixels
    assert grid is not None
    height, width, n_labels = grid.shape
    side = int(min(max(math.sqrt(ENTRIES / (2 * n_labels**2)), LEAST_SIDE), MOST_SIDE))
    unary = energy.unaries().reshape(grid.shape)
    labels = known.labels.reshape(height, width).copy()
    for number, (top, left) in enumerate(islice(_shifts(side), passes)):
        changed = False
        for rows in _spans(height, side, top):
            for columns in _spans(width, side, left):
                if clock.left == 0.0:
                    return known.better(energy, labels.ravel(), -np.inf)
                window = _window(grid, unary, labels, rows, columns)
                current = labels[rows, columns].ravel()
                better = _solved(window, current, clock, effort, number)
                if better is not None:
                    labels[rows, columns] = better.reshape(labels[rows, columns].shape)
                    changed = True
        if changed:
            known = known.better(energy, labels.ravel(), -np.inf)
            report(clock, known.labels, known.bound)
        if is_closed(energy, known):
            break
    return known


def _shifts(side: int) -> Iterator[tuple[int, int]]:
    """Where windows begin: at the corner, half a window from it, then anywhere."""
    rng = np.random.default_rng(0)
    yield 0, 0
    yield side // 2, side // 2
    while True:
        top, left = rng.integers(0, side, 2).tolist()
        yield top, left


def _spans(size: int, side: int, first: int) -> list[slice]:
    """Intervals of that length that cover [0, size), shorter ones at both ends."""
    cuts = [0, *range(first or side, size, side), size]
    return [slice(a, b) for a, b in pairwise(cuts)]


def _window(grid: Grid, unary: FloatArray, labels: IntArray, rows: slice, columns: slice) -> Energy:
    """The energy of these pixels, given the labels around them."""
    costs = unary[rows, columns].copy()
    top, bottom, left, right = rows.start, rows.stop, columns.start, columns.stop
    height, width, _ = grid.shape

    def weights(given: FloatArray | None, r: slice | int, c: slice | int) -> FloatArray | float:
        return 1.0 if given is None else given[r, c][..., None]

    if top > 0:
        costs[0] += weights(grid.down, top - 1, columns) * grid.table[labels[top - 1, columns]]
    if bottom < height:
        costs[-1] += weights(grid.down, bottom - 1, columns) * grid.table[:, labels[bottom, columns]].T
    if left > 0:
        costs[:, 0] += weights(grid.right, rows, left - 1) * grid.table[labels[rows, left - 1]]
    if right < width:
        costs[:, -1] += weights(grid.right, rows, right - 1) * grid.table[:, labels[rows, right]].T
    return Energy.grid(
        costs,
        grid.table,
        right=None if grid.right is None else grid.right[rows, left : right - 1],
        down=None if grid.down is None else grid.down[top : bottom - 1, columns],
    )


def _solved(window: Energy, current: IntArray, clock: Deadline, effort: float, seed: int) -> IntArray | None:
    """Better labels of a window, if any are found."""
    known = Known.of(window, current, -np.inf)
    value = known.value
    found = trws(window, Deadline(clock.left), escape=False)
    known = known.better(window, found.labels, found.bound)
    if not is_closed(window, known):
        labels, _ = move(window, clock, window.check_labels(known.labels), [], ROUNDS)
        known = known.better(window, labels, -np.inf)
        forests, start = Forests(window, seed), window.check_labels(known.labels)
        labels, _ = forests.improve(start, Deadline(None), TREE_EFFORT * effort)
        known = known.better(window, labels, -np.inf)
    return known.labels if known.value < value - 1e-12 * abs(value) else None

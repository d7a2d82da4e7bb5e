"""Grids of pixels: nodes row by row, edges between neighbours that share tables."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from gapcut import _core
from gapcut.inference.packing import as_floats
from gapcut.typing import FloatArray, IntArray

LEAST_ENTRIES = 500_000
"""Table entries of all edges: smaller grids get a list of edges, for which there are more methods."""

LEAST, MOST = 1e-15, 1e15
"""Between which entries must lie that messages in float32 are to be made of."""


@dataclass(frozen=True)
class Grid:
    """The edges of a grid, each with its right neighbour and with the one below: ``table`` (K, K) times a weight.

    ``shape`` (H, W, K); ``right`` (H, W - 1) and ``down`` (H - 1, W) are weights >= 0, None where all are 1.
    """

    shape: tuple[int, int, int]
    table: FloatArray
    right: FloatArray | None
    down: FloatArray | None

    @property
    def n_edges(self) -> int:
        """E."""
        height, width, _ = self.shape
        return height * (width - 1) + (height - 1) * width

    @property
    def largest_weight(self) -> float:
        """Of an edge."""
        weights = [float(w.max(initial=0.0)) for w in (self.right, self.down) if w is not None]
        return max(weights if len(weights) == 2 else [1.0, *weights])

    @property
    def widest(self) -> float:
        """The largest entry of an edge."""
        return float(self.table.max()) * self.largest_weight

    @property
    def listed_entries(self) -> int:
        """Of the tables that a list of edges needs: edges of one weight share theirs."""
        weights = [w.ravel() for w in (self.right, self.down) if w is not None]
        distinct = np.unique(np.concatenate(weights)).size if weights else 0
        return (distinct + (len(weights) < 2)) * self.table.size

    def implicit(self, unary: FloatArray) -> bool:
        """Whether methods for grids without a list of edges take it, and it is worth while."""
        entries = self.n_edges * self.table.size
        if min(self.shape) < 2 or entries <= LEAST_ENTRIES or not np.isfinite(self.table).all():
            return False
        low, high, most = float(unary.min()), float(unary.max()), self.widest
        return (
            float(self.table.min()) == 0.0
            and max(most, high - low) > LEAST
            and max(most, high, -low, float(self.table.max()), self.largest_weight) < MOST
            and all(_none_tiny(x) for x in (self.table, self.right, self.down) if x is not None)
        )

    def native(self, unary: FloatArray) -> _core.Grid:
        """The core's view of it with these (V K,) unaries."""
        return _core.Grid(unary.reshape(self.shape), self.table, self.right, self.down)

    def edges(self) -> IntArray:
        """(E, 2) each pixel with its right neighbour, row by row, then each with the one below."""
        height, width, _ = self.shape
        node = np.arange(height * width, dtype=np.int64).reshape(height, width)
        right = np.stack([node[:, :-1], node[:, 1:]], axis=-1).reshape(-1, 2)
        below = np.stack([node[:-1], node[1:]], axis=-1).reshape(-1, 2)
        return np.concatenate([right, below])

    def tables(self) -> Any:
        """As ``Energy`` takes them: one that all edges share, or a list, one object for equal weights."""
        if self.right is None and self.down is None:
            return self.table
        height, width, _ = self.shape
        across = np.ones((height, width - 1)) if self.right is None else self.right
        below = np.ones((height - 1, width)) if self.down is None else self.down
        distinct, which = np.unique(np.concatenate([across.ravel(), below.ravel()]), return_inverse=True)
        finite = np.where(self.table < np.inf, self.table, 0.0)  # what is forbidden stays so at any weight
        scaled = [np.where(self.table < np.inf, finite * weight, np.inf) for weight in distinct.tolist()]
        return [scaled[i] for i in which.tolist()]


def make_grid(
    unary: ArrayLike, pairwise: ArrayLike, right: ArrayLike | None, down: ArrayLike | None
) -> tuple[Grid, FloatArray]:
    """A grid and its (H W, K) unaries; see ``Energy.grid``."""
    costs = as_floats(unary, "unary")
    if costs.ndim != 3:
        raise ValueError(f"unary has shape {costs.shape}, expected (height, width, labels)")
    height, width, n_labels = costs.shape
    table = as_floats(pairwise, "pairwise")
    if table.ndim == 0:
        table = np.where(np.eye(n_labels) > 0, 0.0, table)
    if table.shape != (n_labels, n_labels):
        raise ValueError(f"pairwise has shape {table.shape}, expected a number or {(n_labels, n_labels)}")
    grid = Grid(
        (height, width, n_labels),
        table,
        _weights(right, "right", (height, max(width - 1, 0))),
        _weights(down, "down", (max(height - 1, 0), width)),
    )
    return grid, costs.reshape(-1, n_labels)


def _weights(given: ArrayLike | None, name: str, shape: tuple[int, int]) -> FloatArray | None:
    if given is None:
        return None
    weights = as_floats(given, name)
    if weights.shape != shape:
        raise ValueError(f"{name} has shape {weights.shape}, expected {shape}")
    if not (np.isfinite(weights) & (weights >= 0)).all():
        raise ValueError(f"{name} must hold finite numbers >= 0")
    return weights


def _none_tiny(x: FloatArray) -> bool:
    """No entry is so small that a product with it could lose digits to underflow."""
    return float(np.min(x, where=x > 0, initial=1.0)) > 1e-100

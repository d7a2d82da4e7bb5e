"""Grids of pixels: nodes row by row, edges between neighbours that share tables."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from gapcut.inference.packing import as_floats
from gapcut.typing import FloatArray, IntArray


def grid_arrays(
    unary: ArrayLike, pairwise: ArrayLike, right: ArrayLike | None, down: ArrayLike | None
) -> tuple[FloatArray, IntArray, Any]:
    """(H W, K) unaries, (E, 2) edges and tables, as ``Energy`` takes them; see ``Energy.grid``."""
    costs = as_floats(unary, "unary")
    if costs.ndim != 3:
        raise ValueError(f"unary has shape {costs.shape}, expected (height, width, labels)")
    height, width, n_labels = costs.shape
    table = as_floats(pairwise, "pairwise")
    if table.ndim == 0:
        table = np.where(np.eye(n_labels) > 0, 0.0, table)
    if table.shape != (n_labels, n_labels):
        raise ValueError(f"pairwise has shape {table.shape}, expected a number or {(n_labels, n_labels)}")
    edges = grid_edges(height, width)
    if right is None and down is None:
        return costs.reshape(-1, n_labels), edges, table
    weights = np.concatenate(
        [
            _weights(right, "right", (height, max(width - 1, 0))),
            _weights(down, "down", (max(height - 1, 0), width)),
        ]
    )
    distinct, which = np.unique(weights, return_inverse=True)
    finite = np.where(table < np.inf, table, 0.0)  # what is forbidden stays so at any weight
    scaled = [np.where(table < np.inf, finite * weight, np.inf) for weight in distinct.tolist()]
    return costs.reshape(-1, n_labels), edges, [scaled[i] for i in which.tolist()]


def _weights(given: ArrayLike | None, name: str, shape: tuple[int, int]) -> FloatArray:
    """Flat, 1 where none are given."""
    weights = np.ones(shape) if given is None else as_floats(given, name)
    if weights.shape != shape:
        raise ValueError(f"{name} has shape {weights.shape}, expected {shape}")
    if not (np.isfinite(weights) & (weights >= 0)).all():
        raise ValueError(f"{name} must hold finite numbers >= 0")
    return weights.ravel()


def grid_edges(height: int, width: int) -> IntArray:
    """(E, 2) each pixel with its right neighbour, row by row, then each with the one below."""
    node = np.arange(height * width, dtype=np.int64).reshape(height, width)
    right = np.stack([node[:, :-1], node[:, 1:]], axis=-1).reshape(-1, 2)
    below = np.stack([node[:-1], node[1:]], axis=-1).reshape(-1, 2)
    return np.concatenate([right, below])

"""Label pairs that share their weights."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np

from gapcut.typing import FloatArray, Int32Array, IntArray


@dataclass(frozen=True, eq=False)
class Ties:
    """Label pairs with one number in ``pairs`` (K K,) share their weights.

    ``place`` (n,): which of the ``count`` weights each coordinate in use has; ``first`` (count,): its first coordinate.
    Weights are in the order of these.
    """

    pairs: Int32Array
    place: IntArray
    first: IntArray

    @classmethod
    def of(cls, pairs: Int32Array, numbers: IntArray) -> Self:
        """``numbers`` of the coordinates in use, as :func:`coordinate_numbers` has them."""
        _, first, inverse = np.unique(numbers, return_index=True, return_inverse=True)
        order = np.argsort(first)
        rank = np.empty_like(order)
        rank[order] = np.arange(len(order))
        return cls(pairs, rank[inverse], first[order])

    @property
    def count(self) -> int:
        return len(self.first)

    @property
    def most(self) -> int:
        """Coordinates of one weight, at most."""
        return int(np.bincount(self.place).max(initial=1))

    def sums(self, rows: FloatArray) -> FloatArray:
        """(..., count) from (..., n): coordinates of one weight added up, in their order."""
        if not self.count:
            return np.ascontiguousarray(rows)
        order = np.argsort(self.place, kind="stable")
        starts = np.searchsorted(self.place[order], np.arange(self.count))
        return np.ascontiguousarray(np.add.reduceat(rows[..., order], starts, axis=-1))


def coordinate_numbers(pairs: Int32Array, unary: int, edge_dim: int, full_dim: int) -> IntArray:
    """(full_dim,) numbers, equal where coordinates of ``[unary | pairwise | cliques]`` share a weight."""
    numbers = np.arange(full_dim, dtype=np.int64)
    tied = unary + edge_dim * pairs[:, None].astype(np.int64) + np.arange(edge_dim)
    numbers[unary : unary + tied.size] = tied.ravel()
    return numbers

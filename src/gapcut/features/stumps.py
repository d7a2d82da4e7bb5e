"""Features as 0/1 answers to "at most this much?"."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Self

import numpy as np

from gapcut.features.base import Columns, Step, choice
from gapcut.features.block import Block
from gapcut.features.passes import Passes
from gapcut.features.ranges import Ranges, Side
from gapcut.features.standardize import refuse_huge
from gapcut.typing import FloatArray, IntArray

MOST_BYTES = 256 << 20
"""Of columns that are sorted in one pass over the training graphs; one column may need more."""


class QuantileStumps(Step):
    """Each node or edge column ``x`` becomes indicators ``[x <= t_b]``.

    The ``t_b`` are up to ``n_thresholds`` training quantiles.

    Anand et al. (2012) use 10, for nodes and for edges. Threshold b of B is the value at quantile
    ``(b - 1/2) / B`` over all training rows; equal ones are merged, and the largest value is no threshold
    (its indicator would be constant). Constant columns vanish. Sparse node features become dense.
    """

    settings = ("n_thresholds", "of")
    learned = ("source", "threshold")

    source: IntArray
    """(D',) input column behind each output column."""
    threshold: FloatArray
    """(D',) its threshold."""

    def __init__(self, n_thresholds: int = 10, of: str = "edge") -> None:
        if not isinstance(n_thresholds, int) or isinstance(n_thresholds, bool) or n_thresholds < 1:
            raise ValueError(f"n_thresholds must be a positive whole number, not {n_thresholds!r}")
        self.n_thresholds = n_thresholds
        self.of = choice("of", of, ("node", "edge"))

    def fit(self, blocks: Passes, columns: Columns) -> Self:
        source: list[int] = []
        threshold: list[float] = []
        width = len(self._names(columns))
        rows = blocks.rows(self._side)
        at_once = max(1, MOST_BYTES // (8 * max(1, rows)))
        for start in range(0, width if rows else 0, at_once):
            some = slice(start, min(width, start + at_once))
            for i, column in enumerate(self._columns(blocks, some), start):
                values = np.sort(column)
                cuts = np.unique(values[_quantile_positions(len(values), self.n_thresholds)])
                cuts = cuts[cuts < values[-1]]
                source += [i] * len(cuts)
                threshold += cuts.tolist()
        self.source = np.array(source, dtype=np.int64)
        self.threshold = np.array(threshold, dtype=np.float64)
        return self

    @property
    def _side(self) -> Side:
        return "node" if self.of == "node" else "edge"

    def ranges_after(self, known: Ranges) -> Ranges:
        return known.without(self._side)

    def transform(self, block: Block) -> Block:
        answers = (self._table(block)[:, self.source] <= self.threshold).astype(np.float64)
        if self.of == "node":
            return block.with_features(node_features=answers)
        return block.with_features(edge_features=answers)

    def rename(self, columns: Columns) -> Columns:
        old = self._names(columns)
        new = tuple(f"{old[i]} <= {t:.4g}" for i, t in zip(self.source, self.threshold, strict=True))
        return replace(columns, node=new) if self.of == "node" else replace(columns, edge=new)

    def check(self, columns: Columns) -> None:
        self._demand_columns("source", len(self._names(columns)), "threshold")

    def _names(self, columns: Columns) -> tuple[str, ...]:
        return columns.node if self.of == "node" else columns.edge

    def _columns(self, blocks: Iterable[Block], some: slice) -> FloatArray:
        """Some columns of all rows, one below the other."""
        return np.concatenate([self._table(block)[:, some].T for block in blocks], axis=1)

    def _table(self, block: Block) -> FloatArray:
        if self.of == "edge":
            return np.asarray(block.edge_features)
        if not block.is_sparse:
            return np.asarray(block.node_features)
        refuse_huge(block.n_nodes, block.node_dim, "a graph's node features", 'node_lift="none"')
        return np.asarray(block.node_features.toarray())


def _quantile_positions(count: int, levels: int) -> IntArray:
    """Where in so many sorted values the quantiles ``(b - 1/2) / levels`` are, free of rounding."""
    odd = 2 * np.arange(levels, dtype=np.int64) + 1
    return np.asarray(-(-odd * count // (2 * levels)) - 1)

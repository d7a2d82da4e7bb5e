"""Put node feature columns on a common scale."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any, Self

import numpy as np

from gapcut.features.base import Columns, Step, choice
from gapcut.features.block import Block, graph_sums
from gapcut.features.passes import Passes, Table
from gapcut.features.ranges import Ranges
from gapcut.late import is_sparse
from gapcut.late import sparse as sp
from gapcut.typing import FloatArray, IntArray

DENSE_LIMIT = 2 << 30
"""Bytes of node features that sparse input may become by being centred."""


class NodeStandardizer(Step):
    """Node columns that vary in training, centred and scaled (``mode=True``) or only scaled (``mode="scale"``).

    ``True``: mean 0 and standard deviation 1 over all training nodes; sparse input becomes dense. ``"scale"``: largest
    absolute value 1 in training; sparse input stays sparse. Columns that are constant in training are dropped; with
    ``keep_constant`` (there is no intercept to stand for them) and ``"scale"`` only columns of zeros are.

    Sparse and dense input give the same numbers.
    """

    settings = ("mode", "keep_constant")
    learned = ("kept", "peak", "mean", "deviation")

    kept: IntArray
    peak: FloatArray
    mean: FloatArray
    deviation: FloatArray

    def __init__(self, mode: bool | str = True, keep_constant: bool = False) -> None:
        self.mode = choice("standardize", mode, (True, "scale"))
        self.keep_constant = choice("keep_constant", keep_constant, (True, False))

    def fit(self, blocks: Passes, columns: Columns) -> Self:
        tables = blocks.tables(_raw) if self.mode is True else ()
        ranges = blocks.ranges("node")
        if self.mode is True and blocks.sparse:
            refuse_huge(blocks.rows("node"), len(columns.node), "the training graphs' node features")
        drop = ranges.zero if self.mode == "scale" and self.keep_constant else ranges.constant
        self.kept = np.flatnonzero(~drop).astype(np.int64)
        self.peak = ranges.peak[self.kept]
        self.mean, self.deviation = np.zeros(len(self.kept)), np.ones(len(self.kept))
        if self.mode is True:
            self._fit_moments(tables, max(1, blocks.rows("node")))
        return self

    def ranges_after(self, known: Ranges) -> Ranges:
        return known.without("node")

    def _fit_moments(self, tables: Iterable[Table], rows: int) -> None:
        """Mean and deviation of the columns divided by their peak, in two passes: neither can overflow."""
        total, squares = np.zeros(len(self.kept)), np.zeros(len(self.kept))
        for features, offset in tables:
            graph_sums(self._scaled(features), offset, total)
        self.mean = total / rows
        for features, offset in tables:
            graph_sums((self._scaled(features) - self.mean) ** 2, offset, squares)
        self.deviation = np.sqrt(squares / rows)

    def transform(self, block: Block) -> Block:
        if self.mode == "scale":
            return block.with_features(node_features=self._scaled(block.node_features))
        if block.is_sparse:
            refuse_huge(block.n_nodes, block.node_dim, "a graph's node features")
        with np.errstate(over="ignore"):
            scaled = self._scaled(block.node_features)
            scaled -= self.mean
            scaled /= self.deviation
        return block.with_features(node_features=scaled)

    def _scaled(self, features: Any) -> Any:
        """Kept columns over their peak; dense if the mode centres them."""
        sparse: bool = is_sparse(features)
        with np.errstate(over="ignore"):
            if not sparse:
                return features[:, self.kept] / self.peak
            if self.mode is True:
                return features.toarray()[:, self.kept] / self.peak
            scaled = sp.csr_array(features[:, self.kept], copy=True)
            scaled.data = scaled.data / self.peak[scaled.indices]
            return scaled

    def rename(self, columns: Columns) -> Columns:
        return replace(columns, node=tuple(columns.node[i] for i in self.kept))

    def check(self, columns: Columns) -> None:
        self._demand_columns("kept", len(columns.node), "peak", "mean", "deviation")
        self._demand(bool((self.peak > 0).all() and (self.deviation > 0).all()), "a scale is not positive")


def _raw(block: Block) -> Table:
    return block.node_features, block.node_offset


def refuse_huge(rows: int, columns: int, what: str, remedy: str = 'standardize="scale"') -> None:
    """Raise ValueError if so much sparse input would become too large dense."""
    size = 8 * rows * columns
    if size > DENSE_LIMIT:
        raise ValueError(
            f"centring would make {what} dense, {rows} x {columns} = {size / 2**30:.1f} GiB: "
            f"use {remedy}, which keeps them sparse"
        )

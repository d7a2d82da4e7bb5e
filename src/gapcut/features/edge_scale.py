"""Put edge feature columns on a common scale without moving their zero."""

from __future__ import annotations

from dataclasses import replace
from typing import Self

import numpy as np

from gapcut.features.base import Columns, Step, choice
from gapcut.features.block import Block
from gapcut.features.passes import Passes
from gapcut.features.ranges import ColumnRanges, Ranges
from gapcut.typing import FloatArray, IntArray


class EdgeScaler(Step):
    """Edge columns that vary in training, divided by their largest absolute value in training.

    Signs stay as they are. Constant columns are dropped, since the constant edge feature stands for them;
    with ``keep_constant`` (there is none) only columns of zeros are.
    """

    settings = ("keep_constant",)
    learned = ("kept", "peak")

    kept: IntArray
    peak: FloatArray

    def __init__(self, keep_constant: bool = False) -> None:
        self.keep_constant = choice("keep_constant", keep_constant, (True, False))

    def fit(self, blocks: Passes, columns: Columns) -> Self:
        ranges = blocks.ranges("edge")
        self.kept = np.flatnonzero(~(ranges.zero if self.keep_constant else ranges.constant)).astype(np.int64)
        self.peak = ranges.peak[self.kept]
        return self

    def ranges_after(self, known: Ranges) -> Ranges:
        """Rounding keeps the order of quotients, so the extremes are those of the columns divided."""
        ends = known.of["edge"]
        assert ends is not None
        scaled = ColumnRanges(ends.low[self.kept] / self.peak, ends.high[self.kept] / self.peak)
        return replace(known, of={**known.of, "edge": scaled})

    def transform(self, block: Block) -> Block:
        with np.errstate(over="ignore"):
            return block.with_features(edge_features=block.edge_features[:, self.kept] / self.peak)

    def rename(self, columns: Columns) -> Columns:
        return replace(columns, edge=tuple(columns.edge[i] for i in self.kept))

    def check(self, columns: Columns) -> None:
        self._demand_columns("kept", len(columns.edge), "peak")
        self._demand(bool((self.peak > 0).all()), "a scale is not positive")

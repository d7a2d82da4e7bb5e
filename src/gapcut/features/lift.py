"""Make signed edge features non-negative without losing information."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import replace
from typing import Self

import numpy as np

from gapcut.features.base import Columns, Step, choice
from gapcut.features.block import Block
from gapcut.features.ranges import ColumnRanges
from gapcut.typing import IntArray

_log = logging.getLogger(__name__)


class SignLift(Step):
    """Signed columns ``x`` become ``max(x, 0)`` ("pos") and ``max(-x, 0)`` ("neg"); halves never seen are
    left out.

    ``columns="auto"`` lifts the columns that are negative somewhere in training, ``"all"`` every column.

    A column that is not lifted passes through unchanged, also where it turns negative later: the score stays
    linear in it, which prediction allows. (Clipping it would hide that the data changed.) The names are
    logged as a warning, and a learner that needs features >= 0 refuses such a graph.
    """

    settings = ("columns",)
    learned = ("source", "part")

    source: IntArray
    """(De',) input column behind each output column."""
    part: IntArray
    """(De',) +1: positive part, -1: negative part, 0: the column itself."""

    def __init__(self, columns: str = "auto") -> None:
        self.columns = choice("edge_lift", columns, ("auto", "all"))

    def fit(self, blocks: Sequence[Block], columns: Columns) -> Self:
        ranges = ColumnRanges.of((b.edge_features for b in blocks), len(columns.edge))
        pairs: list[tuple[int, int]] = []
        for i, (low, high) in enumerate(zip(ranges.low, ranges.high, strict=True)):
            if self.columns == "auto" and low >= 0:
                pairs.append((i, 0))
                continue
            pairs += [(i, 1)] * bool(high > 0) + [(i, -1)] * bool(low < 0)
        self.source = np.array([i for i, _ in pairs], dtype=np.int64)
        self.part = np.array([sign for _, sign in pairs], dtype=np.int64)
        return self

    def transform(self, block: Block) -> Block:
        values = block.edge_features[:, self.source]
        whole = self.part == 0
        lifted = np.where(whole, values, np.maximum(values * np.where(whole, 1, self.part), 0.0))
        if (lifted < 0).any():
            found = sorted(set(self.source[(lifted < 0).any(axis=0)].tolist()))
            _log.warning(
                "%s: edge features in columns %s are negative, which they never were in training",
                block.owners(block.edge_offset, np.any(lifted < 0, axis=1)),
                ", ".join(map(str, found)),
            )
        return block.with_features(edge_features=lifted)

    def rename(self, columns: Columns) -> Columns:
        suffix = {0: "", 1: " (pos)", -1: " (neg)"}
        names = (columns.edge[i] + suffix[int(p)] for i, p in zip(self.source, self.part, strict=True))
        return replace(columns, edge=tuple(names))

    def check(self, columns: Columns) -> None:
        self._demand_columns("source", len(columns.edge), "part")
        self._demand(bool(np.isin(self.part, (-1, 0, 1)).all()), "part is not a sign")

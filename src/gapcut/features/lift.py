"""Make signed edge features non-negative without losing information."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import replace
from typing import Self

import numpy as np

from gapcut.features.base import Columns, Step, choice
from gapcut.features.block import Block
from gapcut.features.passes import Passes
from gapcut.typing import FloatArray, IntArray

_log = logging.getLogger(__name__)
_SUFFIX = {0: "", 1: " (pos)", -1: " (neg)"}


def halves(low: float, high: float, lift: str) -> list[int]:
    """The parts of a column with this range that are kept: +1 positive, -1 negative, 0 the column itself."""
    if lift == "none" or (lift == "auto" and low >= 0):
        return [0]
    return [1] * bool(high > 0) + [-1] * bool(low < 0)


def lifted(values: FloatArray, part: IntArray) -> FloatArray:
    """The columns, or those of their halves that ``part`` names."""
    return np.where(part == 0, values, np.maximum(values * np.where(part == 0, 1, part), 0.0))


def names_of(names: Sequence[str], source: IntArray, part: IntArray) -> tuple[str, ...]:
    """Names of the columns ``source``, of these parts."""
    return tuple(names[i] + _SUFFIX[int(p)] for i, p in zip(source, part, strict=True))


class SignLift(Step):
    """Signed columns ``x`` become ``max(x, 0)`` ("pos") and ``max(-x, 0)`` ("neg"); halves never seen are left out.

    ``columns="auto"`` lifts the columns that are negative somewhere in training, ``"all"`` every column.

    A column that is not lifted passes through unchanged, also where it turns negative later: the score stays linear in
    it, which prediction allows. (Clipping it would hide that the data changed.) The names are logged as a warning, and
    a learner that needs features >= 0 refuses such a graph.
    """

    settings = ("columns",)
    learned = ("source", "part")

    source: IntArray
    """(De',) input column behind each output column."""
    part: IntArray
    """(De',) +1: positive part, -1: negative part, 0: the column itself."""

    def __init__(self, columns: str = "auto") -> None:
        self.columns = choice("edge_lift", columns, ("auto", "all"))

    def fit(self, blocks: Passes, columns: Columns) -> Self:
        ranges = blocks.ranges("edge")
        ends = enumerate(zip(ranges.low, ranges.high, strict=True))
        pairs = [(i, part) for i, (low, high) in ends for part in halves(low, high, self.columns)]
        self.source, self.part = np.array(pairs, dtype=np.int64).reshape(-1, 2).T.copy()
        return self

    def transform(self, block: Block) -> Block:
        values = lifted(block.edge_features[:, self.source], self.part)
        if (values < 0).any():
            found = sorted(set(self.source[(values < 0).any(axis=0)].tolist()))
            _log.warning(
                "%s: edge features in columns %s are negative, which they never were in training",
                block.owners(block.edge_offset, np.any(values < 0, axis=1)),
                ", ".join(map(str, found)),
            )
        return block.with_features(edge_features=values)

    def rename(self, columns: Columns) -> Columns:
        return replace(columns, edge=names_of(columns.edge, self.source, self.part))

    def check(self, columns: Columns) -> None:
        self._demand_columns("source", len(columns.edge), "part")
        self._demand(bool(np.isin(self.part, (-1, 0, 1)).all()), "part is not a sign")

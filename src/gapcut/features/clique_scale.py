"""Clique features made model-ready: one step for all groups, since nothing in it crosses from one to another."""

from __future__ import annotations

import logging
from dataclasses import replace
from typing import Self

import numpy as np

from gapcut.features.base import Columns, Step, choice
from gapcut.features.block import Block, CliqueRows
from gapcut.features.intercept import CONSTANT
from gapcut.features.lift import halves, lifted, names_of
from gapcut.features.passes import Passes
from gapcut.features.ranges import Ranges
from gapcut.typing import FloatArray, IntArray

_log = logging.getLogger(__name__)


class CliqueColumns(Step):
    """Columns of every clique group, treated as those of edges are.

    ``scale``: divided by their largest absolute value in training; columns that are constant there are dropped
    if there is an ``intercept``, columns of zeros in any case. ``lift``: ``"auto"`` splits columns that are
    negative somewhere in training into positive and negative part, ``"all"`` every column, ``"none"`` none.
    ``intercept``: a last column of ones.
    """

    settings = ("scale", "lift", "intercept")
    learned = ("group", "source", "part", "peak")

    group: IntArray
    """(D',) group of each output column but the intercepts; ascending."""
    source: IntArray
    """(D',) its input column in that group."""
    part: IntArray
    """(D',) +1: positive part, -1: negative part, 0: the column itself."""
    peak: FloatArray
    """(D',) what it is divided by."""

    def __init__(self, scale: bool = True, lift: str = "auto", intercept: bool = True) -> None:
        self.scale = choice("scale", scale, (True, False))
        self.lift = choice("lift", lift, ("auto", "all", "none"))
        self.intercept = choice("intercept", intercept, (True, False))

    def fit(self, blocks: Passes, columns: Columns) -> Self:
        found: list[tuple[int, int, int, float]] = []
        for g, ranges in enumerate(blocks.clique_ranges() if columns.cliques else ()):
            drop = ranges.constant if self.intercept else ranges.zero
            for i in range(len(columns.cliques[g])):
                if self.scale and drop[i]:
                    continue
                peak = float(ranges.peak[i]) if self.scale else 1.0
                found += [(g, i, part, peak) for part in halves(ranges.low[i], ranges.high[i], self.lift)]
        table = np.array(found, dtype=np.float64).reshape(-1, 4)
        self.group, self.source, self.part = table[:, :3].astype(np.int64).T
        self.peak = table[:, 3]
        return self

    def ranges_after(self, known: Ranges) -> Ranges:
        return replace(known, cliques=None)

    def transform(self, block: Block) -> Block:
        groups = tuple(
            replace(group, features=self._transformed(block, group, g))
            for g, group in enumerate(block.cliques)
        )
        return block.with_features(cliques=groups)

    def _transformed(self, block: Block, group: CliqueRows, g: int) -> FloatArray:
        own = self.group == g
        with np.errstate(over="ignore"):
            values = lifted(group.features[:, self.source[own]] / self.peak[own], self.part[own])
        if self.lift != "none" and (values < 0).any():
            at = sorted(set(self.source[own][(values < 0).any(axis=0)].tolist()))
            _log.warning(
                "%s: features of clique group %d in columns %s are negative, which they never were in training",
                *(block.owners(group.offset, np.any(values < 0, axis=1)), g, ", ".join(map(str, at))),
            )
        if self.intercept:
            values = np.hstack([values, np.ones((len(values), 1))])
        return values

    def rename(self, columns: Columns) -> Columns:
        renamed = []
        for g, names in enumerate(columns.cliques):
            own = self.group == g
            kept = names_of(names, self.source[own], self.part[own])
            renamed.append((*kept, CONSTANT) if self.intercept else kept)
        return replace(columns, cliques=tuple(renamed))

    def check(self, columns: Columns) -> None:
        sizes = np.array([len(names) for names in columns.cliques], dtype=np.int64)
        same = len({len(getattr(self, name)) for name in self.learned}) == 1
        self._demand(same, "its arrays differ in length")
        self._demand(
            all(a.dtype.kind == "i" for a in (self.group, self.source, self.part)), "an index is no integer"
        )
        legal = (self.group >= 0) & (self.group < len(sizes)) & (np.diff(self.group, prepend=0) >= 0)
        self._demand(bool(legal.all()), "group does not index the clique groups in order")
        within = (self.source >= 0) & (self.source < sizes[self.group])
        self._demand(bool(within.all()), "source does not index the clique columns")
        self._demand(bool(np.isin(self.part, (-1, 0, 1)).all()), "part is not a sign")
        self._demand(bool((self.peak > 0).all()), "a scale is not positive")

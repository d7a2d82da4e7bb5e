"""Column statistics over many graphs, safe for huge, tiny and denormal numbers."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal, TypeAlias

import numpy as np

from gapcut.features.block import Block
from gapcut.late import is_sparse
from gapcut.typing import BoolArray, FloatArray

Side: TypeAlias = Literal["node", "edge"]

_FLAT = 8 * float(np.finfo(np.float64).eps)


@dataclass(frozen=True)
class ColumnRanges:
    """(D,) smallest and largest value of each column over all rows seen; both 0 if there was no row."""

    low: FloatArray
    high: FloatArray

    @classmethod
    def of(cls, tables: Iterable[Any], columns: int) -> ColumnRanges:
        """``tables``: (rows, columns) dense arrays or CSR matrices, in which absent entries are zeros."""
        sofar = _SoFar(columns)
        for table in tables:
            sofar.add(table)
        return sofar.ranges()

    @property
    def peak(self) -> FloatArray:
        """Largest absolute value."""
        return np.maximum(np.abs(self.low), np.abs(self.high))

    @property
    def constant(self) -> BoolArray:
        """Columns that vary by no more than rounding."""
        scale = np.where(self.zero, 1.0, self.peak)  # dividing first keeps the spread from overflowing
        return np.asarray(self.high / scale - self.low / scale <= _FLAT)

    @property
    def zero(self) -> BoolArray:
        return np.asarray(self.peak == 0.0)


class _SoFar:
    """Of tables that come one after the other."""

    def __init__(self, columns: int) -> None:
        self._low, self._high = np.full(columns, np.inf), np.full(columns, -np.inf)

    def add(self, table: Any) -> None:
        if table.shape[0]:
            self._low = np.minimum(self._low, _reduce(table, "min"))
            self._high = np.maximum(self._high, _reduce(table, "max"))

    def ranges(self) -> ColumnRanges:
        unseen = self._low > self._high
        return ColumnRanges(np.where(unseen, 0.0, self._low), np.where(unseen, 0.0, self._high))


@dataclass(frozen=True)
class Ranges:
    """Of all columns of some blocks, None where they are not known (any more); ``rows`` of nodes and edges, and whether
    any node features are ``sparse``."""

    of: Mapping[Side, ColumnRanges | None] = field(default_factory=lambda: {"node": None, "edge": None})
    cliques: tuple[ColumnRanges, ...] | None = None
    rows: Mapping[Side, int] = field(default_factory=dict)
    sparse: bool = False

    @classmethod
    def seen(cls, blocks: Iterable[Block]) -> Ranges:
        """In one pass over at least one block."""
        nodes = edges = None
        groups: list[_SoFar] = []
        rows, sparse = {"node": 0, "edge": 0}, False
        for block in blocks:
            if nodes is None or edges is None:
                nodes, edges = _SoFar(block.node_dim), _SoFar(block.edge_features.shape[1])
                groups = [_SoFar(group.features.shape[1]) for group in block.cliques]
            nodes.add(block.node_features)
            edges.add(block.edge_features)
            for group, rows_of_group in zip(groups, block.cliques, strict=True):
                group.add(rows_of_group.features)
            rows["node"] += block.n_nodes
            rows["edge"] += block.n_edges
            sparse = sparse or block.is_sparse
        assert nodes is not None
        assert edges is not None
        return cls(
            {"node": nodes.ranges(), "edge": edges.ranges()},
            tuple(group.ranges() for group in groups),
            {"node": rows["node"], "edge": rows["edge"]},
            sparse,
        )

    def without(self, *sides: Side) -> Ranges:
        """Columns of these are others now."""
        return replace(self, of={**self.of, **dict.fromkeys(sides)})


def _reduce(table: Any, how: str) -> FloatArray:
    reduced = getattr(table, how)(axis=0)
    return np.asarray(reduced.toarray() if is_sparse(table) else reduced).ravel()

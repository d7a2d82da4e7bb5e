"""The arrays of an energy and the core's views of them; a large grid makes its list of edges only when asked."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np

from gapcut import _core
from gapcut.inference.cliques import PackedCliques
from gapcut.inference.grids import Grid
from gapcut.inference.packing import Pairs, pack_tables
from gapcut.typing import FloatArray, Int32Array, IntArray


class StoredTerms:
    """Nodes, edges as a list or as a grid, cliques."""

    _labels: Int32Array
    _unary_at: IntArray
    _unary: FloatArray
    _cliques: PackedCliques
    _grid: Grid | None

    @cached_property
    def _pairs(self) -> Pairs:
        """Edges and tables; of a grid only made when something asks for them."""
        assert self._grid is not None
        edges = self._grid.edges()
        return Pairs(edges, *pack_tables(self._grid.tables(), edges, self._labels))

    @property
    def _edges(self) -> IntArray:
        return self._pairs.edges

    @property
    def _table_at(self) -> IntArray:
        return self._pairs.table_at

    @property
    def _tables(self) -> FloatArray:
        return self._pairs.tables

    @property
    def pixels(self) -> Grid | None:
        """The grid, if this energy is one without a list of edges."""
        return self._grid

    @cached_property
    def native_grid(self) -> _core.Grid:
        """The core's view of such a grid."""
        assert self._grid is not None
        return self._grid.native(self._unary)

    @cached_property
    def native(self) -> _core.PairwiseEnergy:
        """The core's view of the unary and pairwise terms, for solvers."""
        return _core.PairwiseEnergy(
            self._labels,
            self._unary_at,
            self._unary,
            np.ascontiguousarray(self._edges[:, 0], dtype=np.int32),
            np.ascontiguousarray(self._edges[:, 1], dtype=np.int32),
            self._table_at,
            self._tables,
        )

    @cached_property
    def is_nonnegative(self) -> bool:
        """Whether no entry is below 0."""
        tables = self._tables if self._grid is None else self._grid.table
        return all(float(x.min(initial=0.0)) >= 0.0 for x in (self._unary, tables, self._cliques.tables))

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if not name.startswith("native")}

"""Discrete energies with full tables, checked once and packed for the core."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from gapcut import _core
from gapcut.inference.cliques import Clique, PackedCliques, check_cliques, fold_small, pack_cliques
from gapcut.inference.grids import Grid, make_grid
from gapcut.inference.packing import (
    Pairs,
    as_floats,
    check_edges,
    exact_sum,
    finite_sum,
    first_bad_entry,
    lower_sum,
    pack_tables,
    pack_unaries,
    spans,
)
from gapcut.inference.stored import StoredTerms
from gapcut.typing import FloatArray, Int32Array, IntArray

LARGEST_SUM = 1e307
"""The magnitudes of all finite entries must sum to less than this, so that no sum of terms overflows."""


class Energy(StoredTerms):
    """``U(y) = sum_u unaries[u][y_u] + sum_{e=(u,v)} tables[e][y_u, y_v] + sum_c table_c[y_c]``, to be minimised.

    Entries are finite, or +inf for what is forbidden. Everything is float64; contiguous float64 arrays are not copied,
    so do not change them while the energy is in use. ``ValueError`` names the node or edge of a bad entry.

    Parameters
    ----------
    unaries : (V, K) array, or list of V 1-D arrays
        The lengths of the 1-D arrays are the label counts, which may differ.
    edges : (E, 2) integers
        Edges may repeat, in either direction: their tables add up. No self loops.
    tables : (E, K, K) array, list of E 2-D arrays, or one (K, K) array that all edges share
        A 2-D array is label count of the first node x label count of the second. One that stands in the list many times
        is stored once. May be None where there are no edges.
    cliques : pairs (nodes, table)
        The table has one axis per node, as long as the node's label count. Any number of nodes, each at most once.
        Those over one node are added to its unary, those over two become further edges, after the given ones.
    """

    def __init__(
        self,
        unaries: ArrayLike | Sequence[ArrayLike],
        edges: ArrayLike | None = None,
        tables: ArrayLike | Sequence[ArrayLike] | None = None,
        cliques: Iterable[Any] | None = None,
    ) -> None:
        self._labels, self._unary_at, self._unary = pack_unaries(unaries)
        pairs = check_edges(edges, len(self._labels))
        terms = check_cliques(cliques, self._labels)
        self._cliques = pack_cliques([term for term in terms if len(term[0]) > 2])
        self._grid = None
        self._unary, edge_ends, table_at, entries = fold_small(
            [term for term in terms if len(term[0]) <= 2],
            self._unary_at,
            self._unary,
            pairs,
            *pack_tables(tables, pairs, self._labels),
        )
        self._pairs = Pairs(edge_ends, table_at, entries)
        self._check_sum()

    @classmethod
    def grid(
        cls,
        unary: ArrayLike,
        pairwise: ArrayLike,
        *,
        right: ArrayLike | None = None,
        down: ArrayLike | None = None,
    ) -> Energy:
        """An image: pixel (r, c) is node ``r * width + c``, joined with its right neighbour and with the one below.

        ``unary`` (H, W, K). ``pairwise`` (K, K), the label of the left or upper pixel first; or a number, what unequal
        labels cost (Potts). All edges share it, times their weights >= 0, if given: ``right`` (H, W - 1) and ``down``
        (H - 1, W), such as small ones across a contrast; what is forbidden stays so at weight 0. Edges of equal weight
        share a table. ``solve(...).labels.reshape(H, W)`` is the image.

        Large grids whose entries are finite and whose table's least entry is 0 keep no list of edges until something
        asks for it; methods ``auto`` and ``trws`` do not.
        """
        grid, costs = make_grid(unary, pairwise, right, down)
        packed = pack_unaries(costs)
        if grid.implicit(packed[2]):
            return cls._of_grid(grid, *packed)
        return cls(costs, grid.edges(), grid.tables())

    @classmethod
    def _of_grid(cls, grid: Grid, labels: Int32Array, unary_at: IntArray, unary: FloatArray) -> Energy:
        energy = cls.__new__(cls)
        energy._labels, energy._unary_at, energy._unary = labels, unary_at, unary
        energy._grid, energy._cliques = grid, pack_cliques([])
        return energy

    @classmethod
    def of_arrays(
        cls,
        labels: Int32Array,
        unary_at: IntArray,
        unary: FloatArray,
        edges: IntArray,
        table_at: IntArray,
        tables: FloatArray,
        cliques: PackedCliques,
    ) -> Energy:
        """From arrays as they are kept here; nothing but their sizes is checked."""
        energy = cls.__new__(cls)
        energy._labels, energy._unary_at, energy._unary = labels, unary_at, unary
        energy._grid, energy._pairs = None, Pairs(edges, table_at, tables)
        energy._cliques = cliques
        return energy

    @classmethod
    def checked(cls, *arrays: Any) -> Energy:
        """The same; ``ValueError`` if the entries are too large. They are finite or +inf."""
        energy = cls.of_arrays(*arrays)
        energy._check_sum()
        return energy

    def with_entries(self, unary: FloatArray, tables: FloatArray, cliques: FloatArray) -> Energy:
        """The same nodes, edges and cliques with other entries, in the places where these are kept here."""
        packed = dataclasses.replace(self._cliques, tables=cliques)
        return Energy.of_arrays(
            self._labels, self._unary_at, unary, self._edges, self._table_at, tables, packed
        )

    def with_unaries(self, unary: FloatArray) -> Energy:
        """The same nodes, edges and cliques with other unaries."""
        if self._grid is not None and self._grid.implicit(unary):
            return Energy._of_grid(self._grid, self._labels, self._unary_at, unary)
        return self.with_entries(unary, self._tables, self._cliques.tables)

    def with_terms(self, terms: Sequence[Clique]) -> Energy:
        """With further terms over one or two nodes: unaries are added, pairs become edges after the others."""
        unary, edges, table_at, tables = fold_small(
            terms, self._unary_at, self._unary, self._edges, self._table_at, self._tables
        )
        return Energy.of_arrays(self._labels, self._unary_at, unary, edges, table_at, tables, self._cliques)

    def with_evidence(
        self, fixed: Mapping[int, int] | None = None, soft: Mapping[int, ArrayLike] | None = None
    ) -> Energy:
        """The same energy with what is known of some nodes; nodes and labels keep their numbers.

        ``fixed`` {node: label}: all other labels of the node are forbidden. ``soft`` {node: (K_u,) entries}: added to
        its unary, finite or +inf (minus a log-likelihood, for example). ``ValueError`` names a node that does not exist
        and a label or shape that does not fit.
        """
        unary = self._unary.copy()
        for node, added in (soft or {}).items():
            own = unary[self._span(node)]
            values = as_floats(added, f"soft evidence of node {node}")
            if values.shape != own.shape:
                raise ValueError(
                    f"soft evidence of node {node} has shape {values.shape}, expected {own.shape}"
                )
            if first_bad_entry(values) is not None:
                raise ValueError(f"soft evidence of node {node} must be finite, or +inf to forbid")
            own += values
        for node, label in (fixed or {}).items():
            own = unary[self._span(node)]
            if not isinstance(label, int | np.integer) or not 0 <= label < len(own):
                raise ValueError(f"node {node} cannot have label {label!r}: its labels are 0..{len(own) - 1}")
            kept = own[label]
            own[:] = np.inf
            own[label] = kept
        energy = self.with_unaries(unary)
        if soft:
            energy._check_sum()
        return energy

    def extended(
        self, unaries: Sequence[FloatArray], edges: IntArray, tables: Sequence[FloatArray]
    ) -> Energy:
        """With further nodes after the others, and further edges between any of them, each with its table."""
        labels = np.append(self._labels, np.array([len(u) for u in unaries], dtype=np.int32)).astype(np.int32)
        pairs = check_edges(edges, len(labels))
        table_at, entries = pack_tables(list(tables), pairs, labels)
        return Energy.checked(
            labels,
            np.concatenate([[0], np.cumsum(labels, dtype=np.int64)]),
            np.concatenate([self._unary, *unaries]),
            np.concatenate([self._edges, pairs]),
            np.concatenate([self._table_at, len(self._tables) + table_at]),
            np.concatenate([self._tables, entries]),
            self._cliques,
        )

    def _span(self, node: int) -> slice:
        """Where the unary entries of a node are."""
        if not isinstance(node, int | np.integer) or not 0 <= node < self.n_nodes:
            raise ValueError(f"node {node!r} does not exist: the nodes are 0..{self.n_nodes - 1}")
        return slice(self._unary_at[node], self._unary_at[node + 1])

    @property
    def n_nodes(self) -> int:
        """V."""
        return len(self._labels)

    @property
    def n_edges(self) -> int:
        """E, repeated edges counted."""
        return len(self._edges) if self._grid is None else self._grid.n_edges

    @property
    def n_cliques(self) -> int:
        """C, terms over three nodes and more."""
        return len(self._cliques)

    @property
    def cliques(self) -> PackedCliques:
        """The terms over three nodes and more."""
        return self._cliques

    @property
    def n_labels(self) -> IntArray:
        """(V,) label counts."""
        return self._labels.astype(np.int64)

    @property
    def edges(self) -> IntArray:
        """(E, 2) as given."""
        return self._edges

    def factor_arrays(self) -> tuple[IntArray, Int32Array, IntArray, FloatArray]:
        """All terms but the unary ones, edges first: (F + 1,) where each one's nodes start, the nodes; (F,) where
        its row-major entries start, the entries (which edges may share)."""
        ends = 2 * np.arange(self.n_edges + 1, dtype=np.int64)
        at, members, table_at, tables = ends, self._edges.ravel(), self._table_at, self._tables
        if self.n_cliques:
            more = self._cliques
            at = np.concatenate([at, ends[-1] + more.at[1:]])
            members = np.concatenate([members, more.nodes])
            table_at = np.concatenate([table_at, len(tables) + more.table_at])
            tables = np.concatenate([tables, more.tables])
        return at, members.astype(np.int32), table_at, tables

    def factors(self) -> _core.FactorGraph:
        """The core's view of all terms, edges and cliques alike, edges first."""
        return _core.FactorGraph(self._labels, self._unary_at, self._unary, *self.factor_arrays())

    def segments(self) -> tuple[IntArray, IntArray, IntArray]:
        """Where the entries of each node start, of each stored table (edges may share them), of each clique; each
        with the end."""
        tables = self._table_at
        if len(tables) > 1 and not (np.diff(tables) > 0).all():
            tables = np.unique(tables)
        cliques = self._cliques
        return (
            self._unary_at,
            np.append(tables if len(tables) else 0, len(self._tables)),
            np.append(cliques.table_at, len(cliques.tables)),
        )

    @property
    def table_at(self) -> IntArray:
        """(E,) where each edge's entries start in :meth:`tables`; edges may share them."""
        return self._table_at

    def tables(self) -> FloatArray:
        """The entries of all stored tables, row-major."""
        return self._tables

    def table_sizes(self) -> IntArray:
        """(E,) table entries of every edge."""
        u, v = self._edges.T
        return np.asarray(self._labels[u].astype(np.int64) * self._labels[v])

    def n_entries(self) -> int:
        """Table entries of all edges and cliques, shared ones counted each time."""
        if self._grid is not None:
            return self._grid.n_edges * self._grid.table.size
        return int(self.table_sizes().sum()) + len(self._cliques.tables)

    def cells(self, labels: IntArray) -> IntArray:
        """(V + E + C,) the entry of every term that these (V,) labels select: nodes, edges, cliques."""
        u, v = self._edges.T
        pairs = np.asarray(labels[u] * self._labels[v] + labels[v])
        return np.concatenate([labels, pairs, self._cliques.cells(labels)])

    def independent_bound(self) -> float:
        """The sum of the minima of all terms, rounded down: the weakest useful lower bound."""
        if self._grid is not None:
            return self.native_grid.independent_bound()
        least: float = self.native.independent_bound()
        return lower_sum(np.append(self._cliques.minima(), least)) if self.n_cliques else least

    def unary_labels(self) -> Int32Array:
        """(V,) of every node the label of its least unary entry, the first of several."""
        if self._grid is not None:
            return np.asarray(self.native_grid.unary_labels())
        return np.asarray(self.native.unary_labels())

    def unary(self, node: int) -> FloatArray:
        """(K_u,) entries of one node."""
        return self._unary[self._unary_at[node] : self._unary_at[node + 1]]

    @property
    def unary_at(self) -> IntArray:
        """(V + 1,) where each node's entries start in :meth:`unaries`."""
        return self._unary_at

    def unaries(self) -> FloatArray:
        """(sum of K_u,) entries of all nodes, one node after the other."""
        return self._unary

    def table(self, edge: int) -> FloatArray:
        """(K_u, K_v) entries of one edge ``(u, v)``."""
        u, v = self._edges[edge]
        shape = (int(self._labels[u]), int(self._labels[v]))
        start = self._table_at[edge]
        return self._tables[start : start + shape[0] * shape[1]].reshape(shape)

    def clique(self, clique: int) -> tuple[IntArray, FloatArray]:
        """(d,) nodes and d-dimensional table of one term over three nodes or more."""
        return self._cliques.members(clique), self._cliques.table(clique, self._labels)

    def log_labelings(self) -> float:
        """Natural logarithm of the number of labelings."""
        return float(np.log(self._labels).sum())

    def check_labels(self, labels: ArrayLike) -> Int32Array:
        """(V,) labels as the core takes them; ``ValueError`` if the length or a label is out of range."""
        y = np.asarray(labels)
        if y.shape != (self.n_nodes,):
            raise ValueError(f"labels have shape {y.shape}, expected ({self.n_nodes},): one label per node")
        if y.size and y.dtype.kind not in "iub":
            raise ValueError(f"labels must be integers, got {y.dtype}")
        narrow, u = _core.narrow_labels(np.ascontiguousarray(y, dtype=np.int64), self._labels)
        if u >= 0:
            raise ValueError(f"node {u} has label {y[u]}, but its labels are 0..{self._labels[u] - 1}")
        return np.asarray(narrow)

    def terms(self, labels: ArrayLike) -> FloatArray:
        """(V + E + C,) the terms of ``U(labels)``: nodes, edges, cliques."""
        y = self.check_labels(labels)
        low = np.asarray((self.native if self._grid is None else self.native_grid).terms(y))
        return np.concatenate([low, self._cliques.terms(y)]) if self.n_cliques else low

    def energy(self, labels: ArrayLike) -> float:
        """``U(labels)``: the exact sum of its float64 terms, rounded once; +inf if it is forbidden."""
        return exact_sum(self.terms(labels))

    def part(self, nodes: IntArray, edges: IntArray, cliques: IntArray | None = None) -> Energy:
        """The energy of these nodes (ascending), and of these edges and cliques, which must join them; nodes
        renumbered."""
        labels = self._labels[nodes]
        ends = self._edges[edges]
        stored, first, which = np.unique(self._table_at[edges], return_index=True, return_inverse=True)
        sizes = self._labels[ends[first]].astype(np.int64).prod(axis=1)
        chosen = np.zeros(0, dtype=np.int64) if cliques is None else cliques
        return Energy.of_arrays(
            labels,
            np.concatenate([[0], np.cumsum(labels, dtype=np.int64)]),
            self._unary[spans(self._unary_at[nodes], labels.astype(np.int64))],
            np.searchsorted(nodes, ends).astype(np.int64),
            (np.cumsum(sizes) - sizes)[which],
            self._tables[spans(stored, sizes)],
            self._cliques.part(chosen, lambda members: np.searchsorted(nodes, members)),
        )

    def _check_sum(self) -> None:
        with np.errstate(over="ignore"):
            total = finite_sum(self._unary) + finite_sum(self._cliques.tables)
            if len(self._tables):
                distinct = bool((np.diff(self._table_at) > 0).all())
                repeats = 1 if distinct else int(np.unique(self._table_at, return_counts=True)[1].max())
                total += finite_sum(self._tables) * repeats
        if not total < LARGEST_SUM:
            raise ValueError(
                f"the entries are too large: the finite ones sum to {total:g} in magnitude, sums in float64 "
                f"need less than {LARGEST_SUM:g}; rescale them, or use inf for what is forbidden"
            )

    def __repr__(self) -> str:
        counts = np.unique(self._labels)
        labels = (
            "no" if not len(counts) else f"{counts[0]}" if len(counts) == 1 else f"{counts[0]}-{counts[-1]}"
        )
        cliques = f", {self.n_cliques} cliques" if self.n_cliques else ""
        return f"Energy({self.n_nodes} nodes, {self.n_edges} edges{cliques}, {labels} labels)"

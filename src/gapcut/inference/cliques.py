"""Terms over three nodes and more, checked and flattened; smaller ones handed back to the rest of the energy."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from gapcut.inference.packing import as_floats, first_bad_entry, spans
from gapcut.typing import FloatArray, Int32Array, IntArray

MOST_NODES = 32
"""Of a clique: NumPy's limit on dimensions."""


@dataclass(frozen=True)
class PackedCliques:
    """``C`` tables over three nodes or more.

    ``at`` (C + 1,): where each clique's nodes start in ``nodes`` and ``strides``; ``table_at`` (C,): where its
    row-major entries start in ``tables``.
    """

    at: IntArray
    nodes: IntArray
    strides: IntArray
    table_at: IntArray
    tables: FloatArray

    def __len__(self) -> int:
        return len(self.table_at)

    def members(self, clique: int) -> IntArray:
        """(d,) nodes of one clique, as given."""
        return self.nodes[self.at[clique] : self.at[clique + 1]]

    def table(self, clique: int, labels: Int32Array) -> FloatArray:
        """The d-dimensional table of one clique, given all nodes' label counts."""
        shape = tuple(labels[self.members(clique)].tolist())
        start = int(self.table_at[clique])
        return self.tables[start : start + int(np.prod(shape))].reshape(shape)

    def part(self, cliques: IntArray, renumber: Callable[[IntArray], IntArray]) -> PackedCliques:
        """Some of the cliques, their nodes with other numbers."""
        orders = (self.at[1:] - self.at[:-1])[cliques]
        sizes = np.diff(np.append(self.table_at, len(self.tables)))[cliques]
        places = spans(self.at[:-1][cliques], orders)
        return PackedCliques(
            np.concatenate([[0], np.cumsum(orders)]).astype(np.int64),
            renumber(self.nodes[places]).astype(np.int64),
            self.strides[places],
            np.cumsum(sizes) - sizes,
            self.tables[spans(self.table_at[cliques], sizes)],
        )

    def cells(self, labels: IntArray | Int32Array) -> IntArray:
        """(C,) the entry of every clique that these (V,) labels select."""
        if not len(self):
            return np.zeros(0, dtype=np.int64)
        return np.asarray(np.add.reduceat(self.strides * labels[self.nodes], self.at[:-1]))

    def terms(self, labels: Int32Array) -> FloatArray:
        """(C,) the entries that these (V,) labels select."""
        return np.asarray(self.tables[self.table_at + self.cells(labels)])

    def minima(self) -> FloatArray:
        """(C,) least entry of every table."""
        return np.minimum.reduceat(self.tables, self.table_at) if len(self) else np.zeros(0)


Clique = tuple[IntArray, FloatArray]


def check_cliques(cliques: Iterable[Any] | None, labels: Int32Array) -> list[Clique]:
    """(nodes, table) pairs, checked against the (V,) label counts; ``ValueError`` names the clique."""
    return [_check_clique(c, given, labels) for c, given in enumerate(cliques or ())]


def _check_clique(c: int, given: Any, labels: Int32Array) -> Clique:
    try:
        nodes, table = given
    except (TypeError, ValueError):
        raise ValueError(f"clique {c} must be a pair (nodes, table), got {type(given).__name__}") from None
    nodes = np.asarray(nodes)
    if nodes.ndim != 1 or not 1 <= len(nodes) <= MOST_NODES or nodes.dtype.kind not in "iu":
        raise ValueError(f"clique {c}: nodes must be 1 to {MOST_NODES} node numbers, got {nodes.tolist()!r}")
    nodes = nodes.astype(np.int64)
    if nodes.min() < 0 or nodes.max() >= len(labels):
        raise ValueError(f"clique {c} has nodes {nodes.tolist()}, but the nodes are 0..{len(labels) - 1}")
    if len(np.unique(nodes)) < len(nodes):
        raise ValueError(f"clique {c} holds a node twice: {nodes.tolist()}; take the diagonal of its table")
    values = as_floats(table, f"table of clique {c}")
    shape = tuple(labels[nodes].tolist())
    if values.shape != shape:
        raise ValueError(f"table of clique {c} has shape {values.shape}, but its nodes' labels make {shape}")
    bad = first_bad_entry(values)
    if bad is not None:
        cell = tuple(int(i) for i in np.unravel_index(bad, shape))
        raise ValueError(
            f"table entry of clique {c}, labels {cell} is {values[cell]}: entries must be finite, or +inf to "
            "forbid"
        )
    return nodes, values


def fold_small(
    terms: Sequence[Clique],
    unary_at: IntArray,
    unary: FloatArray,
    edges: IntArray,
    table_at: IntArray,
    tables: FloatArray,
) -> tuple[FloatArray, IntArray, IntArray, FloatArray]:
    """Unaries, edges, where their tables start, and tables of an energy, with terms over one and two nodes taken in."""
    if not terms:
        return unary, edges, table_at, tables
    unary = unary.copy()
    for nodes, table in terms:
        if len(nodes) == 1:
            unary[unary_at[nodes[0]] : unary_at[nodes[0] + 1]] += table
    pairs = [term for term in terms if len(term[0]) == 2]
    sizes = np.array([table.size for _, table in pairs], dtype=np.int64)
    ends = np.array([nodes for nodes, _ in pairs], dtype=np.int64).reshape(-1, 2)
    return (
        unary,
        np.concatenate([edges, ends]),
        np.concatenate([table_at, len(tables) + np.cumsum(sizes) - sizes]),
        np.concatenate([tables, *(table.ravel() for _, table in pairs)]),
    )


def pack_cliques(cliques: list[Clique]) -> PackedCliques:
    """Flattened; every table with at least three dimensions."""
    orders = np.array([len(nodes) for nodes, _ in cliques], dtype=np.int64)
    sizes = np.array([table.size for _, table in cliques], dtype=np.int64)
    strides = [np.array(table.strides, dtype=np.int64) // table.itemsize for _, table in cliques]
    empty = np.zeros(0, dtype=np.int64)
    return PackedCliques(
        np.concatenate([[0], np.cumsum(orders)]).astype(np.int64),
        np.concatenate([nodes for nodes, _ in cliques]) if cliques else empty,
        np.concatenate(strides) if cliques else empty,
        np.cumsum(sizes) - sizes,
        np.concatenate([table.ravel() for _, table in cliques]) if cliques else np.zeros(0),
    )

"""Several graphs side by side as one, so that a feature step costs a few array operations, not a few a graph."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np

from gapcut.data import CliqueSet, Graph, place
from gapcut.late import is_sparse
from gapcut.late import sparse as sp
from gapcut.typing import AnyArray, FloatArray, IntArray

ENOUGH = 1 << 15
"""Nodes, edges and cliques of a block, about: few enough to stay in the cache, many enough to be worth a call."""


@dataclass(frozen=True, eq=False)
class CliqueRows:
    """One clique group of a block: ``nodes`` (M, d) of the block, ``features`` (M, D), ``offset`` of each graph."""

    nodes: IntArray
    features: FloatArray
    offset: IntArray


@dataclass(frozen=True, eq=False)
class Block:
    """The feature rows of some graphs, all dense or all sparse, one graph below the other.

    ``node_features`` (V, Dn), ``edges`` (E, 2) into them, ``edge_features`` (E, De); graph g owns the rows from
    ``node_offset[g]`` to ``node_offset[g + 1]``, and so on. Nothing is checked until :meth:`split`.
    """

    graphs: tuple[Graph, ...]
    node_features: Any
    edges: IntArray
    edge_features: FloatArray
    cliques: tuple[CliqueRows, ...]
    node_offset: IntArray
    edge_offset: IntArray

    @classmethod
    def of(cls, graphs: Sequence[Graph]) -> Block:
        """These graphs, which have equally many feature columns and clique groups."""
        nodes, links = _offset([g.n_nodes for g in graphs]), _offset([g.n_edges for g in graphs])
        groups = range(len(graphs[0].cliques))
        return cls(
            tuple(graphs),
            _stacked([g.node_features for g in graphs]),
            _moved([g.edges for g in graphs], nodes, links),
            _stacked([g.edge_features for g in graphs]),
            tuple(_clique_rows([g.cliques[i] for g in graphs], nodes) for i in groups),
            nodes,
            links,
        )

    @property
    def n_nodes(self) -> int:
        return int(self.node_offset[-1])

    @property
    def n_edges(self) -> int:
        return int(self.edge_offset[-1])

    @property
    def node_dim(self) -> int:
        return int(self.node_features.shape[1])

    @property
    def is_sparse(self) -> bool:
        """Whether the node features are a scipy.sparse array."""
        return bool(is_sparse(self.node_features))

    def with_features(self, **features: Any) -> Block:
        """The same graphs under other ``node_features``, ``edge_features`` or ``cliques``."""
        return replace(self, **features)

    def owners(self, offset: IntArray, rows: AnyArray) -> str:
        """What messages call the graphs that own the rows where this is True."""
        found = np.unique(np.searchsorted(offset, np.flatnonzero(rows), side="right") - 1)
        return ", ".join(place(None, self.graphs[g].name) for g in found)

    def split(self) -> Iterator[Graph]:
        """The graphs under their new features; GraphError names graph and row of a number that is not finite."""
        nodes, edges = self.node_features, np.ascontiguousarray(self.edge_features)
        if not self.is_sparse:
            nodes = np.ascontiguousarray(nodes)
        groups = [np.ascontiguousarray(group.features) for group in self.cliques]
        parts = [*((nodes.data, nodes.indices, nodes.indptr) if self.is_sparse else (nodes,)), edges, *groups]
        sound = all(np.isfinite(part).all() for part in parts)
        for part in parts:
            part.flags.writeable = False
        for g, graph in enumerate(self.graphs):
            links = _rows(edges, self.edge_offset, g)
            cliques = tuple(
                own.with_features(_rows(rows, group.offset, g), checked=sound)
                for own, group, rows in zip(graph.cliques, self.cliques, groups, strict=True)
            )
            if not sound:  # the edges first: those of infinite features spoil the nodes' sums
                graph = graph.with_features(edge_features=links)
            yield graph.with_features(_rows(nodes, self.node_offset, g), links, cliques, checked=sound)


def blocks(graphs: Iterable[Graph]) -> Iterator[Block]:
    """The graphs in order, in blocks of about ``ENOUGH`` rows."""
    part: list[Graph] = []
    size = 0
    for graph in graphs:
        if part and (size >= ENOUGH or graph.is_sparse != part[0].is_sparse):
            yield Block.of(part)
            part, size = [], 0
        part.append(graph)
        size += graph.n_nodes + graph.n_edges + graph.n_cliques
    if part:
        yield Block.of(part)


def graph_sums(table: AnyArray, offset: IntArray, total: FloatArray) -> None:
    """Adds the column sums of each graph's rows to ``total``, graph by graph: blocks leave no trace in the rounding."""
    for start, end in pairwise(offset.tolist()):
        total += table[start:end].sum(axis=0)


def _offset(counts: list[int]) -> IntArray:
    return np.cumsum([0, *counts], dtype=np.int64)


def _stacked(tables: list[Any]) -> Any:
    if len(tables) == 1:
        return tables[0]
    return sp.vstack(tables, format="csr") if is_sparse(tables[0]) else np.concatenate(tables)


def _moved(rows: list[IntArray], nodes: IntArray, offset: IntArray) -> IntArray:
    """Node numbers of each graph as those of the block."""
    if len(rows) == 1:
        return rows[0]
    return np.concatenate(rows) + np.repeat(nodes[:-1], np.diff(offset))[:, None]


def _clique_rows(sets: list[CliqueSet], nodes: IntArray) -> CliqueRows:
    offset = _offset([len(s) for s in sets])
    return CliqueRows(
        _moved([s.nodes for s in sets], nodes, offset), _stacked([s.features for s in sets]), offset
    )


def _rows(table: Any, offset: IntArray, g: int) -> Any:
    return table if len(offset) == 2 else table[offset[g] : offset[g + 1]]

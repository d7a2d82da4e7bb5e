"""Graphs into the arrays of the core, in one pass, so that they need not be in memory together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import cast

import numpy as np

from gapcut import _core
from gapcut.data import CliqueSet, Graph
from gapcut.late import is_sparse
from gapcut.late import sparse as sp
from gapcut.typing import FloatArray, Int32Array, IntArray


@dataclass(frozen=True)
class Room:
    """What to set aside for graphs before they are there: their ``edges`` at most, and whether any node features are
    ``sparse``."""

    edges: int
    sparse: bool

    @classmethod
    def of(cls, graphs: Sequence[Graph]) -> Room:
        """Of graphs in memory."""
        return cls(sum(g.n_edges for g in graphs), any(is_sparse(g.node_features) for g in graphs))


def pack(
    graphs: Sequence[Graph],
    labels: Sequence[IntArray],
    *,
    n_labels: int,
    loss_scale: float,
    class_weight: FloatArray | None = None,
    costs: FloatArray | None = None,
    tuples: Sequence[IntArray] = (),
    room: Room | None = None,
) -> _core.Problem:
    """Stack graphs and their labels; ``tuples``: for each clique group the (T, d) codes that get weights.

    The loss weight of a node is ``rho weight_u / (2 sum of weights)`` (Eq. 14); ``costs``: (K, K) its factors for
    each indicator, by true label. With ``room``, graphs that are made as they are asked for are made once.
    """
    room = Room.of(graphs) if room is None else room
    stacked = np.concatenate([np.asarray(y) for y in labels])
    pile: _Pile | None = None
    for graph, y in zip(graphs, labels, strict=True):
        pile = _Pile(graph, room, len(stacked)) if pile is None else pile
        pile.add(graph, loss_weights(graph.node_weights, y, loss_scale, class_weight))
    assert pile is not None
    ends, loss = pile.ends(), np.concatenate(pile.loss)
    return _core.Problem.make(
        n_labels,
        pile.nodes.matrix(),
        pile.edges.matrix(),
        np.array(pile.node_offset, dtype=np.int64),
        np.array(pile.edge_offset, dtype=np.int64),
        *ends,
        np.ascontiguousarray(stacked, dtype=np.int32),
        loss,
        np.zeros(0) if costs is None else np.ascontiguousarray(costs, dtype=np.float64).ravel(),
        [
            clique_group(sets, codes, pile.node_offset)
            for sets, codes in zip(pile.cliques, tuples, strict=False)
        ],
    )


class _Pile:
    """Graphs below each other."""

    def __init__(self, first: Graph, room: Room, n_nodes: int) -> None:
        self.nodes = _Rows(n_nodes, first.node_features.shape[1], room.sparse)
        self.edges = _Rows(room.edges, first.edge_features.shape[1], False)
        self.node_offset, self.edge_offset = [0], [0]
        self.loss: list[FloatArray] = []
        self.cliques: list[list[CliqueSet]] = [[] for _ in first.cliques]
        self._ends: list[Int32Array] = []

    def add(self, graph: Graph, loss: FloatArray) -> None:
        """Another graph, and what wrong labels of its nodes cost."""
        self._ends.append((graph.edges.T + self.node_offset[-1]).astype(np.int32))
        self.nodes.add(graph.node_features)
        self.edges.add(graph.edge_features)
        self.node_offset.append(self.node_offset[-1] + graph.n_nodes)
        self.edge_offset.append(self.edge_offset[-1] + graph.n_edges)
        self.loss.append(loss)
        for sets, own in zip(self.cliques, graph.cliques, strict=True):
            sets.append(own)

    def ends(self) -> tuple[Int32Array, Int32Array]:
        """(M,) tail and head of every edge."""
        tail, head = (np.concatenate([own[end] for own in self._ends]) for end in (0, 1))
        self._ends.clear()
        return tail, head


class _Rows:
    """Feature rows of one kind. Dense ones are in memory once."""

    def __init__(self, rows: int, cols: int, sparse: bool) -> None:
        self._tables: list[FloatArray | sp.csr_array] | None = [] if sparse else None
        self._dense = _core.RowCollector(0 if sparse else rows, cols)

    def add(self, table: FloatArray | sp.csr_array) -> None:
        """Those of another graph."""
        if self._tables is None:
            self._dense.add(np.ascontiguousarray(table, dtype=np.float64))
        else:
            self._tables.append(table)

    def matrix(self) -> _core.RowMatrix:
        """All of them, once."""
        return self._dense.finish() if self._tables is None else row_matrix(self._tables)


def clique_group(
    sets: Sequence[CliqueSet], tuples: IntArray, node_offset: Sequence[int]
) -> _core.CliqueGroup:
    """One clique group of some graphs, stacked."""
    members = np.concatenate([s.nodes + start for s, start in zip(sets, node_offset[:-1], strict=True)])
    return _core.CliqueGroup.make(
        row_matrix([s.features for s in sets]),
        np.cumsum([0, *map(len, sets)], dtype=np.int64),
        np.ascontiguousarray(members, dtype=np.int32),
        np.ascontiguousarray(tuples, dtype=np.int32),
    )


def loss_weights(
    node_weights: FloatArray | None, labels: IntArray, loss_scale: float, class_weight: FloatArray | None
) -> FloatArray:
    """(V,) what one wrong indicator of a node costs; zero everywhere if the graph's weights sum to zero."""
    weights = np.ones(len(labels)) if node_weights is None else np.array(node_weights, dtype=np.float64)
    if class_weight is not None:
        weights = weights * class_weight[labels]
    largest = weights.max(initial=0.0)
    if largest == 0.0:
        return np.zeros(len(labels))
    weights = weights / largest  # keeps the sum finite for weights near the largest float
    return np.asarray(0.5 * loss_scale * (weights / weights.sum()))


def indicator_losses(
    node_weights: FloatArray | None,
    labels: IntArray,
    loss_scale: float,
    class_weight: FloatArray | None,
    costs: FloatArray | None,
) -> FloatArray:
    """(V, K), or (V, 1) without ``costs``: what each wrong indicator of a node costs."""
    weights = loss_weights(node_weights, labels, loss_scale, class_weight)
    return weights[:, None] if costs is None else np.asarray(weights[:, None] * costs[labels])


def row_matrix(features: Sequence[FloatArray | sp.csr_array]) -> _core.RowMatrix:
    """Feature rows of some graphs, stacked."""
    if not any(is_sparse(f) for f in features):
        dense = np.concatenate(cast("Sequence[FloatArray]", features))
        return _core.RowMatrix.from_dense(np.ascontiguousarray(dense, dtype=np.float64))
    stacked = sp.csr_array(sp.vstack([sp.csr_array(f) for f in features], format="csr"))
    stacked.sum_duplicates()
    return _core.RowMatrix.from_csr(
        stacked.shape[1],
        stacked.indptr.astype(np.int64),
        stacked.indices.astype(np.int32),
        stacked.data.astype(np.float64),
    )

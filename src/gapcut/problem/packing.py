"""Graphs into the arrays of the core."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

import numpy as np

from gapcut import _core
from gapcut.data import Graph
from gapcut.late import is_sparse
from gapcut.late import sparse as sp
from gapcut.typing import FloatArray, IntArray


def pack(
    graphs: Sequence[Graph],
    labels: Sequence[IntArray],
    *,
    n_labels: int,
    loss_scale: float,
    class_weight: FloatArray | None = None,
    costs: FloatArray | None = None,
    tuples: Sequence[IntArray] = (),
) -> _core.Problem:
    """Stack graphs and their labels; ``tuples``: for each clique group the (T, d) codes that get weights.

    The loss weight of a node is ``rho weight_u / (2 sum of weights)`` (Eq. 14); ``costs``: (K, K) its factors for
    each indicator, by true label.
    """
    node_offset = np.cumsum([0] + [g.n_nodes for g in graphs], dtype=np.int64)
    edge_offset = np.cumsum([0] + [g.n_edges for g in graphs], dtype=np.int64)
    edges = np.concatenate([g.edges + start for g, start in zip(graphs, node_offset[:-1], strict=True)])
    stacked = np.concatenate([np.asarray(y) for y in labels])
    loss = [
        loss_weights(g.node_weights, y, loss_scale, class_weight) for g, y in zip(graphs, labels, strict=True)
    ]
    return _core.Problem.make(
        n_labels,
        row_matrix([g.node_features for g in graphs]),
        _core.RowMatrix.from_dense(np.ascontiguousarray(np.concatenate([g.edge_features for g in graphs]))),
        node_offset,
        edge_offset,
        np.ascontiguousarray(edges[:, 0], dtype=np.int32),
        np.ascontiguousarray(edges[:, 1], dtype=np.int32),
        np.ascontiguousarray(stacked, dtype=np.int32),
        np.concatenate(loss),
        np.zeros(0) if costs is None else np.ascontiguousarray(costs, dtype=np.float64).ravel(),
        [clique_group(graphs, g, codes, node_offset) for g, codes in enumerate(tuples)],
    )


def clique_group(
    graphs: Sequence[Graph], group: int, tuples: IntArray, node_offset: IntArray
) -> _core.CliqueGroup:
    """One clique group of some graphs, stacked."""
    sets = [g.cliques[group] for g in graphs]
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

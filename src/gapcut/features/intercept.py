"""Constant features."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Self

import numpy as np
import scipy.sparse as sp

from gapcut.data import Graph
from gapcut.features.base import Columns, Step
from gapcut.typing import AnyArray, FloatArray

CONSTANT = "constant"
"""Name of a constant column."""


class Intercept(Step):
    """A last node column of ones (class biases) and a last edge column of ones (label pair biases)."""

    def fit(self, graphs: Sequence[Graph], columns: Columns) -> Self:
        return self

    def transform(self, graph: Graph) -> Graph:
        return graph.with_features(
            append_columns(graph, np.ones((graph.n_nodes, 1))),
            np.hstack([graph.edge_features, np.ones((graph.n_edges, 1))]),
        )

    def rename(self, columns: Columns) -> Columns:
        return replace(columns, node=(*columns.node, CONSTANT), edge=(*columns.edge, CONSTANT))


def append_columns(graph: Graph, block: FloatArray) -> AnyArray | sp.csr_array:
    """Node features with dense columns (V, D) added on the right; sparse ones stay sparse."""
    features: Any = graph.node_features
    if not graph.is_sparse:
        return np.hstack([features, block])
    return sp.csr_array(sp.hstack([features, sp.csr_array(block)], format="csr"))

"""Constant features."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Self

import numpy as np

from gapcut.features.base import Columns, Step
from gapcut.features.block import Block
from gapcut.features.passes import Passes
from gapcut.late import is_sparse
from gapcut.late import sparse as sp
from gapcut.typing import AnyArray, FloatArray

CONSTANT = "constant"
"""Name of a constant column."""


class Intercept(Step):
    """A last node column of ones (class biases) and a last edge column of ones (label pair biases)."""

    def fit(self, blocks: Passes, columns: Columns) -> Self:
        return self

    def transform(self, block: Block) -> Block:
        return block.with_features(
            node_features=append_columns(block.node_features, np.ones((block.n_nodes, 1))),
            edge_features=np.hstack([block.edge_features, np.ones((block.n_edges, 1))]),
        )

    def rename(self, columns: Columns) -> Columns:
        return replace(columns, node=(*columns.node, CONSTANT), edge=(*columns.edge, CONSTANT))


def append_columns(features: Any, extra: FloatArray) -> AnyArray | sp.csr_array:
    """Node features with dense columns (V, D) added on the right; sparse ones stay sparse."""
    if not is_sparse(features):
        return np.hstack([features, extra])
    parts: list[Any] = [features, sp.csr_array(extra)]
    return sp.csr_array(sp.hstack(parts, format="csr"))

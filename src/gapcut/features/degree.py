"""Edge features that do not grow with the number of neighbours."""

from __future__ import annotations

from typing import Self

import numpy as np

from gapcut.features.base import Columns, Step, choice
from gapcut.features.block import Block
from gapcut.features.passes import Passes


class DegreeScaler(Step):
    """Edge features divided by a degree (number of edges at a node, either direction) of the graph at hand.

    ``by="graph"``: by the mean degree ``2 E / V`` of the graph. ``by="node"``: by ``sqrt(deg(u) deg(v))`` of the edge's
    own ends. Sums over the edges of a node, such as incidence features, then converge as neighbourhoods grow.
    ``by="larger"``: by the larger degree of the two, so that such a sum is at most the largest feature, whatever the
    number of neighbours.
    """

    settings = ("by",)

    def __init__(self, by: str = "graph") -> None:
        self.by = choice("degree_scale", by, ("graph", "node", "larger"))

    def fit(self, blocks: Passes, columns: Columns) -> Self:
        return self

    def transform(self, block: Block) -> Block:
        if self.by == "graph":
            nodes, edges = np.diff(block.node_offset), np.diff(block.edge_offset)
            factor = np.repeat(nodes / np.maximum(1, 2 * edges), edges)
            return block.with_features(edge_features=block.edge_features * factor[:, None])
        degree = np.bincount(block.edges.ravel(), minlength=block.n_nodes).astype(np.float64)
        ends = degree[block.edges[:, 0]], degree[block.edges[:, 1]]
        scale = np.maximum(*ends) if self.by == "larger" else np.sqrt(ends[0] * ends[1])
        return block.with_features(edge_features=block.edge_features / scale[:, None])

    def rename(self, columns: Columns) -> Columns:
        return columns

"""Edge features that do not grow with the number of neighbours."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Self

import numpy as np

from gapcut.data import Graph
from gapcut.features.base import Columns, Step, choice


class DegreeScaler(Step):
    """Edge features divided by a degree (number of edges at a node, either direction) of the graph at hand.

    ``by="graph"``: by the mean degree ``2 E / V`` of the graph. ``by="node"``: by ``sqrt(deg(u) deg(v))`` of
    the edge's own ends. Sums over the edges of a node, such as incidence features, then converge as
    neighbourhoods grow.
    """

    settings = ("by",)

    def __init__(self, by: str = "graph") -> None:
        self.by = choice("degree_scale", by, ("graph", "node"))

    def fit(self, graphs: Sequence[Graph], columns: Columns) -> Self:
        return self

    def transform(self, graph: Graph) -> Graph:
        if not graph.n_edges:
            return graph
        if self.by == "graph":
            return graph.with_features(
                edge_features=graph.edge_features * (graph.n_nodes / (2 * graph.n_edges))
            )
        degree = np.bincount(graph.edges.ravel(), minlength=graph.n_nodes).astype(np.float64)
        scale = np.sqrt(degree[graph.edges[:, 0]] * degree[graph.edges[:, 1]])
        return graph.with_features(edge_features=graph.edge_features / scale[:, None])

    def rename(self, columns: Columns) -> Columns:
        return columns

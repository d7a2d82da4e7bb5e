"""Features as 0/1 answers to "at most this much?"."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Self

import numpy as np

from gapcut.data import Graph
from gapcut.features.base import Columns, Step, choice
from gapcut.features.standardize import refuse_huge
from gapcut.typing import FloatArray, IntArray


class QuantileStumps(Step):
    """Each node or edge column ``x`` becomes indicators ``[x <= t_b]``.

    The ``t_b`` are up to ``n_thresholds`` training quantiles.

    Anand et al. (2012) use 10, for nodes and for edges. Threshold b of B is the value at quantile
    ``(b - 1/2) / B`` over all training rows; equal ones are merged, and the largest value is no threshold
    (its indicator would be constant). Constant columns vanish. Sparse node features become dense.
    """

    settings = ("n_thresholds", "of")
    learned = ("source", "threshold")

    source: IntArray
    """(D',) input column behind each output column."""
    threshold: FloatArray
    """(D',) its threshold."""

    def __init__(self, n_thresholds: int = 10, of: str = "edge") -> None:
        if not isinstance(n_thresholds, int) or isinstance(n_thresholds, bool) or n_thresholds < 1:
            raise ValueError(f"n_thresholds must be a positive whole number, not {n_thresholds!r}")
        self.n_thresholds = n_thresholds
        self.of = choice("of", of, ("node", "edge"))

    def fit(self, graphs: Sequence[Graph], columns: Columns) -> Self:
        source: list[int] = []
        threshold: list[float] = []
        tables = [self._table(g) for g in graphs]
        if any(len(table) for table in tables):
            for i in range(len(self._names(columns))):
                values = np.sort(np.concatenate([table[:, i] for table in tables]))
                cuts = np.unique(values[_quantile_positions(len(values), self.n_thresholds)])
                cuts = cuts[cuts < values[-1]]
                source += [i] * len(cuts)
                threshold += cuts.tolist()
        self.source = np.array(source, dtype=np.int64)
        self.threshold = np.array(threshold, dtype=np.float64)
        return self

    def transform(self, graph: Graph) -> Graph:
        answers = (self._table(graph)[:, self.source] <= self.threshold).astype(np.float64)
        if self.of == "node":
            return graph.with_features(node_features=answers)
        return graph.with_features(edge_features=answers)

    def rename(self, columns: Columns) -> Columns:
        old = self._names(columns)
        new = tuple(f"{old[i]} <= {t:.4g}" for i, t in zip(self.source, self.threshold, strict=True))
        return replace(columns, node=new) if self.of == "node" else replace(columns, edge=new)

    def check(self, columns: Columns) -> None:
        self._demand_columns("source", len(self._names(columns)), "threshold")

    def _names(self, columns: Columns) -> tuple[str, ...]:
        return columns.node if self.of == "node" else columns.edge

    def _table(self, graph: Graph) -> FloatArray:
        if self.of == "edge":
            return graph.edge_features
        features: Any = graph.node_features
        if not graph.is_sparse:
            return np.asarray(features)
        refuse_huge(graph.n_nodes, graph.node_dim, "a graph's node features", 'node_lift="none"')
        return np.asarray(features.toarray())


def _quantile_positions(count: int, levels: int) -> IntArray:
    """Where in so many sorted values the quantiles ``(b - 1/2) / levels`` are, free of rounding."""
    odd = 2 * np.arange(levels, dtype=np.int64) + 1
    return np.asarray(-(-odd * count // (2 * levels)) - 1)

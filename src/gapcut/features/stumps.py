"""Edge features as 0/1 answers to "at most this much?"."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Self

import numpy as np

from gapcut.data import Graph
from gapcut.features.base import Columns, Step
from gapcut.typing import FloatArray, IntArray


class QuantileStumps(Step):
    """Each column ``x`` becomes indicators ``[x <= t_b]`` of up to ``n_thresholds`` training quantiles.

    Anand et al. (2012) use 10. Threshold b of B is the value at quantile ``(b - 1/2) / B`` over all training
    edges; equal ones are merged, and the largest value is no threshold (its indicator would be constant).
    Constant columns vanish.
    """

    settings = ("n_thresholds",)
    learned = ("source", "threshold")

    source: IntArray
    """(De',) input column behind each output column."""
    threshold: FloatArray
    """(De',) its threshold."""

    def __init__(self, n_thresholds: int = 10) -> None:
        if not isinstance(n_thresholds, int) or isinstance(n_thresholds, bool) or n_thresholds < 1:
            raise ValueError(f"n_thresholds must be a positive whole number, not {n_thresholds!r}")
        self.n_thresholds = n_thresholds

    def fit(self, graphs: Sequence[Graph], columns: Columns) -> Self:
        source: list[int] = []
        threshold: list[float] = []
        if any(g.n_edges for g in graphs):
            for i in range(len(columns.edge)):
                values = np.sort(np.concatenate([g.edge_features[:, i] for g in graphs]))
                cuts = np.unique(values[_quantile_positions(len(values), self.n_thresholds)])
                cuts = cuts[cuts < values[-1]]
                source += [i] * len(cuts)
                threshold += cuts.tolist()
        self.source = np.array(source, dtype=np.int64)
        self.threshold = np.array(threshold, dtype=np.float64)
        return self

    def transform(self, graph: Graph) -> Graph:
        answers = graph.edge_features[:, self.source] <= self.threshold
        return graph.with_features(edge_features=answers.astype(np.float64))

    def rename(self, columns: Columns) -> Columns:
        cuts = zip(self.source, self.threshold, strict=True)
        return Columns(columns.node, tuple(f"{columns.edge[i]} <= {t:.4g}" for i, t in cuts))

    def check(self, columns: Columns) -> None:
        self._demand_columns("source", len(columns.edge), "threshold")


def _quantile_positions(count: int, levels: int) -> IntArray:
    """Where in so many sorted values the quantiles ``(b - 1/2) / levels`` are, free of rounding."""
    odd = 2 * np.arange(levels, dtype=np.int64) + 1
    return np.asarray(-(-odd * count // (2 * levels)) - 1)

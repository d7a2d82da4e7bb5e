"""Incidence features: what a node's edges and cliques sum to, as features of the node."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Self

import numpy as np

from gapcut.data import Graph
from gapcut.features.base import Columns, Step, choice
from gapcut.features.block import Block, graph_sums
from gapcut.features.intercept import append_columns
from gapcut.features.passes import Passes
from gapcut.features.ranges import ColumnRanges, Ranges
from gapcut.late import sparse as sp
from gapcut.typing import AnyArray, FloatArray, IntArray


class Incidence(Step):
    """Adds ``out_d(u) = sum_{(u,v)} phi_d(u,v)`` and ``in_d(u) = sum_{(v,u)} phi_d(v,u)`` to the node features.

    A clique group adds ``at_{j,d}(u) = sum phi_d`` over the cliques that have u at place j, for each place j.

    With them a sign constraint on pairwise weights costs no expressiveness: adding ``m_d`` to every pairwise weight of
    feature d and ``-m_d / 2`` to every unary weight of ``out_d`` and ``in_d`` leaves the score of every labeling as it
    was; likewise ``m_d`` to the weights of all ``K^d`` label tuples of cliques of d nodes, and ``-m_d / d`` to every
    unary weight of ``at_{1,d}, ..., at_{d,d}``.

    ``scale``: ``"none"``; ``"center"`` subtracts the training mean of each sum; ``"standard"`` also divides by its
    standard deviation. (Centred, the identity holds up to a constant for each graph.)
    """

    settings = ("scale",)
    learned = ("mean", "deviation")

    mean: FloatArray
    deviation: FloatArray

    def __init__(self, scale: str = "none") -> None:
        self.scale = choice("incidence_scale", scale, ("none", "center", "standard"))

    def fit(self, blocks: Passes, columns: Columns) -> Self:
        width = len(_sum_names(columns))
        self.mean, self.deviation = np.zeros(width), np.ones(width)
        if self.scale == "none":
            return self
        sums = blocks.tables(lambda b: (incidence_sums(b), b.node_offset))
        rows = 0

        def tables() -> Iterator[FloatArray]:
            nonlocal rows
            for table, _ in sums:
                rows += len(table)
                yield table

        # columns over their peak: squares of large sums stay finite
        ranges = ColumnRanges.of(tables(), width)
        if not rows:
            return self
        peak = np.where(ranges.zero, 1.0, ranges.peak)
        mean = np.zeros(width)
        for s, offset in sums:
            graph_sums(s / peak, offset, mean)
        mean /= rows
        self.mean = mean * peak
        if self.scale == "standard":
            squares = np.zeros(width)
            for s, offset in sums:
                graph_sums((s / peak - mean) ** 2, offset, squares)
            deviation = np.sqrt(squares / rows) * peak
            self.deviation = np.where(ranges.constant | (deviation == 0.0), 1.0, deviation)
        return self

    def ranges_after(self, known: Ranges) -> Ranges:
        return known.without("node")

    def transform(self, block: Block) -> Block:
        with np.errstate(over="ignore", invalid="ignore"):
            sums = (incidence_sums(block) - self.mean) / self.deviation
            return block.with_features(node_features=append_columns(block.node_features, sums))

    def rename(self, columns: Columns) -> Columns:
        return replace(columns, node=(*columns.node, *_sum_names(columns)))

    def check(self, columns: Columns) -> None:
        for name in self.learned:
            self._demand(
                len(getattr(self, name)) == len(_sum_names(columns)),
                f"{name} is not for these edge and clique features",
            )
        self._demand(bool((self.deviation > 0).all()), "a scale is not positive")


def incidence_sums(graph: Graph | Block) -> FloatArray:
    """(V, 2 De + sum of d D) sums of the edge features over outgoing, then over incoming edges of each node; of the
    features of each clique group over the cliques with the node at the first place, the second, and so on."""
    ends = [_sum_at(graph.n_nodes, graph.edges[:, end], graph.edge_features) for end in (0, 1)]
    places = [
        _sum_at(graph.n_nodes, group.nodes[:, j], group.features)
        for group in graph.cliques
        for j in range(group.nodes.shape[1])
    ]
    return np.hstack([*ends, *places])


def _sum_names(columns: Columns) -> list[str]:
    ends = [f"{end} {name}" for end in ("out", "in") for name in columns.edge]
    places = [
        f"at {j} of {name}"
        for names, order in zip(columns.cliques, columns.orders, strict=True)
        for j in range(order)
        for name in names
    ]
    return [*ends, *places]


def _sum_at(n_nodes: int, owner: IntArray, rows: FloatArray) -> AnyArray:
    """(V, D) sums of the rows that belong to each node."""
    at = (owner, np.arange(len(rows)))
    incidence = sp.csr_array((np.ones(len(rows)), at), shape=(n_nodes, len(rows)))
    with np.errstate(over="ignore", invalid="ignore"):
        return np.asarray(incidence @ rows)

"""Loss-augmented inference by enumeration: slow, obviously right, and free to have pairwise weights of any sign."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np

from gapcut import _core
from gapcut.data import CliqueSet, Graph
from gapcut.late import is_sparse
from gapcut.oracles.base import Oracle, OraclePlanes, ProblemName
from gapcut.problem import LearningProblem
from gapcut.typing import FloatArray, Int32Array, IntArray

Labelled = tuple[Graph, IntArray, FloatArray]
"""A model-ready graph, (V,) label codes and (V, K) loss of each wrong indicator."""

LARGEST = 18
"""Indicators (nodes times labels) of the largest graph that is enumerated."""


@dataclass(frozen=True, eq=False)
class _Example:
    """One graph: features, one-hot truth (V, K), loss of wrong indicators (V, K), joint feature map of the truth."""

    nodes: FloatArray
    edges: IntArray
    edge_features: FloatArray
    truth: FloatArray
    loss: FloatArray
    cliques: tuple[CliqueSet, ...]


class BruteOracle(Oracle):
    """``max_z Delta_b(y, z) - w'(Psi(x, y) - Psi(x, z))`` over all ``z in {0,1}^{V x K}``, one by one.

    ``examples``: the problem's own graphs, model-ready, their (V,) label codes, and (V, K) what each wrong
    indicator of a node costs. Raises ValueError for a graph with more than ``LARGEST`` indicators.
    """

    exact = True
    solves: ProblemName = "relaxed binary"

    def __init__(self, problem: LearningProblem, examples: Iterable[Labelled]) -> None:
        self._problem = problem
        self._tuples = [group.tuples for group in problem.core.cliques]
        self._examples = []
        for i, (graph, code, loss) in enumerate(examples):
            if graph.n_nodes * problem.n_labels > LARGEST:
                raise ValueError(
                    f"oracle='brute' enumerates at most {LARGEST} indicators, but graph {i} has "
                    f"{graph.n_nodes} nodes x {problem.n_labels} labels: use oracle='cut'"
                )
            dense = graph.node_features.toarray() if is_sparse(graph.node_features) else graph.node_features
            truth = np.eye(problem.n_labels)[code]
            self._examples.append(
                _Example(dense, graph.edges, graph.edge_features, truth, loss, graph.cliques)
            )

    def evaluate(
        self, w: FloatArray, graphs: Sequence[int] | None = None, time_left: float | None = None
    ) -> OraclePlanes:
        """As :class:`gapcut.oracles.base.Oracle` has it; ``time_left`` is ignored, since graphs are tiny."""
        chosen = range(len(self._examples)) if graphs is None else graphs
        found = [self._solve(self._examples[i], np.asarray(w)) for i in chosen]
        return OraclePlanes(
            np.array([plane for plane, _, _ in found]).reshape(len(found), self._problem.dim),
            np.array([loss for _, loss, _ in found]),
            np.array([bound for _, _, bound in found]),
        )

    def _solve(self, example: _Example, w: FloatArray) -> tuple[FloatArray, float, float]:
        """Plane, loss and bound of one graph."""
        unary, pairwise = self._problem.expand(w)
        a = example.nodes @ unary.T + example.loss * (1.0 - 2.0 * example.truth)
        b = np.einsum("ed,kld->ekl", example.edge_features, pairwise)
        z = np.array(list(product((0.0, 1.0), repeat=a.size))).reshape(-1, *a.shape)
        tail, head = example.edges[:, 0], example.edges[:, 1]
        values = np.einsum("zuk,uk->z", z, a) + np.einsum(
            "zek,zel,ekl->z", z[:, tail], z[:, head], b, optimize=True
        )
        magnitude = np.abs(a).sum() + np.abs(b).sum()
        for cliques, tuples, weights in zip(
            example.cliques, self._tuples, self._problem.clique_weights(w), strict=True
        ):
            potentials = cliques.features @ weights.T
            values += np.einsum("zct,ct->z", _chosen(z, cliques.nodes, tuples), potentials)
            magnitude += np.abs(potentials).sum()
        best = z[int(np.argmax(values))]
        plane = self._feature_map(example, example.truth) - self._feature_map(example, best)
        loss = float((example.loss * np.abs(best - example.truth)).sum())
        value = loss - _core.dot(plane, w)
        terms = a.size + b.size + len(w) + sum(len(c) for c in example.cliques) + 8
        magnitude += loss + _core.dot(np.abs(plane), np.abs(w))
        rounding = 4.0 * terms * np.finfo(np.float64).eps * float(magnitude)
        return plane, loss, max(0.0, value) + rounding

    def _feature_map(self, example: _Example, z: FloatArray) -> FloatArray:
        """Psi(x, z), compact."""
        tail, head = example.edges[:, 0], example.edges[:, 1]
        pairs = np.einsum("ek,el,ed->kld", z[tail], z[head], example.edge_features)
        rest = [
            _chosen(z, cliques.nodes, tuples).T @ cliques.features
            for cliques, tuples in zip(example.cliques, self._tuples, strict=True)
        ]
        return self._problem.plane(z.T @ example.nodes, pairs, rest)


def _chosen(z: FloatArray, nodes: IntArray, tuples: Int32Array) -> FloatArray:
    """(..., M, T) which label tuples ``z`` (..., V, K) has switched on at which cliques: products of d entries."""
    out = np.ones((*z.shape[:-2], len(nodes), len(tuples)))
    for members, labels in zip(nodes.T, tuples.T, strict=True):
        out *= z[..., members[:, None], labels[None, :]]
    return out

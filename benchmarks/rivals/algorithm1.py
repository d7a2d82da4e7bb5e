"""Algorithm 1 as a reader of the paper would build it from public parts.

1-slack cutting plane; the oracle is one Boykov-Kolmogorov cut a graph over all arcs (every edge times every
label pair, zeros included) with PyMaxflow, in floating point; the working set is solved in its primal form
by Clarabel. Written for NumPy without loops over nodes or edges. PyMaxflow is GPL: it is imported here
alone, and never by the package.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import scipy.sparse as sp
from workloads import Workload, loss_per_indicator

from gapcut.learners import Limits
from gapcut.problem import LearningProblem
from gapcut.typing import AnyArray, FloatArray
from rivals.base import Claim, not_installed


@dataclass(eq=False)
class Example:
    """One graph as arrays: features, one-hot truth (V, K), loss of an indicator (V,), both ends of every
    arc.
    """

    nodes: Any
    edges: AnyArray
    edge_features: FloatArray
    truth: FloatArray
    loss: FloatArray
    tails: AnyArray
    heads: AnyArray

    def feature_map(self, z: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Psi(x, z): unary (K, Dn) and pairwise (K K, De)."""
        u, v = self.edges.T
        pairs = (z[u][:, :, None] * z[v][:, None, :]).reshape(len(self.edges), -1)
        return np.asarray((self.nodes.T @ z).T), pairs.T @ self.edge_features

    def cut(self, maxflow: Any, unary: FloatArray, pairwise: FloatArray) -> FloatArray:
        """(V, K) maximiser of ``a'z + sum b z z``, each ``b z z' = b z - b z (1 - z')``."""
        labels = self.truth.shape[1]
        a = (self.nodes @ unary.T + self.loss[:, None] * (1.0 - 2.0 * self.truth)).ravel()
        b = (self.edge_features @ pairwise.reshape(labels * labels, -1).T).ravel()
        a = a + np.bincount(self.tails, weights=b, minlength=len(a))
        graph = maxflow.GraphFloat(len(a), len(b))
        nodes = graph.add_grid_nodes(len(a))
        graph.add_grid_tedges(nodes, np.maximum(a, 0.0), np.maximum(-a, 0.0))
        graph.add_edges(self.tails, self.heads, b, np.zeros_like(b))
        graph.maxflow()
        return np.asarray(~graph.get_grid_segments(nodes), dtype=np.float64).reshape(-1, labels)


def _example(graph: Any, code: AnyArray, loss: FloatArray, n_labels: int) -> Example:
    labels = np.arange(n_labels)
    ends = graph.edges[:, :, None] * n_labels + labels  # (E, 2, K) variables
    shape = (graph.n_edges, n_labels, n_labels)
    tails = np.broadcast_to(ends[:, 0, :, None], shape).ravel()
    heads = np.broadcast_to(ends[:, 1, None, :], shape).ravel()
    truth = np.eye(n_labels)[code]
    return Example(graph.node_features, graph.edges, graph.edge_features, truth, loss, tails, heads)


@dataclass
class Algorithm1:
    """Boykov-Kolmogorov on the full arc set, Clarabel for the quadratic program."""

    tolerance: float = 1e-7
    _examples: dict[str, list[Example]] = field(default_factory=dict)

    def missing(self) -> str | None:
        return not_installed("maxflow", "clarabel")

    def prepare(self, workload: Workload) -> None:
        if workload.name not in self._examples:
            training, K = workload.training, workload.problem.n_labels
            losses = loss_per_indicator(workload)
            examples = zip(training.graphs, training.codes, losses, strict=True)
            self._examples = {workload.name: [_example(g, y, loss, K) for g, y, loss in examples]}

    def run(self, workload: Workload, C: float, limits: Limits) -> Claim:
        problem = workload.problem.with_C(C)
        start = time.perf_counter()
        limit = float("inf") if limits.time_limit is None else limits.time_limit
        solver = WorkingSet(problem, self.tolerance)
        weights = best = problem.clamp(np.zeros(problem.dim))
        upper, lower, passes = float("inf"), 0.0, 0
        while (upper - lower) > limits.gap * upper or np.isinf(upper):
            found = self._pass(workload, weights, start + limit)
            if found is None:
                break
            passes += 1
            plane, loss = found
            value = 0.5 * float(weights @ weights) + C * max(0.0, loss - float(plane @ weights))
            if value < upper:
                upper, best = value, weights
            left = limit - (time.perf_counter() - start)
            if left <= 0.0:
                break
            solver.add(plane, loss)
            weights, lower = solver.solve(left, lower)
        gap = (upper - lower) / upper if np.isfinite(upper) else np.inf
        planes, losses, alpha = solver.dual()
        return Claim(best, planes, losses, alpha, passes, passes * problem.n_graphs, gap)

    def _pass(self, workload: Workload, weights: FloatArray, end: float) -> tuple[FloatArray, float] | None:
        """Mean plane and loss over all graphs; None if the time is over before."""
        import maxflow

        problem = workload.problem
        unary, pairwise = problem.expand(weights)
        nodes, pairs = np.zeros_like(unary), np.zeros((unary.shape[0] ** 2, pairwise.shape[2]))
        loss = 0.0
        examples = self._examples[workload.name]
        for example in examples:
            if time.perf_counter() > end:
                return None
            z = example.cut(maxflow, unary, pairwise)
            for sign, labeling in ((1.0, example.truth), (-1.0, z)):
                of_nodes, of_pairs = example.feature_map(labeling)
                nodes += sign * of_nodes
                pairs += sign * of_pairs
            loss += float(example.loss @ np.abs(z - example.truth).sum(axis=1))
        return problem.compact(nodes, pairs) / len(examples), loss / len(examples)


class WorkingSet:
    """``min 1/2 |w|^2 + C xi`` over the planes so far, in the primal form one would write down."""

    def __init__(self, problem: LearningProblem, tolerance: float) -> None:
        self.problem, self.tolerance = problem, tolerance
        self.planes: list[FloatArray] = []
        self.losses: list[float] = []
        self.alpha = np.zeros(0)
        dim = problem.dim
        self._quadratic = sp.diags_array(np.append(np.ones(dim), 0.0), format="csc")
        self._signs = -sp.eye_array(dim + 1, format="csr")[
            np.append(np.flatnonzero(problem.lower == 0.0), dim)
        ]

    def add(self, plane: FloatArray, loss: float) -> None:
        self.planes.append(plane)
        self.losses.append(loss)

    def solve(self, time_left: float, lower: float) -> tuple[FloatArray, float]:
        """Weights, and the optimum of the working set as the solver states it (``lower`` if it did not
        finish).
        """
        import clarabel

        problem, count = self.problem, len(self.planes)
        rows = sp.csr_array(np.hstack([-np.array(self.planes), -np.ones((count, 1))]))
        matrix = sp.csc_matrix(sp.vstack([rows, self._signs]))
        right = np.append(-np.array(self.losses), np.zeros(self._signs.shape[0]))
        settings = clarabel.DefaultSettings()
        settings.verbose = False
        settings.time_limit = time_left
        settings.tol_gap_rel = settings.tol_feas = self.tolerance
        linear = np.append(np.zeros(problem.dim), problem.C)
        cones = [clarabel.NonnegativeConeT(len(right))]
        solver = clarabel.DefaultSolver(self._quadratic, linear, matrix, right, cones, settings)
        solution = solver.solve()
        weights = problem.clamp(np.nan_to_num(np.array(solution.x)[:-1]))
        if str(solution.status) not in ("Solved", "AlmostSolved"):
            return weights, lower
        self.alpha = np.maximum(0.0, np.array(solution.z)[:count])
        return weights, max(lower, float(solution.obj_val_dual))

    def dual(self) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Planes, losses and the multipliers of the last solved program, scaled back to mass C where they
        exceed it.
        """
        count, C = len(self.alpha), self.problem.C
        alpha = self.alpha * min(1.0, C / self.alpha.sum()) if self.alpha.sum() > 0.0 else self.alpha
        planes = np.array(self.planes[:count]).reshape(count, self.problem.dim)
        return planes, np.array(self.losses[:count]), alpha

"""The optimum of tiny LP-relaxed one-hot problems: one quadratic program by an interior point."""

from __future__ import annotations

import clarabel
import numpy as np
import scipy.sparse as sp

from gapcut.problem import LearningProblem
from tiny import TinyGraph, joint_feature_map, label_loss, one_hot


def lp_relaxed_optimum(
    problem: LearningProblem, graphs: list[TinyGraph], labels: list[np.ndarray]
) -> tuple[float, np.ndarray]:
    """Value and weights of ``min 1/2 |w|^2 + C/n sum_i (sum_u a_u + sum_e b_e - w'Psi(y_i))`` with
    ``a_u >= loss_uk + w^k.phi_u + sum of messages`` and ``b_e >= w^kl.phi_e - both messages``: the dual of all local
    polytopes at once."""
    K, dim, core = problem.n_labels, problem.dim, problem.core
    nodes, edges = sum(g.n_nodes for g in graphs), sum(g.n_edges for g in graphs)
    first_b, first_d = dim + nodes, dim + nodes + edges
    size = first_d + 2 * edges * K
    rows, right, linear = [], [], np.zeros(size)
    each = problem.C / len(graphs)
    at_node = at_edge = 0
    for graph, y in zip(graphs, labels, strict=True):
        linear[:dim] -= each * problem.gather(joint_feature_map(graph, one_hot(y, K))[core.coordinates])
        loss = label_loss(problem, graph, y)
        for u in range(graph.n_nodes):
            for k in range(K):
                row = np.zeros(size)
                row[:dim] = _full(problem, k * core.node_dim, graph.node_features[u])
                row[dim + at_node + u] = -1.0
                for e, (tail, head) in enumerate(graph.edges):
                    if tail == u:
                        row[first_d + 2 * (at_edge + e) * K + k] += 1.0
                    if head == u:
                        row[first_d + (2 * (at_edge + e) + 1) * K + k] += 1.0
                rows.append(row)
                right.append(-loss[u, k])
        for e in range(graph.n_edges):
            for k in range(K):
                for m in range(K):
                    row = np.zeros(size)
                    start = K * core.node_dim + (k * K + m) * core.edge_dim
                    row[:dim] = _full(problem, start, graph.edge_features[e])
                    row[first_b + at_edge + e] = -1.0
                    row[first_d + 2 * (at_edge + e) * K + k] -= 1.0
                    row[first_d + (2 * (at_edge + e) + 1) * K + m] -= 1.0
                    rows.append(row)
                    right.append(0.0)
        at_node, at_edge = at_node + graph.n_nodes, at_edge + graph.n_edges
    linear[dim:first_d] = each
    for bound, sign in ((problem.lower, -1.0), (problem.upper, 1.0)):
        for j in np.flatnonzero(np.isfinite(bound)):
            row = np.zeros(size)
            row[j] = sign
            rows.append(row)
            right.append(sign * bound[j])
    quadratic = sp.diags_array(np.r_[np.ones(dim), np.zeros(size - dim)], format="csc")
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = 1e-10
    matrix = sp.csc_matrix(np.array(rows).reshape(-1, size))
    cones = [clarabel.NonnegativeConeT(len(rows))]
    found = clarabel.DefaultSolver(quadratic, linear, matrix, np.array(right), cones, settings).solve()
    x = np.array(found.x)
    return float(0.5 * x[:dim] @ x[:dim] + linear @ x), problem.clamp(x[:dim])


def _full(problem: LearningProblem, start: int, features: np.ndarray) -> np.ndarray:
    """Compact coefficients of the weights from full coordinate ``start`` on."""
    full = np.zeros(problem.core.full_dim)
    full[start : start + len(features)] = features
    return problem.gather(full[problem.core.coordinates])

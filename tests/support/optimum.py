"""The optimum of tiny learning problems.

Every plane by enumeration, one quadratic program by an interior point.
"""

from __future__ import annotations

import clarabel
import numpy as np
import scipy.sparse as sp

from gapcut.problem import LearningProblem
from tiny import enumerated_planes


def enumerated_optimum(problem: LearningProblem, graphs, labels) -> tuple[float, np.ndarray]:
    """Optimal value and weights of ``1/2 |w|^2 + C/n sum xi_i`` over all planes of all graphs."""
    dim, n = problem.dim, problem.n_graphs
    rows, right = [], []
    for i, (graph, y) in enumerate(zip(graphs, labels, strict=True)):
        planes, losses = _distinct(*enumerated_planes(problem, graph, y))
        slack = np.zeros((len(losses), n))
        slack[:, i] = -1.0
        rows.append(np.hstack([-planes, slack]))  # d - h'w <= xi
        right.append(-losses)
    for bound, sign in ((problem.lower, -1.0), (problem.upper, 1.0)):
        finite = np.flatnonzero(np.isfinite(bound))
        box = np.zeros((len(finite), dim + n))
        box[np.arange(len(finite)), finite] = sign
        rows.append(box)
        right.append(sign * bound[finite])
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = 1e-11
    A = sp.csc_matrix(np.vstack(rows))
    quadratic = sp.diags([1.0] * dim + [0.0] * n, format="csc")
    linear = np.concatenate([np.zeros(dim), np.full(n, problem.C / n)])
    cones = [clarabel.NonnegativeConeT(A.shape[0])]
    solution = clarabel.DefaultSolver(quadratic, linear, A, np.concatenate(right), cones, settings).solve()
    w = problem.clamp(np.array(solution.x)[:dim])
    return objective(problem, graphs, labels, w), w


def objective(problem: LearningProblem, graphs, labels, w: np.ndarray) -> float:
    """The objective at ``w`` by enumeration."""
    slack = 0.0
    for graph, y in zip(graphs, labels, strict=True):
        planes, losses = enumerated_planes(problem, graph, y)
        slack += (losses - planes @ w).max()
    return 0.5 * float(w @ w) + problem.C / problem.n_graphs * slack


def _distinct(planes: np.ndarray, losses: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Planes without repetition; equal labelings of equal nodes are common on tiny graphs."""
    both = np.unique(np.column_stack([planes, losses]), axis=0)
    return both[:, :-1], both[:, -1]

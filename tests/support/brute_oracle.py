"""Oracle and optimum of tiny learning problems by enumeration.

Of all of {0,1}^{V x K}, or of any labelings given.
"""

from __future__ import annotations

from collections.abc import Sequence

import clarabel
import numpy as np
import scipy.sparse as sp

from gapcut.engines import OutOfTime
from gapcut.oracles import OraclePlanes, OracleTotal
from gapcut.problem import LearningProblem
from tiny import TinyGraph, enumerated_planes

Planes = list[tuple[np.ndarray, np.ndarray]]


def all_planes(problem: LearningProblem, graphs: list[TinyGraph], labels: list[np.ndarray]) -> Planes:
    """For each graph the planes (m, dim) and losses (m,) of every labeling."""
    return [enumerated_planes(problem, g, y) for g, y in zip(graphs, labels, strict=True)]


class BruteOracle:
    """Answers from the lists of all planes. ``worse`` > 0 takes the plane that many ranks below the best (not
    exact), ``proven=False`` reports infinite bounds, ``calls_allowed`` runs out of time after so many
    calls."""

    feasible = True
    elsewhere = False
    solves = "relaxed binary"

    def __init__(
        self, planes: Planes, worse: int = 0, proven: bool = True, calls_allowed: float = float("inf")
    ) -> None:
        self.planes = planes
        self.worse = worse
        self.exact = worse == 0
        self.proven = proven
        self.calls_allowed = calls_allowed
        self.points: list[np.ndarray] = []

    def evaluate(
        self, w: np.ndarray, graphs: Sequence[int] | None = None, time_left: float | None = None
    ) -> OraclePlanes:
        self.points.append(w.copy())
        if len(self.points) > self.calls_allowed or (time_left is not None and time_left <= 0.0):
            raise OutOfTime
        rows, losses, bounds = [], [], []
        for i in range(len(self.planes)) if graphs is None else graphs:
            planes, loss = self.planes[i]
            slack = loss - planes @ w
            pick = np.argsort(-slack, kind="stable")[min(self.worse, len(slack) - 1)]
            rows.append(planes[pick])
            losses.append(loss[pick])
            rounding = 1e-14 * (np.abs(loss) + np.abs(planes) @ np.abs(w)).max()
            bounds.append(max(0.0, slack.max()) + rounding if self.proven else np.inf)
        return OraclePlanes(np.array(rows), np.array(losses), np.array(bounds))

    def total(self, w: np.ndarray, time_left: float | None = None) -> OracleTotal:
        each = self.evaluate(w, None, time_left)
        bound = each.bounds.mean() * (1 + 1e-14)
        return OracleTotal(each.planes.mean(axis=0), float(each.losses.mean()), float(bound))


def objective(problem: LearningProblem, planes: Planes, w: np.ndarray) -> float:
    """1/2 |w|^2 + C/n sum_i max over the labelings."""
    slack = [max(0.0, (d - h @ w).max()) for h, d in planes]
    return 0.5 * float(w @ w) + problem.C * float(np.mean(slack))


def enumerated_optimum(problem: LearningProblem, planes: Planes) -> tuple[float, float]:
    """Bounds ``lower <= optimum <= upper`` from one interior-point solve over all planes.

    Both ends are evaluated here: the dual value of its multipliers, the objective at their weights or at its own.
    """
    n, dim, each = len(planes), problem.dim, problem.C / len(planes)
    rows = np.vstack([h for h, _ in planes])
    losses = np.concatenate([d for _, d in planes])
    owner = np.repeat(np.arange(n), [len(d) for _, d in planes])
    slack = sp.csr_array((np.ones(len(owner)), (np.arange(len(owner)), owner)), shape=(len(owner), n))
    low, high = np.flatnonzero(np.isfinite(problem.lower)), np.flatnonzero(np.isfinite(problem.upper))
    unit = sp.eye_array(dim, format="csr")
    box = sp.vstack([-unit[low], unit[high]])
    left = sp.vstack([sp.csr_array(-rows), box, sp.csr_array((n, dim))])
    right = sp.vstack([-slack, sp.csr_array((box.shape[0], n)), -sp.eye_array(n)])
    matrix = sp.csc_matrix(sp.hstack([left, right]))
    bound = np.concatenate([-losses, -problem.lower[low], problem.upper[high], np.zeros(n)])
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    settings.tol_gap_rel = settings.tol_gap_abs = settings.tol_feas = 1e-12
    solution = clarabel.DefaultSolver(
        sp.diags_array(np.append(np.ones(dim), np.zeros(n)), format="csc"),
        np.append(np.zeros(dim), np.full(n, each)),
        matrix,
        bound,
        [clarabel.NonnegativeConeT(len(bound))],
        settings,
    ).solve()
    alpha = np.maximum(0.0, np.array(solution.z)[: len(losses)])
    mass = np.bincount(owner, alpha, minlength=n)
    alpha *= np.minimum(1.0, each / np.maximum(mass, 1e-300))[owner]
    x = alpha @ rows
    upper = min(objective(problem, planes, problem.clamp(w)) for w in (x, np.array(solution.x)[:dim]))
    return float(alpha @ losses - problem.conjugate(x)), upper

"""Algorithm 1 of the paper: the 1-slack cutting plane."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import ClassVar

import numpy as np

from gapcut import _core
from gapcut.certificates import Bounds, iteration_bound
from gapcut.certificates.rounding import up
from gapcut.learners.base import Learner, LearnResult, Session, WarmStart
from gapcut.learners.qp import PlaneProgram, QPSolver, qp_solver
from gapcut.problem import LearningProblem
from gapcut.typing import FloatArray

_FINEST_TOLERANCE = 1e-15
_IMPOSSIBLE = 1e-6  # relative; what eta may lie below xi because the working set is solved to a tolerance


@dataclass(frozen=True)
class CuttingPlane(Learner):
    """Algorithm 1: solve the working set, ask the exact oracle at its weights, add the plane it returns.

    Stops at ``eta - xi <= eps`` where ``limits.eps`` is given, ``eta`` with the rounding of the oracle on top, else
    when the certified relative gap meets ``limits.gap``. Every pass is exact, so each proves an upper bound at its
    weights. No plane is ever dropped: Theorem B.4 needs them.

    Stopped by ``eps``, it returns what Theorem 4.1 is about: ``w`` and ``xi`` of the last program, whose objective is
    at most the optimum while ``(w, xi + eps)`` is feasible. The certificate is of these weights; those of an earlier
    pass may have had a better proven end, which the history shows.

    ``qp``: ``"dual"``, ``"dcd"`` or ``"clarabel"``; ``qp_tolerance``: relative gap to which it solves each working set.
    """

    takes_eps: ClassVar[bool] = True

    qp: str = "dual"
    qp_tolerance: float = 1e-9

    def __post_init__(self) -> None:
        qp_solver(self.qp)

    def learn(self, session: Session, start: WarmStart | None = None) -> LearnResult:
        working_set = WorkingSet(session.problem, qp_solver(self.qp), self.qp_tolerance)
        with session.guard():
            while not working_set.finished and session.within_limits():
                one_pass(session, working_set)
        result = session.result(working_set.finished, _iteration_bound(session, working_set.finished))
        return replace(result, eta=working_set.eta, xi=working_set.xi)


def one_pass(session: Session, working_set: WorkingSet) -> None:
    """Lines 6 to 12 of Algorithm 1, and the bounds they prove."""
    limits = session.limits
    working_set.solve(session.clock.left)
    working_set.offer(session.bounds)
    total = session.full_pass(working_set.weights)
    grew = working_set.add(total.plane, total.loss)
    if not session.oracle.exact and working_set.eta < working_set.xi * (1.0 - _IMPOSSIBLE):
        session.note_impossible()
    working_set.finished = session.target_met
    if limits.eps is not None:
        working_set.finished = up(total.bound - working_set.xi) <= limits.eps
        if working_set.finished:
            session.bounds.settle(working_set.weights, total.slack(working_set.weights, session.oracle.exact))
        elif not session.oracle.exact and working_set.eta - working_set.xi <= limits.eps:
            session.ended = (
                "eta - xi <= eps for the oracle's planes, but its bounds do not prove it: use oracle='cut'"
            )
    if not (grew or working_set.finished or session.ended or working_set.refine()):
        session.ended = (
            "no plane is left to add, rounding keeps the rest of the gap: scale the features or lower C"
        )
    session.record(working_set.count)


def _iteration_bound(session: Session, certified: bool) -> int | None:
    """Theorem B.4 for the stop in use; a gap target stops at the latest where ``C eps`` is that share of the bound."""
    limits, bounds = session.limits, session.bounds
    if limits.eps is not None:
        return iteration_bound(session.problem, limits.eps)
    scale = bounds.upper if certified else bounds.lower
    return iteration_bound(session.problem, limits.gap * scale / session.problem.C)


@dataclass
class WorkingSet:
    """The planes so far, the solution of their quadratic program, and the violations ``eta`` and ``xi``."""

    problem: LearningProblem
    solver: QPSolver
    tolerance: float
    count: int = 0
    finished: bool = False
    eta: float = float("inf")
    xi: float = 0.0
    alpha: FloatArray = field(default_factory=lambda: np.zeros(0))

    def __post_init__(self) -> None:
        self._planes = np.zeros((16, self.problem.dim))
        self._losses = np.zeros(16)
        self.weights = self.problem.clamp(np.zeros(self.problem.dim))

    @property
    def planes(self) -> FloatArray:
        return self._planes[: self.count]

    @property
    def losses(self) -> FloatArray:
        return self._losses[: self.count]

    def solve(self, time_left: float | None) -> None:
        """``(w, xi)`` of the working set, from the last alpha; ``w = clamp(0)`` and ``xi = 0`` while it is empty."""
        if self.count == 0:
            return
        problem = self.problem
        program = PlaneProgram(self.planes, self.losses, problem.C, problem.lower, problem.upper)
        start = np.concatenate([self.alpha, np.zeros(self.count - len(self.alpha))])
        result = self.solver.solve(program, start, self.tolerance, time_left)
        self.alpha, self.weights = result.alpha, result.weights
        slacks = self._slack(self.planes, self.losses)
        self.xi = max(0.0, float(slacks.max()))

    def offer(self, bounds: Bounds) -> None:
        """The lower end that the masses prove."""
        active = np.flatnonzero(self.alpha > 0.0)
        if len(active):
            alpha = self.alpha[active]
            plane = _core.weighted_sum(alpha, self.planes[active])
            bounds.offer_dual(plane, _core.dot(alpha, self.losses[active]), len(alpha))

    def add(self, plane: FloatArray, loss: float) -> bool:
        """Takes the oracle's plane in and sets ``eta``. False if the set had it already."""
        self.eta = float(self._slack(plane[None, :], np.array([loss]))[0])
        twins = np.flatnonzero(self.losses == loss)
        if any(np.array_equal(self._planes[t], plane) for t in twins):
            return False
        if self.count == len(self._losses):
            self._planes = np.concatenate([self._planes, np.zeros_like(self._planes)])
            self._losses = np.concatenate([self._losses, np.zeros_like(self._losses)])
        self._planes[self.count], self._losses[self.count] = plane, loss
        self.count += 1
        return True

    def refine(self) -> bool:
        """Solve more finely from now on; False if that is no longer possible."""
        self.tolerance *= 1e-2
        return self.tolerance >= _FINEST_TOLERANCE

    def _slack(self, planes: FloatArray, losses: FloatArray) -> FloatArray:
        """Row by row, so that a plane seen before has the same slack to the bit however many stand beside it."""
        return np.asarray(losses - _core.dots(planes, self.weights))

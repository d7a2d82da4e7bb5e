"""The default learner: primal-dual steps on the tight relaxation, judged by the exact cut (formulation, section 3b)."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np

from gapcut import _core
from gapcut.learners.base import Callback, LearnResult, Limits
from gapcut.learners.cutting_plane import WorkingSet, one_pass
from gapcut.learners.qp import qp_solver
from gapcut.learners.session import Session
from gapcut.oracles.base import Oracle
from gapcut.problem import LearningProblem
from gapcut.typing import FloatArray

_FIRST = 20
"""Iteration of the first certificate."""

_LONGEST = 400
"""Iterations between two certificates, at most."""

_PATIENCE = 6
"""Certificates without progress after which the steps are taken to have met their precision."""


@dataclass(frozen=True)
class PrimalDual:
    """First-order steps on one convex-concave saddle problem; plane methods see it only through cuts.

    The steps themselves prove nothing. From time to time a *certificate* is made: the exact oracle at the weights gives
    the upper bound, the relaxed labels, repaired by coordinate ascent, a dual point and so the lower bound. Both are
    valid whatever the steps did (``cpp/include/gapcut/learn/relaxed_dual.hpp`` says why). A *pass* is one certificate.

    Where C is so large that float32 steps cannot settle the slack, certificates stop improving; the planes seen so far
    then start the cutting plane, which ends the run.

    ``theta`` splits the step between weights and arcs, ``relax`` in (0, 2) is the over-relaxation, ``gamma`` and ``kappa``
    shorten the label steps (1 and the number of active pairs are provably safe; a monitor falls back to them), ``step``
    balances primal and dual, ``lag`` is how often label pairs without weight are looked at. ``repair=False`` is for
    comparison. Results do not depend on ``n_threads``.
    """

    theta: float = 0.5
    relax: float = 1.8
    gamma: float = 0.25
    kappa: float = 2.0
    step: float = 0.06
    lag: int = 5
    repair: bool = True
    repair_sweeps: int = 10
    n_threads: int = 1
    seed: int = 0

    def run(
        self, problem: LearningProblem, oracle: Oracle, limits: Limits, callback: Callback | None = None
    ) -> LearnResult:
        session = Session(problem, oracle, limits, callback)
        with session.guard():
            steps = _Steps(self, problem)
            while not session.target_met and not steps.stalled and session.within_limits():
                steps.advance(session)
                steps.certify(session)
            while not session.target_met and session.within_limits():
                one_pass(session, steps.working_set)
        return session.result()


@dataclass
class _Steps:
    """The native state of one run and when to certify it next."""

    learner: PrimalDual
    problem: LearningProblem
    due: int = _FIRST
    repaired: list[tuple[int, float]] = field(default_factory=list)
    last_upper: float = math.inf
    best_dual: float = -math.inf
    progress: list[float] = field(default_factory=list)

    def __post_init__(self) -> None:
        learner, problem = self.learner, self.problem
        settings = _core.PrimalDualSettings()
        for name in ("theta", "relax", "gamma", "kappa", "step", "lag"):
            setattr(settings, name, getattr(learner, name))
        threads = learner.n_threads
        self.state = _core.PrimalDual(problem.core, problem.lower, problem.upper, problem.C, settings, threads)
        self.working_set = WorkingSet(problem, qp_solver("dual"), 1e-9)
        self.mender = _core.Repair(problem.core, problem.lower, problem.upper, threads)

    def advance(self, session: Session) -> None:
        self.state.advance(self.due - self.state.iterations, session.clock.left)

    def certify(self, session: Session) -> None:
        """One exact pass at the weights, and the dual value of the labels, repaired where that can pay."""
        bounds = session.bounds
        weights = self.problem.clamp(self.state.weights())
        total = session.oracle.total(weights, session.clock.left)
        session.passes += 1
        session.calls += self.problem.n_graphs
        bounds.offer_primal(weights, total, session.oracle.exact)
        self.working_set.add(total.plane, total.loss)
        labels = self.state.labels(self.problem.core)
        reached = self._offer(session, labels)
        gap = (bounds.upper - reached) / bounds.upper if bounds.upper > 0.0 else 0.0
        stalled = self.last_upper - bounds.upper < 0.25 * session.limits.gap * bounds.upper
        self.last_upper = bounds.upper
        target = session.limits.gap
        mend = self.learner.repair and not session.target_met and (gap < 18.0 * target or stalled)
        if mend:
            seed = self.learner.seed + session.passes
            sweeps = self.learner.repair_sweeps
            worthwhile = 0.1 * target * bounds.upper / labels.size
            better = self.mender.run(
                self.problem.core, labels, self.problem.C, sweeps, worthwhile, seed, session.clock.left
            )
            self._offer(session, better)
        self.progress.append(bounds.upper - self.best_dual)
        session.record(self.state.active_pairs)
        self._schedule(bounds.relative_gap, target, mend)

    def _offer(self, session: Session, labels: FloatArray) -> float:
        """Offers the dual point of relaxed labels; one plane a graph, all of one weight."""
        plane, loss = _core.relaxed_plane(self.problem.core, labels, self.learner.n_threads, session.clock.left)
        C = self.problem.C
        self.working_set.add(np.asarray(plane), loss)
        reached = session.bounds.offer_dual(C * np.asarray(plane), C * loss, self.problem.n_graphs)
        self.best_dual = max(self.best_dual, C * loss - self.problem.conjugate(C * np.asarray(plane)))
        return reached

    @property
    def stalled(self) -> bool:
        """Whether neither end has come nearer to the other by a tenth over the last certificates."""
        if len(self.progress) <= _PATIENCE or self.state.iterations < _LONGEST:
            return False
        return self.progress[-1] > 0.9 * self.progress[-1 - _PATIENCE]

    def _schedule(self, gap: float, target: float, mended: bool) -> None:
        """Geometric steps; once repairs close in on the target, when their rate says it will be met."""
        now = self.state.iterations
        self.due = min(now + _LONGEST, math.ceil(1.3 * now))
        if not mended:
            return
        if self.repaired and self.repaired[-1][1] > gap > target:
            before, gap_before = self.repaired[-1]
            rate = math.log(gap_before / gap) / (now - before)
            self.due = now + max(math.ceil(0.15 * now), min(80, math.ceil(1.05 * math.log(gap / target) / rate)))
        self.repaired.append((now, gap))

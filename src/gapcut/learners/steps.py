"""The state of a primal-dual run: native iterations, when to certify them, and how."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gapcut import _core
from gapcut.learners.cutting_plane import WorkingSet
from gapcut.learners.qp import qp_solver
from gapcut.learners.session import Session
from gapcut.problem import LearningProblem

FIRST = 20
"""Iterations before the first certificate."""

LONGEST = 400
"""Iterations between two certificates, at most."""

PATIENCE = 6
"""Certificates without progress after which the steps are taken to have met their precision."""


@dataclass(frozen=True)
class StepSettings:
    """``theta`` splits the step between weights and arcs, ``relax`` in (0, 2) is the over-relaxation, ``gamma`` and
    ``kappa`` shorten the label steps (1 and the number of active pairs are provably safe; a monitor falls back),
    ``step`` balances primal and dual, ``lag`` is how often label pairs without weight are looked at. ``repair=False``
    leaves the relaxed labels as they are, for comparison; ``seed`` orders the repair."""

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

    def native(self) -> _core.PrimalDualSettings:
        settings = _core.PrimalDualSettings()
        for name in ("theta", "relax", "gamma", "kappa", "step", "lag"):
            setattr(settings, name, getattr(self, name))
        return settings


@dataclass
class Schedule:
    """When the next certificate is due, in iterations since C was set. Plain numbers, so that it can be saved."""

    began: int = 0
    due: int = FIRST
    last_upper: float = math.inf
    best_dual: float = -math.inf
    mended_at: int = 0
    mended_gap: float = math.inf
    progress: list[float] = field(default_factory=list)

    def next(self, now: int, gap: float, target: float, mended: bool) -> None:
        """Geometric steps; once repairs close in on the target, when their rate says it will be met."""
        now -= self.began
        self.due = min(now + LONGEST, math.ceil(1.3 * now))
        if not mended:
            return
        if self.mended_gap > gap > target > 0.0 and self.mended_at:
            rate = math.log(self.mended_gap / gap) / (now - self.mended_at)
            wait = math.ceil(1.05 * math.log(gap / target) / rate)
            self.due = now + max(math.ceil(0.15 * now), min(80, wait))
        self.mended_at, self.mended_gap = now, gap

    def stalled(self, now: int) -> bool:
        """Whether the ends have not come nearer to each other by a tenth over the last certificates."""
        if len(self.progress) <= PATIENCE or now - self.began < LONGEST:
            return False
        return self.progress[-1] > 0.9 * self.progress[-1 - PATIENCE]


class Steps:
    """The native state and the certificates made from it."""

    def __init__(self, settings: StepSettings, problem: LearningProblem) -> None:
        self.settings = settings
        threads = settings.n_threads
        self.state = _core.PrimalDual(
            problem.core, problem.lower, problem.upper, problem.C, settings.native(), threads
        )
        self.mender = _core.Repair(problem.core, problem.lower, problem.upper, threads)
        self._start(problem)

    def _start(self, problem: LearningProblem) -> None:
        self.problem = problem
        self.schedule = Schedule(began=self.state.iterations)
        self.working_set = WorkingSet(problem, qp_solver("dual"), 1e-9)
        self.best_labels: NDArray[np.float32] | None = None

    def set_trade_off(self, C: float) -> None:
        """Another C from the state reached."""
        self.state.set_trade_off(C)
        self._start(self.problem.with_C(C))

    def advance(self, session: Session) -> None:
        due = self.schedule.began + self.schedule.due
        self.state.advance(max(0, due - self.state.iterations), session.clock.left)

    @property
    def stalled(self) -> bool:
        return self.schedule.stalled(self.state.iterations)

    def certify(self, session: Session) -> None:
        """One exact pass at the weights, and the dual value of the labels, repaired where that can pay."""
        bounds, target = session.bounds, session.limits.gap
        self.prove_upper(session, self.problem.clamp(self.state.weights()))
        labels = self.state.labels(self.problem.core)
        reached = self.prove_lower(session, labels)
        mend = not session.target_met and self._worth_mending(session, reached)
        if mend:
            self.prove_lower(session, self._mend(session, labels))
        self.schedule.last_upper = bounds.upper
        self.schedule.progress.append(bounds.upper - self.schedule.best_dual)
        self.schedule.next(self.state.iterations, bounds.relative_gap, target, mend)
        session.record(self.state.active_pairs)

    def prove_upper(self, session: Session, weights: NDArray[np.float64]) -> None:
        total = session.oracle.total(weights, session.clock.left)
        session.passes += 1
        session.calls += self.problem.n_graphs
        session.bounds.offer_primal(weights, total, session.oracle.exact)
        self.working_set.add(total.plane, total.loss)

    def prove_lower(self, session: Session, labels: NDArray[np.float32]) -> float:
        """Offers the dual point of relaxed labels, one plane a graph, all of one weight; returns its value."""
        core, C = self.problem.core, self.problem.C
        plane, loss = _core.relaxed_plane(core, labels, self.settings.n_threads, session.clock.left)
        self.working_set.add(plane, loss)
        session.bounds.offer_dual(C * plane, C * loss, self.problem.n_graphs)
        value = float(C * loss - self.problem.conjugate(C * plane))
        if self.best_labels is None or value > self.schedule.best_dual:
            self.schedule.best_dual, self.best_labels = value, labels
        return value

    def _worth_mending(self, session: Session, reached: float) -> bool:
        upper, target = session.bounds.upper, session.limits.gap
        near = upper - reached < 18.0 * target * upper
        settled = self.schedule.last_upper - upper < 0.25 * target * upper
        return self.settings.repair and (near or settled)

    def _mend(self, session: Session, labels: NDArray[np.float32]) -> NDArray[np.float32]:
        worthwhile = 0.1 * session.limits.gap * session.bounds.upper / labels.size
        seed = self.settings.seed + session.passes
        sweeps, left = self.settings.repair_sweeps, session.clock.left
        core, C = self.problem.core, self.problem.C
        return self.mender.run(core, labels, C, sweeps, worthwhile, seed, left)

    def snapshot(self) -> tuple[dict[str, Any], dict[str, Any]]:
        """Arrays and plain numbers from which :meth:`restore` goes on."""
        arrays = dict(self.state.snapshot())
        if self.best_labels is not None:
            arrays["best_labels"] = self.best_labels
        return arrays, asdict(self.schedule)

    def restore(self, arrays: dict[str, Any], numbers: dict[str, Any]) -> None:
        """Raises ValueError if the snapshot does not fit the problem. ``best_labels`` must be proven anew."""
        self.state.restore(arrays)
        self.schedule = Schedule(**numbers)
        self.schedule.best_dual = -math.inf

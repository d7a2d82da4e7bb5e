"""The state of a primal-dual run: native iterations, when to certify them, and how."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from gapcut import _core
from gapcut.learners.cutting_plane import WorkingSet
from gapcut.learners.qp import qp_solver
from gapcut.learners.session import Session
from gapcut.oracles.cut import CutOracle
from gapcut.problem import LearningProblem

FIRST = 20
"""Iterations before the first certificate."""

GROWTH = 1.4
"""From one certificate to the next where nothing is predicted."""

REPAIR_OPERATION = 8
"""Time of an operation of a repair over one of an iteration (measured 4 to 13; ``operations`` of both count them)."""

CUT_WITHIN = 1.25
"""Gap, in targets, within which the exact cut is asked for a better upper end than the arc multipliers prove."""

CUT_ARCS = 20_000_000
"""Arcs of one graph's network above which certificates do without the cut: some 75 bytes each, and minutes."""

LONGEST = 400
"""Iterations between two certificates, at most."""

PATIENCE = 6
"""Certificates without progress after which the steps are taken to have met their precision."""


STEP_SIZES = (
    "theta",
    "over_relaxation",
    "damping",
    "kappa0",
    "primal_weight",
    "rebalance",
    "screening_interval",
)
"""Settings of the native iteration."""


@dataclass(frozen=True)
class StepSettings:
    """``theta`` splits the primal step between weights and arc multipliers, ``over_relaxation`` is in (0, 2); label
    steps are divided by ``damping`` times the number of active pairs of the label (1 is provably safe; a monitor falls
    back to it), at first by ``kappa0``; ``metric="diagonal"`` moves every weight alone, for comparison;
    ``primal_weight`` is the first ratio of dual to primal steps, which then follows the ratio of the distances covered
    times ``rebalance`` (0: never); inactive label pairs are screened every ``screening_interval`` iterations.
    ``repair=False`` leaves the relaxed labels as they are, ``always_cut=True`` makes a cut for each certificate, both
    for comparison; ``seed`` orders the repair."""

    theta: float = 0.5
    over_relaxation: float = 1.8
    damping: float = 0.25
    kappa0: float = 2.0
    primal_weight: float = 0.06
    rebalance: float = 0.9
    screening_interval: int = 5
    metric: Literal["gram", "diagonal"] = "gram"
    repair: bool = True
    always_cut: bool = False
    repair_sweeps: int = 10
    n_threads: int = 1
    seed: int = 0

    def native(self) -> _core.PrimalDualSettings:
        settings = _core.PrimalDualSettings()
        for name in STEP_SIZES:
            setattr(settings, name, getattr(self, name))
        settings.diagonal = self.metric == "diagonal"
        return settings


@dataclass
class Schedule:
    """When the next certificate is due, in iterations since C was set. Plain numbers, so that it can be saved.

    The gap of the labels as they are (``raw``) falls at a rate that is easy to predict; a repair costs as much as
    so many iterations (``Steps.repair_cost``) and is made when waiting would cost more.
    """

    began: int = 0
    due: int = FIRST
    last_upper: float = math.inf
    raw: Sequence[float] | None = None
    mended: Sequence[float] | None = None
    mend_by: float = math.inf
    progress: list[float] = field(default_factory=list)

    def wait(self, now: int, gap: float, target: float, before: Sequence[float] | None) -> float:
        """Iterations until the target is met, at the rate since ``before`` (iteration, gap)."""
        if before is None or not before[1] > gap > target > 0.0 or now <= before[0]:
            return math.inf
        return math.log(gap / target) * (now - before[0]) / math.log(before[1] / gap)

    def next(self, now: int, wait: float) -> None:
        """Geometric steps, shorter where the target is predicted (``wait``) to be met before."""
        self.due = min(now + LONGEST, max(FIRST, math.ceil(GROWTH * now)))
        if wait < math.inf:
            self.due = now + max(FIRST // 4, math.ceil(0.15 * now), min(80, math.ceil(1.05 * wait)))

    def stalled(self, now: int) -> bool:
        """Whether the ends have not come nearer to each other by a tenth over the last certificates."""
        if len(self.progress) <= PATIENCE or now - self.began < LONGEST:
            return False
        return self.progress[-1] > 0.9 * self.progress[-1 - PATIENCE]


@dataclass(frozen=True)
class DualPoint:
    """Relaxed ``labels`` (N, K), the mean ``plane`` (dim,) and ``loss`` they give, and the dual ``value`` of both."""

    labels: NDArray[np.float32]
    plane: NDArray[np.float64]
    loss: float
    value: float


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
        self.best: DualPoint | None = None
        self.broken = False

    def set_trade_off(self, C: float) -> None:
        """Another C from the state reached."""
        self.state.set_trade_off(C)
        self._start(self.problem.with_C(C))

    def start_from(self, arrays: Mapping[str, Any]) -> None:
        """The native state of another run, at this problem's C; left as it is where sizes differ."""
        try:
            self.state.restore(dict(arrays))
        except ValueError:
            return
        self.state.set_trade_off(self.problem.C)
        self.schedule = Schedule(began=self.state.iterations, due=0)

    @property
    def repair_cost(self) -> float:
        """Iterations in the time of one repair, by operations that are counted, so that runs repeat."""
        return REPAIR_OPERATION * self.mender.operations / self.state.operations

    def advance(self, session: Session) -> None:
        due = self.schedule.began + self.schedule.due
        try:
            self.state.advance(max(0, due - self.state.iterations), session.clock.left)
        except (ValueError, ArithmeticError):  # features beyond the range of the metric
            self.broken = True

    @property
    def stalled(self) -> bool:
        return self.broken or self.schedule.stalled(self.state.iterations)

    def certify(self, session: Session) -> None:
        """One exact pass at the weights, and the dual value of the labels, repaired where that can pay."""
        bounds, target, schedule = session.bounds, session.limits.gap, self.schedule
        now = self.state.iterations - schedule.began
        weights, labels = self.state.weights(), self.state.labels(self.problem.core)
        if self.broken or not (np.isfinite(weights).all() and np.isfinite(labels).all()):
            self.broken = True  # features too large for single precision: the planes go on
            return
        weights = self.problem.clamp(weights)
        self._bound_upper(session, weights)
        reached = self.prove_lower(session, labels)
        raw = (bounds.upper - reached.value) / bounds.upper if bounds.upper > 0.0 else 0.0
        wait = schedule.wait(now, raw, target, schedule.raw)
        if not session.target_met and self._worth_mending(session, raw, wait):
            self._mend(session, labels)
            gap = bounds.relative_gap
            predicted = schedule.wait(now, gap, target, schedule.mended)
            wait = min(wait, predicted)
            schedule.mended, schedule.mend_by = (now, gap), 2 * max(now, 2 * self.repair_cost)
            if predicted < math.inf:
                schedule.mend_by = min(schedule.mend_by, now + math.ceil(max(self.repair_cost, predicted)))
        if self._cut_decides(bounds.relative_gap, target):
            self.prove_upper(session, weights, self.state)
        schedule.raw = (now, raw)
        schedule.last_upper = bounds.upper
        schedule.progress.append(bounds.upper - (self.best or reached).value)
        schedule.next(now, wait)
        session.record(self.state.active_pairs)

    def _cut_decides(self, gap: float, target: float) -> bool:
        if self.settings.always_cut:
            return True
        largest = int(np.diff(self.problem.core.edge_offset).max(initial=0))
        return target < gap <= CUT_WITHIN * target and largest * self.state.active_pairs <= CUT_ARCS

    def _bound_upper(self, session: Session, weights: NDArray[np.float64]) -> None:
        """The upper end from the arc multipliers: one pass over them, whatever the cut would have to do."""
        threads, left = self.settings.n_threads, session.clock.left
        slack, rounding = self.state.slack_bound(self.problem.core, weights, threads, left)
        session.bounds.offer_slack(weights, slack, rounding)
        session.passes += 1

    def prove_upper(
        self, session: Session, weights: NDArray[np.float64], start: _core.PrimalDual | None = None
    ) -> None:
        """The upper end from the exact oracle; a cut starts from the arc multipliers of ``start``."""
        oracle, left = session.oracle, session.clock.left
        total = (
            oracle.total(weights, left, start)
            if isinstance(oracle, CutOracle)
            else oracle.total(weights, left)
        )
        session.calls += self.problem.n_graphs
        session.bounds.offer_primal(weights, total, session.oracle.exact)
        self.working_set.add(total.plane, total.loss)

    def prove_lower(self, session: Session, labels: NDArray[np.float32]) -> DualPoint:
        """Offers the dual point of relaxed labels, one plane a graph, all of one weight."""
        core, C = self.problem.core, self.problem.C
        plane, loss = _core.relaxed_plane(core, labels, self.settings.n_threads, session.clock.left)
        self.working_set.add(plane, loss)
        session.bounds.offer_dual(C * plane, C * loss, self.problem.n_graphs)
        point = DualPoint(labels, plane, loss, float(C * loss - self.problem.conjugate(C * plane)))
        if self.best is None or point.value > self.best.value:
            self.best = point
        return point

    def _worth_mending(self, session: Session, raw: float, wait: float) -> bool:
        now, cost = self.state.iterations - self.schedule.began, self.repair_cost
        if not self.settings.repair or wait < cost or now < min(cost, LONGEST) < wait == math.inf:
            return False
        upper, target = session.bounds.upper, session.limits.gap
        settled = self.schedule.last_upper - upper < 0.25 * target * upper
        due = now >= min(self.schedule.mend_by, 4 * cost if self.schedule.mended is None else math.inf)
        return raw < 18.0 * target or settled or due

    def _mend(self, session: Session, labels: NDArray[np.float32]) -> None:
        """Repairs the labels; where that is not enough, once more a mixture of them and the best so far: the errors of
        both are of one kind but not the same, and D is concave.
        """
        before = self.best
        mended = self.prove_lower(session, self._repaired(session, labels))
        if before is None or session.target_met:
            return
        mixture = self._mixture(before, mended, session.clock.left)
        self.prove_lower(session, self._repaired(session, mixture))

    def _repaired(self, session: Session, labels: NDArray[np.float32]) -> NDArray[np.float32]:
        worthwhile = 0.1 * session.limits.gap * session.bounds.upper / labels.size
        seed = self.settings.seed + session.passes
        sweeps, left = self.settings.repair_sweeps, session.clock.left
        core, C = self.problem.core, self.problem.C
        return self.mender.run(core, labels, C, sweeps, worthwhile, seed, left)

    def _mixture(self, one: DualPoint, two: DualPoint, left: float | None) -> NDArray[np.float32]:
        """The convex combination whose planes prove most; that of the labels proves no less."""
        problem = self.problem
        planes, losses = np.stack([one.plane, two.plane]), np.array([one.loss, two.loss])
        solved = qp_solver("dual").solve(
            planes, losses, problem.C, problem.lower, problem.upper, tolerance=1e-6, time_left=left
        )
        share = solved.alpha / problem.C
        if share.sum() < 0.5:  # the true labels would prove more than both
            return (one if one.value > two.value else two).labels
        first = np.float32(share[0] / share.sum())
        return np.clip(first * one.labels + (1 - first) * two.labels, 0.0, 1.0)

    def state_arrays(self) -> dict[str, Any]:
        """A copy of the native state."""
        return dict(self.state.snapshot())

    def snapshot(self) -> tuple[dict[str, Any], dict[str, Any]]:
        """Arrays and plain numbers from which :meth:`restore` goes on."""
        arrays = self.state_arrays()
        if self.best is not None:
            arrays["best_labels"] = self.best.labels
        return arrays, asdict(self.schedule)

    def restore(self, arrays: dict[str, Any], numbers: dict[str, Any]) -> None:
        """Raises ValueError if the snapshot does not fit the problem. ``best_labels`` must be proven anew."""
        self.state.restore(arrays)
        self.schedule = Schedule(**numbers)

"""The default learner: primal-dual steps on the oracle's relaxation (docs/mathematics.md, Saddle problem)."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from gapcut import _core
from gapcut.certificates import Callback
from gapcut.engines import OutOfTime
from gapcut.learners.base import Learner, LearnResult, Limits, Session, WarmStart
from gapcut.learners.checkpoint import Checkpoint, DamagedCheckpoint
from gapcut.learners.cutting_plane import WorkingSet, one_pass
from gapcut.learners.qp import PlaneProgram, qp_solver
from gapcut.oracles.base import Oracle
from gapcut.problem import LearningProblem
from gapcut.typing import FloatArray

FIRST = 20
"""Iterations before the first certificate."""

GROWTH = 1.4
"""From one certificate to the next where nothing is predicted."""

FIRST_REPAIR = 160
"""Iterations after which the first repair is tried, however far the target seems."""

SLOWING = 0.7
"""Of the time until the target, what a steady rate predicts: the rate falls on the way."""

CUT_WITHIN = 1.25
"""Gap, in targets, within which the oracle is asked for a better upper end than the multipliers prove."""

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
class PrimalDual(Learner):
    """First-order steps on one convex-concave saddle-point problem; plane methods see it only through cuts.

    The steps themselves prove nothing. From time to time a *certificate* is made: the multipliers, or the exact
    oracle where it can decide, give the upper bound at the weights; the relaxed labels, repaired by coordinate
    ascent where that pays, a dual point and so the lower bound. Both are valid whatever the steps did
    (``cpp/include/gapcut/learn/relaxed_dual.hpp`` says why). A *pass* is one certificate.

    Where C is so large that float32 steps cannot settle the slack, certificates stop improving; the planes seen so far
    then start the cutting plane, which ends the run.

    ``theta`` splits the primal step between weights and multipliers, ``over_relaxation`` is in (0, 2); label steps are
    divided by ``damping`` times the number of active pairs of the label (1 is provably safe; a monitor falls back to
    it), at first by ``kappa0``. ``primal_weight`` is the first ratio of dual to primal steps, which then follows the
    ratio of the distances covered times ``rebalance`` (0: never); inactive label pairs are screened every
    ``screening_interval`` iterations. For comparison: ``metric="diagonal"`` moves every weight alone,
    ``repair=False`` leaves the relaxed labels as they are, ``always_cut=True`` asks the oracle for each certificate.
    ``seed`` orders the repair.

    ``checkpoint`` names a file that is renewed every ``checkpoint_seconds``, also between certificates, and when the
    run ends without its target; a run that finds it there goes on from it. It is deleted once the target is met.
    Results do not depend on ``n_threads`` nor on being interrupted and resumed.
    """

    needs_relaxation: ClassVar[bool] = True
    takes_cliques: ClassVar[bool] = False
    takes_checkpoint: ClassVar[bool] = True

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
    checkpoint: str | os.PathLike[str] | None = None
    checkpoint_seconds: float = 10.0

    def native(self) -> _core.PrimalDualSettings:
        """The settings of the core's iteration."""
        settings = _core.PrimalDualSettings()
        for name in STEP_SIZES:
            setattr(settings, name, getattr(self, name))
        settings.diagonal = self.metric == "diagonal"
        return settings

    def learn(self, session: Session, start: WarmStart | None = None) -> LearnResult:
        steps = Steps(self, session.problem, session.oracle)
        if start is not None:
            steps.start_from(start)
        return self._go_on(session, steps)

    def path(
        self,
        problem: LearningProblem,
        make_oracle: Callable[[LearningProblem], Oracle],
        C_values: Sequence[float],
        limits: Limits,
        callback: Callback | None = None,
    ) -> Iterator[LearnResult]:
        """All iterates are carried from one C to the next."""
        oracle = make_oracle(problem)
        steps = Steps(self, problem, oracle)
        for C in C_values:
            steps.set_trade_off(C)
            yield self._go_on(Session(steps.problem, oracle, limits, callback), steps)

    def _go_on(self, session: Session, steps: Steps) -> LearnResult:
        """From where ``steps`` are, at their C."""
        file = None
        if self.checkpoint is not None:
            file = Checkpoint(self.checkpoint, self._identity(steps.problem), self.checkpoint_seconds)
        with session.guard():
            if file is not None and file.path.exists():
                steps.resume(session, file)
            while not steps.stalled and session.goes_on:
                steps.advance(session, file)
                steps.certify(session)
            while session.goes_on:
                one_pass(session, steps.working_set)
        if file is not None and session.target_met:
            file.path.unlink(missing_ok=True)
        elif file is not None and steps.state.iterations:
            file.write(session, *steps.snapshot())
        return replace(session.result(), warm_start=steps.warm_start)

    def _identity(self, problem: LearningProblem) -> dict[str, Any]:
        """What a run must share with its checkpoint; the number of threads is free."""
        free = ("n_threads", "checkpoint", "checkpoint_seconds")
        settings = {name: value for name, value in asdict(self).items() if name not in free}
        return {"fingerprint": problem.fingerprint, "C": problem.C, **settings}


@dataclass
class CertificateSchedule:
    """When the next certificate is due, in iterations since C was set. Plain numbers, so that it can be saved.

    The gap of the labels as they are (``unrepaired``) falls at a rate that is easy to predict; a repair is made when
    waiting would cost more. ``unrepaired`` and ``repaired`` are the last (iteration, gap) of either kind, ``gaps`` the
    gaps so far, ``repair_excess`` what the last repair cost over what was expected of it.
    """

    start: int = 0
    due: int = FIRST
    last_upper: float = math.inf
    unrepaired: Sequence[float] | None = None
    repaired: Sequence[float] | None = None
    repair_due: int = FIRST_REPAIR
    repair_excess: float = 1.0
    gaps: list[float] = field(default_factory=list)

    def predict(self, now: int, gap: float, target: float, before: Sequence[float] | None) -> float:
        """Iterations until the target is met, at the rate since ``before`` (iteration, gap)."""
        if before is None or not before[1] > gap > target > 0.0 or now <= before[0]:
            return math.inf
        return math.log(gap / target) * (now - before[0]) / math.log(before[1] / gap)

    def next(self, now: int, predicted: float) -> None:
        """Geometric steps, shorter where the target is predicted to be met before."""
        self.due = min(now + LONGEST, max(FIRST, math.ceil(GROWTH * now)))
        if predicted < math.inf:
            self.due = now + max(FIRST // 4, math.ceil(0.15 * now), min(80, math.ceil(1.05 * predicted)))

    @property
    def stalled(self) -> bool:
        """Whether the ends have not come nearer to each other by a tenth over the last certificates."""
        if len(self.gaps) <= PATIENCE or self.unrepaired is None or self.unrepaired[0] < LONGEST:
            return False
        return self.gaps[-1] > 0.9 * self.gaps[-1 - PATIENCE]


@dataclass(frozen=True)
class RelaxedPoint:
    """Relaxed ``labels`` (N, K), the mean ``plane`` (dim,) and ``loss`` they give, and the dual ``value`` of both."""

    labels: NDArray[np.float32]
    plane: FloatArray
    loss: float
    value: float


class Steps:
    """The iterates of a run and the certificates made from them."""

    def __init__(self, settings: PrimalDual, problem: LearningProblem, oracle: Oracle) -> None:
        self.settings = settings
        self.relaxation = oracle.relaxation(settings.native(), settings.n_threads)
        self.state = self.relaxation.state
        self._begin(problem)

    def _begin(self, problem: LearningProblem) -> None:
        self.problem = problem
        self.schedule = CertificateSchedule(start=self.state.iterations)
        self.working_set = WorkingSet(problem, qp_solver("dual"), 1e-9)
        self.best: RelaxedPoint | None = None
        self.out_of_range = False

    def set_trade_off(self, C: float) -> None:
        """Another C from the iterates reached."""
        self.state.set_trade_off(C)
        self._begin(self.problem.with_C(C))

    def warm_start(self) -> WarmStart:
        """A copy of the iterates."""
        return WarmStart(self.problem.fingerprint, dict(self.state.snapshot()))

    def start_from(self, start: WarmStart) -> None:
        """The iterates of another run, at this problem's C; left as they are where data differ."""
        if start.fingerprint == self.problem.fingerprint:
            self.state.restore(dict(start.arrays))
            self.state.set_trade_off(self.problem.C)
            self.schedule = CertificateSchedule(start=self.state.iterations, due=0)

    def advance(self, session: Session, file: Checkpoint | None = None) -> None:
        """To the next certificate; ``file`` is renewed on the way whenever it is due."""
        due = self.schedule.start + self.schedule.due
        try:
            while file is not None and self._advance_within(due, session, file):
                file.write(session, *self.snapshot())
                self.state.advance(min(1, due - self.state.iterations), session.clock.left)
            self.state.advance(max(0, due - self.state.iterations), session.clock.left)
        except (ValueError, ArithmeticError):  # features beyond the range of the metric
            self.out_of_range = True

    def _advance_within(self, due: int, session: Session, file: Checkpoint) -> bool:
        """As far as the age of ``file`` allows; whether it is due before the certificate is."""
        left = session.clock.left
        try:
            self.state.advance(
                max(0, due - self.state.iterations), min(file.left, math.inf if left is None else left)
            )
        except OutOfTime:
            if session.clock.left == 0.0:
                raise
            return True
        return False

    @property
    def stalled(self) -> bool:
        return self.out_of_range or self.schedule.stalled

    def certify(self, session: Session) -> None:
        """A pass. One that is cut off proves what it proves, but a checkpoint knows nothing of it: it is made again."""
        before = session.passes, session.calls, self.best, replace(self.schedule, gaps=[*self.schedule.gaps])
        try:
            self._prove(session)
        except BaseException:
            session.passes, session.calls, self.best, self.schedule = before
            raise
        if not self.out_of_range:
            session.record(self.state.active_pairs)

    def _prove(self, session: Session) -> None:
        """An upper bound at the weights, and the dual value of the labels, repaired where that can pay."""
        bounds, target, schedule = session.bounds, session.limits.gap, self.schedule
        now = self.state.iterations - schedule.start
        weights, labels = self.state.weights(), self.relaxation.labels()
        if self.out_of_range or not (np.isfinite(weights).all() and np.isfinite(labels).all()):
            self.out_of_range = True  # features too large for single precision: the planes go on
            return
        weights = self.problem.clamp(weights)
        bounds.offer_primal(weights, self.relaxation.slack(weights, session.clock.left))
        session.passes += 1
        reached = self.prove_lower(session, labels)
        gap = (bounds.upper - reached.value) / bounds.upper if bounds.upper > 0.0 else 0.0
        wait = schedule.predict(now, gap, target, schedule.unrepaired)
        if not session.target_met and self._repair_pays(session, labels, gap, wait):
            wait = min(wait, self._repair(session, labels, now))
        if self._oracle_decides(bounds.relative_gap, target):
            self.prove_upper(session, weights)
        schedule.unrepaired = (now, gap)
        schedule.last_upper = bounds.upper
        schedule.gaps.append(bounds.upper - (self.best or reached).value)
        schedule.next(now, wait)

    def _oracle_decides(self, gap: float, target: float) -> bool:
        if self.settings.always_cut:
            return True
        largest = int(np.diff(self.problem.core.edge_offset).max(initial=0))
        return target < gap <= CUT_WITHIN * target and largest * self.state.active_pairs <= CUT_ARCS

    def prove_upper(self, session: Session, weights: FloatArray) -> None:
        """The upper end from the oracle, started from the multipliers."""
        total = self.relaxation.total(weights, session.clock.left)
        session.calls += self.problem.n_graphs
        session.offer_primal(weights, total)
        self.working_set.add(total.plane, total.loss)

    def prove_lower(self, session: Session, labels: NDArray[np.float32]) -> RelaxedPoint:
        """Offers the dual point of relaxed labels, one plane a graph, all of one weight."""
        C = self.problem.C
        plane, loss = self.relaxation.plane(labels, session.clock.left)
        self.working_set.add(plane, loss)
        session.bounds.offer_dual(C * plane, C * loss, self.problem.n_graphs)
        point = RelaxedPoint(labels, plane, loss, float(C * loss - self.problem.conjugate(C * plane)))
        if self.best is None or point.value > self.best.value:
            self.best = point
        return point

    def _repair_cost(self, labels: NDArray[np.float32]) -> float:  # in iterations
        return self.schedule.repair_excess * self.relaxation.repair_cost(labels)

    def _repair_pays(self, session: Session, labels: NDArray[np.float32], gap: float, wait: float) -> bool:
        """Whether waiting would cost more, and a repair no more than the iterations so far."""
        now, cost = self.state.iterations - self.schedule.start, self._repair_cost(labels)
        upper, target = session.bounds.upper, session.limits.gap
        if not self.settings.repair or now < cost or wait < SLOWING * cost:
            return False
        settled = self.schedule.last_upper - upper < 0.25 * target * upper
        return gap < 18.0 * target or settled or now >= self.schedule.repair_due

    def _repair(self, session: Session, labels: NDArray[np.float32], now: int) -> float:
        """Repairs the labels; where that is not enough, also a mixture with the best so far, if repaired too: both
        err in one way but not alike, and D is concave. Returns the iterations until repaired labels should do."""
        before, schedule, target = self.best, self.schedule, session.limits.gap
        repaired = self.prove_lower(session, self._repaired(session, labels))
        if before is not None and schedule.repaired is not None and not session.target_met:
            mixture = self._mixture(before, repaired, session.clock.left)
            self.prove_lower(session, self._repaired(session, mixture))
        gap = session.bounds.relative_gap
        predicted = schedule.predict(now, gap, target, schedule.repaired)
        schedule.repaired, schedule.repair_due = (now, gap), max(2 * now, FIRST_REPAIR)
        if predicted < math.inf:
            wait = math.ceil(max(self._repair_cost(labels), predicted))
            schedule.repair_due = min(schedule.repair_due, now + wait)
        return predicted

    def _repaired(self, session: Session, labels: NDArray[np.float32]) -> NDArray[np.float32]:
        least_gain = 0.1 * session.limits.gap * session.bounds.upper / labels.size
        seed, left = self.settings.seed + session.passes, session.clock.left
        sweeps = self.settings.repair_sweeps
        found, excess = self.relaxation.repair(labels, self.problem.C, sweeps, least_gain, seed, left)
        self.schedule.repair_excess = excess
        return found

    def _mixture(self, one: RelaxedPoint, two: RelaxedPoint, left: float | None) -> NDArray[np.float32]:
        """The convex combination whose planes prove most; that of the labels proves no less."""
        problem = self.problem
        planes, losses = np.stack([one.plane, two.plane]), np.array([one.loss, two.loss])
        program = PlaneProgram(planes, losses, problem.C, problem.lower, problem.upper)
        solved = qp_solver("dual").solve(program, tolerance=1e-6, time_left=left)
        mass = solved.alpha / problem.C
        if mass.sum() < 0.5:  # the true labels would prove more than both
            return (one if one.value > two.value else two).labels
        first = np.float32(mass[0] / mass.sum())
        return np.clip(first * one.labels + (1 - first) * two.labels, 0.0, 1.0)

    def snapshot(self) -> tuple[dict[str, Any], dict[str, Any]]:
        """Arrays and plain numbers from which :meth:`resume` goes on."""
        arrays = dict(self.state.snapshot())
        if self.best is not None:
            arrays["best_labels"] = self.best.labels
        return arrays, asdict(self.schedule)

    def resume(self, session: Session, file: Checkpoint) -> None:
        """Go on from a checkpoint; both ends are proven again, from its best weights and labels.

        Raises ValueError if it is of another run, DamagedCheckpoint if it is not whole.
        """
        arrays, numbers = file.read(session)
        try:
            weights, labels = arrays.pop("best_weights"), arrays.pop("best_labels", None)
            self.state.restore(arrays)
            self.schedule = CertificateSchedule(**numbers)
            if weights.shape != (self.problem.dim,) or not np.isfinite(weights).all():
                raise ValueError("weights out of range")
            calls = session.calls
            self.prove_upper(session, self.problem.clamp(weights))
            session.calls = calls
            if labels is not None:
                self.prove_lower(session, labels)
        except (KeyError, TypeError, ValueError, OverflowError) as error:
            raise DamagedCheckpoint.because(file.path, error) from None

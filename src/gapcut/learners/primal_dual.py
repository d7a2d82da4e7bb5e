"""The default learner: primal-dual steps on the oracle's relaxation (docs/mathematics.md, Saddle problem)."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from gapcut import _core
from gapcut.certificates import Callback, DualPoint, OneHotClaim
from gapcut.engines import OutOfTime
from gapcut.learners.base import Learner, LearnResult, Limits, Progress, Session, WarmStart
from gapcut.learners.checkpoint import Checkpoint, DamagedCheckpoint, go_on
from gapcut.learners.one_hot_claim import one_hot_claim
from gapcut.learners.qp import PlaneProgram, qp_solver
from gapcut.learners.schedule import FIRST_REPAIR, SLOWING, CertificateSchedule
from gapcut.learners.turns import PlaneTurns
from gapcut.oracles.base import Oracle, RelaxedLabels
from gapcut.problem import LearningProblem
from gapcut.typing import FloatArray

PASS_COST = 10
"""Iterations in the time of one pass of the block method, about (measured 3 to 20)."""

CUT_ARCS = 20_000_000
"""Arcs of one graph's network above which certificates do without the cut: some 75 bytes each, and minutes."""

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

    Where C is so large, or columns are so far apart, that float32 steps do not settle the slack, ``block`` takes turns
    with the steps, so that a run costs about twice the better of both at most; where certificates have stopped
    improving, it goes on alone. Work is counted in iterations (:mod:`gapcut.learners.schedule`), never in seconds.

    ``theta`` splits the primal step between weights and multipliers, ``over_relaxation`` is in (0, 2); label steps are
    divided by ``damping`` times the number of active pairs of the label (1 is provably safe; a monitor falls back to
    it), at first by ``kappa0``. ``primal_weight`` is the first ratio of dual to primal steps, which then follows the
    ratio of the distances covered times ``rebalance`` (0: never); inactive label pairs are screened every
    ``screening_interval`` iterations. For comparison: ``metric="diagonal"`` moves every weight alone,
    ``repair=False`` leaves the relaxed labels as they are, ``always_cut=True`` asks the oracle for each certificate.
    ``seed`` orders the repair.

    ``checkpoint`` names a file that is renewed every ``checkpoint_seconds``, also between certificates, and when the
    run ends without its target; a run that finds it there goes on from it. Who has the result deletes it.
    Results do not depend on ``n_threads`` nor on being interrupted and resumed; passes of ``block`` are made again.
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
            planes = PlaneTurns(session, steps.relaxation.plane_oracle(session.oracle), self.seed)
            if file is not None and file.path.exists():
                steps.resume(session, file, planes)
            steps.keep(session, planes)
            while session.goes_on:
                if planes.passes < steps.plane_passes and not planes.ended:
                    planes.one_pass()
                    steps.keep(session, planes)
                    if file is not None and file.left == 0.0:
                        steps.write(session, file)
                elif steps.stalled:
                    session.ended = planes.ended
                else:
                    steps.advance(session, file)
                    steps.certify(session, planes)
        if file is not None and steps.kept is not None and not session.target_met:
            steps.write(session, file)
        claim = self._claim(session, steps)
        result = session.result()
        proof = replace(result.certificate, one_hot=claim)
        return replace(result, certificate=proof, warm_start=steps.warm_start, dual_point=steps.dual_point())

    def _claim(self, session: Session, steps: Steps) -> OneHotClaim | None:
        """Of the one-hot problem, where its relaxation has been learned to the target."""
        if not (steps.relaxation.one_label and session.target_met):
            return None
        with session.guard():
            return one_hot_claim(session, steps.relaxation)
        return None

    def _identity(self, problem: LearningProblem) -> dict[str, Any]:
        """What a run must share with its checkpoint; the number of threads is free."""
        free = ("n_threads", "checkpoint", "checkpoint_seconds")
        settings = {name: value for name, value in asdict(self).items() if name not in free}
        return {"fingerprint": problem.fingerprint, "C": problem.C, **settings}


@dataclass(frozen=True)
class RelaxedPoint:
    """Relaxed labels, the mean ``plane`` (dim,) and ``loss`` they give, and the dual ``value`` of both."""

    relaxed: RelaxedLabels
    plane: FloatArray
    loss: float
    value: float


@dataclass(frozen=True)
class Kept:
    """What a checkpoint holds beside the iterates: the state after the last whole pass, which does not change;
    ``planes``: passes of ``block`` so far."""

    progress: Progress
    best: RelaxedPoint | None
    schedule: CertificateSchedule
    planes: int


class Steps:
    """The iterates of a run and the certificates made from them."""

    def __init__(self, settings: PrimalDual, problem: LearningProblem, oracle: Oracle) -> None:
        self.settings = settings
        self.relaxation = oracle.relaxation(settings.native(), settings.n_threads)
        self.state = self.relaxation.state
        self._begin(problem)

    def _begin(self, problem: LearningProblem) -> None:
        self.problem = problem
        self.schedule = CertificateSchedule.begin(self.state.iterations, problem.core.node_dim)
        self.best: RelaxedPoint | None = None
        self.out_of_range = False
        self.kept: Kept | None = None

    def set_trade_off(self, C: float) -> None:
        """Another C from the iterates reached."""
        self.state.set_trade_off(C)
        self._begin(self.problem.with_C(C))

    def warm_start(self) -> WarmStart:
        """A copy of the iterates."""
        return WarmStart(self.problem.fingerprint, dict(self.state.snapshot()))

    def dual_point(self) -> DualPoint:
        """What a proof can be made of."""
        labels = None if self.best is None else self.best.relaxed
        return DualPoint(self.relaxation, labels, self._cut_is_cheap)

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
                self.write(session, file)
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

    @property
    def plane_passes(self) -> float:
        """Passes of the block method that are worth what the steps have cost, where these are slow."""
        if self.stalled:
            return math.inf
        slow = self.schedule.slow and self._cut_is_cheap
        return self.schedule.gaps[-1][0] / PASS_COST if slow else 0.0

    @property
    def _cut_is_cheap(self) -> bool:
        largest = int(np.diff(self.problem.core.edge_offset).max(initial=0))
        return largest * self.state.active_pairs <= CUT_ARCS

    def certify(self, session: Session, planes: PlaneTurns) -> None:
        """A pass. One that is cut off proves what it proves, but a checkpoint knows nothing of it: it is made again."""
        self._prove(session)
        if not self.out_of_range:
            session.record(self.state.active_pairs)
            self.keep(session, planes)

    def _prove(self, session: Session) -> None:
        """An upper bound at the weights, and the dual value of the labels, repaired where that can pay."""
        bounds, target, schedule, before = session.bounds, session.limits.gap, self.schedule, self.best
        now = self.state.iterations - schedule.start
        weights, labels = self.relaxation.weights(), self.relaxation.labels()
        if self.out_of_range or not (np.isfinite(weights).all() and labels.finite):
            self.out_of_range = True  # features too large for single precision: the planes go on
            return
        weights = self.problem.clamp(weights)
        bounds.offer_primal(weights, self.relaxation.slack(weights, session.clock.left))
        session.passes += 1
        reached = self.prove_lower(session, labels)
        gap = (bounds.upper - reached.value) / bounds.upper if bounds.upper > 0.0 else 0.0
        wait = schedule.predict(now, gap, target, schedule.unrepaired)
        if not session.target_met and self._repair_pays(session, labels.labels, gap, wait):
            wait = min(wait, self._repair(session, labels.labels, now))
        if self._oracle_decides(bounds.relative_gap, target):
            self.prove_upper(session, weights)
        schedule.unrepaired = (now, gap)
        schedule.last_upper = bounds.upper
        best = (self.best or reached).value
        if before is not None and best == before.value:  # only the upper end moves
            wait = min(
                wait, schedule.predict(now, bounds.upper - best, target * bounds.upper, schedule.gaps[-1])
            )
        schedule.note(now, bounds.upper - best, target * bounds.upper)
        schedule.next(now, wait)

    def _oracle_decides(self, gap: float, target: float) -> bool:
        if self.settings.always_cut:
            return True
        return target < gap <= self.relaxation.closer_within * target and self._cut_is_cheap

    def prove_upper(self, session: Session, weights: FloatArray) -> None:
        """The upper end from the oracle, started from the multipliers."""
        total = self.relaxation.total(weights, session.clock.left)
        session.calls += self.problem.n_graphs
        session.bounds.offer_primal(weights, total.slack(weights, session.oracle.exact))

    def prove_lower(self, session: Session, labels: RelaxedLabels) -> RelaxedPoint:
        """Offers the dual point of relaxed labels, one plane a graph, all of one weight."""
        C = self.problem.C
        plane, loss = self.relaxation.plane(labels, session.clock.left)
        session.bounds.offer_dual(C * plane, C * loss, self.problem.n_graphs + self.relaxation.roundings)
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
        if not (self.settings.repair and self.relaxation.repairs) or now < cost or wait < SLOWING * cost:
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

    def _repaired(self, session: Session, labels: NDArray[np.float32]) -> RelaxedLabels:
        least_gain = 0.1 * session.limits.gap * session.bounds.upper / labels.size
        seed, left = self.settings.seed + session.passes, session.clock.left
        sweeps = self.settings.repair_sweeps
        found, excess = self.relaxation.repair(labels, self.problem.C, sweeps, least_gain, seed, left)
        self.schedule.repair_excess = excess
        return RelaxedLabels(found)

    def _mixture(self, one: RelaxedPoint, two: RelaxedPoint, left: float | None) -> NDArray[np.float32]:
        """The convex combination whose planes prove most; that of the labels proves no less."""
        problem = self.problem
        planes, losses = np.stack([one.plane, two.plane]), np.array([one.loss, two.loss])
        program = PlaneProgram(planes, losses, problem.C, problem.lower, problem.upper)
        solved = qp_solver("dual").solve(program, tolerance=1e-6, time_left=left)
        mass = solved.alpha / problem.C
        if mass.sum() < 0.5:  # the true labels would prove more than both
            return (one if one.value > two.value else two).relaxed.labels
        first = np.float32(mass[0] / mass.sum())
        return np.clip(first * one.relaxed.labels + (1 - first) * two.relaxed.labels, 0.0, 1.0)

    def keep(self, session: Session, planes: PlaneTurns) -> None:
        """A pass is whole: this is what checkpoints hold until the next one is. Set at once, whenever Ctrl-C comes."""
        schedule = replace(self.schedule, gaps=[*self.schedule.gaps])
        self.kept = Kept(session.progress(), self.best, schedule, planes.passes)

    def write(self, session: Session, file: Checkpoint) -> None:
        """The iterates and what is kept, from which :meth:`resume` goes on."""
        assert self.kept is not None
        arrays = {} if self.out_of_range else dict(self.state.snapshot())
        if self.kept.best is not None:
            arrays["best_labels"] = self.kept.best.relaxed.labels
            if self.kept.best.relaxed.tables is not None:
                arrays["best_tables"] = self.kept.best.relaxed.tables
        numbers = {
            "schedule": asdict(self.kept.schedule),
            "planes": self.kept.planes,
            "out_of_range": self.out_of_range,
        }
        file.write(self.kept.progress, session, arrays, numbers)

    def resume(self, session: Session, file: Checkpoint, planes: PlaneTurns) -> None:
        """Go on from a checkpoint; both ends are proven again, from its best weights and labels.

        Raises ValueError if it is of another run, DamagedCheckpoint if it is not whole.
        """
        arrays, meta = file.read()
        try:
            numbers = meta["numbers"]
            weights, labels = arrays["best_weights"], arrays.get("best_labels")
            self.out_of_range = numbers["out_of_range"] is True
            if not self.out_of_range:
                self.state.restore(arrays)
            self.schedule = CertificateSchedule(**numbers["schedule"])
            if weights.shape != (self.problem.dim,) or not np.isfinite(weights).all():
                raise ValueError("weights out of range")
            self.prove_upper(session, self.problem.clamp(weights))
            if labels is not None:
                self.prove_lower(session, RelaxedLabels(labels, arrays.get("best_tables")))
            planes.repeat(int(numbers["planes"]))
            go_on(session, meta)
        except (KeyError, TypeError, ValueError, OverflowError) as error:
            raise DamagedCheckpoint.because(file.path, error) from None

"""The iterates of the primal-dual learner, and the certificates made from them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial

import numpy as np
from numpy.typing import NDArray

from gapcut import _core
from gapcut.certificates import DualPoint
from gapcut.engines import OutOfTime
from gapcut.engines.shards import ShardEngine
from gapcut.learners.base import NO_MEMORY, Progress, Session, WarmStart
from gapcut.learners.checkpoint import Checkpoint, DamagedCheckpoint, go_on
from gapcut.learners.closing import NEARLY_ALL, Worth, close_in, pass_cost, tight_graphs
from gapcut.learners.mixtures import GraphMixture, GraphPlanes, RelaxedPoint, mixture_of_two
from gapcut.learners.scaling import Ray
from gapcut.learners.schedule import (
    AGAIN,
    EMPTY,
    FIRST_MIXTURE,
    FIRST_REPAIR,
    PASS_COST,
    SLOWING,
    CertificateSchedule,
)
from gapcut.learners.step_settings import StepSettings
from gapcut.learners.turns import PlaneTurns
from gapcut.oracles.base import Oracle, OraclePlanes
from gapcut.oracles.relaxation import Point, RelaxedLabels, Stored
from gapcut.problem import LearningProblem
from gapcut.typing import AnyArray, FloatArray

CUT_ARCS = 20_000_000
"""Arcs of one graph's network above which certificates do without the cut: some 75 bytes each, and minutes."""

LENGTHS, WORTH, LENGTH_WAIT = 3, 0.2, 8 * PASS_COST
"""Multiples of the weights that a certificate may try, each where it promises so much of the gap. Where all together
do not bring a tenth of it, the next are tried after so many iterations for each."""

FEWEST_GRAPHS = 8
"""Of forests on which planes come first."""


@dataclass(frozen=True)
class Kept:
    """What a checkpoint holds beside the iterates: the state after the last whole pass, which does not change;
    ``messages``: from which the upper end was proven; ``planes``: passes of ``block`` so far."""

    progress: Progress
    best: RelaxedPoint | None
    messages: Stored | None
    schedule: CertificateSchedule
    planes: int


class Steps:
    """The iterates of a run and the certificates made from them."""

    def __init__(
        self,
        settings: StepSettings,
        problem: LearningProblem,
        oracle: Oracle,
        engine: ShardEngine | None = None,
    ) -> None:
        self.settings = settings
        self.relaxation = oracle.relaxation(settings.native(), settings.n_threads, engine)
        self.state = self.relaxation.state
        many = self.relaxation.mixes and problem.n_graphs >= FEWEST_GRAPHS
        self.forests = many and _core.acyclic(problem.core)
        """Whether labelings are all there is, of graphs enough for planes."""
        self._begin(problem)

    def _begin(self, problem: LearningProblem) -> None:
        self.problem = problem
        self.schedule = CertificateSchedule.begin(self.state.iterations, problem.core.node_dim)
        self.best: RelaxedPoint | None = None
        self.labelings: Sequence[OraclePlanes] = ()
        self.messages: Stored | None = None
        self.out_of_range = False
        self.kept: Kept | None = None

    def set_trade_off(self, C: float) -> None:
        """Another C from the iterates reached."""
        self.state.set_trade_off(C)
        self._begin(self.problem.with_C(C))

    def shared(self) -> tuple[int, int] | None:
        """Other processes at work, and iterations so far; None where there are none."""
        workers = self.relaxation.workers
        return (workers, self.state.iterations) if workers else None

    def warm_start(self) -> WarmStart:
        """A copy of the iterates."""
        return WarmStart(self.problem.fingerprint, self.relaxation.save())

    def dual_point(self, planes: PlaneTurns | None) -> DualPoint:
        """What a proof can be made of: the best point of the steps, or the labelings of planes that prove more."""
        best, value = self.best, -math.inf if self.best is None else self.best.value
        if planes is None or not self.relaxation.mixes or planes.lower <= value:
            return DualPoint(
                self.relaxation, lambda: None if best is None else best.relaxed, self._cut_is_cheap
            )
        found = planes.labelings()
        return DualPoint(
            self.relaxation, partial(found.point, self.relaxation), self.forests or self._cut_is_cheap
        )

    def start_from(self, start: WarmStart) -> None:
        """The iterates of another run, at this problem's C; left as they are where data differ."""
        if start.fingerprint == self.problem.fingerprint:
            self.relaxation.load(start.arrays)
            self.state.set_trade_off(self.problem.C)
            self.schedule = CertificateSchedule(start=self.state.iterations, due=0)

    def advance(self, session: Session, file: Checkpoint | None = None) -> None:
        """To the next certificate; ``file`` is renewed on the way whenever it is due."""
        due = self.schedule.start + self.schedule.due
        try:
            while file is not None and self._advance_within(due, session, file):
                self.write(session, file)
                self.relaxation.advance(min(1, due - self.state.iterations), session.clock.left)
            self.relaxation.advance(max(0, due - self.state.iterations), session.clock.left)
        except (ValueError, ArithmeticError):  # features beyond the range of the metric
            self.out_of_range = True

    def _advance_within(self, due: int, session: Session, file: Checkpoint) -> bool:
        """As far as the age of ``file`` allows; whether it is due before the certificate is."""
        left = session.clock.left
        try:
            self.relaxation.advance(
                max(0, due - self.state.iterations), min(file.left, math.inf if left is None else left)
            )
        except OutOfTime:
            if session.clock.left == 0.0:
                raise
            return True
        return False

    @property
    def settled(self) -> bool:
        """Whether another iteration can no longer help."""
        return self.out_of_range or self.schedule.settled

    def leaves_turn_to(self, planes: PlaneTurns) -> bool:
        """Whether a pass of planes is next: on forests from the beginning, while they get on; elsewhere where the steps
        are slow, for as long as these took."""
        if planes.ended:
            return False
        if self.settled or (self.forests and self.schedule.start == 0 and planes.get_on):
            return True
        slow = (self.schedule.slow or self.schedule.stalled) and self._cut_is_cheap
        return slow and planes.passes < self.schedule.gaps[-1][0] / PASS_COST

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
        bounds, target, schedule, known = session.bounds, session.limits.gap, self.schedule, self.best
        now = self.state.iterations - schedule.start
        weights = self.relaxation.weights()
        labels = None if self.out_of_range else self.relaxation.reached()
        if labels is None or not np.isfinite(weights).all():
            self.out_of_range = True  # features too large for single precision: the planes go on
            return
        weights = self.problem.clamp(weights)
        before, self.labelings = bounds.upper, ()
        found, upper = None, math.inf
        if self.relaxation.mixes and now >= FIRST_MIXTURE:
            found, upper = self.prove_upper(session, weights)
        else:
            bounds.offer_primal(weights, self.relaxation.slack(weights, session.clock.left))
        session.passes += 1
        reached = self.prove_lower(session, labels)
        if found is not None:
            self._lengthen(session, weights, found, upper)
        gap = (bounds.upper - reached.value) / bounds.upper if bounds.upper > 0.0 else 0.0
        wait = schedule.predict(now, gap, target, schedule.unrepaired)
        if found is not None:
            if not session.target_met:
                tight = tight_graphs(found, weights) >= NEARLY_ALL * self.problem.n_graphs
                rate, due = schedule.rate(now, gap), now >= schedule.passes_due
                worth = Worth(rate, pass_cost(self.problem), target, tight, due)
                wait = min(wait, self._mix(session, known or reached, reached, found, worth))
        else:
            if self.settings.repair and self.relaxation.repairs and not session.target_met:
                own = self.relaxation.fetched(labels).labels
                if self._repair_pays(session, own, gap, wait):
                    wait = min(wait, self._repair(session, own, now))
            if self._oracle_decides(bounds.relative_gap, target):
                self.prove_upper(session, weights)
        if bounds.upper < before:
            self.messages = self.relaxation.messages()
        schedule.unrepaired = (now, gap)
        schedule.last_upper = bounds.upper
        best = (self.best or reached).value
        if known is not None and best == known.value:  # only the upper end moves
            wait = min(
                wait, schedule.predict(now, bounds.upper - best, target * bounds.upper, schedule.gaps[-1])
            )
        schedule.note(now, bounds.upper - best, target * bounds.upper)
        schedule.next(now, wait, self.relaxation.mixes and gap > EMPTY[0])

    def _oracle_decides(self, gap: float, target: float) -> bool:
        if self.settings.always_cut:
            return True
        return target < gap <= self.relaxation.closer_within * target and self._cut_is_cheap

    def prove_upper(
        self, session: Session, weights: FloatArray, messages: Stored | None = None
    ) -> tuple[OraclePlanes | None, float]:
        """The upper end from the oracle, started from the multipliers, and the labelings found, where they are
        mixed."""
        session.calls += self.problem.n_graphs
        found = None
        if self.relaxation.mixes:
            found = self.relaxation.labelings(weights, session.clock.left, messages)
            total = found.mean()
        else:
            total = self.relaxation.total(weights, session.clock.left, messages)
        return found, session.bounds.offer_primal(weights, total.slack(weights, session.oracle.exact))

    def _lengthen(self, session: Session, weights: FloatArray, found: OraclePlanes, upper: float) -> None:
        """The upper end at multiples of the weights, at which it is ``upper``, while they promise a good part of the
        gap."""
        bounds, schedule = session.bounds, self.schedule
        now = self.state.iterations - schedule.start
        if now < schedule.longer_due:
            return
        ray = Ray(self.problem, weights, schedule.factor)
        ray.add(1.0, found, upper)
        before, gap = bounds.upper, bounds.gap
        for tries in range(1, LENGTHS + 1):
            factor, least = ray.next()
            if session.target_met or bounds.upper - least < WORTH * bounds.gap:
                break
            ray.add(factor, *self._ask(session, self.problem.clamp(factor * weights)))
            schedule.factor = ray.next()[0]
            schedule.longer_due = now if before - bounds.upper > 0.1 * gap else now + tries * LENGTH_WAIT

    def prove_lower(self, session: Session, labels: Point) -> RelaxedPoint:
        """Offers the dual point of relaxed labels, one plane a graph, all of one weight."""
        C, left = self.problem.C, session.clock.left
        graphs = None
        if self.relaxation.mixes:
            graphs = GraphPlanes(*self.relaxation.planes(labels, left))
            plane, loss = graphs.mean()
        else:
            plane, loss = self.relaxation.plane(labels, left)
        session.bounds.offer_dual(C * plane, C * loss, self.problem.n_graphs + self.relaxation.roundings)
        point = RelaxedPoint(labels, plane, loss, float(C * loss - self.problem.conjugate(C * plane)), graphs)
        if self.best is None or point.value > self.best.value:
            self.best = point
        return point

    def _mix(
        self,
        session: Session,
        before: RelaxedPoint,
        reached: RelaxedPoint,
        found: OraclePlanes,
        worth: Worth,
    ) -> float:
        """Mixes the best point before, the one reached and labelings, graph by graph, with passes for more of these.
        Returns the iterations until a mixture should do."""
        schedule, target = self.schedule, session.limits.gap
        now = self.state.iterations - schedule.start
        mixture = GraphMixture(self.problem, self.relaxation, before, reached, [found])
        close_in(session, mixture, worth, partial(self._ask, session))
        self.prove_lower(session, mixture.point())
        self.labelings = mixture.labelings
        if worth.passes > 0:
            schedule.passes_due = now + AGAIN
        gap = session.bounds.relative_gap
        predicted = schedule.predict(now, gap, target, schedule.repaired)
        schedule.repaired = (now, gap)
        return predicted

    def _ask(self, session: Session, weights: FloatArray) -> tuple[OraclePlanes, float]:
        """Labelings at these weights and the upper end there, which is offered."""
        found, upper = self.prove_upper(session, weights)
        assert found is not None
        return found, upper

    def _repair_cost(self, labels: NDArray[np.float32]) -> float:  # in iterations
        return self.schedule.repair_excess * self.relaxation.repair_cost(labels)

    def _repair_pays(self, session: Session, labels: NDArray[np.float32], gap: float, wait: float) -> bool:
        """Whether waiting would cost more, and a repair no more than the iterations so far."""
        now, cost = self.state.iterations - self.schedule.start, self._repair_cost(labels)
        upper, target = session.bounds.upper, session.limits.gap
        if now < cost or wait < SLOWING * cost:
            return False
        settled = self.schedule.last_upper - upper < 0.25 * target * upper
        return gap < 18.0 * target or settled or now >= self.schedule.repair_due

    def _repair(self, session: Session, labels: NDArray[np.float32], now: int) -> float:
        """Repairs the labels; where that is not enough, also a mixture with the best so far, if repaired too: both
        err in one way but not alike, and D is concave. Returns the iterations until repaired labels should do."""
        before, schedule, target = self.best, self.schedule, session.limits.gap
        repaired = self.prove_lower(session, self._repaired(session, labels))
        if before is not None and schedule.repaired is not None and not session.target_met:
            mixture = mixture_of_two(self.problem, self.relaxation, before, repaired, session.clock.left)
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

    def keep(self, session: Session, planes: PlaneTurns) -> None:
        """A pass is whole: this is what checkpoints hold until the next one is. Set at once, whenever Ctrl-C comes."""
        schedule = replace(self.schedule, gaps=[*self.schedule.gaps])
        self.kept = Kept(session.progress(), self.best, self.messages, schedule, planes.passes)

    def write(self, session: Session, file: Checkpoint) -> None:
        """The iterates and what is kept, from which :meth:`resume` goes on."""
        kept = self.kept
        assert kept is not None
        try:
            arrays = self._arrays(kept)
        except MemoryError:  # of the copy: the iterates are whole
            file.skip(NO_MEMORY)
            return
        schedule = asdict(kept.schedule)
        numbers = {"schedule": schedule, "planes": kept.planes, "out_of_range": self.out_of_range}
        numbers["begun"] = self.state.iterations > 0
        file.write(kept.progress, session, arrays, numbers)

    def _arrays(self, kept: Kept) -> dict[str, AnyArray]:
        arrays = {} if self.out_of_range else self.relaxation.save()
        if kept.messages is not None:
            arrays["best_messages"] = self.relaxation.fetched_messages(kept.messages)
        if kept.best is not None:
            best = self.relaxation.fetched(kept.best.relaxed)
            arrays["best_labels"] = best.labels
            if best.tables is not None:
                arrays["best_tables"] = best.tables
        return arrays

    def resume(self, session: Session, file: Checkpoint, planes: PlaneTurns) -> None:
        """Go on from a checkpoint; both ends are proven again, from its best weights and labels.

        Raises ValueError if it is of another run, DamagedCheckpoint if it is not whole.
        """
        arrays, meta = file.read()
        try:
            numbers = meta["numbers"]
            weights, labels = arrays["best_weights"], arrays.get("best_labels")
            self.out_of_range = numbers["out_of_range"] is True
            if numbers["begun"] is True and not self.out_of_range:  # new iterates are not those loaded at 0
                self.relaxation.load(arrays)
            self.schedule = CertificateSchedule(**numbers["schedule"])
            if weights.shape != (self.problem.dim,) or not np.isfinite(weights).all():
                raise ValueError("weights out of range")
            self._prove_again(session, self.problem.clamp(weights), arrays.get("best_messages"))
            if labels is not None:
                point = RelaxedLabels(labels, arrays.get("best_tables"))
                self.prove_lower(session, self.relaxation.stored(point))
            planes.repeat(int(numbers["planes"]))
            go_on(session, meta)
        except (KeyError, TypeError, ValueError, OverflowError) as error:
            raise DamagedCheckpoint.because(file.path, error) from None

    def _prove_again(
        self, session: Session, weights: FloatArray, messages: NDArray[np.float32] | None
    ) -> None:
        """The upper end from the messages from which it was proven, in either way."""
        if messages is not None:
            self.messages = self.relaxation.stored_messages(messages)
            slack = self.relaxation.slack(weights, session.clock.left, self.messages)
            session.bounds.offer_primal(weights, slack)
        self.prove_upper(session, weights, self.messages)

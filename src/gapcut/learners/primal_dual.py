"""The default learner: primal-dual steps on the oracle's relaxation (docs/mathematics.md, Saddle problem)."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, fields, replace
from typing import Any, ClassVar

from gapcut.certificates import Callback, OneHotClaim
from gapcut.engines.shards import ClusterLost, ShardEngine
from gapcut.learners.base import Learner, LearnResult, Limits, Session, WarmStart
from gapcut.learners.checkpoint import Checkpoint
from gapcut.learners.one_hot_claim import one_hot_claim
from gapcut.learners.step_settings import StepSettings
from gapcut.learners.steps import Steps
from gapcut.learners.turns import PlaneTurns
from gapcut.oracles.base import Oracle
from gapcut.problem import LearningProblem


@dataclass(frozen=True)
class PrimalDual(StepSettings, Learner):
    """First-order steps on one convex-concave saddle-point problem; plane methods see it only through cuts.

    The steps themselves prove nothing. From time to time a *certificate* is made: the multipliers, or the exact
    oracle where it can decide, give the upper bound at the weights; the relaxed labels, repaired by coordinate
    ascent where that pays, a dual point and so the lower bound. Both are valid whatever the steps did
    (``cpp/include/gapcut/learn/relaxed_dual.hpp`` says why). A *pass* is one certificate.

    Where all graphs are forests and one label a node is learned, labelings are all there is: passes of ``block`` come
    first, while they get on.

    Where C is so large, or columns are so far apart, that float32 steps do not settle the slack, ``block`` takes turns
    with the steps, so that a run costs about twice the better of both at most; where certificates have long stopped
    improving, it goes on alone. Work is counted in iterations (:mod:`gapcut.learners.schedule`), never in seconds.

    The other settings are those of :class:`~gapcut.learners.steps.StepSettings`.

    ``checkpoint`` names a file that is renewed every ``checkpoint_seconds``, also between certificates, and when the
    run ends without its target; a run that finds it there goes on from it. Who has the result deletes it. ``chosen`` is
    kept in it.
    ``engine`` says where the shards of the graphs are; it is for the caller to close.
    Results do not depend on ``n_threads``, ``engine`` nor on being interrupted and resumed; passes of ``block`` are
    made again.
    """

    needs_relaxation: ClassVar[bool] = True
    takes_cliques: ClassVar[bool] = False
    takes_checkpoint: ClassVar[bool] = True

    checkpoint: str | os.PathLike[str] | None = None
    checkpoint_seconds: float = 10.0
    chosen: Mapping[str, Any] | None = None
    engine: ShardEngine | None = field(default=None, compare=False)

    def learn(self, session: Session, start: WarmStart | None = None) -> LearnResult:
        steps = Steps(self, session.problem, session.oracle, self.engine)
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
        """All iterates are carried from one C to the next, unless they may be half changed."""
        oracle = make_oracle(problem)
        steps = None
        for C in C_values:
            if steps is None:
                steps = Steps(self, problem, oracle, self.engine)
            steps.set_trade_off(C)
            session = Session(steps.problem, oracle, limits, callback)
            yield self._go_on(session, steps)
            if session.broken:
                steps = None

    def _go_on(self, session: Session, steps: Steps) -> LearnResult:
        """From where ``steps`` are, at their C."""
        file = planes = None
        if self.checkpoint is not None:
            file = Checkpoint(
                self.checkpoint, self._identity(steps.problem), self.checkpoint_seconds, self.chosen
            )
        with session.guard():
            asked = steps.relaxation.plane_oracle(session.oracle)
            planes = PlaneTurns(session, asked, self.seed, keeps=steps.relaxation.mixes)
            if file is not None and file.path.exists():
                steps.resume(session, file, planes)
            session.shared = steps.shared
            steps.keep(session, planes)
            while session.goes_on:
                if steps.leaves_turn_to(planes):
                    steps.labelings = ()  # a run that is resumed here knows none
                    planes.one_pass()
                    steps.keep(session, planes)
                    if file is not None and file.left == 0.0:
                        steps.write(session, file)
                elif steps.settled:
                    session.ended = planes.ended
                else:
                    steps.advance(session, file)
                    steps.certify(session, planes)
                steps.relaxation.breathe()
        if file is not None and steps.kept is not None and not (session.target_met or session.broken):
            with suppress(ClusterLost):  # then the file before stays
                steps.write(session, file)
        claim = self._claim(session, steps)
        result = session.result()
        proof = replace(result.certificate, one_hot=claim)
        start = None if session.broken else steps.warm_start
        return replace(result, certificate=proof, warm_start=start, dual_point=steps.dual_point(planes))

    def _claim(self, session: Session, steps: Steps) -> OneHotClaim | None:
        """Of the one-hot problem, where its relaxation has been learned to the target."""
        if not (steps.relaxation.one_label and session.target_met):
            return None
        with session.guard():
            return one_hot_claim(session, steps.relaxation, steps.labelings)
        return None

    def _identity(self, problem: LearningProblem) -> dict[str, Any]:
        """What a run must share with its checkpoint; the number of threads is free."""
        settings = {setting.name: getattr(self, setting.name) for setting in fields(StepSettings)}
        del settings["n_threads"]
        return {"fingerprint": problem.fingerprint, "C": problem.C, **settings}

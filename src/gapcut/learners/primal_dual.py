"""The default learner: primal-dual steps on the tight relaxation (docs/mathematics.md, Saddle problem)."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from gapcut.learners.base import Callback, LearnResult, Limits
from gapcut.learners.checkpoint import Checkpoint
from gapcut.learners.cutting_plane import one_pass
from gapcut.learners.session import Session
from gapcut.learners.steps import Steps, StepSettings
from gapcut.oracles.base import Oracle
from gapcut.problem import LearningProblem


@dataclass(frozen=True)
class PrimalDual(StepSettings):
    """First-order steps on one convex-concave saddle problem; plane methods see it only through cuts.

    The steps themselves prove nothing. From time to time a *certificate* is made: the shares of the arcs, or
    the exact oracle where it can decide, give the upper bound at the weights; the relaxed labels, repaired by
    coordinate ascent where that pays, a dual point and so the lower bound. Both are valid whatever the steps
    did (``cpp/include/gapcut/learn/relaxed_dual.hpp`` says why). A *pass* is one certificate.

    Where C is so large that float32 steps cannot settle the slack, certificates stop improving; the planes seen so far
    then start the cutting plane, which ends the run.

    ``checkpoint`` names a file that is renewed about every ``checkpoint_seconds`` and when the run ends without its
    target; a run that finds it there goes on from it. It is deleted once the target is met. Results do not depend on
    ``n_threads`` nor on being interrupted and resumed.
    """

    checkpoint: str | os.PathLike[str] | None = None
    checkpoint_seconds: float = 10.0

    def run(
        self, problem: LearningProblem, oracle: Oracle, limits: Limits, callback: Callback | None = None
    ) -> LearnResult:
        return self.carry_on(Steps(self, problem), oracle, limits, callback)

    def path(
        self,
        problem: LearningProblem,
        oracle: Oracle,
        C_values: Iterable[float],
        limits: Limits,
        callback: Callback | None = None,
    ) -> Iterator[LearnResult]:
        """One result a value of C, each certified on its own; the whole state is carried from one to the next."""
        steps = Steps(self, problem)
        for C in C_values:
            steps.set_trade_off(C)
            yield self.carry_on(steps, oracle, limits, callback)

    def warm(self, problem: LearningProblem, state: Mapping[str, Any] | None) -> Steps:
        """Steps that start from the ``state`` of an earlier run (:meth:`Steps.state_arrays`) if its sizes fit this
        problem, else from nothing. Bounds of the earlier run are not taken over: they are proven anew.
        """
        steps = Steps(self, problem)
        if state is not None:
            steps.start_from(state)
        return steps

    def carry_on(
        self, steps: Steps, oracle: Oracle, limits: Limits, callback: Callback | None = None
    ) -> LearnResult:
        """Run from the state that ``steps`` are in, at their C."""
        session = Session(steps.problem, oracle, limits, callback)
        file = None if self.checkpoint is None else Checkpoint(self.checkpoint, self.checkpoint_seconds)
        with session.guard():
            if file is not None:
                file.resume(session, steps)
            while not session.target_met and not steps.stalled and session.within_limits():
                steps.advance(session)
                steps.certify(session)
                if file is not None and not session.target_met:
                    file.renew(session, steps)
            while not session.target_met and session.within_limits():
                one_pass(session, steps.working_set)
        if file is not None:
            file.conclude(session, steps)
        return session.result()

"""The block method beside first-order steps that are slow."""

from __future__ import annotations

from dataclasses import replace

from gapcut.learners.base import Session
from gapcut.learners.block import Block
from gapcut.oracles.base import Oracle


class PlaneTurns:
    """The block method beside the steps. It has a session of its own, so that each pass is the one that it would make
    alone: its stabilised points are about its own best weights, and those of the steps would lead them astray. So its
    passes can also be made again, where a run is resumed.
    """

    def __init__(self, session: Session, oracle: Oracle, seed: int) -> None:
        self._session = session
        self._own = Session(session.problem, oracle, replace(session.limits, max_passes=None))
        self._own.clock = session.clock
        self._passes = Block(seed=seed).ascend(self._own)

    @property
    def passes(self) -> int:
        return self._own.passes

    @property
    def ended(self) -> str:
        """Why no pass can help any more; empty while some can."""
        return self._own.ended

    def one_pass(self) -> None:
        """A pass of both sessions; what is proven in one that is cut off holds all the same."""
        session = self._session
        self._pass()
        session.passes += 1
        session.calls += session.problem.n_graphs
        session.record(self._own.history[-1].planes)

    def repeat(self, passes: int) -> None:
        """The first ``passes`` of a run that is resumed: the same planes, so what it proved. Raises ValueError where
        they cannot be as many."""
        while self.passes < passes and not self.ended:
            before = self.passes
            self._pass()
            if self.passes == before:
                break
        if self.passes != passes:
            raise ValueError(f"{passes} passes of planes, of which {self.passes} can be made")

    def _pass(self) -> None:
        try:
            next(self._passes, None)
        finally:
            self._session.bounds.join(self._own.bounds)

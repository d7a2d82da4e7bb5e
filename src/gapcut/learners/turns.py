"""The block method beside first-order steps that are slow."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from gapcut.certificates import Record
from gapcut.engines import OutOfTime
from gapcut.learners.base import Session
from gapcut.learners.block import Block
from gapcut.oracles.base import Oracle
from gapcut.oracles.relaxation import Point, Relaxation
from gapcut.problem import LearningProblem
from gapcut.typing import FloatArray

SOME: Final = 3
LESS, MORE = 0.75, 2.0
"""Planes get on while so many passes leave at most ``LESS`` of the gap, or raise the lower end to ``MORE`` times what
it was: at large C it has a long way to go before the gap begins to fall."""

BEGUN: Final = 0.9
CLOSE: Final = 0.01
FAR: Final = 1500.0
"""Where the relative gap is below ``BEGUN``, they are given up when at this rate it would take more than so many
iterations of the steps until it is ``CLOSE``."""

ASKING: Final = 4.0
PRODUCT: Final = 1.4
"""Iterations in the time of asking for all planes, about (on 200 trees 3 to 5, on stars 20), and what a product
with an entry of a plane costs of one with an entry of the features or tables."""


class PlaneTurns:
    """The block method beside the steps. It has a session of its own, so that each pass is the one that it would make
    alone: its stabilised points are about its own best weights, and those of the steps would lead them astray. So its
    passes can also be made again, where a run is resumed. ``keeps``: where they asked, for :meth:`labelings`.
    """

    def __init__(self, session: Session, oracle: Oracle, seed: int, keeps: bool = False) -> None:
        self._session = session
        self._own = Session(session.problem, oracle, replace(session.limits, max_passes=None))
        self._own.clock = session.clock
        self._block = Block(seed=seed)
        self._progress = self._block.begin(self._own)
        self._keeps = keeps
        self._asked: list[FloatArray] = []

    @property
    def passes(self) -> int:
        return self._own.passes

    @property
    def ended(self) -> str:
        """Why no pass can help any more; empty while some can."""
        return self._own.ended

    @property
    def get_on(self) -> bool:
        """Whether the last passes brought the ends nearer to each other, or there were too few to tell."""
        history = self._own.history
        if len(history) <= SOME:
            return True
        before, now = history[-1 - SOME], history[-1]
        if now.gap > LESS * before.gap and now.lower < MORE * before.lower:
            return False
        return now.relative_gap > BEGUN or self._iterations_to_go(before, now) <= FAR

    def _iterations_to_go(self, before: Record, now: Record) -> float:
        """In the time of the passes that are still to come. Products are counted, so that it does not depend on
        clocks."""
        if now.relative_gap <= CLOSE:
            return 0.0
        rate = math.log(max(before.gap / now.gap, 1.0)) / SOME
        problem, progress = self._own.problem, self._progress
        core = problem.core
        tables = int(core.edge_offset[-1]) * core.n_labels**2
        iteration = max(1, int(core.node_offset[-1]) * problem.unary_count + tables)
        swept = PRODUCT * progress.sweeps * now.planes * progress.entries
        passes = math.log(now.relative_gap / CLOSE) / rate if rate > 0.0 else math.inf
        return passes * (ASKING + swept / iteration)

    @property
    def lower(self) -> float:
        """What the planes prove, on their own."""
        return self._own.bounds.lower

    def labelings(self) -> FoundLabelings:
        """Those behind the planes, with the shares that prove their lower end."""
        problem, cache = self._own.problem, self._progress.cache
        n = problem.n_graphs
        shares = np.zeros(len(self._asked) * n)
        if cache is not None:
            masses = cache.masses()  # a pass that was cut off may have asked of some graphs only
            shares[: len(masses)] = masses
        shares = shares.reshape(-1, n) * (n / problem.C)
        used = np.flatnonzero(shares.any(axis=1)).tolist()
        return FoundLabelings(
            problem, self._own.oracle, tuple(self._asked[row] for row in used), shares[used]
        )

    def one_pass(self) -> None:
        """A pass of both sessions; what is proven in one that is cut off holds all the same."""
        session = self._session
        if not self._pass():  # out of time, or at the target, which a resumed run may not know of
            session.bounds.join(self._own.bounds)
            return
        session.passes += 1
        session.calls += session.problem.n_graphs
        session.record(self._own.history[-1].planes)

    def repeat(self, passes: int) -> None:
        """The first ``passes`` of a run that is resumed: the same planes, so what it proved. Raises ValueError where
        they cannot be as many."""
        while self.passes < passes and self._pass():
            pass
        if self.passes < passes and self._own.clock.left == 0.0:
            raise OutOfTime
        if self.passes != passes and not self._own.target_met:  # met: a larger gap is asked for than before
            raise ValueError(f"{passes} passes of planes, of which {self.passes} can be made")

    def _pass(self) -> bool:
        """Whether there was one."""
        if not self._own.goes_on:
            return False
        try:
            self._block.one_pass(self._own, self._progress)
        finally:
            if self._keeps and self._progress.asked is not None:
                self._asked.append(self._progress.asked)
            self._session.bounds.join(self._own.bounds)
        return True


@dataclass(frozen=True)
class FoundLabelings:
    """Labelings of all graphs by the ``weights`` at which ``oracle`` was asked for them, so that it can be asked again:
    kept, they would be as long as the nodes of all graphs, each pass. ``shares`` (passes, n) of them make a point; what
    is left of 1 is the truth's."""

    problem: LearningProblem
    oracle: Oracle
    weights: Sequence[FloatArray]
    shares: FloatArray

    def point(self, relaxation: Relaxation, time_left: float | None = None) -> Point | None:
        """The point. None where that of the steps, from which it is made, is no number."""
        found = relaxation.reached()
        if found is None:
            return None
        nothing, whole = np.zeros(self.problem.n_graphs), np.ones(self.problem.n_graphs)
        truth = self.problem.core.labels[None]
        found = relaxation.mixed(found, found, truth, np.stack([nothing, nothing, whole]))
        taken = np.maximum(0.0, 1.0 - self.shares.sum(axis=0))
        for w, share in zip(self.weights, self.shares, strict=True):
            labels = self.oracle.evaluate(w, None, time_left).labels
            assert labels is not None
            both = taken + share
            new = np.divide(share, both, out=np.zeros_like(both), where=both > 0.0)
            found = relaxation.mixed(found, found, labels[None], np.stack([1.0 - new, nothing, new]))
            taken = both
        return found

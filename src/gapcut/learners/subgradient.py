"""Projected stochastic subgradient steps, the simplest learner there is."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from gapcut import _core
from gapcut.learners.base import Learner, LearnResult, Session, WarmStart
from gapcut.learners.sweeps import Average, batches, sweep_and_certify
from gapcut.problem import LearningProblem, line_search
from gapcut.typing import FloatArray


@dataclass(frozen=True)
class Subgradient(Learner):
    """``w <- clamp((1 - s) w + s C h)`` with the mean plane ``h`` of a batch of graphs at ``w`` and ``s = 2
    / (t + t0)``.

    The steps of Pegasos (Shalev-Shwartz, Singer, Srebro, ICML 2007), twice as long and with weights
    averaged in proportion to ``t`` (Lacoste-Julien, Schmidt, Bach, "A simpler approach to obtaining an
    O(1/t) convergence rate", 2012). ``t0`` keeps the first steps, as long as ``C |h|``, from throwing the
    weights far away: it makes the first one as long as ``first`` times ``sqrt(C Delta)``, which no optimal
    weights exceed while nothing is frozen (``|w|^2 <= C Delta``).

    A *pass* is a sweep over all graphs or an exact pass at the averaged weights, which makes the upper
    bound; see :class:`SweepDual` for the lower one. Results do not depend on threads.
    """

    batch: int = 4
    first: float = 0.05
    averaging: bool = True
    seed: int = 0

    def __post_init__(self) -> None:
        if self.batch < 1:
            raise ValueError(f"batch={self.batch!r} must be at least 1 graph")
        if not self.first > 0.0:
            raise ValueError(f"first={self.first!r} must be positive: it is the length of the first step")

    def learn(self, session: Session, start: WarmStart | None = None) -> LearnResult:
        iterates = _Iterates(self, session)
        with session.guard():
            sweep_and_certify(session, iterates.sweep, iterates.certify)
        return session.result()


class _Iterates:
    """The state of one run: the weights, their average, and the dual point that the sweeps make."""

    def __init__(self, learner: Subgradient, session: Session) -> None:
        problem = session.problem
        self.learner, self.session, self.problem = learner, session, problem
        self.rng = np.random.default_rng(learner.seed)
        self.weights = problem.clamp(np.zeros(problem.dim))
        self.average = Average(problem.dim)
        self.dual = SweepDual(problem)
        self.start: float | None = None
        self.steps = 0

    def sweep(self) -> bool:
        """One step a batch; nothing tells whether the target is near."""
        session, n = self.session, self.problem.n_graphs
        plane, loss = np.zeros(self.problem.dim), 0.0
        for graphs in batches(self.rng, n, self.learner.batch):
            found = session.oracle.evaluate(self.weights, graphs, session.clock.left)
            session.calls += len(graphs)
            plane += found.planes.sum(axis=0)
            loss += float(found.losses.sum())
            self._step(found.planes.mean(axis=0))
        session.passes += 1
        self.dual.add(session, plane / n, loss / n)
        session.record(self.dual.sweeps)
        return False

    def _step(self, plane: FloatArray) -> None:
        C = self.problem.C
        if self.start is None:
            longest = self.learner.first * math.sqrt(C * self.problem.max_loss)
            self.start = (
                max(1.0, 2.0 * C * math.sqrt(_core.dot(plane, plane)) / longest) if longest > 0.0 else 1.0
            )
        self.steps += 1
        size = min(1.0, 2.0 / (self.steps + self.start))
        self.weights = self.problem.clamp((1.0 - size) * self.weights + size * C * plane)
        if self.learner.averaging:
            self.average.add(self.weights, float(self.steps))

    def certify(self) -> None:
        """Upper bound at the model; the planes found there are one more sweep's."""
        weights = self.problem.clamp(self.average.value) if self.learner.averaging else self.weights
        total = self.session.full_pass(weights)
        self.dual.add(self.session, total.plane, total.loss)
        self.session.record(self.dual.sweeps)


class SweepDual:
    """Lower bounds from the planes met in whole sweeps.

    The planes of one sweep, one per graph and whatever the weights they were found at, average to a plane of the
    1-slack problem; convex combinations of those, times C, are dual points. Kept are their average with weights 1, 2,
    3, ..., which tends to the dual optimum as the averaged weights tend to the primal one, and the best point found on
    the segments from the best before to that average and to the new plane, which is never worse.
    """

    def __init__(self, problem: LearningProblem) -> None:
        self.problem = problem
        self.average = Average(problem.dim + 1)
        self.best = np.zeros(problem.dim + 1)

    @property
    def sweeps(self) -> int:
        return self.average.updates

    def add(self, session: Session, plane: FloatArray, loss: float) -> None:
        """Takes in the mean plane of a sweep and offers the best dual point.

        Each sweep rounds the average three times and the point three times per segment; a mean adds one per graph.
        """
        sweep = self.problem.C * np.append(plane, loss)
        self.average.add(sweep, self.sweeps + 1.0)
        for target in (self.average.value, sweep):
            along = target - self.best
            size = line_search(self.problem, self.best[:-1], along[:-1], float(along[-1]))
            self.best = (1.0 - size) * self.best + size * target
        terms = self.problem.n_graphs + 9 * self.sweeps + 8
        session.bounds.offer_dual(self.best[:-1], float(self.best[-1]), terms)

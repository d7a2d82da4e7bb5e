"""Block-coordinate Frank-Wolfe (Lacoste-Julien, Jaggi, Schmidt, Pletscher, ICML 2013) in a box."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gapcut import _core
from gapcut.learners.base import Learner, LearnResult, Session, WarmStart
from gapcut.learners.sweeps import Average, batches, sweep_and_certify
from gapcut.oracles.base import OraclePlanes
from gapcut.problem import LearningProblem, line_search
from gapcut.typing import FloatArray


@dataclass(frozen=True)
class FrankWolfe(Learner):
    """One plane per graph: the convex combination ``x_i, d_i`` of all its planes so far, moved towards each new one.

    The dual with one simplex of mass ``C/n`` a graph (docs/mathematics.md, Planes and the dual): ``max sum d_i -
    conjugate(sum x_i)`` and ``w = clamp(sum x_i)``. The box makes it piecewise quadratic instead of quadratic, so the
    line search of the paper becomes a search for the zero of a piecewise linear derivative; it stays exact.

    Graphs come in random order, ``batch`` at a time: the oracle answers a batch at the same weights, the steps are
    taken one after the other, so neither the dual value falls nor the result depends on threads. ``averaging``: the
    model is made from the average of the dual points, weighted by their number (section 4 of the paper), which is a
    dual point too. An exact pass over all graphs, of which the planes are used as well, makes a certificate from time
    to time. A *pass* is a sweep or an exact pass.
    """

    batch: int = 1
    averaging: bool = True
    seed: int = 0

    def __post_init__(self) -> None:
        if self.batch < 1:
            raise ValueError(f"batch={self.batch!r} must be at least 1 graph")

    def learn(self, session: Session, start: WarmStart | None = None) -> LearnResult:
        point, average = BlockDual(session.problem), Average(session.problem.dim + 1)
        rng = np.random.default_rng(self.seed)
        with session.guard():
            sweep_and_certify(
                session,
                lambda: self._sweep(session, point, average, rng),
                lambda: self._certify(session, point, average),
            )
        point.offer(session)  # what was reached when a limit or Ctrl-C cut a sweep short
        _offer_average(session, point, average)
        return session.result()

    def _sweep(self, session: Session, point: BlockDual, average: Average, rng: np.random.Generator) -> bool:
        """One step per graph; whether the sum of the block gaps met, an estimate of the gap, meets the target."""
        estimate = 0.0
        for graphs in batches(rng, session.problem.n_graphs, self.batch):
            weights = point.weights
            found = session.oracle.evaluate(weights, graphs, session.clock.left)
            session.calls += len(graphs)
            estimate += point.block_gap(weights, graphs, found)
            point.step_all(graphs, found)
            if self.averaging:
                average.add(point.total, average.updates + 1.0)
        session.passes += 1
        point.offer(session)
        session.record(session.problem.n_graphs)
        return estimate <= session.limits.gap * abs(point.value)

    def _certify(self, session: Session, point: BlockDual, average: Average) -> None:
        """Both bounds at the model, and a step for every graph towards the planes found there."""
        _offer_average(session, point, average)
        weights = session.problem.clamp(average.value[:-1]) if self.averaging else point.weights
        found = session.oracle.evaluate(weights, None, session.clock.left)
        session.passes += 1
        session.calls += session.problem.n_graphs
        session.offer_primal(weights, found.mean())
        point.step_all(list(range(session.problem.n_graphs)), found)
        point.offer(session)
        session.record(session.problem.n_graphs)


def _offer_average(session: Session, point: BlockDual, average: Average) -> None:
    """An average of dual points is one: every graph keeps its mass. Each update adds three roundings to the point's."""
    if average.updates:
        terms = point.terms + 3 * average.updates
        session.bounds.offer_dual(average.value[:-1], float(average.value[-1]), terms)


class BlockDual:
    """``(x_i, d_i)`` for every graph, mass ``C/n`` included, and their sum; starts at the true labelings, all zero.

    Plane and loss of a graph share a row, so that whatever instant Ctrl-C picks, each row is a combination of planes.
    """

    def __init__(self, problem: LearningProblem) -> None:
        self.problem = problem
        self.mass = problem.C / problem.n_graphs
        self.rows = np.zeros((problem.n_graphs, problem.dim + 1))
        self.total = np.zeros(problem.dim + 1)
        self.steps = np.zeros(problem.n_graphs, dtype=np.int64)

    @property
    def weights(self) -> FloatArray:
        return self.problem.clamp(self.total[:-1])

    @property
    def value(self) -> float:
        """The dual objective."""
        return float(self.total[-1]) - self.problem.conjugate(self.total[:-1])

    @property
    def terms(self) -> int:
        """Roundings behind a coordinate of the sum, as :func:`gapcut.certificates.dual_bound` counts them.

        A step ``(1 - s) x_i + s m h`` rounds what a graph has at most three times, and the new plane once
        more. The sum takes up three roundings with every step since :meth:`resum`, at most two steps a
        graph, and one per graph there. All weights are products of numbers in [0, 1] and the mass.
        """
        return int(7 * self.problem.n_graphs + 3 * self.steps.max(initial=0) + 8)

    def offer(self, session: Session) -> None:
        """Lower bound from sums made anew, so that the rounding of many small steps does not pile up in them."""
        self.total = self.rows.sum(axis=0)
        session.bounds.offer_dual(self.total[:-1], float(self.total[-1]), self.terms)

    def block_gap(self, weights: FloatArray, graphs: list[int], found: OraclePlanes) -> float:
        """``sum over graphs of m bound_i - (d_i - w'x_i)`` at ``weights``: what the best plane promises a block."""
        rows = self.rows[graphs]
        return float((self.mass * found.bounds - (rows[:, -1] - _core.dots(rows[:, :-1], weights))).sum())

    def step_all(self, graphs: list[int], found: OraclePlanes) -> None:
        """A step for each graph, in this order, to the best point between its combination and its new plane."""
        targets = self.mass * np.column_stack([found.planes, found.losses])
        for graph, target in zip(graphs, targets, strict=True):
            along = target - self.rows[graph]
            size = line_search(self.problem, self.total[:-1], along[:-1], float(along[-1]))
            if size > 0.0:
                self.total += size * along
                self.rows[graph] = (1.0 - size) * self.rows[graph] + size * target
                self.steps[graph] += 1

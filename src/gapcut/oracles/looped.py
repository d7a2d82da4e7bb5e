"""Oracles that solve graph after graph through Python: solvers from outside of the core, on equal terms."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from gapcut import _core
from gapcut.engines import Deadline, OutOfTime, each
from gapcut.oracles.base import Oracle, OraclePlanes
from gapcut.problem import LearningProblem
from gapcut.typing import FloatArray, Int32Array, IntArray


@dataclass(frozen=True)
class AugmentedEnergy:
    """Loss-augmented inference of one graph as a minimum: ``unary`` (V, K), ``edges`` (E, 2), ``tables`` (E, K,
    K), the true ``labels`` (V,). ``rounding``: what floating point can hide between sums of these entries and
    the true slack."""

    unary: FloatArray
    edges: IntArray
    tables: FloatArray
    truth: Int32Array
    rounding: float

    def value_of_truth(self) -> float:
        """The energy of ``z = y``."""
        nodes = self.unary[np.arange(len(self.truth)), self.truth]
        tail, head = self.truth[self.edges[:, 0]], self.truth[self.edges[:, 1]]
        return _core.exact_sum(nodes) + _core.exact_sum(self.tables[np.arange(len(self.edges)), tail, head])


@dataclass(frozen=True)
class Answer:
    """Plane in coordinates of the core, loss, and proven bound of one graph's slack (inf: nothing is proven)."""

    plane: FloatArray
    loss: float
    bound: float = math.inf


class LoopedOracle(Oracle):
    """Solves graph by graph, in ``n_threads`` threads; answers do not depend on their number."""

    binary = False
    """Whether labels are independent indicators, each with its own loss (Eq. 14)."""

    def __init__(self, problem: LearningProblem, n_threads: int = 1) -> None:
        self._problem, self._threads = problem, n_threads
        self._graphs = _core.AugmentedGraphs(problem.core)

    @abstractmethod
    def answer(self, graph: int, energy: AugmentedEnergy, clock: Deadline) -> Answer:
        """Plane, loss and bound of one graph. Raises ``OutOfTime`` where the clock strikes first."""

    def evaluate(
        self, w: FloatArray, graphs: Sequence[int] | None = None, time_left: float | None = None
    ) -> OraclePlanes:
        """As :class:`gapcut.oracles.base.Oracle` has it; weights of any sign."""
        weights = self._problem.spread(w)
        clock = Deadline(time_left)

        def one(graph: int) -> Answer:
            if clock.left == 0.0:
                raise OutOfTime
            energy = self.energy(weights, graph)
            found = self.answer(graph, energy, clock)
            return replace(found, bound=0.0) if self.proven and self._free(weights, energy) else found

        chosen = range(self._problem.n_graphs) if graphs is None else [int(g) for g in graphs]
        found = each(one, chosen, self._threads)
        planes = np.array([a.plane for a in found]).reshape(len(found), self._problem.core.dim)
        return OraclePlanes(
            self._problem.gather(planes),
            np.array([a.loss for a in found]),
            np.array([a.bound for a in found]),
        )

    def _free(self, w: FloatArray, energy: AugmentedEnergy) -> bool:
        """Whether the slack is 0 without any rounding: there is no other labeling, or none costs anything and all
        weights are 0."""
        alone = energy.unary.shape[1] == 1 and not self.binary
        return alone or not (w.any() or energy.unary.any())

    def energy(self, w: FloatArray, graph: int) -> AugmentedEnergy:
        """The loss-augmented energy of one graph at ``w``, a number a coordinate of the core."""
        unary, edges, tables, rounding = self._graphs.energy(w, graph, self.binary)
        return AugmentedEnergy(unary, edges, tables, self._graphs.truth(graph), rounding)

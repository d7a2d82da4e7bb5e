"""One-hot oracles made of the methods of ``gapcut.solve``."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from gapcut.engines import Deadline, OutOfTime
from gapcut.inference import METHODS, Energy, MethodName, solve
from gapcut.oracles.looped import Answer, AugmentedEnergy, LoopedOracle
from gapcut.problem import LearningProblem


class MethodOracle(LoopedOracle):
    """Labelings of ``gapcut.solve(energy, method)`` on loss-augmented energies.

    ``proven``: whether the method's bound is worth having; without it nothing is proven and models are
    uncertified. ``exact``: whether the labelings are optimal (the integer program). ``settings`` are the
    method's own. Raises ValueError if this version does not have the method.
    """

    def __init__(
        self,
        problem: LearningProblem,
        method: MethodName,
        n_threads: int = 1,
        *,
        proven: bool,
        exact: bool = False,
        **settings: Any,
    ) -> None:
        super().__init__(problem, n_threads)
        if method not in METHODS:
            raise ValueError(
                f"oracle={method!r} needs the inference method {method!r}, which this version does not have: "
                f"it has {', '.join(METHODS)}"
            )
        self.exact, self.proven = exact, proven
        self._method, self._settings = method, settings

    def answer(self, graph: int, energy: AugmentedEnergy, clock: Deadline) -> Answer:
        """One solve; a bound that a time limit cut short is still a bound, but then the pass is not whole."""
        tables = energy.tables if len(energy.edges) else None
        edges = energy.edges if len(energy.edges) else None
        solution = solve(
            Energy(energy.unary, edges, tables), self._method, time_limit=clock.left, **self._settings
        )
        if solution.status == "stopped" and clock.left == 0.0:
            raise OutOfTime
        plane, loss = self._graphs.plane(graph, np.ascontiguousarray(solution.labels, dtype=np.int32))
        if not self.proven:
            return Answer(plane, loss)
        slack = max(0.0, energy.value_of_truth() - solution.bound)
        return Answer(plane, loss, math.nextafter(slack + energy.rounding, math.inf))

"""What the oracles that run in the core share: graphs in threads, answers as arrays."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from gapcut import _core
from gapcut.oracles.base import OraclePlanes, OracleTotal
from gapcut.problem import LearningProblem
from gapcut.typing import FloatArray, Int32Array


class NativeOracle:
    """Calls a native oracle of ``problem``."""

    def __init__(self, problem: LearningProblem, native: _core.CutOracle | _core.Labeler) -> None:
        self._problem, self._oracle = problem, native

    def evaluate(
        self, w: FloatArray, graphs: Sequence[int] | None = None, time_left: float | None = None
    ) -> OraclePlanes:
        """As :class:`gapcut.oracles.base.Oracle` has it."""
        chosen = self._every_graph() if graphs is None else np.asarray(graphs, dtype=np.int32)
        return OraclePlanes(*self._oracle.evaluate(contiguous(w), chosen, time_left))

    def total(self, w: FloatArray, time_left: float | None = None) -> OracleTotal:
        """As :class:`gapcut.oracles.base.Oracle` has it."""
        return OracleTotal(*self._oracle.total(contiguous(w), time_left))

    def _every_graph(self) -> Int32Array:
        return np.arange(self._problem.n_graphs, dtype=np.int32)


def contiguous(w: FloatArray) -> FloatArray:
    """Weights as the core takes them."""
    return np.ascontiguousarray(w, dtype=np.float64)

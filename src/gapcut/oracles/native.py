"""Oracles of the core: on threads over graphs, or on shards of them."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from gapcut.engines.shards import ShardEngine
from gapcut.oracles.base import Oracle, OraclePlanes, OracleTotal
from gapcut.oracles.sharded import MakeNative, PlaneShard, ShardedOracle, evaluated
from gapcut.problem import LearningProblem, plane_ends
from gapcut.typing import AnyArray, FloatArray, Int32Array


class NativeOracle(Oracle):
    """An oracle that runs in the core. ``warm``: its answers depend on the calls before."""

    warm: bool = False

    def __init__(self, problem: LearningProblem, make: MakeNative, n_threads: int) -> None:
        self._problem, self._make = problem, make
        self._native = make(problem.core, n_threads)

    def evaluate(
        self, w: FloatArray, graphs: Sequence[int] | None = None, time_left: float | None = None
    ) -> OraclePlanes:
        chosen = np.asarray(range(self._problem.n_graphs) if graphs is None else graphs, dtype=np.int32)
        planes, *rest = self._native.evaluate(self._problem.spread(w), chosen, time_left)
        return OraclePlanes(self._problem.gather(planes), *rest)

    def total(self, w: FloatArray, time_left: float | None = None) -> OracleTotal:
        plane, loss, bound = self._native.total(self._problem.spread(w), time_left)
        return OracleTotal(self._problem.gather(plane), loss, bound)

    def on(self, engine: ShardEngine) -> Oracle:
        if not engine.elsewhere:
            return self
        core, warm = self._problem.core, self.warm
        ends = np.array(plane_ends(core))
        parts = [(core.part(*pair), self._make, warm) for pair in pairwise(ends.tolist())]
        pool = engine.spread(PlaneShard, parts, 1)

        def ask(w: FloatArray, graphs: Int32Array | None, time_left: float | None) -> OraclePlanes:
            left = None if warm else time_left  # what changes the shards must not depend on the clock
            found = evaluated(self._problem, pool, ends, graphs, w, left, warm=warm)
            pool.breathe()  # Ctrl-C waited for the shards, which are whole now
            return found

        return ShardedOracle(self, ask)

    def _labelings(self, w: FloatArray) -> list[AnyArray]:
        """What was found at ``w``, flat, one array per graph."""
        offset, flat = self._problem.core.node_offset, self.evaluate(w).labels
        assert flat is not None
        return np.split(flat, offset[1:-1] * (len(flat) // max(1, offset[-1])))

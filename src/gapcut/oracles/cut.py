"""The exact oracle of the relaxed binary problem: one min cut a graph."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from gapcut import _core
from gapcut.oracles.base import OraclePlanes, OracleTotal, ProblemName
from gapcut.problem import LearningProblem
from gapcut.typing import FloatArray, Int32Array, IntArray


class CutOracle:
    """``max_z Delta_b(y, z) - w'(Psi(x, y) - Psi(x, z))`` over ``z in {0,1}^{V x K}``, exactly (the paper, 3.2).

    The sum-to-one constraint is dropped, so with pairwise weights and edge features >= 0 the problem is a maximum
    closure: persistency first, then one integer min cut for each component that is left. A clique adds one item for
    each of its label tuples that has weight, won only together with all its members. Rounding to integers and
    floating point are paid for in the bounds.

    Raises ``ValueError`` for a negative feature of an edge or clique (naming graph, edge and feature) and for a box
    that allows negative pairwise or clique weights.

    ``persistency=False`` sends every variable to the cut, to measure what persistency saves; answers are as good.
    """

    exact = True
    feasible = True
    solves: ProblemName = "relaxed binary"

    def __init__(self, problem: LearningProblem, n_threads: int = 1, *, persistency: bool = True) -> None:
        if np.any(problem.lower[problem.unary_count :] < 0.0):
            raise ValueError(
                "oracle='cut' is exact only for pairwise and clique weights >= 0, but the weight domain allows "
                "negative ones: use nonnegative='pairwise', or freeze those weights at a value >= 0"
            )
        self._problem = problem
        self._native = _core.CutOracle(problem.core, n_threads)
        self._native.use_persistency(persistency)

    def evaluate(
        self, w: FloatArray, graphs: Sequence[int] | None = None, time_left: float | None = None
    ) -> OraclePlanes:
        chosen = np.arange(self._problem.n_graphs) if graphs is None else np.asarray(graphs)
        weights = np.ascontiguousarray(w, dtype=np.float64)
        planes, losses, bounds = self._native.evaluate(
            weights, np.ascontiguousarray(chosen, dtype=np.int32), time_left
        )
        return OraclePlanes(planes, losses, bounds)

    def total(
        self, w: FloatArray, time_left: float | None = None, start: _core.PrimalDual | None = None
    ) -> OracleTotal:
        """``start`` holds the arc multipliers of an iteration near these weights: they leave little for the flow to do,
        and change nothing of the answer's value.
        """
        plane, loss, bound, _ = self._native.total(
            np.ascontiguousarray(w, dtype=np.float64), time_left, start
        )
        return OracleTotal(plane, loss, bound)

    def statistics(self, w: FloatArray) -> dict[str, int]:
        """Sizes summed over graphs: variables and arcs given, and what persistency left to the cuts."""
        stats: dict[str, int] = self._native.total(np.ascontiguousarray(w, dtype=np.float64), None)[3]
        return stats

    def labelings(self, w: FloatArray) -> list[FloatArray]:
        """The maximisers, one (V, K) array of 0 and 1 a graph."""
        core = self._problem.core
        flat = self._native.labelings(
            np.ascontiguousarray(w, dtype=np.float64), np.arange(core.n_graphs, dtype=np.int32)
        ).astype(np.float64)
        sizes = np.diff(core.node_offset) * core.n_labels
        return [z.reshape(-1, core.n_labels) for z in np.split(flat, np.cumsum(sizes)[:-1])]

    def core_network(self, w: FloatArray, graph: int) -> tuple[IntArray, Int32Array, IntArray, IntArray]:
        """The min cuts that one graph takes at ``w``, side by side: ``excess`` (n,) (positive: from the source),
        ``arcs`` (m, 2), capacities ``forward`` (m,) and ``backward`` (m,). Input for a comparison of max-flow codes."""
        return self._native.core_network(np.ascontiguousarray(w, dtype=np.float64), graph)

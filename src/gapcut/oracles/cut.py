"""The exact oracle of the relaxed binary problem, one min cut a graph, and its relaxation, which is tight."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gapcut import _core
from gapcut.oracles.base import NativeOracle, OracleTotal, ProblemName, SlackBound
from gapcut.problem import LearningProblem
from gapcut.typing import AnyArray, FloatArray, Int32Array, IntArray


class CutOracle(NativeOracle):
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
    solves: ProblemName = "relaxed binary"

    def __init__(self, problem: LearningProblem, n_threads: int = 1, *, persistency: bool = True) -> None:
        if np.any(problem.lower[problem.unary_count :] < 0.0):
            raise ValueError(
                "oracle='cut' is exact only for pairwise and clique weights >= 0, but the weight domain allows "
                "negative ones: use nonnegative='pairwise', or freeze those weights at a value >= 0"
            )
        self._cuts = _core.CutOracle(problem.core, n_threads)
        self._cuts.use_persistency(persistency)
        super().__init__(problem, self._cuts)

    def total(
        self, w: FloatArray, time_left: float | None = None, start: _core.PrimalDual | None = None
    ) -> OracleTotal:
        """``start`` holds the arc multipliers of an iteration near these weights: they leave little for the flow to do,
        and change nothing of the answer's value.
        """
        return OracleTotal(*self._cuts.total(np.ascontiguousarray(w, dtype=np.float64), time_left, start)[:3])

    def relaxation(self, settings: _core.PrimalDualSettings, C: float, n_threads: int) -> CutRelaxation:
        """Shares of labels and of label pairs in [0, 1], coupled arc by arc; graphs must have no cliques."""
        return CutRelaxation(self, self._problem, settings, C, n_threads)

    def statistics(self, w: FloatArray) -> dict[str, int]:
        """Sizes summed over graphs: variables and arcs given, and what persistency left to the cuts."""
        stats: dict[str, int] = self._cuts.total(np.ascontiguousarray(w, dtype=np.float64), None)[3]
        return stats

    def labelings(self, w: FloatArray) -> list[FloatArray]:
        """The maximisers, one (V, K) array of 0 and 1 a graph."""
        return [z.astype(np.float64).reshape(-1, self._problem.n_labels) for z in self._labelings(w)]

    def core_network(self, w: FloatArray, graph: int) -> tuple[IntArray, Int32Array, IntArray, IntArray]:
        """The min cuts that one graph takes at ``w``, side by side: ``excess`` (n,) (positive: from the source),
        ``arcs`` (m, 2), capacities ``forward`` (m,) and ``backward`` (m,). Input for a comparison of max-flow codes."""
        return self._cuts.core_network(np.ascontiguousarray(w, dtype=np.float64), graph)


class CutRelaxation:
    """:class:`gapcut.oracles.base.Relaxation` of the min cut: iterates in the core, in float32.

    Multipliers are the shares that the two arcs of a label pair have in its gain (``cpp/include/gapcut/learn/``).
    """

    def __init__(
        self,
        oracle: CutOracle,
        problem: LearningProblem,
        settings: _core.PrimalDualSettings,
        C: float,
        n_threads: int,
    ) -> None:
        self._oracle, self._core, self._threads, self._C = oracle, problem.core, n_threads, C
        box = problem.core, problem.lower, problem.upper
        self.state = _core.PrimalDual(*box, C, settings, n_threads)
        self._repair = _core.Repair(*box, n_threads)

    @property
    def iterations(self) -> int:
        return self.state.iterations

    @property
    def active_pairs(self) -> int:
        return self.state.active_pairs

    @property
    def cut_arcs(self) -> int:
        return int(np.diff(self._core.edge_offset).max(initial=0)) * self.active_pairs

    def set_trade_off(self, C: float) -> None:
        self._C = C
        self.state.set_trade_off(C)

    def advance(self, iterations: int, time_left: float | None) -> None:
        self.state.advance(iterations, time_left)

    def weights(self) -> FloatArray:
        return self.state.weights()

    def labels(self) -> NDArray[np.float32]:
        return self.state.labels(self._core)

    def slack(self, w: FloatArray, time_left: float | None = None) -> SlackBound:
        """One pass over the shares of the arcs, whatever the cut would have to do."""
        bound, rounding = self.state.slack_bound(self._core, w, self._threads, time_left)
        return SlackBound(bound, bound, rounding)

    def total(self, w: FloatArray, time_left: float | None = None) -> OracleTotal:
        return self._oracle.total(w, time_left, self.state)

    def plane(self, labels: NDArray[np.float32], time_left: float | None = None) -> tuple[FloatArray, float]:
        """The threshold labelings of relaxed labels average to this plane."""
        plane, loss = _core.relaxed_plane(self._core, labels, self._threads, time_left)
        return plane, loss

    def repair(
        self, labels: NDArray[np.float32], sweeps: int, least_gain: float, seed: int, time_left: float | None
    ) -> NDArray[np.float32]:
        return self._repair.run(self._core, labels, self._C, sweeps, least_gain, seed, time_left)

    def snapshot(self) -> dict[str, AnyArray]:
        return dict(self.state.snapshot())

    def restore(self, arrays: Mapping[str, Any]) -> None:
        self.state.restore(dict(arrays))

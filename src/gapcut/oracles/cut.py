"""The exact oracle of the relaxed binary problem, one min cut per graph."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from gapcut import _core
from gapcut.oracles.base import (
    NativeOracle,
    OracleTotal,
    ProblemName,
    Relaxation,
    RelaxedLabels,
    SlackBound,
    SlackProof,
    contiguous,
)
from gapcut.oracles.whole import WHOLE, whole_labels
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

    def relaxation(self, settings: _core.PrimalDualSettings, n_threads: int) -> Relaxation:
        """Labels and label pairs in [0, 1], coupled arc by arc: tight. Graphs must have no cliques."""
        return CutRelaxation(self._cuts, self._problem, settings, n_threads)

    def statistics(self, w: FloatArray) -> dict[str, int]:
        """Sizes summed over graphs: variables and arcs given, and what persistency left to the cuts."""
        stats: dict[str, int] = self._cuts.statistics(contiguous(w))
        return stats

    def labelings(self, w: FloatArray) -> list[FloatArray]:
        """The maximisers, one (V, K) array of 0 and 1 a graph."""
        return [z.astype(np.float64).reshape(-1, self._problem.n_labels) for z in self._labelings(w)]

    def core_network(self, w: FloatArray, graph: int) -> tuple[IntArray, Int32Array, IntArray, IntArray]:
        """The min cuts that one graph takes at ``w``, side by side: ``excess`` (n,) (positive: from the source),
        ``arcs`` (m, 2), capacities ``forward`` (m,) and ``backward`` (m,). Input for a comparison of max-flow codes."""
        return self._cuts.core_network(contiguous(w), graph)


class CutRelaxation(Relaxation):
    """Labels in [0, 1], label pairs at most either of their labels: tight, so the oracle's own bounds hold for it."""

    repairs = True

    def __init__(
        self,
        cuts: _core.CutOracle,
        problem: LearningProblem,
        settings: _core.PrimalDualSettings,
        n_threads: int,
    ) -> None:
        super().__init__(problem, settings, n_threads)
        self._cuts = cuts
        self._repair = _core.Repair(problem.core, problem.lower, problem.upper, n_threads)

    def slack(
        self, w: FloatArray, time_left: float | None = None, messages: NDArray[np.float32] | None = None
    ) -> SlackBound:
        """The best split of every arc near the multipliers."""
        bound, rounding = self.state.slack_bound(self._core, w, self._threads, time_left)
        return SlackBound(bound, bound, rounding)

    def total(
        self, w: FloatArray, time_left: float | None = None, messages: NDArray[np.float32] | None = None
    ) -> OracleTotal:
        """The cut; its value does not depend on the multipliers."""
        return OracleTotal(*self._cuts.total_from(contiguous(w), self.state, time_left))

    def plane(self, point: RelaxedLabels, time_left: float | None = None) -> tuple[FloatArray, float]:
        """The average over the threshold labelings."""
        plane, loss = _core.relaxed_plane(self._core, point.labels, self._threads, time_left)
        return plane, loss

    def prove_slack(self, w: FloatArray, closely: bool) -> SlackProof:
        """Shares (A,) of the tails of all arcs with gain, by edge, then label pair; ``closely``: those of the cuts."""
        if closely:
            pairs, shares = _core.cut_shares(self._cuts, contiguous(w), self.state)
        else:
            pairs, shares = _core.multiplier_shares(self._core, contiguous(w), self.state)
        bound, rounding = _core.bound_of_shares(self._core, contiguous(w), pairs, shares, self._threads)
        if not len(pairs) or not shares.size:
            return SlackProof({"shares": np.empty(0, dtype=np.uint16)}, SlackBound(bound, bound, rounding))
        with_gain = _core.arcs_with_gain(self._core, contiguous(w)) != 0
        return SlackProof({"shares": shares.T[with_gain.T]}, SlackBound(bound, bound, rounding))

    def whole(self, point: RelaxedLabels) -> tuple[RelaxedLabels, dict[str, AnyArray]]:
        labels = whole_labels(point.labels)
        return RelaxedLabels(np.asarray(labels / WHOLE, dtype=np.float32)), {"labels": labels}

    def repair(
        self,
        labels: NDArray[np.float32],
        C: float,
        sweeps: int,
        least_gain: float,
        seed: int,
        time_left: float | None,
    ) -> tuple[NDArray[np.float32], float]:
        better = self._repair.run(self._core, labels, C, sweeps, least_gain, seed, time_left)
        return better, self._repair.operations / self._repair.expected_operations(self._core, labels)

    def repair_cost(self, labels: NDArray[np.float32]) -> float:
        return self._repair.expected_operations(self._core, labels) / self.state.operations

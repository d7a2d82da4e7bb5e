"""The exact oracle of the relaxed binary problem, one min cut per graph."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import numpy as np
from numpy.typing import NDArray

from gapcut import _core
from gapcut.engines.shards import ShardEngine
from gapcut.oracles.base import (
    Oracle,
    OraclePlanes,
    OracleTotal,
    ProblemName,
    SlackBound,
    mean_bound,
)
from gapcut.oracles.native import NativeOracle
from gapcut.oracles.relaxation import (
    Point,
    Relaxation,
    RelaxedLabels,
    SlackProof,
    Stored,
    mean_total,
    spread,
    tree_sum,
)
from gapcut.oracles.sharded import ShardedOracle
from gapcut.oracles.step_shard import CutShard, cut_oracle
from gapcut.oracles.whole import WHOLE, whole_labels
from gapcut.problem import LearningProblem, line_search
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
        self._persistency = persistency
        super().__init__(problem, partial(cut_oracle, persistency=persistency), n_threads)
        assert isinstance(self._native, _core.CutOracle)
        self._cuts = self._native

    def relaxation(
        self, settings: _core.PrimalDualSettings, n_threads: int, engine: ShardEngine | None = None
    ) -> Relaxation:
        """Labels and label pairs in [0, 1], coupled arc by arc: tight. Graphs must have no cliques."""
        problem = self._problem
        lower, upper = problem.spread(problem.lower), problem.spread(problem.upper)
        setup = _core.StepSetup(problem.core, lower, settings)
        others = (setup, lower, upper, self._persistency)
        shards = spread(problem, CutShard, others, n_threads, engine)
        return CutRelaxation(problem, settings, n_threads, shards)

    def statistics(self, w: FloatArray) -> dict[str, int]:
        """Sizes summed over graphs: variables and arcs given, and what persistency left to the cuts."""
        stats: dict[str, int] = self._cuts.statistics(self._problem.spread(w))
        return stats

    def labelings(self, w: FloatArray) -> list[FloatArray]:
        """The maximisers, one (V, K) array of 0 and 1 a graph."""
        return [z.astype(np.float64).reshape(-1, self._problem.n_labels) for z in self._labelings(w)]

    def core_network(self, w: FloatArray, graph: int) -> tuple[IntArray, Int32Array, IntArray, IntArray]:
        """The min cuts that one graph takes at ``w``, side by side: ``excess`` (n,) (positive: from the source),
        ``arcs`` (m, 2), capacities ``forward`` (m,) and ``backward`` (m,). Input for a comparison of max-flow codes."""
        return self._cuts.core_network(self._problem.spread(w), graph)


class CutRelaxation(Relaxation):
    """Labels in [0, 1], label pairs at most either of their labels: tight, so the oracle's own bounds hold for it.

    What certificates ask of the graphs, all shards (:class:`gapcut.oracles.step_shard.CutShard`) are asked; their
    answers are added up in a fixed order.
    """

    @property
    def repairs(self) -> bool:
        """Where no weights are tied: coordinate ascent knows of none."""
        return self._problem.ties is None

    def slack(
        self, w: FloatArray, time_left: float | None = None, messages: Stored | None = None
    ) -> SlackBound:
        """The best split of every arc near the multipliers."""
        n = self._core.n_graphs
        total, rounding = tree_sum(self._pool.call("slack", self._problem.spread(w), time_left)).tolist()
        bound = mean_bound(total, n)
        return SlackBound(bound, bound, rounding / n)

    def total(
        self, w: FloatArray, time_left: float | None = None, messages: Stored | None = None
    ) -> OracleTotal:
        """The cut; its value does not depend on the multipliers."""
        return mean_total(self._pool.call("total", self._problem.spread(w), time_left), self._problem)

    def plane(self, point: Point, time_left: float | None = None) -> tuple[FloatArray, float]:
        """The average over the threshold labelings."""
        found, n = self._plane_sum(self.fetched(point).labels, time_left), self._core.n_graphs
        return self._problem.gather(found[:-1]) / n, float(found[-1]) / n

    def _plane_sum(self, labels: NDArray[np.float32], time_left: float | None) -> FloatArray:
        """Plane and loss."""
        return tree_sum(self._pool.call_each("plane", [(own, time_left) for own in self._split(labels)]))

    def prove_slack(self, w: FloatArray, closely: bool) -> SlackProof:
        """Shares (A,) of the tails of all arcs with gain, by edge, then label pair; ``closely``: those of the cuts."""
        weights = self._problem.spread(w)
        found = self._pool.call("shares", weights, closely)
        pairs, shares = found[0][0], np.ascontiguousarray(np.concatenate([own for _, own in found], axis=1))
        bound, rounding = _core.bound_of_shares(self._core, weights, pairs, shares, self._threads)
        if not len(pairs) or not shares.size:
            return SlackProof({"shares": np.empty(0, dtype=np.uint16)}, SlackBound(bound, bound, rounding))
        with_gain = _core.arcs_with_gain(self._core, weights) != 0
        return SlackProof({"shares": shares.T[with_gain.T]}, SlackBound(bound, bound, rounding))

    def whole(self, point: Point) -> tuple[RelaxedLabels, dict[str, AnyArray]]:
        labels = whole_labels(self.fetched(point).labels)
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
        """Each shard alone, as if all others did the same; then as far towards what they found together as that
        proves most."""
        parts, c = self._split(labels), C / self._core.n_graphs
        before = self._plane_sum(labels, time_left)
        shared = (c * before[:-1], c, len(parts), sweeps, least_gain, time_left)
        arguments = [(own, seed + i, *shared) for i, own in enumerate(parts)]
        found = self._pool.call_each("repair", arguments)
        cost = sum(cost for _, cost in found) / self._expected(parts)
        better = np.concatenate([own for own, _ in found])
        if len(parts) == 1:
            return better, cost
        after = self._plane_sum(better, time_left)
        step = c * (after - before)
        share = np.float32(line_search(self._problem, c * before[:-1], step[:-1], float(step[-1])))
        return np.clip(labels + share * (better - labels), np.float32(0.0), np.float32(1.0)), cost

    def plane_oracle(self, oracle: Oracle) -> Oracle:
        return ShardedOracle(oracle, self._cut) if self.elsewhere else oracle

    def _cut(self, w: FloatArray, graphs: Int32Array | None, time_left: float | None) -> OraclePlanes:
        """Planes of some graphs."""
        return self._evaluate(graphs, w, time_left)

    def repair_cost(self, labels: NDArray[np.float32]) -> float:
        return self._expected(self._split(labels)) / self.state.operations

    def _expected(self, parts: Sequence[NDArray[np.float32]]) -> float:
        return float(sum(self._pool.call_each("repair_cost", [(own,) for own in parts])))

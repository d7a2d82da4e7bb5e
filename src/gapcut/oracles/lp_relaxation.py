"""The local polytope as a relaxation for first-order steps."""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from gapcut import _core
from gapcut.engines.shards import ShardEngine
from gapcut.oracles.base import Oracle, OraclePlanes, OracleTotal, SlackBound, mean_bound
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
from gapcut.oracles.table_shard import SWEEPS, TableShard
from gapcut.oracles.whole import WHOLE, given_entries, whole_messages, whole_simplex, whole_tables
from gapcut.problem import LearningProblem
from gapcut.typing import AnyArray, FloatArray, Int32Array

SMALLER_STEPS: Final = 0.5, 0.8
"""Of the settings for the relaxed binary problem: the first ratio of dual to primal steps, and what is aimed at. Small
ratios are better here: what an iterate proves suffers most from tables that do not fit the labels yet."""

LESS_CAUTION: Final = 0.25
"""Of the distance of over-relaxation from its limit 2: a seventh fewer iterations on tables."""

FEW_EDGES: Final = 4.0
"""Mean degree up to which the first ratio is as it is; above, multipliers share the scores among more edges, and it
falls in proportion."""

MOST_PLANES: Final = 2**28
"""Bytes of one plane a graph, up to which points are mixed graph by graph."""

MOST_TABLES: Final = 2**29
"""Bytes of the tables of one point, up to which that is done: three more of them are kept then, or as much is taken by
message passing."""


class LpRelaxation(Relaxation):
    """Labels on the simplex at every node, tables on every edge whose rows and columns add up to them
    (docs/mathematics.md, Saddle problem of one label a node).

    Upper ends come from the multipliers: they reparametrise the energy, and TRW-S raises the bound from there. Lower
    ends come from tables made feasible. Points and messages stay with the shards
    (:class:`gapcut.oracles.table_shard.TableShard`); here are their numbers.
    """

    one_label = True
    closer_within = 40.0

    def __init__(
        self,
        problem: LearningProblem,
        settings: _core.PrimalDualSettings,
        n_threads: int,
        engine: ShardEngine | None = None,
    ) -> None:
        settings.one_label = True
        degree = 2.0 * problem.core.edge_offset[-1] / max(1, problem.core.node_offset[-1])
        settings.primal_weight *= SMALLER_STEPS[0] * min(1.0, FEW_EDGES / max(degree, 1e-9))
        settings.rebalance *= SMALLER_STEPS[1]
        settings.over_relaxation = 2.0 - LESS_CAUTION * (2.0 - settings.over_relaxation)
        core = problem.core
        setup = _core.StepSetup(core, problem.spread(problem.lower), settings)
        shards = spread(problem, TableShard, (setup,), n_threads, engine, tables=True)
        super().__init__(problem, settings, n_threads, shards)
        self.parallel = _core.parallel_edges(problem.core)
        """Whether edges join the same nodes. TRW-S adds up their tables first, so that its bounds hold for the one-hot
        problem, but not for the relaxation, in which each has a table of its own."""
        planes = 8 * core.n_graphs * problem.dim
        tables = 4 * core.n_labels**2 * int(core.edge_offset[-1])
        self.mixes = core.n_labels > 1 and planes <= MOST_PLANES and tables <= MOST_TABLES
        self.roundings += 32 * problem.n_labels + 128

    def weights(self) -> FloatArray:
        found = super().weights()
        return found if self._core.n_labels > 1 else np.zeros_like(found)

    def reached(self) -> Stored | None:
        new, sound = self._store("reach", self.mixes)
        return new if all(sound) else None

    def fetched(self, point: Point) -> RelaxedLabels:
        if isinstance(point, RelaxedLabels):
            return point
        parts = self._pool.call("point", point.number)
        labels, tables = (
            np.concatenate([own for own, _ in parts]),
            np.concatenate([own for _, own in parts], axis=1),
        )
        return RelaxedLabels(labels, tables)

    def stored(self, point: Point) -> Stored:
        if isinstance(point, Stored):
            return point
        if point.tables is None:
            raise ValueError("the tables are missing")
        parts = zip(self._split(point.labels), self._columns(point.tables), strict=True)
        return self._store_each("put_point", [(own,) for own in parts])

    def messages(self) -> Stored:
        return self._store("reach_messages")[0]

    def fetched_messages(self, messages: Stored) -> NDArray[np.float32]:
        return np.concatenate(self._pool.call("messages", messages.number), axis=1)

    def stored_messages(self, messages: NDArray[np.float32]) -> Stored:
        return self._store_each("put_messages", [(own,) for own in self._columns(messages)])

    def _columns(self, rows: NDArray[np.float32]) -> list[NDArray[np.float32]]:
        """Columns, one an edge, of each shard."""
        parts = np.split(rows, self._core.edge_offset[self._ends[1:-1]], axis=1)
        return [np.ascontiguousarray(own) for own in parts]

    def slack(
        self, w: FloatArray, time_left: float | None = None, messages: Stored | None = None
    ) -> SlackBound:
        """The maxima of all terms after the multipliers moved scores between them."""
        if self._core.n_labels == 1:  # nothing to decide
            return SlackBound(0.0, 0.0)
        (found,) = tree_sum(
            self._pool.call("slack", self._problem.spread(w), _number(messages), time_left)
        ).tolist()
        bound = mean_bound(found, self._core.n_graphs)
        return SlackBound(bound, bound)

    def total(
        self, w: FloatArray, time_left: float | None = None, messages: Stored | None = None
    ) -> OracleTotal:
        """The same after sweeps of TRW-S, and the plane of its labelings; of MPLP on graphs with parallel edges."""
        found = self._pool.call("total", self._problem.spread(w), _number(messages), time_left)
        return mean_total(found, self._problem)

    def labelings(
        self, w: FloatArray, time_left: float | None = None, messages: Stored | None = None
    ) -> OraclePlanes:
        return self._evaluate(None, w, _number(messages), "separate", time_left)

    def plane(self, point: Point, time_left: float | None = None) -> tuple[FloatArray, float]:
        """Of the labels, divided by their sums, and the tables made feasible for them."""
        stored, n = self.stored(point), self._core.n_graphs
        found = tree_sum(self._pool.call("plane", stored.number, time_left))
        return self._problem.gather(found[:-1]) / n, float(found[-1]) / n

    def feasible(self, point: Point) -> Stored:
        """The point of the relaxation whose plane :meth:`plane` gives, up to single precision."""
        stored = self.stored(point)
        return self._store("make_feasible", stored.number)[0]

    def planes(self, point: Point, time_left: float | None = None) -> tuple[FloatArray, FloatArray]:
        stored = self.stored(point)
        planes, losses = zip(*self._pool.call("planes", stored.number, time_left), strict=True)
        return self._problem.gather(np.concatenate(planes)), np.concatenate(losses)

    def mixed(self, one: Point, two: Point, labelings: Int32Array, shares: FloatArray) -> Stored:
        first, second = self.stored(one), self.stored(two)
        own_labels = np.split(labelings, self._core.node_offset[self._ends[1:-1]], axis=1)
        own_shares = np.split(shares, self._ends[1:-1], axis=1)
        own = [tuple(map(np.ascontiguousarray, given)) for given in zip(own_labels, own_shares, strict=True)]
        return self._store_each("mix", [(first.number, second.number, *given) for given in own])

    def prove_slack(self, w: FloatArray, closely: bool) -> SlackProof:
        """Messages (M, K - 1, three bytes) of all edges to their heads, less that for the last label, from the
        multipliers; ``closely``: after sweeps. The best ones to the tails follow from them."""
        sweeps = SWEEPS if closely else 0
        weights = self._problem.spread(w)
        found = np.concatenate(self._pool.call("edge_messages", weights, sweeps), axis=2)
        found[1, :-1], counts, step = whole_messages(found[1, :-1])
        bound = _core.bound_of_messages(self._core, weights, found, self._threads)
        arrays = {"messages": counts.transpose(1, 0, 2), "message_step": np.array([step])}
        return SlackProof(arrays, SlackBound(bound, bound))

    def whole(self, point: Point) -> tuple[RelaxedLabels, dict[str, AnyArray]]:
        """Labels of every node that add up to one, tables that add up to them; in the arrays only what the sums do not
        say."""
        point = self.fetched(point)
        if point.tables is None:
            raise ValueError("the tables are missing")
        labels, K = whole_simplex(point.labels), self._core.n_labels
        ends = labels.astype(np.int64).T
        at_tail, at_head = ends[:, self._core.tail], ends[:, self._core.head]
        tables = whole_tables(point.tables.reshape(K, K, -1), at_tail, at_head)
        exact = (np.asarray(units / WHOLE, dtype=np.float32) for units in (labels, tables.reshape(K * K, -1)))
        given = given_entries(tables, at_tail, at_head)
        return RelaxedLabels(*exact), {"labels": labels[:, :-1], "tables": given}

    def integer_planes(self, w: FloatArray, graphs: Int32Array, time_left: float | None) -> OraclePlanes:
        """Planes of labelings, and one-hot bounds, of some graphs, by TRW-S from the multipliers."""
        return self._evaluate(graphs, w, None, "merged", time_left)

    def plane_oracle(self, oracle: Oracle) -> Oracle:
        """Message passing; faster than a linear program, with bounds of the same problem."""
        asked = ShardedOracle(oracle, self._sweep)
        asked.exact, asked.elsewhere = False, self.elsewhere
        return asked

    def _sweep(self, w: FloatArray, graphs: Int32Array | None, time_left: float | None) -> OraclePlanes:
        """Planes of labelings, and bounds, of some graphs, by sweeps from nothing, so that they can be made again."""
        return self._evaluate(graphs, w, 0, "separate", time_left)


def _number(messages: Stored | None) -> int | None:
    return None if messages is None else messages.number

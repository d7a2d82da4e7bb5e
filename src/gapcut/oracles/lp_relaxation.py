"""The local polytope as a relaxation for first-order steps."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

from gapcut import _core
from gapcut.engines.shards import Here
from gapcut.oracles.base import (
    Oracle,
    OraclePlanes,
    OracleTotal,
    Relaxation,
    RelaxedLabels,
    SlackBound,
    SlackProof,
    contiguous,
)
from gapcut.oracles.step_shard import StepShard
from gapcut.oracles.whole import WHOLE, given_entries, whole_messages, whole_simplex, whole_tables
from gapcut.problem import LearningProblem
from gapcut.typing import AnyArray, FloatArray, Int32Array

SWEEPS: Final = 8
"""Of TRW-S at most, started from the multipliers."""

SMALLER_STEPS: Final = 0.5, 0.8
"""Of the settings for the relaxed binary problem: the first ratio of dual to primal steps, and what is aimed at. Small
ratios are better here: what an iterate proves suffers most from tables that do not fit the labels yet."""

LESS_CAUTION: Final = 0.25
"""Of the distance of over-relaxation from its limit 2: a seventh fewer iterations on tables."""

FEW_EDGES: Final = 4.0
"""Mean degree up to which the first ratio is as it is; above, multipliers share the scores among more edges, and it
falls in proportion."""

FEWEST_GRAPHS: Final = 8
"""Whose points are mixed graph by graph."""

MOST_PLANES: Final = 2**28
"""Bytes of one plane a graph, up to which that is done."""


class LpRelaxation(Relaxation):
    """Labels on the simplex at every node, tables on every edge whose rows and columns add up to them
    (docs/mathematics.md, Saddle problem of one label a node).

    Upper ends come from the multipliers: they reparametrise the energy, and TRW-S raises the bound from there. Lower
    ends come from tables made feasible.
    """

    one_label = True
    closer_within = 40.0

    def __init__(self, problem: LearningProblem, settings: _core.PrimalDualSettings, n_threads: int) -> None:
        settings.one_label = True
        degree = 2.0 * problem.core.edge_offset[-1] / max(1, problem.core.node_offset[-1])
        settings.primal_weight *= SMALLER_STEPS[0] * min(1.0, FEW_EDGES / max(degree, 1e-9))
        settings.rebalance *= SMALLER_STEPS[1]
        settings.over_relaxation = 2.0 - LESS_CAUTION * (2.0 - settings.over_relaxation)
        core = problem.core
        shard = StepShard(core, _core.StepSetup(core, problem.lower, settings), n_threads)
        super().__init__(problem, settings, n_threads, Here([shard]))
        self._steps = shard.steps
        self.parallel = _core.parallel_edges(problem.core)
        """Whether edges join the same nodes. TRW-S adds up their tables first, so that its bounds hold for the one-hot
        problem, but not for the relaxation, in which each has a table of its own."""
        planes = 8 * core.n_graphs * core.dim
        self.mixes = core.n_labels > 1 and core.n_graphs >= FEWEST_GRAPHS and planes <= MOST_PLANES
        self.roundings += 32 * problem.n_labels + 128
        self._bounds = _core.MessageBounds(problem.core, n_threads, SWEEPS, 1e-6, 4, 1e-2)

    def weights(self) -> FloatArray:
        found = super().weights()
        return found if self._core.n_labels > 1 else np.zeros_like(found)

    def labels(self) -> RelaxedLabels:
        return RelaxedLabels(self._steps.labels(), self._steps.tables())

    def messages(self) -> NDArray[np.float32]:
        return self._steps.messages()

    def slack(
        self, w: FloatArray, time_left: float | None = None, messages: NDArray[np.float32] | None = None
    ) -> SlackBound:
        """The maxima of all terms after the multipliers moved scores between them."""
        if self._core.n_labels == 1:  # nothing to decide
            return SlackBound(0.0, 0.0)
        start = self._start(messages)
        _, _, bound = self._bounds.total(contiguous(w), *start, "quick", time_left)
        return SlackBound(bound, bound)

    def total(
        self, w: FloatArray, time_left: float | None = None, messages: NDArray[np.float32] | None = None
    ) -> OracleTotal:
        """The same after sweeps of TRW-S, and the plane of its labelings; of MPLP on graphs with parallel edges."""
        start = self._start(messages)
        return OracleTotal(*self._bounds.total(contiguous(w), *start, "separate", time_left))

    def labelings(
        self, w: FloatArray, time_left: float | None = None, messages: NDArray[np.float32] | None = None
    ) -> OraclePlanes:
        graphs, start = np.arange(self._core.n_graphs, dtype=np.int32), self._start(messages)
        return OraclePlanes(*self._bounds.evaluate(contiguous(w), graphs, *start, "separate", time_left))

    def _start(self, messages: NDArray[np.float32] | None) -> tuple[NDArray[np.float32], float]:
        return self.messages() if messages is None else messages, self.state.unit

    def plane(self, point: RelaxedLabels, time_left: float | None = None) -> tuple[FloatArray, float]:
        """Of the labels, divided by their sums, and the tables made feasible for them."""
        plane, loss = _core.table_plane(self._core, *_whole(point), self._threads, time_left)
        return plane, loss

    def feasible(self, point: RelaxedLabels, time_left: float | None = None) -> RelaxedLabels:
        return RelaxedLabels(*_core.feasible_point(self._core, *_whole(point), self._threads, time_left))

    def planes(self, point: RelaxedLabels, time_left: float | None = None) -> tuple[FloatArray, FloatArray]:
        graphs = np.arange(self._core.n_graphs, dtype=np.int32)
        planes, losses = _core.table_planes(self._core, *_whole(point), graphs, self._threads, time_left)
        return planes, losses

    def mixed(
        self, one: RelaxedLabels, two: RelaxedLabels, labeling: Int32Array, shares: FloatArray
    ) -> RelaxedLabels:
        points = (*_whole(one), *_whole(two))
        return RelaxedLabels(*_core.mixed_point(self._core, *points, labeling, shares, self._threads))

    def prove_slack(self, w: FloatArray, closely: bool) -> SlackProof:
        """Messages (M, K - 1, three bytes) of all edges to their heads, less that for the last label, from the
        multipliers; ``closely``: after sweeps. The best ones to the tails follow from them."""
        sweeps = SWEEPS if closely else 0
        found = _core.edge_messages(
            self._core, contiguous(w), self._steps, self.state.unit, sweeps, self._threads
        )
        found[1, :-1], counts, step = whole_messages(found[1, :-1])
        bound = _core.bound_of_messages(self._core, contiguous(w), found, self._threads)
        arrays = {"messages": counts.transpose(1, 0, 2), "message_step": np.array([step])}
        return SlackProof(arrays, SlackBound(bound, bound))

    def whole(self, point: RelaxedLabels) -> tuple[RelaxedLabels, dict[str, AnyArray]]:
        """Labels of every node that add up to one, tables that add up to them; in the arrays only what the sums do not
        say."""
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
        return OraclePlanes(
            *self._bounds.evaluate(contiguous(w), graphs, *self._start(None), "merged", time_left)
        )

    def plane_oracle(self, oracle: Oracle) -> Oracle:
        return _SweepOracle(oracle, self._core, self._bounds)


def _whole(point: RelaxedLabels) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    if point.tables is None:
        raise ValueError("the tables are missing")
    return point.labels, point.tables


class _SweepOracle(Oracle):
    """Labelings and bounds by message passing from nothing, so that passes can be made again; faster than a linear
    program, with bounds of the same problem."""

    solves = "LP-relaxed one-hot"

    def __init__(self, oracle: Oracle, core: _core.Problem, bounds: _core.MessageBounds) -> None:
        self._core, self._bounds = core, bounds
        self.proven, self.feasible = oracle.proven, oracle.feasible

    def evaluate(
        self, w: FloatArray, graphs: Sequence[int] | None = None, time_left: float | None = None
    ) -> OraclePlanes:
        chosen = np.arange(self._core.n_graphs) if graphs is None else np.asarray(graphs)
        return OraclePlanes(
            *self._bounds.evaluate(contiguous(w), chosen.astype(np.int32), None, 1.0, "separate", time_left)
        )

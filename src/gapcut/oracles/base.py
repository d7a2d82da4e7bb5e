"""What a learner may ask of an oracle.

An oracle solves the inner maximum of the learning problem, graph by graph. Whatever it does inside, ``bounds`` must
hold: it is what certificates are made of.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal

import numpy as np
from numpy.typing import NDArray

from gapcut import _core
from gapcut.engines import Deadline
from gapcut.engines.shards import Pool, ShardEngine
from gapcut.problem import LearningProblem
from gapcut.typing import AnyArray, FloatArray, Int32Array

ProblemName = Literal["relaxed binary", "one-hot", "LP-relaxed one-hot"]
"""Label space of the inner maximum: {0,1}^{V x K}, one label per node, or the local polytope over the latter."""


@dataclass(frozen=True)
class SlackBound:
    """Proven upper ``bound`` of the mean slack at some weights.

    ``attained``: the slack that the oracle's own labelings reach, where they are maximisers; else ``bound`` itself.
    ``rounding``: the part of ``bound`` that pays for floating point, as far as it is not in ``bound - attained``.
    """

    bound: float
    attained: float
    rounding: float = 0.0


@dataclass(frozen=True)
class OracleTotal:
    """Means over all graphs of what :class:`OraclePlanes` holds: one plane of the 1-slack problem."""

    plane: FloatArray
    loss: float
    bound: float

    def violation(self, w: FloatArray) -> float:
        """The slack that the plane asks for at ``w``, at least 0."""
        return max(0.0, self.loss - _core.dot(self.plane, w))

    def slack(self, w: FloatArray, exact: bool = True) -> SlackBound:
        """The bound of a pass at ``w``; ``exact``: whether the labelings behind the plane are maximisers."""
        return SlackBound(self.bound, self.violation(w) if exact else self.bound)


@dataclass(frozen=True)
class OraclePlanes:
    """One labeling per graph, as a plane of the learning problem (``h_i = Psi(x_i, y_i) - Psi(x_i, z_i)``).

    ``planes`` (m, dim) rows ``h_i``; ``losses`` (m,) ``Delta_b(y_i, z_i)``; ``bounds`` (m,) proven upper bounds,
    rounding included, of ``max_z Delta_b(y_i, z) - w'(Psi(x_i, y_i) - Psi(x_i, z))``, each at least 0
    (``z = y_i`` is allowed).
    """

    planes: FloatArray
    losses: FloatArray
    bounds: FloatArray

    labels: AnyArray | None = None
    """The labelings one after the other, where the oracle gives them: (N,) codes, or (N K,) indicators."""

    def mean(self) -> OracleTotal:
        """Means of the planes of all graphs, found at the same weights; that of the bounds is proven too."""
        bound = mean_bound(float(self.bounds.sum()), len(self.bounds))
        return OracleTotal(self.planes.mean(axis=0), float(self.losses.mean()), bound)


SUMMED_IN: Final = 16
"""Parts of all nodes and edges whose sums make the plane of a point (cpp/src/learn/{relaxed,table}_dual.cpp)."""

_ITERATES: Final = "z", "z_step", "arcs"
"""Of shards: rows by label, or by label pair, and columns by node, or by edge."""


def tree_sum(answers: Sequence[FloatArray]) -> FloatArray:
    """The sum of what shards answered, in an order that depends on their number alone."""
    return _core.tree_sum(np.stack(answers))


def _joined(parts: Sequence[AnyArray]) -> AnyArray:
    """Columns of all, flat. A shard without any does not know how many rows there are."""
    return np.concatenate([rows for rows in parts if rows.shape[1]] or parts[:1], axis=1).ravel()


def _columns(flat: AnyArray, ends: AnyArray) -> list[AnyArray]:
    """Rows of so many columns, cut between shards."""
    rows = flat.reshape(-1, ends[-1]) if ends[-1] else flat.reshape(0, 0)
    return [np.ascontiguousarray(part) for part in np.split(rows, ends[1:-1], axis=1)]


def mean_bound(total: float, count: int) -> float:
    """At least the mean of ``count`` proven bounds that add up, in floating point and any order, to ``total``.

    The one rule for all oracles; proof in ``cpp/include/gapcut/rounding.hpp``.
    """
    return _core.mean_above(total, count)


@dataclass(frozen=True)
class RelaxedLabels:
    """A point of a relaxation: ``labels`` (N, K) in [0, 1], and ``tables`` (K K, M), the shares of label pairs on every
    edge, where these are not functions of the labels."""

    labels: NDArray[np.float32]
    tables: NDArray[np.float32] | None = None

    @property
    def finite(self) -> bool:
        return bool(
            np.isfinite(self.labels).all() and (self.tables is None or np.isfinite(self.tables).all())
        )


@dataclass(frozen=True)
class SlackProof:
    """Numbers by which anyone can add up that the mean slack at some weights is at most ``slack.bound``: named arrays
    of a proof file (docs/proofs.md)."""

    arrays: dict[str, AnyArray]
    slack: SlackBound


class Relaxation(ABC):
    """A convex relaxation of all inner maxima: with it, learning is one saddle-point problem in the weights, the
    relaxed labels (and label pairs) and the multipliers of their coupling.

    ``state`` holds the iterates of a first-order method. It proves nothing; :meth:`slack` and :meth:`plane` do, and
    both hold whatever the iterates are.
    """

    repairs: bool = False
    """Whether :meth:`repair` is there."""

    one_label: bool = False
    """Whether its integer points are one label a node, so that :meth:`integer_planes` is there."""

    mixes: bool = False
    """Whether points of it can be mixed graph by graph: :meth:`labelings`, :meth:`feasible`, :meth:`planes` and
    :meth:`mixed` are there."""

    parallel: bool = False
    """Whether edges join the same nodes, so that bounds of :meth:`integer_planes` do not hold for the relaxation."""

    closer_within: float = 1.25
    """Gap, in targets, within which :meth:`total` is asked for a better upper end than :meth:`slack` proves."""

    roundings: int
    """On the way from a point to its plane, beyond those of the planes of single graphs: the sums run over a sixteenth
    of all nodes, or edges, whatever graphs they are of."""

    def __init__(
        self,
        problem: LearningProblem,
        settings: _core.PrimalDualSettings,
        n_threads: int,
        pool: Pool,
        ends: Sequence[int] = (),
    ) -> None:
        """``pool``: the shards of the graphs and ``ends`` where they begin and end; by default one has all graphs."""
        core = problem.core
        self._problem, self._core, self._threads = problem, core, n_threads
        self.roundings = int(max(core.node_offset[-1], core.edge_offset[-1])) // SUMMED_IN + 2 * SUMMED_IN
        self._pool, self._ends = pool, np.array(ends or (0, core.n_graphs))
        here = pool.here
        self.state = _core.PrimalDual(
            core,
            problem.lower,
            problem.upper,
            problem.C,
            settings,
            n_threads,
            [] if here is None else [shard.steps for shard in here],
            (lambda question, order: tree_sum(pool.change("ask", question, order))) if here is None else None,
        )

    def advance(self, iterations: int, time_left: float | None = None) -> None:
        """So many iterations; raises OutOfTime between two."""
        if self._pool.here is not None:
            self.state.advance(iterations, time_left)
            return
        clock = Deadline(time_left)
        for _ in range(iterations):
            self._pool.breathe()
            self.state.advance(1, clock.left)

    def save(self) -> dict[str, AnyArray]:
        """All iterates, as arrays that do not depend on shards."""
        parts = self._pool.call("save")
        whole = {name: _joined([part[name] for part in parts]) for name in _ITERATES}
        return {**self.state.snapshot(), **whole}

    def load(self, arrays: Mapping[str, AnyArray]) -> None:
        """What :meth:`save` gave, also at another C. Raises ValueError or KeyError if it is of another problem."""
        core = self._core
        cuts = {"z": core.node_offset[self._ends], "z_step": core.node_offset[self._ends]}
        cuts["arcs"] = core.edge_offset[self._ends]
        columns = {name: _columns(arrays[name], at) for name, at in cuts.items()}
        states = [
            {"active": arrays["active"], **{name: part[i] for name, part in columns.items()}}
            for i in range(len(self._ends) - 1)
        ]
        self.state.restore(dict(arrays))
        self._pool.load(states)

    def weights(self) -> FloatArray:
        """(dim,) the weights reached, not yet clamped."""
        return self.state.weights()

    def labels(self) -> RelaxedLabels:
        """The relaxed labels reached, and label pairs where they are variables."""
        return RelaxedLabels(np.concatenate(self._pool.call("labels")))

    def messages(self) -> NDArray[np.float32] | None:
        """The multipliers reached, where the oracle's bounds depend on them."""
        return None

    @abstractmethod
    def slack(
        self, w: FloatArray, time_left: float | None = None, messages: NDArray[np.float32] | None = None
    ) -> SlackBound:
        """Bound of the mean slack at ``w`` from the multipliers, in one pass over the edges; from those
        given, if any."""

    @abstractmethod
    def total(
        self, w: FloatArray, time_left: float | None = None, messages: NDArray[np.float32] | None = None
    ) -> OracleTotal:
        """A closer bound at ``w``, started from the same, and a plane."""

    @abstractmethod
    def plane(self, point: RelaxedLabels, time_left: float | None = None) -> tuple[FloatArray, float]:
        """Mean plane (dim,) and mean loss of a point."""

    @abstractmethod
    def prove_slack(self, w: FloatArray, closely: bool) -> SlackProof:
        """What bounds the mean slack at ``w``, in whole numbers; ``closely``: as well as :meth:`total` does."""

    @abstractmethod
    def whole(self, point: RelaxedLabels) -> tuple[RelaxedLabels, dict[str, AnyArray]]:
        """The nearest point, about, whose numbers are multiples of ``1/WHOLE``, and the arrays of a proof file that
        hold it."""

    def repair(
        self,
        labels: NDArray[np.float32],
        C: float,
        sweeps: int,
        least_gain: float,
        seed: int,
        time_left: float | None,
    ) -> tuple[NDArray[np.float32], float]:
        """Relaxed labels of a better dual value, by coordinate ascent over those that gain ``least_gain``, and what
        that cost over what was expected."""
        raise NotImplementedError

    def repair_cost(self, labels: NDArray[np.float32]) -> float:
        """Of :meth:`repair`, in iterations: operations are counted, so that results do not depend on the clock."""
        return math.inf

    def labelings(
        self, w: FloatArray, time_left: float | None = None, messages: NDArray[np.float32] | None = None
    ) -> OraclePlanes:
        """What :meth:`total` finds, graph by graph, with the labelings."""
        raise NotImplementedError

    def feasible(self, point: RelaxedLabels, time_left: float | None = None) -> RelaxedLabels:
        """The point of the relaxation whose plane :meth:`plane` gives, up to single precision."""
        raise NotImplementedError

    def planes(self, point: RelaxedLabels, time_left: float | None = None) -> tuple[FloatArray, FloatArray]:
        """Planes (n, dim) and losses (n,) of a point, graph by graph."""
        raise NotImplementedError

    def mixed(
        self, one: RelaxedLabels, two: RelaxedLabels, labeling: Int32Array, shares: FloatArray
    ) -> RelaxedLabels:
        """Of each graph ``shares`` (3, n) of two points and a labeling, and of the truth what is left."""
        raise NotImplementedError

    def integer_planes(self, w: FloatArray, graphs: Int32Array, time_left: float | None) -> OraclePlanes:
        """Planes of labelings, and one-hot bounds, of some graphs, from the multipliers."""
        raise NotImplementedError

    def plane_oracle(self, oracle: Oracle) -> Oracle:
        """What asks for planes beside the steps, in place of ``oracle``, whose relaxation this is."""
        return oracle


class Oracle(ABC):
    """Loss-augmented inference on all graphs of one problem."""

    exact: bool = False
    """Whether the labelings are maximisers (up to the rounding inside ``bounds``)."""

    proven: bool = True
    """Whether ``bounds`` are numbers; without, no model is ever certified."""

    feasible: bool = True
    """Whether every plane is one of that problem's labelings, or a mixture of them; else no lower bound holds."""

    solves: ProblemName = "one-hot"
    """The learning problem whose inner maximum ``bounds`` bound and whose labelings the planes are made of."""

    @abstractmethod
    def evaluate(
        self, w: FloatArray, graphs: Sequence[int] | None = None, time_left: float | None = None
    ) -> OraclePlanes:
        """Solve the named graphs (all by default) at compact weights ``w``.

        Raises ``gapcut.engines.OutOfTime`` if ``time_left`` seconds pass first.
        """

    def total(self, w: FloatArray, time_left: float | None = None) -> OracleTotal:
        """Solve all graphs and return means, the same bits for any number of threads."""
        return self.evaluate(w, None, time_left).mean()

    def relaxation(
        self, settings: _core.PrimalDualSettings, n_threads: int, engine: ShardEngine | None = None
    ) -> Relaxation:
        """The relaxation that this oracle solves exactly, for first-order learning; ``engine``: where its shards are,
        by default here. ValueError where it has none."""
        raise ValueError(
            f"learner='primal-dual' is not compatible with {type(self).__name__}: it needs an oracle with a relaxation"
        )


class NativeOracle(Oracle):
    """An oracle that runs in the core, on threads over graphs."""

    def __init__(self, problem: LearningProblem, native: _core.CutOracle | _core.Labeler) -> None:
        self._problem, self._native = problem, native

    def evaluate(
        self, w: FloatArray, graphs: Sequence[int] | None = None, time_left: float | None = None
    ) -> OraclePlanes:
        chosen = np.asarray(range(self._problem.n_graphs) if graphs is None else graphs, dtype=np.int32)
        return OraclePlanes(*self._native.evaluate(contiguous(w), chosen, time_left))

    def total(self, w: FloatArray, time_left: float | None = None) -> OracleTotal:
        return OracleTotal(*self._native.total(contiguous(w), time_left))

    def _labelings(self, w: FloatArray) -> list[AnyArray]:
        """What was found at ``w``, flat, one array per graph."""
        offset, flat = self._problem.core.node_offset, self.evaluate(w).labels
        assert flat is not None
        return np.split(flat, offset[1:-1] * (len(flat) // max(1, offset[-1])))


def contiguous(w: FloatArray) -> FloatArray:
    """Weights as the core takes them."""
    return np.ascontiguousarray(w, dtype=np.float64)

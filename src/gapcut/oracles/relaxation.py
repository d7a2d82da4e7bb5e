"""Relaxations of the inner maxima, whose graphs are in shards: what first-order learning asks of them."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Final, TypeAlias
from weakref import WeakSet

import numpy as np
from numpy.typing import NDArray

from gapcut import _core
from gapcut.engines import Deadline
from gapcut.engines.shards import MakeShard, Pool, ShardEngine, ThreadShards
from gapcut.oracles.base import Oracle, OraclePlanes, OracleTotal, SlackBound, mean_bound
from gapcut.oracles.sharded import evaluated
from gapcut.problem import LearningProblem, shard_ends
from gapcut.typing import AnyArray, FloatArray, Int32Array

SUMMED_IN: Final = 16
"""Parts of all nodes and edges whose sums make the plane of a point (cpp/src/learn/{relaxed,table}_dual.cpp)."""

_ITERATES: Final = "z", "z_step", "arcs"
"""Of shards: rows by label, or by label pair, and columns by node, or by edge."""


def spread(
    problem: LearningProblem,
    make: MakeShard,
    others: tuple[Any, ...],
    threads: int,
    engine: ShardEngine | None,
    *,
    tables: bool = False,
) -> tuple[Pool, list[int]]:
    """Shards of the graphs, made of a part of the problem and ``others``, and the graphs where they begin and end;
    ``tables``: whether all label pairs are in use."""
    core = problem.core
    ends = shard_ends(core, tables)
    cores = [core.part(*pair) for pair in pairwise(ends)] if len(ends) > 2 else [core]
    return (engine or ThreadShards()).spread(make, [(own, *others) for own in cores], threads), ends


def tree_sum(answers: Sequence[FloatArray]) -> FloatArray:
    """The sum of what shards answered, in an order that depends on their number alone."""
    return _core.tree_sum(np.stack(answers))


def mean_total(answers: Sequence[FloatArray], problem: LearningProblem) -> OracleTotal:
    """Means over all graphs of what shards answered: sums of planes, then of losses, then of bounds."""
    found, n_graphs = tree_sum(answers), problem.n_graphs
    return OracleTotal(
        problem.gather(found[:-2]) / n_graphs,
        float(found[-2]) / n_graphs,
        mean_bound(float(found[-1]), n_graphs),
    )


def _joined(parts: Sequence[AnyArray]) -> AnyArray:
    """Columns of all, flat. A shard without any does not know how many rows there are."""
    return np.concatenate([rows for rows in parts if rows.shape[1]] or parts[:1], axis=1).ravel()


def _columns(flat: AnyArray, ends: AnyArray) -> list[AnyArray]:
    """Rows of so many columns, cut between shards."""
    rows = flat.reshape(-1, ends[-1]) if ends[-1] else flat.reshape(0, 0)
    return [np.ascontiguousarray(part) for part in np.split(rows, ends[1:-1], axis=1)]


@dataclass(frozen=True)
class RelaxedLabels:
    """A point of a relaxation: ``labels`` (N, K) in [0, 1], and ``tables`` (K K, M), the shares of label pairs on every
    edge, where these are not functions of the labels."""

    labels: NDArray[np.float32]
    tables: NDArray[np.float32] | None = None

    @property
    def finite(self) -> bool:
        """Whether all are numbers."""
        return bool(
            np.isfinite(self.labels).all() and (self.tables is None or np.isfinite(self.tables).all())
        )


class Stored:
    """A point, or messages, that the shards hold under a ``number``, as long as anybody has this."""

    def __init__(self, number: int) -> None:
        self.number = number


Point: TypeAlias = RelaxedLabels | Stored


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

    one_label: bool = False
    """Whether its integer points are one label a node, so that :meth:`integer_planes` is there."""

    mixes: bool = False
    """Whether points of it can be mixed graph by graph: :meth:`labelings`, :meth:`planes` and :meth:`mixed` are
    there."""

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
        shards: tuple[Pool, Sequence[int]],
    ) -> None:
        """``shards``: as :func:`spread` gives them."""
        core = problem.core
        self._problem, self._core, self._threads = problem, core, n_threads
        self.roundings = int(max(core.node_offset[-1], core.edge_offset[-1])) // SUMMED_IN + 2 * SUMMED_IN
        pool, ends = shards
        self._pool, self._ends = pool, np.array(ends)
        self._stored: WeakSet[Stored] = WeakSet()
        self._numbers = 0
        here = pool.here
        self.state = _core.PrimalDual(
            core,
            problem.spread(problem.lower),
            problem.spread(problem.upper),
            problem.C,
            settings,
            n_threads,
            [] if here is None else [shard.steps for shard in here],
            (lambda question, order: tree_sum(pool.change("ask", question, order))) if here is None else None,
            None if problem.ties is None else problem.ties.pairs,
        )

    @property
    def repairs(self) -> bool:
        """Whether :meth:`repair` is there."""
        return False

    def breathe(self) -> None:
        """Lets Ctrl-C through that waited for the shards."""
        self._pool.breathe()

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
        found, ties = self.state.weights(), self._problem.ties
        return found if ties is None else found[ties.first]

    def labels(self) -> RelaxedLabels:
        """The relaxed labels reached."""
        return RelaxedLabels(np.concatenate(self._pool.call("labels")))

    def reached(self) -> Point | None:
        """The point reached, as :meth:`plane` and others take it; None where it holds what is no number."""
        point = self.labels()
        return point if point.finite else None

    def fetched(self, point: Point) -> RelaxedLabels:
        """All numbers of a point."""
        assert isinstance(point, RelaxedLabels)
        return point

    def stored(self, point: RelaxedLabels) -> Point:
        """A point from its numbers."""
        return point

    def messages(self) -> Stored | None:
        """The multipliers reached, where the oracle's bounds depend on them."""
        return None

    def fetched_messages(self, messages: Stored) -> NDArray[np.float32]:
        """All numbers of them."""
        raise NotImplementedError

    def stored_messages(self, messages: NDArray[np.float32]) -> Stored:
        """From these numbers."""
        raise NotImplementedError

    def _store(self, name: str, *arguments: Any) -> tuple[Stored, list[Any]]:
        """What the shards put under a new number when they are asked so; and their answers."""
        new, live = self._new()
        return new, self._pool.change(name, new.number, live, *arguments)

    def _store_each(self, name: str, arguments: Sequence[tuple[Any, ...]]) -> Stored:
        """The same, each shard with arguments of its own."""
        new, live = self._new()
        self._pool.change_each(name, [(new.number, live, *own) for own in arguments])
        return new

    def _new(self) -> tuple[Stored, list[int]]:
        """A number for what is to be stored, and those that are in use: shards forget all others."""
        self._numbers += 1
        new = Stored(self._numbers)
        self._stored.add(new)
        return new, sorted(found.number for found in self._stored)

    def _split(self, rows: AnyArray) -> list[AnyArray]:
        """Rows, one a node, of each shard."""
        return np.split(np.ascontiguousarray(rows), self._core.node_offset[self._ends[1:-1]])

    def _evaluate(self, graphs: Int32Array | None, w: FloatArray, *asked: Any) -> OraclePlanes:
        """Planes of some graphs, ascending, by the shards that have them; ``asked``: what comes after the weights."""
        return evaluated(self._problem, self._pool, self._ends, graphs, w, *asked)

    @abstractmethod
    def slack(
        self, w: FloatArray, time_left: float | None = None, messages: Stored | None = None
    ) -> SlackBound:
        """Bound of the mean slack at ``w`` from the multipliers, in one pass over the edges; from those
        given, if any."""

    @abstractmethod
    def total(
        self, w: FloatArray, time_left: float | None = None, messages: Stored | None = None
    ) -> OracleTotal:
        """A closer bound at ``w``, started from the same, and a plane."""

    @abstractmethod
    def plane(self, point: Point, time_left: float | None = None) -> tuple[FloatArray, float]:
        """Mean plane (dim,) and mean loss of a point."""

    @abstractmethod
    def prove_slack(self, w: FloatArray, closely: bool) -> SlackProof:
        """What bounds the mean slack at ``w``, in whole numbers; ``closely``: as well as :meth:`total` does."""

    @abstractmethod
    def whole(self, point: Point) -> tuple[RelaxedLabels, dict[str, AnyArray]]:
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
        self, w: FloatArray, time_left: float | None = None, messages: Stored | None = None
    ) -> OraclePlanes:
        """What :meth:`total` finds, graph by graph, with the labelings."""
        raise NotImplementedError

    def planes(self, point: Point, time_left: float | None = None) -> tuple[FloatArray, FloatArray]:
        """Planes (n, dim) and losses (n,) of a point, graph by graph."""
        raise NotImplementedError

    def mixed(self, one: Point, two: Point, labelings: Int32Array, shares: FloatArray) -> Point:
        """Of each graph ``shares`` (2 + L, n) of two points and labelings (L, N), and of the truth what is left."""
        raise NotImplementedError

    def integer_planes(self, w: FloatArray, graphs: Int32Array, time_left: float | None) -> OraclePlanes:
        """Planes of labelings, and one-hot bounds, of some graphs, from the multipliers."""
        raise NotImplementedError

    @property
    def elsewhere(self) -> bool:
        """Whether the shards are in other processes."""
        return self._pool.here is None

    @property
    def workers(self) -> int:
        """Other processes that have shards."""
        return self._pool.workers

    def plane_oracle(self, oracle: Oracle) -> Oracle:
        """What asks for planes beside the steps, in place of ``oracle``, whose relaxation this is."""
        return oracle

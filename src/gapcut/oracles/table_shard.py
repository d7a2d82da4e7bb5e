"""A part of the graphs with one label a node: steps, bounds from the multipliers, and points with their tables."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from gapcut import _core
from gapcut.oracles.shelf import Shelf
from gapcut.oracles.step_shard import StepShard
from gapcut.typing import AnyArray, FloatArray, Int32Array

SWEEPS: Final = 8
"""Of TRW-S at most, started from the multipliers."""

Messages: TypeAlias = NDArray[np.float32]
"""(2 K, M): those to the tails of all edges, then those to the heads."""

TablePoint: TypeAlias = tuple[NDArray[np.float32], NDArray[np.float32]]
"""Labels (N, K) and tables (K K, M)."""


class TableShard(StepShard):
    """With what certificates of one label a node ask of the graphs.

    Points and messages are as large as the iterates, so they stay here, under numbers that whoever asks gives them.
    What keeps one names all that are ``live`` then; the others are dropped.
    """

    def __init__(self, core: _core.Problem, setup: _core.StepSetup, threads: int) -> None:
        super().__init__(core, setup, threads)
        self._unit = setup.unit
        self._bounds = _core.MessageBounds(core, threads, SWEEPS, 1e-6, 4, 1e-2)
        self._all = np.arange(core.n_graphs, dtype=np.int32)
        self._points, self._messages = Shelf(), Shelf()

    def move_to(self, folder: str) -> None:
        super().move_to(folder)
        self._points.move_to(folder)
        self._messages.move_to(folder)

    def save(self) -> dict[str, Any]:
        """All iterates, and what is kept."""
        return {**super().save(), "points": self._points.all(), "messages": self._messages.all()}

    def load(self, state: dict[str, Any]) -> None:
        """What :meth:`save` gave, or iterates alone."""
        super().load(state)
        self._points.replace(state.get("points"))
        self._messages.replace(state.get("messages"))

    def reach(self, number: int, live: Sequence[int], feasible: bool) -> bool:
        """Keeps the point reached, made feasible if so wished. False, and nothing kept, where it has no numbers, or a
        node no label: scores beyond the range of single precision leave either."""
        point = self.steps.labels(), self.steps.tables()
        if not (all(np.isfinite(part).all() for part in point) and point[0].any(axis=1).all()):
            return False
        self._forget(live)
        self._points[number] = self._feasible(point) if feasible else point
        return True

    def make_feasible(self, number: int, live: Sequence[int], point: int) -> None:
        """Keeps the point of the polytope whose plane another point gives, up to single precision."""
        self._forget(live)
        self._points[number] = self._feasible(self.point(point))

    def mix(
        self, number: int, live: Sequence[int], one: int, two: int, labelings: Int32Array, shares: FloatArray
    ) -> None:
        """Keeps, of each graph, ``shares`` (2 + L, n) of two points and labelings (L, N), and of the truth what is
        left."""
        self._forget(live)
        points = (*self.point(one), *self.point(two))
        self._points[number] = _core.mixed_point(self._core, *points, labelings, shares, self._threads)

    def reach_messages(self, number: int, live: Sequence[int]) -> None:
        """Keeps the multipliers reached."""
        self.put_messages(number, live, self.steps.messages())

    def put_point(self, number: int, live: Sequence[int], point: TablePoint) -> None:
        """Keeps a point."""
        self._forget(live)
        self._points[number] = point

    def put_messages(self, number: int, live: Sequence[int], messages: Messages) -> None:
        """Keeps messages."""
        self._forget(live)
        self._messages[number] = (messages,)

    def point(self, number: int) -> TablePoint:
        """A point that is kept."""
        labels, tables = self._points[number]
        return labels, tables

    def messages(self, number: int) -> Messages:
        """Messages that are kept."""
        return self._messages[number][0]

    def slack(self, w: FloatArray, messages: int | None, time_left: float | None) -> FloatArray:
        """A bound of all slacks: the maxima of all terms after messages moved scores between them."""
        return np.array([self._bounds.sums(w, *self._start(messages), "quick", time_left)[2]])

    def total(self, w: FloatArray, messages: int | None, time_left: float | None) -> FloatArray:
        """Plane, loss and bound after sweeps from there."""
        plane, loss, bound = self._bounds.sums(w, *self._start(messages), "separate", time_left)
        return np.append(plane, [loss, bound])

    def evaluate(
        self, graphs: Int32Array, w: FloatArray, messages: int | None, way: str, time_left: float | None
    ) -> tuple[AnyArray, ...]:
        """Planes, losses, bounds and labelings of some graphs, by sweeps from messages; 0: from nothing."""
        start, unit = (None, 1.0) if messages == 0 else self._start(messages)
        return self._bounds.evaluate(w, graphs, start, unit, way, time_left)

    def plane(self, point: int, time_left: float | None) -> FloatArray:
        """Plane and loss of a point."""
        plane, loss = _core.table_sums(self._core, *self.point(point), self._threads, time_left)
        return np.append(plane, loss)

    def planes(self, point: int, time_left: float | None) -> tuple[FloatArray, FloatArray]:
        """Planes and losses of a point, graph by graph."""
        return _core.table_planes(self._core, *self.point(point), self._all, self._threads, time_left)

    def edge_messages(self, w: FloatArray, sweeps: int) -> NDArray[np.float32]:
        """(2, K, M) messages of all edges to both ends, after sweeps from the multipliers."""
        return _core.edge_messages(self._core, w, self.steps, self._unit, sweeps, self._threads)

    def _start(self, messages: int | None) -> tuple[Messages, float]:
        return self.steps.messages() if messages is None else self._messages[messages][0], self._unit

    def _feasible(self, point: TablePoint) -> TablePoint:
        return _core.feasible_point(self._core, *point, self._threads)

    def _forget(self, live: Sequence[int]) -> None:
        self._points.forget_all_but(live)
        self._messages.forget_all_but(live)

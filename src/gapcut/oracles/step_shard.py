"""A part of the graphs at their side of the primal-dual steps: in this process, or wherever an engine puts it."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from gapcut import _core
from gapcut.typing import AnyArray, FloatArray, Int32Array


def cut_oracle(core: _core.Problem, n_threads: int, persistency: bool) -> _core.CutOracle:
    """The exact oracle of these graphs."""
    cuts = _core.CutOracle(core, n_threads)
    cuts.use_persistency(persistency)
    return cuts


class StepShard:
    """Iterates of some graphs. All it answers depends on the graphs and what it was asked before."""

    def __init__(self, core: _core.Problem, setup: _core.StepSetup, threads: int) -> None:
        self._core, self._threads = core, threads
        self.steps = _core.StepShard(core, setup)

    def ask(self, question: int, order: FloatArray) -> FloatArray:
        """An iteration's part, as the weights' side asks for it."""
        return self.steps.ask(question, order, self._threads)

    def labels(self) -> NDArray[np.float32]:
        """(N, K) relaxed labels reached."""
        return self.steps.labels()

    def move_to(self, folder: str) -> None:
        """Most of the memory to files there; from now on it is asked between :meth:`wake` and :meth:`rest` only."""
        self.steps.move_to(folder)

    def wake(self) -> None:
        """What is on disk can be used."""
        self.steps.wake()

    def rest(self) -> None:
        """It needs no memory."""
        self.steps.rest()

    def save(self) -> dict[str, Any]:
        """All iterates."""
        return dict(self.steps.snapshot())

    def load(self, state: dict[str, Any]) -> None:
        """What :meth:`save` gave. Raises ValueError if it is of another problem."""
        self.steps.restore(state, self._threads)


class CutShard(StepShard):
    """With what certificates of the relaxed binary problem ask of the graphs; sums over them, as flat arrays."""

    def __init__(
        self,
        core: _core.Problem,
        setup: _core.StepSetup,
        lower: FloatArray,
        upper: FloatArray,
        persistency: bool,
        threads: int,
    ) -> None:
        super().__init__(core, setup, threads)
        self._cuts = cut_oracle(core, threads, persistency)
        self._repair = _core.Repair(core, lower, upper, threads)

    def slack(self, w: FloatArray, time_left: float | None) -> FloatArray:
        """A bound of all slacks from the multipliers, and its rounding."""
        return np.array(self.steps.slack_sum(w, self._threads, time_left))

    def total(self, w: FloatArray, time_left: float | None) -> FloatArray:
        """Plane, loss and bound of the exact oracle, started from the multipliers."""
        plane, loss, bound = self._cuts.sums_from(w, self.steps, time_left)
        return np.append(plane, [loss, bound])

    def evaluate(self, graphs: Int32Array, w: FloatArray, time_left: float | None) -> tuple[AnyArray, ...]:
        """Planes, losses, bounds and labelings of some graphs, by the exact oracle from nothing."""
        return self._cuts.evaluate(w, graphs, time_left)

    def plane(self, labels: NDArray[np.float32], time_left: float | None) -> FloatArray:
        """Plane and loss of relaxed labels (N, K)."""
        plane, loss = _core.relaxed_sums(self._core, labels, self._threads, time_left)
        return np.append(plane, loss)

    def repair(
        self,
        labels: NDArray[np.float32],
        seed: int,
        W: FloatArray,
        c: float,
        parts: int,
        sweeps: int,
        least_gain: float,
        time_left: float | None,
    ) -> tuple[NDArray[np.float32], float]:
        """Better labels, and what that cost; ``W`` and ``c`` are those of all graphs, of which this is one of
        ``parts``."""
        better = self._repair.run(self._core, labels, W, c, parts, sweeps, least_gain, seed, time_left)
        return better, self._repair.operations

    def repair_cost(self, labels: NDArray[np.float32]) -> float:
        """What a repair is expected to cost."""
        return self._repair.expected_operations(self._core, labels)

    def shares(self, w: FloatArray, closely: bool) -> tuple[NDArray[np.int32], NDArray[np.uint16]]:
        """Label pairs with weight, and the shares (P, M) of their arcs' tails; ``closely``: those of the cuts."""
        if closely:
            return _core.cut_shares(self._cuts, w, self.steps)
        return _core.multiplier_shares(self._core, w, self.steps)

"""Planes of graphs that are in shards, here or in other processes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any, Protocol, TypeAlias

import numpy as np

from gapcut import _core
from gapcut.engines.shards import Pool
from gapcut.oracles.base import Oracle, OraclePlanes
from gapcut.problem import LearningProblem
from gapcut.typing import AnyArray, FloatArray, Int32Array, IntArray

Evaluated: TypeAlias = tuple[AnyArray, ...]
"""Planes, losses, bounds and labelings of some graphs."""


class Native(Protocol):
    """An oracle of the core."""

    def evaluate(self, weights: FloatArray, graphs: Int32Array, seconds: float | None = None) -> Evaluated:
        """Of the named graphs."""

    def total(self, weights: FloatArray, seconds: float | None = None) -> tuple[FloatArray, float, float]:
        """Means over all graphs."""


MakeNative: TypeAlias = Callable[[_core.Problem, int], Native]
"""``make(core, threads)``; it is pickled."""


class PlaneShard:
    """Some graphs, of which planes are asked. ``warm``: answers depend on the calls before."""

    def __init__(self, core: _core.Problem, make: MakeNative, warm: bool, threads: int) -> None:
        self._native, self._warm = make(core, threads), warm

    def evaluate(self, graphs: Int32Array, w: FloatArray, time_left: float | None) -> Evaluated:
        """Of some graphs."""
        return self._native.evaluate(w, graphs, time_left)

    def save(self) -> dict[str, Any] | None:
        """Nothing, or None where all calls are to be made again."""
        return None if self._warm else {}

    def load(self, state: dict[str, Any]) -> None:
        """What :meth:`save` gave."""


def evaluated(
    problem: LearningProblem,
    pool: Pool,
    ends: IntArray,
    graphs: Int32Array | None,
    w: FloatArray,
    *asked: Any,
    warm: bool = False,
) -> OraclePlanes:
    """Planes of some graphs at ``w``, ascending, by the shards that have them; ``ends``: where these begin and end;
    ``asked``: what ``evaluate`` takes after the weights; ``warm``: it changes them."""
    wanted = np.arange(ends[-1], dtype=np.int32) if graphs is None else graphs
    assert np.all(np.diff(wanted) > 0)
    cuts = np.searchsorted(wanted, ends)
    own = [
        (wanted[a:b] - first).astype(np.int32) for (a, b), first in zip(pairwise(cuts), ends, strict=False)
    ]
    ask = pool.change_each if warm else pool.call_each
    weights = problem.spread(w)
    answers = ask("evaluate", [(part, weights, *asked) if len(part) else None for part in own])
    found = [answer for answer in answers if answer is not None]
    planes, *rest = (np.concatenate(column) for column in zip(*found, strict=True))
    return OraclePlanes(problem.gather(planes), *rest)


class ShardedOracle(Oracle):
    """What another oracle, which says what it is, would answer, from shards that ``ask(w, graphs, time_left)``
    reaches."""

    elsewhere = True

    def __init__(
        self, like: Oracle, ask: Callable[[FloatArray, Int32Array | None, float | None], OraclePlanes]
    ) -> None:
        self._ask = ask
        self.exact, self.proven, self.feasible, self.solves = (
            like.exact,
            like.proven,
            like.feasible,
            like.solves,
        )

    def evaluate(
        self, w: FloatArray, graphs: Sequence[int] | None = None, time_left: float | None = None
    ) -> OraclePlanes:
        chosen = None if graphs is None else np.asarray(graphs, dtype=np.int32)
        return self._ask(w, chosen, time_left)

"""What learners that sweep over the graphs share: order, averages, line search, dates of exact passes."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

import numpy as np

from gapcut import _core
from gapcut.learners.base import Session
from gapcut.problem import LearningProblem
from gapcut.typing import FloatArray

_GROWTH = 1.3

_MOST_STEPS = 60
"""Of a line search; bisection alone would have pinned the step to double precision by then."""


def batches(rng: np.random.Generator, n_graphs: int, size: int) -> Iterator[list[int]]:
    """A random order of all graphs in pieces of ``size``. What is in a piece does not depend on threads."""
    order = rng.permutation(n_graphs)
    for start in range(0, n_graphs, size):
        yield order[start : start + size].tolist()


def sweep_and_certify(session: Session, sweep: Callable[[], bool], certify: Callable[[], None]) -> None:
    """Sweeps until the target is met or a limit comes; exact passes after sweeps 1, 2, 3, 4, 6, 8, 11, ..., each 1.3
    times as late as the last, so that they take a fixed part of the run, and where a sweep returns that it looks
    good enough.
    """
    due, sweeps = 1, 0
    while session.goes_on:
        promising = sweep()
        sweeps += 1
        if (promising or sweeps >= due) and session.goes_on:
            due = math.ceil(_GROWTH * sweeps + 0.5) if sweeps > 1 else 2
            certify()


@dataclass
class Average:
    """A running average of vectors, with weights given one by one: itself a convex combination of all it was given.

    ``updates`` counts the steps; each rounds every coordinate at most three times.
    """

    size: int
    mass: float = 0.0
    updates: int = 0
    value: FloatArray = field(init=False)

    def __post_init__(self) -> None:
        self.value = np.zeros(self.size)

    def add(self, vector: FloatArray, weight: float) -> None:
        """Takes ``vector`` in with ``weight > 0``; the first one replaces the zero at the start."""
        self.mass += weight
        step = weight / self.mass
        self.value *= 1.0 - step
        self.value += step * vector
        self.updates += 1


def line_search(problem: LearningProblem, x: FloatArray, along: FloatArray, gain: float) -> float:
    """The s in [0, 1] that maximises ``s gain - conjugate(x + s along)``.

    Its derivative ``gain - clamp(x + s along)'along`` falls and is piecewise linear: Newton steps, each
    exact on its piece, inside a bracket that keeps them from oscillating between pieces.
    """
    moving = np.flatnonzero(along)
    x, along = x[moving], along[moving]
    low, high = problem.lower[moving], problem.upper[moving]

    def slope(s: float) -> tuple[float, float]:
        """First and second derivative at ``s``."""
        at = x + s * along
        inside = (at > low) & (at < high)
        free = along[inside]
        first = gain - _core.dot(np.clip(at, low, high), along)
        return first, -_core.dot(free, free)

    first, second = slope(0.0)
    if not first > 0.0:
        return 0.0
    flat = 1e-12 * first
    left, right, s = 0.0, 1.0, 0.0
    for _ in range(_MOST_STEPS):
        following = s - first / second if second < 0.0 else right
        if not left < following < right:
            following = right if s == 0.0 else 0.5 * (left + right)
        s = following
        first, second = slope(s)
        if abs(first) <= flat or (first > 0.0 and s == 1.0):
            break
        left, right = (s, right) if first > 0.0 else (left, s)
    return s

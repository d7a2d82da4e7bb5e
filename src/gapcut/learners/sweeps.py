"""What learners that sweep over the graphs share: order, averages, dates of exact passes."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

import numpy as np

from gapcut.learners.base import Session
from gapcut.typing import FloatArray

_GROWTH = 1.3


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

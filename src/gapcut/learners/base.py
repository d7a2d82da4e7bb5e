"""What all learners share: when to stop, what they tell on the way, what they return."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Literal, Protocol

from gapcut.oracles.base import Oracle
from gapcut.problem import LearningProblem
from gapcut.typing import FloatArray

Status = Literal["certified", "stopped", "uncertified"]


@dataclass(frozen=True)
class Limits:
    """When a learner stops. ``gap``: target of (upper - lower) / upper; ``eps``: absolute stop eta - xi <= eps of the
    cutting plane, in place of ``gap``; ``max_passes`` over the data; ``time_limit`` in seconds of wall clock."""

    gap: float = 1e-2
    eps: float | None = None
    max_passes: int | None = None
    time_limit: float | None = None


@dataclass(frozen=True)
class Record:
    """State after one pass. ``lower`` and ``upper`` are the best proven bounds so far (``upper`` inf before the first
    exact pass), ``nonzero`` counts the pairwise weights that are not zero."""

    passes: int
    seconds: float
    oracle_calls: int
    lower: float
    upper: float
    nonzero: int
    planes: int

    @property
    def relative_gap(self) -> float:
        """(upper - lower) / upper, 0 if upper is 0."""
        if self.upper == float("inf"):
            return float("inf")
        return (self.upper - self.lower) / self.upper if self.upper > 0 else 0.0


Callback = Callable[[Record], bool | None]
"""Called once a pass; returning True ends the run with the best model so far."""


@dataclass(frozen=True)
class LearnResult:
    """The weights with the best proven upper bound and all that was proven about them.

    ``weights`` (dim,) compact; ``lower`` <= optimum <= objective(weights) <= ``upper``; ``rounding`` is the part of
    ``upper - lower`` that pays for floating point and for the integer scaling of the cuts. ``iteration_bound``,
    ``eta`` and ``xi`` are Theorem B.4's and Algorithm 1's, where the learner is Algorithm 1. ``impossible``: passes in
    which an inexact oracle's most violated plane was less violated than one known before; the message says so too.
    """

    weights: FloatArray
    lower: float
    upper: float
    rounding: float
    status: Status
    passes: int
    oracle_calls: int
    history: tuple[Record, ...]
    iteration_bound: int | None = None
    eta: float | None = None
    xi: float | None = None
    message: str = ""
    impossible: int = 0


class Learner(Protocol):
    """A value with settings that can minimise a learning problem."""

    def run(
        self,
        problem: LearningProblem,
        oracle: Oracle,
        limits: Limits,
        callback: Callback | None = None,
    ) -> LearnResult:
        """Run until ``limits`` say stop, the callback returns True, or Ctrl-C; always returns the best model."""
        ...


@dataclass
class Clock:
    """Wall clock of one run, asked how much time is left."""

    limit: float | None
    start: float = field(default_factory=time.monotonic)

    @property
    def seconds(self) -> float:
        return time.monotonic() - self.start

    @property
    def left(self) -> float | None:
        """Seconds left, None without a limit, never negative."""
        return None if self.limit is None else max(0.0, self.limit - self.seconds)

    @property
    def over(self) -> bool:
        return self.limit is not None and self.seconds >= self.limit

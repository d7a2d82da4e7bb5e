"""What the comparison asks of a rival."""

from __future__ import annotations

import importlib.util
from dataclasses import dataclass
from typing import Protocol

from workloads import Workload

from gapcut.learners import Limits
from gapcut.typing import FloatArray


@dataclass(frozen=True)
class Claim:
    """What a rival hands over; nothing in it is trusted.

    ``weights`` (dim,) in the box; ``planes`` (t, dim), ``losses`` (t,), ``alpha`` (t,): planes of the
    1-slack problem and the dual solution it found over them, from which the judge makes a lower bound.
    ``gap``: the relative gap the rival itself believes in.
    """

    weights: FloatArray
    planes: FloatArray
    losses: FloatArray
    alpha: FloatArray
    passes: int
    oracle_calls: int
    gap: float


class Rival(Protocol):
    """A trainer of the same objective that is not part of the package."""

    def missing(self) -> str | None:
        """What has to be installed before it can run; None if nothing."""
        ...

    def prepare(self, workload: Workload) -> None:
        """Its own form of the data, before the clock starts."""
        ...

    def run(self, workload: Workload, C: float, limits: Limits) -> Claim:
        """Train until its own gap meets ``limits.gap`` or the time is over."""
        ...


def not_installed(*modules: str) -> str | None:
    """A note naming the modules that are missing, or None."""
    absent = [m for m in modules if importlib.util.find_spec(m) is None]
    return f"not installed: {', '.join(absent)}" if absent else None

"""What is proven about a learned model: two ends, on the way and in the end."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from gapcut.certificates.shown import gap_percent, outwards
from gapcut.oracles.base import ProblemName

Status = Literal["certified", "stopped", "uncertified"]


class Bracket:
    """``lower <= optimum <= upper``, both proven, and how far apart they are."""

    lower: float
    upper: float

    @property
    def gap(self) -> float:
        """upper - lower"""
        return self.upper - self.lower

    @property
    def relative_gap(self) -> float:
        """gap / upper; 0 if upper is 0, inf if upper is."""
        if not math.isfinite(self.upper):
            return math.inf
        return self.gap / self.upper if self.upper > 0.0 else 0.0

    def shown(self, digits: int) -> tuple[str, str]:
        """Both ends with so many digits, rounded outwards: what is read is proven too."""
        return outwards(self.lower, self.upper, digits)

    def shown_gap(self) -> str:
        """The relative gap in percent, rounded up."""
        return gap_percent(self.relative_gap)


@dataclass(frozen=True)
class Record(Bracket):
    """State after one pass. ``lower`` and ``upper`` are the best proven bounds so far, ``nonzero`` counts the pairwise
    and clique weights that are not zero, ``planes`` what the learner keeps."""

    passes: int
    seconds: float
    oracle_calls: int
    lower: float
    upper: float
    nonzero: int
    planes: int


@dataclass(frozen=True)
class SharedRecord(Record):
    """What callbacks are told where other processes share the work: how many, and first-order ``iterations`` so far."""

    actors: int
    iterations: int


Callback = Callable[[Record], bool | None]
"""Called once per pass; returning True ends the run with the best model so far."""


@dataclass(frozen=True)
class OneHotClaim(Bracket):
    """What a run on the LP-relaxed problem proves of the one-hot problem:
    ``lower <= one-hot optimum <= one-hot objective of the model <= upper``.

    The upper end is the relaxed problem's; the lower end comes from labelings (or equals the relaxed one on graphs
    without cycles). ``tight_graphs`` of ``graphs``: those on which, at the model's weights, a labeling reaches the
    bound of the relaxation.
    """

    lower: float
    upper: float
    status: Status
    tight_graphs: int
    graphs: int


@dataclass(frozen=True)
class Certificate(Bracket):
    """``lower <= optimum <= objective of the model <= upper`` for the named learning problem.

    ``rounding``: the part of the gap that pays for floating point and for the integer scaling of the cuts.
    ``oracle_calls`` counts graphs, ``passes`` the sweeps over all of them. ``status``: ``certified`` (the
    target was reached), ``stopped`` (a limit came first; the bounds hold) or ``uncertified`` (the oracle
    proves no bound). ``iteration_bound``: Theorem B.4, for the cutting plane only. ``one_hot``: what is proven of the
    one-hot problem beside, where ``problem`` is its relaxation and the learner says so.
    """

    problem: ProblemName
    lower: float
    upper: float
    rounding: float
    oracle_calls: int
    passes: int
    status: Status
    iteration_bound: int | None = None
    one_hot: OneHotClaim | None = None

"""What is proven about a learned model."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from gapcut.oracles.base import ProblemName

if TYPE_CHECKING:
    from gapcut.learners.base import LearnResult, Status


@dataclass(frozen=True)
class Certificate:
    """``lower <= optimum <= objective of the model <= upper`` for the named learning problem.

    ``rounding``: the part of the gap that pays for floating point and for the integer scaling of the cuts.
    ``oracle_calls`` counts graphs, ``passes`` the sweeps over all of them. ``status``: ``certified`` (the
    target was reached), ``stopped`` (a limit came first; the bounds hold) or ``uncertified`` (the oracle
    proves no bound). ``iteration_bound``: Theorem B.4, for the cutting plane only.
    """

    problem: ProblemName
    lower: float
    upper: float
    rounding: float
    oracle_calls: int
    passes: int
    status: Status
    iteration_bound: int | None = None

    @classmethod
    def of(cls, result: LearnResult, problem: ProblemName = "relaxed binary") -> Certificate:
        """The certificate of a learner's result."""
        return cls(
            problem,
            result.lower,
            result.upper,
            result.rounding,
            result.oracle_calls,
            result.passes,
            result.status,
            result.iteration_bound,
        )

    @property
    def gap(self) -> float:
        """upper - lower"""
        return self.upper - self.lower

    @property
    def relative_gap(self) -> float:
        """gap / upper, 0 if upper is 0, inf if upper is."""
        if self.upper == float("inf"):
            return float("inf")
        return self.gap / self.upper if self.upper > 0.0 else 0.0

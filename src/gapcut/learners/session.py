"""The part of a run that all learners share: clock, bounds, history, and why it ended."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from gapcut.certificates import Bounds
from gapcut.engines import OutOfTime
from gapcut.learners.base import Callback, Clock, LearnResult, Limits, Record, Status
from gapcut.oracles.base import Oracle
from gapcut.problem import LearningProblem


@dataclass
class Session:
    """One run of one learner. ``passes`` and ``calls`` are counted by the learner."""

    problem: LearningProblem
    oracle: Oracle
    limits: Limits
    callback: Callback | None = None
    passes: int = 0
    calls: int = 0
    history: list[Record] = field(default_factory=list)
    before: float = 0.0
    """Seconds of the run before it was resumed."""
    ended: str = ""
    """Why the run ended before its target: advice for the user; empty while it goes on or when the target
    is met.
    """

    def __post_init__(self) -> None:
        self.clock = Clock(self.limits.time_limit)
        self.bounds = Bounds(self.problem)

    @property
    def seconds(self) -> float:
        """Wall clock of the whole run."""
        return self.before + self.clock.seconds

    @property
    def target_met(self) -> bool:
        return self.bounds.relative_gap <= self.limits.gap

    def within_limits(self) -> bool:
        """Whether another pass may start; notes the reason if not."""
        if self.ended:
            return False
        if self.limits.max_passes is not None and self.passes >= self.limits.max_passes:
            self.ended = f"stopped after max_passes={self.limits.max_passes}: raise it, or accept the gap"
        elif self.clock.over:
            self.ended = _OUT_OF_TIME
        return not self.ended

    def record(self, planes: int) -> None:
        """Note the state after a pass and tell the callback."""
        bounds = self.bounds
        entry = Record(
            self.passes, self.seconds, self.calls, bounds.lower, bounds.upper, bounds.nonzero, planes
        )
        self.history.append(entry)
        if self.callback is not None and self.callback(entry):
            self.ended = "stopped by the callback: the best model so far is kept"

    @contextmanager
    def guard(self) -> Iterator[None]:
        """Work that may be cut off by the time limit or by Ctrl-C; what was proven before stays."""
        try:
            yield
        except OutOfTime:
            self.ended = _OUT_OF_TIME
        except KeyboardInterrupt:
            self.ended = "stopped by the user: the best model so far is kept"

    def result(
        self,
        certified: bool | None = None,
        *,
        iteration_bound: int | None = None,
        eta: float | None = None,
        xi: float | None = None,
    ) -> LearnResult:
        """``certified``: whether the target was met; by default whether the relative gap is."""
        bounds = self.bounds
        certified = self.target_met if certified is None else certified
        status: Status = "certified" if certified else "stopped"
        message = f"proven within {bounds.relative_gap:.2%} of the optimum" if certified else self.ended
        if not bounds.bounded:
            status = "uncertified"
            message = (
                "the oracle proves no bound: use oracle='cut', or another one with bounds, for a certificate"
            )
        elif not certified:
            message = f"{message} (relative gap {bounds.relative_gap:.2%})"
        return LearnResult(
            weights=bounds.weights,
            lower=bounds.lower,
            upper=bounds.upper,
            rounding=bounds.rounding,
            status=status,
            passes=self.passes,
            oracle_calls=self.calls,
            history=tuple(self.history),
            iteration_bound=iteration_bound,
            eta=eta,
            xi=xi,
            message=message,
        )


_OUT_OF_TIME = "stopped at the time limit: raise time_limit, or accept the gap"

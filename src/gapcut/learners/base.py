"""What all learners share: when they stop, the clock, bounds and history of a run, what they can do and return."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from copy import copy
from dataclasses import dataclass, field
from enum import Enum
from typing import Any, ClassVar

from gapcut import _core
from gapcut.certificates import (
    Bounds,
    Callback,
    Certificate,
    DualPoint,
    Record,
    SharedRecord,
    Status,
    gap_percent,
)
from gapcut.engines import Deadline, OutOfTime
from gapcut.engines.shards import ClusterLost
from gapcut.oracles.base import Oracle, OracleTotal
from gapcut.problem import LearningProblem
from gapcut.typing import FloatArray

_SLIP = 1e-9  # relative; below it a lower bound above the shown objective may be rounding
STOPPED_BY_USER = "stopped by the user: the best model so far is kept"
NO_MEMORY = "not enough memory"
_OUT_OF_TIME = "stopped at the time limit: raise time_limit, or accept the gap"


class CutOff(Enum):
    """What ends a run that no limit ends; what needs whole runs must not go on with its result."""

    BY_USER = "Ctrl-C"
    BY_MEMORY = "want of memory"


@dataclass(frozen=True)
class Limits:
    """When a learner stops. ``gap``: target of (upper - lower) / upper; ``eps``: absolute stop eta - xi <= eps of the
    cutting plane, in place of ``gap``; ``max_passes`` over the data; ``time_limit`` in seconds of wall clock."""

    gap: float = 1e-2
    eps: float | None = None
    max_passes: int | None = None
    time_limit: float | None = None

    def __post_init__(self) -> None:
        if self.eps is not None and not self.eps > 0.0:
            raise ValueError(
                f"eps={self.eps!r} must be positive: it is the stop eta - xi <= eps of Algorithm 1"
            )


@dataclass(frozen=True, eq=False)
class WarmStart:
    """The iterates at the end of a run, for another run on the same data (``fingerprint``) at any C."""

    fingerprint: str
    arrays: Mapping[str, Any]


@dataclass(frozen=True)
class LearnResult:
    """The weights with the best proven upper bound and all that was proven about them.

    ``weights`` (dim,) compact. ``eta`` and ``xi`` are Algorithm 1's, where the learner is Algorithm 1; stopped by its
    ``eps`` it returns the weights that they belong to. ``impossible``:
    passes in which an inexact oracle's most violated plane was less violated than one known before; the message says so
    too. ``warm_start``: copies the iterates that another run can go on from, for learners that have such;
    ``dual_point``: what a proof can be made of. ``cut_off``: what ended the run before its target, where that was none
    of its limits.
    """

    weights: FloatArray
    certificate: Certificate
    history: tuple[Record, ...]
    eta: float | None = None
    xi: float | None = None
    message: str = ""
    impossible: int = 0
    warm_start: Callable[[], WarmStart] | None = None
    dual_point: DualPoint | None = None
    cut_off: CutOff | None = None


@dataclass(frozen=True)
class Progress:
    """Where a run stands after a pass: counts, history, and both ends with the weights of the upper one."""

    passes: int
    calls: int
    records: int
    bounds: Bounds


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
    seconds_before: float = 0.0
    """Of the run before it was resumed."""
    ended: str = ""
    """Why the run ended before its target: advice for the user; empty while it goes on or when the target is met."""
    cut_off: CutOff | None = None
    """Of :meth:`guard`."""
    broken: bool = False
    """Whether iterates may be half changed, so that nothing may go on from them. Bounds hold all the same."""
    shared: Callable[[], tuple[int, int] | None] | None = None
    """Processes that share the work, if any, and iterations so far, for callbacks."""
    impossible: list[int] = field(default_factory=list)
    """Passes in which an inexact oracle's labelings were less violated than labelings known to exist."""

    def __post_init__(self) -> None:
        self.clock = Deadline(self.limits.time_limit)
        self.bounds = Bounds(self.problem, self.oracle.proven)

    @property
    def seconds(self) -> float:
        """Wall clock of the whole run."""
        return self.seconds_before + self.clock.seconds

    @property
    def target_met(self) -> bool:
        return self.bounds.relative_gap <= self.limits.gap

    @property
    def goes_on(self) -> bool:
        """Whether another pass is needed and may start."""
        return not self.target_met and self.within_limits()

    def within_limits(self) -> bool:
        """Whether another pass may start; notes the reason if not."""
        if self.ended:
            return False
        if self.limits.max_passes is not None and self.passes >= self.limits.max_passes:
            self.ended = f"stopped after max_passes={self.limits.max_passes}: raise it, or accept the gap"
        elif self.clock.left == 0.0:
            self.ended = _OUT_OF_TIME
        return not self.ended

    def full_pass(self, w: FloatArray) -> OracleTotal:
        """All graphs at ``w``, counted, and the upper bound it proves."""
        total = self.oracle.total(w, self.clock.left)
        self.passes += 1
        self.calls += self.problem.n_graphs
        self.offer_primal(w, total)
        return total

    def offer_primal(self, w: FloatArray, total: OracleTotal) -> None:
        """The upper bound of a pass at ``w``, and what its planes say about an inexact oracle."""
        self.bounds.offer_primal(w, total.slack(w, self.oracle.exact))
        if self.oracle.exact:
            return
        shown = 0.5 * _core.dot(w, w) + self.problem.C * total.violation(w)
        if shown < self.bounds.lower * (1.0 - _SLIP):
            self.note_impossible()
        if (
            not self.bounds.bounded
            and not self.ended
            and shown - self.bounds.lower <= self.limits.gap * shown
        ):
            self.ended = "the gap that the oracle's own labelings show met its target, which proves nothing"

    def note_impossible(self) -> None:
        """The oracle missed a more violated plane in this pass."""
        if not self.impossible or self.impossible[-1] != self.passes:
            self.impossible.append(self.passes)

    def record(self, planes: int) -> None:
        """Note the state after a pass and tell the callback."""
        bounds = self.bounds
        entry = Record(
            self.passes, self.seconds, self.calls, bounds.lower, bounds.upper, bounds.nonzero, planes
        )
        self.history.append(entry)
        shared = None if self.shared is None else self.shared()
        told = (
            entry if shared is None else SharedRecord(**vars(entry), actors=shared[0], iterations=shared[1])
        )
        if self.callback is not None and self.callback(told):
            self.ended = "stopped by the callback: the best model so far is kept"

    def progress(self) -> Progress:
        """A copy of where it stands."""
        return Progress(self.passes, self.calls, len(self.history), copy(self.bounds))

    @contextmanager
    def guard(self) -> Iterator[None]:
        """Work that may be cut off by the time limit, by Ctrl-C, by the loss of the cluster or by want of memory; what
        was proven before stays."""
        try:
            yield
        except OutOfTime:
            self.ended = _OUT_OF_TIME
        except KeyboardInterrupt:
            self.ended, self.cut_off = STOPPED_BY_USER, CutOff.BY_USER
        except ClusterLost as error:
            self.ended = f"stopped: {error}: the best model so far is kept"
        except MemoryError as error:
            if not self.history:
                raise
            self.broken, self.cut_off = True, CutOff.BY_MEMORY
            self.ended = f"stopped: {NO_MEMORY} ({error or 'std::bad_alloc'}): the best model so far is kept"

    def result(self, certified: bool | None = None, iteration_bound: int | None = None) -> LearnResult:
        """``certified``: whether the target was met; by default whether the relative gap is."""
        bounds = self.bounds
        certified = self.target_met if certified is None else certified
        shown = gap_percent(bounds.relative_gap, "%")
        status: Status = "certified" if certified else "stopped"
        message = f"proven within {shown} of the optimum" if certified else self.ended
        if not bounds.bounded:
            status = "uncertified"
            advice = (
                "the oracle proves no bound: use oracle='cut', or another one with bounds, for a certificate"
            )
            message = f"{advice} ({self.ended})" if self.ended else advice
        elif not certified:
            message = f"{message} (relative gap {shown})"
        if self.impossible:
            message += (
                f"; impossible violation in {len(self.impossible)} of {self.passes} passes, first in pass "
                f"{self.impossible[0]}: the oracle's labelings were less violated than known ones"
            )
        proof = Certificate(
            problem=self.oracle.solves,
            lower=bounds.lower if self.oracle.feasible else Bounds(self.problem).lower,
            upper=bounds.upper,
            rounding=bounds.rounding,
            oracle_calls=self.calls,
            passes=self.passes,
            status=status,
            iteration_bound=iteration_bound,
        )
        return LearnResult(
            bounds.weights,
            proof,
            tuple(self.history),
            message=message,
            impossible=len(self.impossible),
            cut_off=None if certified else self.cut_off,
        )


class Learner(ABC):
    """A value with settings that can minimise a learning problem."""

    needs_relaxation: ClassVar[bool] = False
    """Whether it works on the oracle's relaxation, not only on planes."""

    takes_cliques: ClassVar[bool] = True
    """Whether graphs may have terms over three nodes and more."""

    takes_eps: ClassVar[bool] = False
    """Whether ``Limits.eps`` can be its target."""

    takes_checkpoint: ClassVar[bool] = False
    """Whether a run can be kept on disk and resumed."""

    @abstractmethod
    def learn(self, session: Session, start: WarmStart | None = None) -> LearnResult:
        """:meth:`run` within a session."""

    def run(
        self,
        problem: LearningProblem,
        oracle: Oracle,
        limits: Limits,
        callback: Callback | None = None,
        start: WarmStart | None = None,
    ) -> LearnResult:
        """Run until ``limits`` say stop, the callback returns True, or Ctrl-C; always returns the best model.

        ``start``: where an earlier run ended; bounds are proven anew. Learners without iterates to carry ignore it.
        """
        return self.learn(Session(problem, oracle, limits, callback), start)

    def path(
        self,
        problem: LearningProblem,
        make_oracle: Callable[[LearningProblem], Oracle],
        C_values: Sequence[float],
        limits: Limits,
        callback: Callback | None = None,
    ) -> Iterator[LearnResult]:
        """One result per value of C, each certified on its own; iterates are carried along where there are such."""
        for C in C_values:
            at_C = problem.with_C(C)
            yield self.run(at_C, make_oracle(at_C), limits, callback)

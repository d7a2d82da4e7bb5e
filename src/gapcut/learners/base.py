"""What all learners share: what they can do, when they stop, what they return."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from gapcut.certificates import Callback, Certificate, Record
from gapcut.oracles.base import Oracle
from gapcut.problem import LearningProblem
from gapcut.typing import FloatArray


@dataclass(frozen=True)
class Limits:
    """When a learner stops. ``gap``: target of (upper - lower) / upper; ``eps``: absolute stop eta - xi <= eps of the
    cutting plane, in place of ``gap``; ``max_passes`` over the data; ``time_limit`` in seconds of wall clock."""

    gap: float = 1e-2
    eps: float | None = None
    max_passes: int | None = None
    time_limit: float | None = None


@dataclass(frozen=True, eq=False)
class WarmStart:
    """The iterates at the end of a run, for another run on the same data (``fingerprint``) at any C."""

    fingerprint: str
    arrays: Mapping[str, Any]


@dataclass(frozen=True)
class LearnResult:
    """The weights with the best proven upper bound and all that was proven about them.

    ``weights`` (dim,) compact. ``eta`` and ``xi`` are Algorithm 1's, where the learner is Algorithm 1. ``impossible``:
    passes in which an inexact oracle's most violated plane was less violated than one known before; the message says so
    too. ``warm_start``: copies the iterates that another run can go on from, for learners that have such.
    """

    weights: FloatArray
    certificate: Certificate
    history: tuple[Record, ...]
    eta: float | None = None
    xi: float | None = None
    message: str = ""
    impossible: int = 0
    warm_start: Callable[[], WarmStart] | None = None


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

    def path(
        self,
        problem: LearningProblem,
        make_oracle: Callable[[LearningProblem], Oracle],
        C_values: Sequence[float],
        limits: Limits,
        callback: Callback | None = None,
    ) -> Iterator[LearnResult]:
        """One result a value of C, each certified on its own; iterates are carried along where there are such."""
        for C in C_values:
            at_C = problem.with_C(C)
            yield self.run(at_C, make_oracle(at_C), limits, callback)

"""What is proven about a learned model: two ends, on the way and in the end."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Literal

import numpy as np

from gapcut.certificates.bounds import dual_bound, no_plane_bound, primal_bound, trivial_bound
from gapcut.oracles.base import ProblemName, SlackBound
from gapcut.problem import LearningProblem
from gapcut.typing import FloatArray

Status = Literal["certified", "stopped", "uncertified"]
STATUSES: tuple[Status, ...] = ("certified", "stopped", "uncertified")


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


@dataclass
class Bounds(Bracket):
    """The best proven bounds so far and the weights behind the upper one.

    Finite from the start, but for an oracle that proves nothing (``proven=False``): what holds of untrained weights
    is no claim about a model of its.
    """

    problem: LearningProblem
    proven: bool = True
    weights: FloatArray = field(init=False)
    upper: float = field(init=False)
    lower: float = field(init=False)
    upper_rounding: float = field(init=False, default=0.0)
    lower_rounding: float = field(init=False, default=0.0)

    def __post_init__(self) -> None:
        self.weights = self.problem.clamp(np.zeros(self.problem.dim))
        self.upper = trivial_bound(self.problem) if self.proven else math.inf
        self.lower = no_plane_bound(self.problem)

    def offer_primal(self, w: FloatArray, slack: SlackBound) -> float:
        """Upper bound at ``w`` from a bound of the slack there; kept, with its weights, if it is the best.

        An oracle that proves nothing (an infinite bound) makes the latest weights the model and ``upper``
        infinite: the finite bound known before belongs to other, untrained weights.
        """
        value, rounding = primal_bound(self.problem, w, slack)
        if math.isinf(slack.bound) or value < self.upper:
            self.weights, self.upper, self.upper_rounding = np.array(w), value, rounding
        return value

    def settle(self, w: FloatArray, slack: SlackBound) -> None:
        """These weights as the model, with the upper bound that ``slack`` proves of them, be it the best or not."""
        self.upper, self.upper_rounding = primal_bound(self.problem, w, slack)
        self.weights = np.array(w)

    def offer_dual(self, x: FloatArray, loss: float, terms: int) -> float:
        """Lower bound from planes; kept if it is the best."""
        value, rounding = dual_bound(self.problem, x, loss, terms)
        if value > self.lower:
            self.lower, self.lower_rounding = value, rounding
        return value

    def join(self, other: Bounds) -> None:
        """The better of both at either end; they are of one problem."""
        if other.upper < self.upper:
            self.weights, self.upper, self.upper_rounding = other.weights, other.upper, other.upper_rounding
        if other.lower > self.lower:
            self.lower, self.lower_rounding = other.lower, other.lower_rounding

    def recall(self, upper: float, upper_rounding: float, lower: float, lower_rounding: float) -> None:
        """The ends of an earlier run in place of those proven here, where these imply them; else they prove nothing."""
        if self.upper <= upper and upper_rounding >= 0.0:
            self.upper, self.upper_rounding = upper, upper_rounding
        if self.lower >= lower and lower_rounding >= 0.0:
            self.lower, self.lower_rounding = lower, lower_rounding

    @property
    def bounded(self) -> bool:
        """Whether the upper bound of the model is a number."""
        return math.isfinite(self.upper)

    @property
    def rounding(self) -> float:
        """The part of the gap that pays for floating point and for the integer scaling of the cuts."""
        return self.upper_rounding + self.lower_rounding

    @property
    def nonzero(self) -> int:
        """How many pairwise and clique weights of the best model are not zero."""
        return int(np.count_nonzero(self.weights[self.problem.unary_count :]))

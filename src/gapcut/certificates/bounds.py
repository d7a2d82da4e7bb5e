"""Both ends of a certificate, rounding included, and the best of them on the way."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np

from gapcut import _core
from gapcut.certificates.certificate import Bracket
from gapcut.certificates.rounding import SMALLEST, gamma, up
from gapcut.oracles.base import SlackBound
from gapcut.problem import LearningProblem
from gapcut.typing import FloatArray


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


def primal_bound(problem: LearningProblem, w: FloatArray, slack: SlackBound) -> tuple[float, float]:
    r"""Proven upper bound of the objective at ``w``, and the part of it that is rounding.

    ``slack`` must belong to this very ``w``; it is proven, so ``objective(w) <= 1/2 |w|^2 + C slack.bound``.
    Summing d squares in any order errs by at most ``gamma_d`` of the sum, the three operations after it by
    ``gamma_3`` more; d products may underflow. The rest of the rounding is the slack's own.
    """
    with np.errstate(over="ignore"):
        square, most = 0.5 * _core.dot(w, w), problem.C * slack.bound
        if not w.any() and most == 0.0:
            return 0.0, 0.0
        value = square + most
        relative = gamma(2 * len(w) + 8)
        bound = up(value + relative * value + len(w) * SMALLEST)
        if not math.isfinite(bound):
            return math.inf, 0.0
        rounding = max(0.0, bound - (square + problem.C * slack.attained))
    return bound, rounding + problem.C * slack.rounding


def dual_bound(problem: LearningProblem, x: FloatArray, loss: float, terms: int) -> tuple[float, float]:
    r"""Proven lower bound of the optimum from planes, and the part of it that is rounding.

    ``x`` (dim,) and ``loss`` are ``sum_t a_t h_t`` and ``sum_t a_t d_t`` as computed from ``terms`` planes with weights
    ``a_t >= 0`` that already contain C (``sum a_t <= C`` up to rounding; for one simplex a graph, ``C/n`` each).

    Let ``x*``, ``d*`` be the same sums over the true planes in exact arithmetic, and ``P`` the optimum with slack
    ``xi``.

    1. *Mass.* If ``sum a_t <= C (1 + v)`` then ``sum a_t (d_t - h_t'w) <= C (1 + v) xi`` at the optimal
       ``w``, so ``D* = d* - conjugate(x*) <= 1/2 |w|^2 + C xi + v C xi <= (1 + v) P``, and
       ``P >= D* / (1 + v)``. The sum of ``terms`` weights that were meant to add up to C has
       ``v <= gamma_(terms+2)``.
    2. *Planes.* A coordinate of ``h_t`` is a mean over graphs of sums of features; the absolute terms of
       such a sum are at most ``2 A_j`` (``A = absolute_mean``; the true labeling's and the plane's), and
       ``ops`` roundings make it: one per node and label, edge or clique of the largest graph and each labeling, one
       a graph, one a coordinate that shares the weight, and a few; sums that run over more of the data
       (``Relaxation.roundings``) come with ``terms``.
       With the sum over planes, ``|x_j - x*_j| <= e_j = 2 C (1 + v) A_j
       gamma_(ops+terms+4)``; likewise ``d* >= loss (1 - gamma_(ops+terms+4))``, since no term of a loss is
       negative.
    3. *Conjugate.* It is convex and 1-smooth with gradient ``clamp(x)``, coordinate by coordinate, so
       ``conjugate(x*) <= conjugate(x) + |clamp(x)|'e + 1/2 |e|^2``.
    4. *Evaluation* of ``conjugate(x) = sum w_j x_j - 1/2 w_j^2`` errs by at most ``gamma_(d+4)`` of
       ``sum |w_j x_j| + 1/2 w_j^2``.

    Frozen weights need no case: there ``clamp`` is constant and all four steps hold. Never below the value of no plane,
    ``1/2 |clamp(0)|^2``, which is the smallest the objective can be.
    """
    floor = no_plane_bound(problem)
    with np.errstate(over="ignore", invalid="ignore"):
        w = problem.clamp(x)
        size = len(w)
        roundings = gamma(_operations(problem) + terms + 4)
        excess = gamma(terms + 2)
        error = 2.0 * problem.C * (1.0 + excess) * problem.absolute_mean * roundings * (1.0 + 1e-9)
        error += (terms + 1) * max(1.0, problem.C) * SMALLEST
        product, square = _core.dot(np.abs(w), np.abs(x)), 0.5 * _core.dot(w, w)
        value = loss - problem.conjugate(x)
        rounding = (
            roundings * abs(loss)
            + _core.dot(np.abs(w), error)
            + 0.5 * _core.dot(error, error)
            + gamma(2 * size + 8) * (product + square)
            + gamma(8) * (abs(loss) + product + square)
            + size * SMALLEST
        )
        rounding = (rounding + (excess + gamma(4)) * abs(value)) * (1.0 + gamma(2 * size + 32))
        bound = value - rounding
    if not math.isfinite(bound) or bound <= floor:
        return floor, 0.0
    return float(bound), float(rounding)


def trivial_bound(problem: LearningProblem) -> float:
    """Proven upper bound of the objective at ``clamp(0)`` without any oracle.

    There the slack is at most ``Delta`` plus ``|w|'|h|`` with ``|h_j| <= 2 A_j``. The loss weights of a graph
    are rounded to sum to ``rho / 2``, which ``gamma`` over its nodes pays for.
    """
    with np.errstate(over="ignore", invalid="ignore"):
        w = problem.clamp(np.zeros(problem.dim))
        slack = problem.max_loss + 2.0 * _core.dot(np.abs(w), problem.absolute_mean)
        value = 0.5 * _core.dot(w, w) + problem.C * slack
        bound = up(value * (1.0 + gamma(_operations(problem) + 2 * problem.dim + 16)))
    return bound if math.isfinite(bound) else math.inf


def no_plane_bound(problem: LearningProblem) -> float:
    """``1/2 |clamp(0)|^2`` rounded down: the slack is never negative."""
    with np.errstate(over="ignore"):
        w = problem.clamp(np.zeros(problem.dim))
        bound = 0.5 * _core.dot(w, w) * (1.0 - gamma(2 * problem.dim + 8))
    return bound if math.isfinite(bound) else 0.0


def _operations(problem: LearningProblem) -> int:
    """Roundings that can lie behind one coordinate of a mean plane, or behind a mean loss."""
    core = problem.core
    nodes, edges = np.diff(core.node_offset).max(initial=0), np.diff(core.edge_offset).max(initial=0)
    cliques = max((int(np.diff(g.offset).max(initial=0)) for g in core.cliques), default=0)
    tied = 0 if problem.ties is None else problem.ties.most
    return int(max(max(2, core.n_labels) * nodes, 2 * edges, 2 * cliques) + core.n_graphs + tied + 8)

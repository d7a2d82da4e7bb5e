"""Does a certificate hold? Both ends are computed again from the training data, trusting nothing in the model."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from gapcut import _core
from gapcut.certificates import Callback, Certificate, Record, at_least, at_most, primal_bound
from gapcut.data import Graph
from gapcut.engines import Deadline
from gapcut.learners import Limits
from gapcut.model.fitted import DataSummary, FittedModel
from gapcut.model.settings import Settings
from gapcut.model.training import (
    TrainingSet,
    build_problem,
    labelled_part,
    make_learner,
    make_oracle,
    summary,
)
from gapcut.oracles.base import Oracle
from gapcut.problem import FINGERPRINT, LearningProblem
from gapcut.typing import FloatArray

Verdict = Literal["holds", "not reproduced", "violated"]

_ROUNDS = 30
_OTHER = "the data or the settings are not those the model was trained with, so they say nothing about its certificate"
_UNKNOWN = (
    "the model was saved with an older fingerprint, which cannot tell whether these are its training data"
)
_SAME = 1e-9
"""Relative difference below which two computations of one bound count as equal."""


@dataclass(frozen=True)
class ClaimCheck:
    """Claimed and recomputed ends of a certificate.

    ``upper``: proven upper bound of the objective at the stored weights, from one pass of exact oracles.
    ``lower``: proven by a new training run that did not see the model. ``best_upper``: the smallest objective
    that anyone found. ``same_data``: whether the data are those the model was trained on; None if the model was saved
    with an older fingerprint, which cannot tell. ``verdict``: "holds" if both ends were reached again, "violated" if
    one is disproved on the same data, "not reproduced" if the new run ended before it had proven the lower end, or if
    the data are others, which say nothing about the claim. ``reason`` says which, in words.
    """

    claimed: Certificate
    upper: float
    lower: float
    best_upper: float
    same_data: bool | None
    verdict: Verdict
    reason: str
    seconds: float


@dataclass(frozen=True, eq=False)
class PosedAgain:
    """The problem of a model on its graphs, and its weights there. ``same_data``: True, or None if the model was saved
    with a fingerprint that cannot tell; ``outside``: why the weights are no point of the problem's box, or nothing."""

    data: TrainingSet
    problem: LearningProblem
    settings: Settings
    same_data: bool | None
    weights: FloatArray
    outside: str


def pose(model: FittedModel, settings: Settings, graphs: Sequence[Graph]) -> PosedAgain | None:
    """The problem that ``model`` answers, from raw labelled graphs and the settings of its fit; None if the graphs are
    not those it was trained on."""
    ready, tuples = model.pipeline.transform_all(graphs), [c.tuples for c in model.cliques]
    if model.base is not None and sum(g.n_nodes for g in ready) != len(model.base.held_out):
        return None
    data = labelled_part(ready, model.coder, model.pipeline, tuples, model.base)
    settings = settings.settled(data.graphs)
    problem = build_problem(data, settings)
    same_data = _same(model.data, summary(problem))
    if same_data is False:
        return None
    weights = problem.compact(model.unary, model.pairwise, [c.weights for c in model.cliques])
    return PosedAgain(data, problem, settings, same_data, weights, _outside(problem, model, weights))


def check_claim(
    model: FittedModel,
    settings: Settings,
    graphs: Sequence[Graph],
    time_limit: float | None = None,
    callback: Callback | None = None,
) -> ClaimCheck:
    """Recompute both ends of ``model.certificate`` on raw labelled graphs, within ``time_limit`` seconds.

    A lower bound cannot be read off the weights: it is proven again from nothing, by a run like the one that made the
    model, which stops as soon as it reaches the claimed value or finds a model that is better than it.
    """
    clock = Deadline(time_limit)
    claimed = model.certificate
    posed = pose(model, settings, graphs)
    if posed is None:
        reason = _OTHER + drawn(model.data)
        return ClaimCheck(claimed, np.inf, -np.inf, np.inf, False, "not reproduced", reason, clock.seconds)
    data, problem, settings, same_data = posed.data, posed.problem, posed.settings, posed.same_data
    weights = posed.weights
    if posed.outside:
        verdict, reason = _fair("violated", posed.outside, same_data)
        return ClaimCheck(claimed, np.inf, -np.inf, np.inf, same_data, verdict, reason, clock.seconds)
    oracle = make_oracle(data, problem, settings)
    upper, objective = _objective(problem, weights, oracle, claimed.upper)
    lower, best_upper = -np.inf, upper

    asked = False

    def decided() -> bool:
        return same_claim(lower, claimed.lower) or best_upper < _less(claimed.lower)

    def watch(record: Record) -> bool:
        nonlocal lower, best_upper, asked
        lower, best_upper = max(lower, record.lower), min(best_upper, record.upper)
        asked = callback is not None and bool(callback(record))
        return asked or decided()

    runs = _runs(problem, oracle, settings, clock, watch) if upper >= _less(claimed.lower) else ()
    for found in runs:
        lower, best_upper = max(lower, found.lower), min(best_upper, found.upper)
        if asked or decided():
            break
    verdict, reason = _fair(*_verdict(claimed, objective, upper, lower, best_upper), same_data)
    return ClaimCheck(claimed, upper, float(lower), best_upper, same_data, verdict, reason, clock.seconds)


def _runs(
    problem: LearningProblem,
    oracle: Oracle,
    settings: Settings,
    clock: Deadline,
    watch: Callback,
) -> Iterator[Certificate]:
    """Training runs for the lower end. The first aims at the gap that the run of the model aimed at, and goes its way:
    when certificates are made, and whether planes are tried beside slow steps, depends on it. One that got there is
    followed by one with half the gap, from where it ended; without iterates to carry on, by one that aims at none."""
    learner, gap, carried = make_learner(settings), settings.gap, None
    while True:
        result = learner.run(problem, oracle, Limits(gap=gap, time_limit=clock.left), watch, carried)
        yield result.certificate
        if result.certificate.status != "certified" or gap == 0.0:
            return
        carried = None if result.warm_start is None else result.warm_start()
        gap = 0.0 if carried is None else 0.5 * gap


def drawn(data: DataSummary) -> str:
    """What to know of the data of a model that is about a sample."""
    given = data.sample + data.left_out
    return f"; those were a random sample, {data.sample:,} graphs of {given:,}" if data.sample else ""


def _same(known: DataSummary, found: DataSummary) -> bool | None:
    if replace(known, fingerprint=found.fingerprint, sample=0, left_out=0) != found:
        return False
    return known.fingerprint == found.fingerprint if known.fingerprint.startswith(FINGERPRINT) else None


def _fair(verdict: Verdict, reason: str, same_data: bool | None) -> tuple[Verdict, str]:
    """Only data that are known to be the same can disprove a claim."""
    if verdict == "violated" and not same_data:
        return "not reproduced", f"{reason}; {_UNKNOWN}"
    return verdict, reason


def _objective(
    problem: LearningProblem, weights: FloatArray, oracle: Oracle, claimed: float
) -> tuple[float, float]:
    """Proven upper bound of the objective, and a value that it reaches at least.

    Message passing tightens its bound from call to call, so it is asked again while the claim is not reached.
    """
    total = oracle.total(weights)
    upper, rounding = primal_bound(problem, weights, total.slack(weights, oracle.exact))
    if oracle.exact:
        return upper, upper - rounding
    reached = 0.0
    for _ in range(_ROUNDS):
        reached = max(reached, 0.5 * _core.dot(weights, weights) + problem.C * total.violation(weights))
        if upper <= _more(claimed):
            break
        total = oracle.total(weights)
        upper = min(upper, primal_bound(problem, weights, total.slack(weights, False))[0])
    return upper, min(upper, reached)


def _verdict(
    claimed: Certificate, objective: float, upper: float, lower: float, best_upper: float
) -> tuple[Verdict, str]:
    if not -math.inf <= claimed.lower < math.inf or not claimed.upper > -math.inf:
        return "violated", f"{claimed.lower} to {claimed.upper} is no claim"
    if objective > _more(claimed.upper):
        return (
            "violated",
            f"the objective of the stored weights is at least {at_least(objective, 9)}, above the claimed upper end",
        )
    if best_upper < _less(claimed.lower):
        return (
            "violated",
            f"weights with objective {at_most(best_upper, 9)} exist, below the claimed lower end",
        )
    if upper > _more(claimed.upper):
        return "not reproduced", f"the upper end was proven only to {at_most(upper, 9)}"
    if lower < _less(claimed.lower):
        return (
            "not reproduced",
            f"the lower end was proven only to {at_least(lower, 9)}: allow more time (--time-limit)",
        )
    return "holds", "both ends were proven again"


def _outside(problem: LearningProblem, model: FittedModel, weights: FloatArray) -> str:
    """Why the stored weights are no point of the problem's domain, or nothing."""
    back = (*problem.expand(weights), *problem.clique_weights(weights))
    stored = (model.unary, model.pairwise, *(c.weights for c in model.cliques))
    if not all(np.array_equal(*pair) for pair in zip(back, stored, strict=True)):
        if problem.ties is not None:
            return "a stored weight is not that of the label pair it shares it with, or not zero where it is fixed"
        return "a stored weight is not zero where the problem of these data fixes it at zero"
    if np.any(weights < problem.lower) or np.any(weights > problem.upper):
        return "a stored weight breaks its sign constraint or its frozen value"
    return ""


def same_claim(lower: float, claimed: float) -> bool:
    """Whether a lower end is as good as the claimed one, up to rounding."""
    return lower >= _less(claimed)


def _less(value: float) -> float:
    return value - _SAME * abs(value)


def _more(value: float) -> float:
    return value + _SAME * abs(value)

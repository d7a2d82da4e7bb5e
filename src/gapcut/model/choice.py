"""Choosing C, and whether a base joins, by folds of the training graphs alone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from gapcut.certificates.bounds import trivial_bound
from gapcut.data import Graph
from gapcut.model.chosen import Choice, Trial
from gapcut.model.held_out import Folds, HeldOut, held_out_path, held_out_temperature, seen_path
from gapcut.model.settings import Settings
from gapcut.model.training import FEWEST_NODES, TrainingSet, training_sets
from gapcut.problem import LearningProblem

POWERS = (0.1, 1.0, 10.0, 100.0, 1000.0)
"""Values that ``C="cv"`` tries."""
_LITTLE_LEARNED, _FAR, _ENOUGH, _ADVICE_SECONDS = 0.2, 0.05, 1000, 10.0
UNCHOSEN = 1.0
"""C where nothing can be held out."""


@dataclass(frozen=True, eq=False)
class Decided:
    """What a fit starts from: ``settings`` with a number for C, the ``choice`` where one was asked for, and the
    ``temperature`` of the probabilities where there were folds to fit it on.
    """

    data: TrainingSet
    settings: Settings
    choice: Choice | None = None
    temperature: float | None = None


def decide(graphs: Sequence[Graph], settings: Settings, values: Sequence[float] | None = None) -> Decided:
    """Everything that "cv" and "auto" stand for on these graphs. ``values``: of C, for which one base is wanted."""
    candidates = training_sets(graphs, settings)
    settings = settings.settled(candidates[0].graphs)
    automatic = settings.base == "auto"
    tried = (
        tuple(sorted(values))
        if values is not None
        else POWERS
        if settings.C == "cv"
        else (settings.trade_off,)
    )
    if not automatic and (values is not None or settings.C != "cv"):
        settings = replace(settings, C=tried[0])
        return Decided(candidates[0], settings, None, _temperature(candidates[0], settings, None))
    nodes = sum(len(code) for code in candidates[0].codes)
    few = f"no base: {nodes:,} labelled nodes are fewer than {FEWEST_NODES:,}"
    data, choice, held = choose(
        candidates, settings, tried, few if automatic and len(candidates) == 1 else ""
    )
    settings = replace(settings, C=choice.C)
    return Decided(data, settings, choice, _temperature(data, settings, held))


def _temperature(data: TrainingSet, settings: Settings, held: HeldOut | None) -> float | None:
    """Fitted on the graphs held out in the search for C, or on folds of its own where one was asked for."""
    if data.tuples:
        if settings.probability:
            raise ValueError(
                "probability=True is not compatible with cliques: it knows unary and pairwise terms only"
            )
        return None
    if held is None and settings.probability:
        folds = Folds.of(data, 0)
        if folds is None:
            raise ValueError(
                "probability=True needs graphs to hold out: give two or more, or one of several connected parts"
            )
        limit = None if settings.time_limit is None else settings.time_limit / 2 / len(folds)
        (held,) = held_out_path(folds, replace(settings, time_limit=limit), [settings.trade_off])
    return None if held is None else held_out_temperature(held)


def choose(
    candidates: Sequence[TrainingSet], settings: Settings, values: Sequence[float], why: str = ""
) -> tuple[TrainingSet, Choice, HeldOut | None]:
    """The training set, the C and the held-out labelings of the most accurate folds.

    ``candidates``: the training set without a base, with one, or both in this order; ``values`` of C, ascending. For
    each candidate the smallest C whose accuracy is within one standard error of the best C's (of their difference over
    the same graphs); the base joins if that makes more than one standard error of difference. ``why``: said first.
    """
    if len(candidates) == len(values) == 1:
        return candidates[0], Choice(values[0], False, (), why), None
    folds = [Folds.of(data, 0) for data in candidates]
    if folds[0] is None:
        C = values[0] if len(values) == 1 else UNCHOSEN
        reason = f"C = {C:g} and no base tried: one connected graph leaves nothing to hold out"
        return candidates[0], Choice(C, candidates[0].base is not None, (), _joined(why, reason)), None
    count = len(candidates) * len(values) * len(folds[0])
    limited = replace(
        settings, time_limit=None if settings.time_limit is None else settings.time_limit / 2 / count
    )
    paths = [held_out_path(part, limited, values) for part in folds if part is not None]
    trials = tuple(Trial(h.C, h.folds.data.base is not None, h.by_fold) for path in paths for h in path)
    picked = [_smallest(path) for path in paths]
    data, chosen, reasons = candidates[-1], picked[-1], [why]
    if len(picked) == 2:
        gain, error = picked[1].gain_over(picked[0])
        joins = gain > error
        data, chosen = (candidates[1], picked[1]) if joins else (candidates[0], picked[0])
        reasons.append(
            f"{'the base joins' if joins else 'no base'}: {picked[1].accuracy:.2%} of held-out nodes right with it, "
            f"{picked[0].accuracy:.2%} without (standard error of the difference {error:.2%})"
        )
    if len(values) > 1:
        best = max(paths[picked.index(chosen)], key=lambda h: h.accuracy)
        rule = (
            "the best"
            if chosen.C == best.C
            else f"within one standard error of C = {best.C:g} ({best.accuracy:.2%})"
        )
        reasons.append(f"C = {chosen.C:g}: {chosen.accuracy:.2%} of held-out nodes right, {rule}")
    return data, Choice(chosen.C, data.base is not None, trials, _joined(*reasons)), chosen


def _smallest(path: Sequence[HeldOut]) -> HeldOut:
    """The one-standard-error rule (Breiman et al., 1984) along C."""
    best = max(path, key=lambda h: h.accuracy)
    for h in path:
        loss, error = best.gain_over(h)
        if loss <= error:
            return h
    return best


def _joined(*reasons: str) -> str:
    return "; ".join(reason for reason in reasons if reason)


def advice(data: TrainingSet, settings: Settings, problem: LearningProblem, upper: float) -> str | None:
    """A warning where C is plainly too small, or None.

    Asked only where the objective, at most ``upper``, is above a fifth of that of zero weights: then graphs of about
    ``_ENOUGH`` nodes are learned at C and at ten times C, and the share of their nodes that is right is compared.
    """
    C, zero = settings.trade_off, trivial_bound(problem)
    if not upper > _LITTLE_LEARNED * zero:
        return None
    sizes = np.cumsum([len(code) for code in data.codes])
    some = int(np.searchsorted(sizes, _ENOUGH)) + 1
    few = replace(data, graphs=data.graphs[:some], codes=data.codes[:some])
    now, then = seen_path(few, replace(settings, time_limit=_ADVICE_SECONDS), (C, 10.0 * C))
    if then - now < _FAR:
        return None
    return (
        f"C = {C:g} is too small: on {len(few.graphs):,} of the training graphs it labels {now:.0%} of their nodes "
        f"right, and C = {10.0 * C:g} {then:.0%}; try C='cv', or a larger one"
    )

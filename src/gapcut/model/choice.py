"""Choosing C, and whether a base joins, by folds of the training graphs alone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from gapcut.certificates.bounds import trivial_bound
from gapcut.data import Graph
from gapcut.engines import Deadline
from gapcut.model.choose_context import choose_context
from gapcut.model.choose_oracle import choose_oracle
from gapcut.model.chosen import Choice, shown_share
from gapcut.model.held_out import (
    CLEARLY,
    FOLDS,
    NEARLY_ALL,
    Fold,
    Folds,
    HeldOut,
    best_of,
    first_fold,
    held_out_path,
    held_out_temperature,
    other_folds,
    paired,
    seen_path,
    trials_of,
)
from gapcut.model.pairing import AUTO
from gapcut.model.settings import Settings
from gapcut.model.steps import choose_steps
from gapcut.model.training import Decided, TrainingSet, training_sets
from gapcut.problem import LearningProblem

POWERS = (0.1, 1.0, 10.0, 100.0, 1000.0)
"""Values that ``C="cv"`` tries, but for columns of a base that stand alone."""
_FOR_ALONE = 10.0
"""So many times larger are the values for these: columns between 0 and 1 want larger weights than logarithms of
probabilities and standardised features do."""
_LITTLE_LEARNED, _FAR, _ENOUGH, _ADVICE_SECONDS = 0.2, 0.05, 1000, 10.0
UNCHOSEN = 1.0
"""C where nothing can be held out, with the same exception."""


def decide(graphs: Sequence[Graph], settings: Settings, values: Sequence[float] | None = None) -> Decided:
    """Everything that "cv" and "auto" stand for on these graphs. ``values``: of C, for which one base is wanted."""
    clock = Deadline(settings.time_limit)
    tried = None if values is None else tuple(sorted(values))
    if tried is None and settings.C != "cv":
        tried = (settings.trade_off,)
    asked, steps = choose_steps(graphs, settings)
    candidates, few = training_sets(graphs, asked)
    settings = asked.settled(candidates[0].graphs)
    automatic = settings.base == "auto"
    if not automatic and tried is not None:
        settings = replace(settings, C=tried[0])
        choice = _untried(candidates[0], settings, tried[0], steps) if steps else None
        return Decided(candidates[0], settings, choice, _temperature(candidates[0], settings, None))
    one_label = _one_label(asked, settings, candidates[0])
    context = settings.base_features == AUTO and settings.base is not None
    kinds = len(candidates) + (one_label is not None) + context
    limit = _path_limit(clock, kinds * len(tried or POWERS) * FOLDS)
    data, choice, held = choose(candidates, replace(settings, time_limit=limit), tried, _joined(steps, few))
    if context and choice.base and held is not None:
        data, choice, held = choose_context(
            graphs, data, choice, held, settings, limit, values_of(data, tried)
        )
        settings = replace(settings, base_features="context" if choice.context else "edges")
    if one_label is not None and held is not None:
        of_fold, values = replace(one_label, time_limit=limit), values_of(data, tried)
        choice, held = choose_oracle(held, choice, of_fold, values)
        if choice.oracle == one_label.oracle:
            settings = replace(one_label, base_features=settings.base_features)
    settings = replace(settings, C=choice.C)
    return Decided(data, settings, choice, _temperature(data, settings, held))


def values_of(data: TrainingSet, tried: Sequence[float] | None) -> Sequence[float]:
    """Those of C to try on a set, ascending: the ones asked for, or by default powers of ten."""
    return tuple(_larger(data) * C for C in POWERS) if tried is None else tried


def _larger(data: TrainingSet) -> float:
    """What values of C are multiplied by on a set."""
    return _FOR_ALONE if data.base is not None and data.base.alone else 1.0


def _path_limit(clock: Deadline, fits: int) -> float | None:
    """Seconds of one fit to a fold, so that all take half of what is left at most."""
    left = clock.left
    return None if left is None else left / 2 / fits


def _untried(data: TrainingSet, settings: Settings, C: float, why: str) -> Choice:
    """What is taken without any fold."""
    return Choice(C, data.base is not None, settings.oracle, (), why)


def _without_folds(
    data: TrainingSet, settings: Settings, given: float | None, reason: str, why: str
) -> Choice:
    """What is taken where folds cannot tell, and the ``reason``; ``why``: said first."""
    C = _larger(data) * UNCHOSEN if given is None else given
    base = " and no base" if data.base is None else ""
    return _untried(data, settings, C, _joined(why, f"C = {C:g}{base}: {reason}"))


def _one_label(asked: Settings, settings: Settings, data: TrainingSet) -> Settings | None:
    """Those with ``oracle="lp"``, where "auto" was ``asked`` and stands for the cut as long as no fold says more."""
    if asked.oracle != AUTO or settings.oracle != "cut" or settings.learner != "primal-dual":
        return None
    return replace(asked, oracle="lp").settled(data.graphs)


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
                "probability=True needs graphs to hold out: give two or more whose nodes have weights, or one of "
                "several connected parts"
            )
        limit = None if settings.time_limit is None else settings.time_limit / 2 / len(folds)
        (held,) = held_out_path(folds, replace(settings, time_limit=limit), [settings.trade_off])
    return None if held is None else held_out_temperature(held)


def choose(
    candidates: Sequence[TrainingSet], settings: Settings, tried: Sequence[float] | None, why: str = ""
) -> tuple[TrainingSet, Choice, HeldOut | None]:
    """The training set, the C and the held-out labelings of the most accurate folds.

    ``settings``: with the time limit of one fit to a fold. ``candidates``: the training set without a base, with one,
    or both in this order; ``tried``: values of C, ascending, or None (:func:`values_of`). For each candidate the most
    accurate C, the smallest of equals; the base joins if that makes more than one standard error of difference (over
    the same graphs). A candidate clearly behind on the first fold is dropped there, and the base is not tried where
    nearly all is right without it. ``why``: said first.
    """
    given = tried[0] if tried is not None and len(tried) == 1 else None
    if given is not None and len(candidates) == 1:
        return candidates[0], _untried(candidates[0], settings, given, why), None
    folds = [part for data in candidates if (part := Folds.of(data, 0)) is not None]
    if not folds:
        reason = "one connected graph (or no weight) leaves nothing to hold out"
        return candidates[0], _without_folds(candidates[0], settings, given, reason, why), None
    firsts = [first_fold(folds[0], settings, values_of(folds[0].data, tried))]
    enough = best_of(firsts[0]).accuracy
    if len(folds) == 2 and enough > NEARLY_ALL:
        folds = folds[:1]
        why = _joined(why, f"no base tried: {shown_share(enough)} of the first fold right without")
    firsts += [first_fold(part, settings, values_of(part.data, tried)) for part in folds[1:]]
    if settings.time_limit is not None and not any(fold.learned for first in firsts for fold in first):
        reason = "the time limit is too short for folds"
        return candidates[0], _without_folds(candidates[0], settings, given, reason, why), None
    behind = _clearly_behind(firsts)
    paths = [[] if i == behind else other_folds(folds[i], settings, first) for i, first in enumerate(firsts)]
    picked = [max(path, key=lambda h: h.accuracy) for path in paths if path]
    chosen, base = picked[-1], ""
    if behind is not None:
        base = _about_base(
            behind == 0, best_of(firsts[1]).accuracy, best_of(firsts[0]).accuracy, "of the first fold"
        )
    elif len(picked) == 2:
        gain, error = picked[1].gain_over(picked[0])
        chosen = picked[1] if gain > error else picked[0]
        error_of = f"(standard error of the difference {shown_share(error)})"
        base = _about_base(gain > error, picked[1].accuracy, picked[0].accuracy, error_of)
    best = (
        f"C = {chosen.C:g}: {shown_share(chosen.accuracy)} of held-out nodes right" if given is None else ""
    )
    trials = [
        trial
        for part, first, path in zip(folds, firsts, paths, strict=True)
        for trial in trials_of(first, path, part.data.base is not None, settings.oracle)
    ]
    data = next(c for c in candidates if c.base is chosen.folds.data.base)
    choice = Choice(chosen.C, data.base is not None, settings.oracle, tuple(trials), _joined(why, base, best))
    return data, choice, chosen


def _clearly_behind(firsts: Sequence[Sequence[Fold]]) -> int | None:
    """Which of two candidates is less accurate on the first fold by more than three standard errors, each at its own
    best C.
    """
    if len(firsts) < 2:
        return None
    plain, stacked = map(best_of, firsts)
    gain, error = paired(stacked.right - plain.right, plain.weight)
    return None if abs(gain) <= CLEARLY * error else int(gain < 0)


def _about_base(joins: bool, with_it: float, without: float, more: str) -> str:
    verdict = "the base joins" if joins else "no base"
    return f"{verdict}: {shown_share(with_it)} of held-out nodes right with it, {shown_share(without)} without {more}"


def _joined(*reasons: str) -> str:
    return "; ".join(reason for reason in reasons if reason)


def advice(
    data: TrainingSet, settings: Settings, problem: LearningProblem, upper: float, left: float | None
) -> str | None:
    """A warning where C is plainly too small, or None; also None where Ctrl-C or want of memory ends the search, and
    within the seconds ``left``: the model is there already.

    Asked only where the objective, at most ``upper``, is above a fifth of that of zero weights: then graphs of about
    ``_ENOUGH`` nodes are learned at C and at ten times C, and the share of their nodes that is right is compared.
    """
    C, zero = settings.trade_off, trivial_bound(problem)
    if not upper > _LITTLE_LEARNED * zero:
        return None
    sizes = np.cumsum([len(code) for code in data.codes])
    some = int(np.searchsorted(sizes, _ENOUGH)) + 1
    few = replace(data, graphs=data.graphs[:some], codes=data.codes[:some])
    seconds = _ADVICE_SECONDS if left is None else min(_ADVICE_SECONDS, max(0.0, left / 2))
    try:
        now, then = seen_path(few, replace(settings, time_limit=seconds), (C, 10.0 * C))
    except (KeyboardInterrupt, MemoryError):
        return None
    if then - now < _FAR:
        return None
    return (
        f"C = {C:g} is too small: on {len(few.graphs):,} of the training graphs it labels {now:.0%} of their nodes "
        f"right, and C = {10.0 * C:g} {then:.0%}; try C='cv', or a larger one"
    )

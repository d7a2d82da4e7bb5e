"""Whether the base also sees what it takes a node's neighbours for, by held-out graphs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from gapcut.data import Graph
from gapcut.model.challenge import Challenge, challenge, worth_trying
from gapcut.model.chosen import Choice
from gapcut.model.held_out import Folds, HeldOut, best_of, smallest_as_good
from gapcut.model.settings import Settings
from gapcut.model.training import TrainingSet, with_context


def choose_context(
    graphs: Sequence[Graph],
    data: TrainingSet,
    choice: Choice,
    held: HeldOut,
    settings: Settings,
    limit: float | None,
    values: Sequence[float],
) -> tuple[TrainingSet, Choice, HeldOut]:
    """The set whose base sees context, where the folds are labelled better with it, else all as it is.

    ``choice``, ``held``: of ``data``, whose base sees edges; ``limit``: seconds of one fit to a fold. The first fold
    must not be clearly behind at the smallest of the ``values``: there a fit is cheap and the base has most of the say;
    the C of ``choice``, found without context, may be too large with it. Then C is sought among all ``values`` anew,
    and the smallest is taken that is as good as the best within a standard error: such a base has used what edges tell
    already, so that folds of like graphs hardly tell values of C apart, and graphs unlike them are labelled better with
    the small ones. For the same reason it joins where it is as good, not better, if at a smaller C than without.
    Nothing is tried where no node has a neighbour.
    """
    if not worth_trying(held) or not any(graph.n_edges for graph in graphs):
        return data, choice, held
    more, why = with_context(graphs, data, settings)
    folds = None if more is None else Folds.of(more, 0)
    if more is None or folds is None:
        return data, choice.noted(why), held
    settings = replace(settings, time_limit=limit)
    found = challenge(held, folds, settings, values, at=values[0])
    taken = taken_with_context(found, held)
    choice = choice.noted(_in_words(found, held, taken), found.trials(settings, base=True, context=True))
    return (data, choice, held) if taken is None else (more, replace(choice, C=taken.C, context=True), taken)


def taken_with_context(found: Challenge, held: HeldOut) -> HeldOut | None:
    """With context: where it is ahead, the smallest C that is as good as its best within a standard error; else one
    that is smaller than without and at least as accurate, the smallest such; None where there is none."""
    if found.best is None:
        return None
    if found.won is not None:
        return smallest_as_good(found.path, found.won)
    smaller = (known for known in found.path if known.C < held.C and known.accuracy >= held.accuracy)
    return next(smaller, None)


def _in_words(found: Challenge, held: HeldOut, taken: HeldOut | None) -> str:
    if found.best is None:
        return (
            f"no context: {best_of(found.first).accuracy:.2%} of the first fold right with it, "
            f"{held.by_fold[0]:.2%} without"
        )
    said = (
        f"{found.best.accuracy:.2%} of held-out nodes right with it at C = {found.best.C:g}, "
        f"{held.accuracy:.2%} without (standard error of the difference {found.error:.2%})"
    )
    if taken is None:
        return f"no context: {said}"
    if taken is not found.best:
        said += f"; C = {taken.C:g} is as good: {taken.accuracy:.2%}"
    if found.won is None:
        said += f"; a smaller C than without ({held.C:g}) decides"
    return f"the base sees context: {said}"

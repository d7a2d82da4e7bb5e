"""Whether the base also sees what it takes a node's neighbours for, by held-out graphs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from gapcut.data import Graph
from gapcut.model.chosen import Choice
from gapcut.model.held_out import NEARLY_ALL, Folds, HeldOut, best_of, first_fold, other_folds, trials_of
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

    ``choice``, ``held``: of ``data``, whose base sees edges; ``limit``: seconds of one fit to a fold. Of the ``values``
    of C, that of ``choice`` and those beside it are tried, on the same folds; after the first, context is left where it
    is not ahead, and after all it must be ahead by more than one standard error. It is not tried where nearly all is
    right, nor where no node has a neighbour.
    """
    if held.accuracy > NEARLY_ALL or not any(graph.n_edges for graph in graphs):
        return data, choice, held
    more, why = with_context(graphs, data, settings)
    folds = None if more is None else Folds.of(more, 0)
    if more is None or folds is None:
        return data, replace(choice, reason=f"{choice.reason}; {why}"), held
    place, settings = list(values).index(choice.C), replace(settings, time_limit=limit)
    first = first_fold(folds, settings, values[max(0, place - 1) : place + 2])
    before = held.by_fold[0]
    path = other_folds(folds, settings, first) if best_of(first).accuracy > before else []
    trials = (*choice.trials, *trials_of(first, path, True, settings.oracle, context=True))
    if not path:
        found = (
            f"no context: {best_of(first).accuracy:.2%} of the first fold right with it, {before:.2%} without"
        )
        return data, replace(choice, trials=trials, reason=f"{choice.reason}; {found}"), held
    picked = max(path, key=lambda h: h.accuracy)
    gain, error = picked.gain_over(held)
    found = (
        f"{'the base sees context' if gain > error else 'no context'}: {picked.accuracy:.2%} of held-out nodes right "
        f"with it at C = {picked.C:g}, {held.accuracy:.2%} without (standard error of the difference {error:.2%})"
    )
    choice = replace(choice, trials=trials, reason=f"{choice.reason}; {found}")
    if gain > error:
        return more, replace(choice, C=picked.C, context=True), picked
    return data, choice, held

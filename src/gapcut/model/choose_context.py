"""Whether the base also sees what it takes a node's neighbours for, by held-out graphs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from gapcut.data import Graph
from gapcut.model.challenge import Challenge, challenge, worth_trying
from gapcut.model.chosen import Choice, shown_share
from gapcut.model.held_out import Folds, HeldOut, best_of
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
    """The set whose base sees context, where the folds are not labelled worse with it, else all as it is.

    ``choice``, ``held``: of ``data``, whose base sees edges; ``limit``: seconds of one fit to a fold. The first fold
    must not be behind at the C of ``choice``; then C is sought among all ``values`` anew. All folds may be behind by a
    standard error: what rounds say together errs less on graphs unlike those of training, which folds of like graphs
    do not show. Nothing is tried where no node has a neighbour.
    """
    if not worth_trying(held) or not any(graph.n_edges for graph in graphs):
        return data, choice, held
    more, why = with_context(graphs, data, settings)
    folds = None if more is None else Folds.of(more, 0)
    if more is None or folds is None:
        return data, choice.noted(why), held
    settings = replace(settings, time_limit=limit)
    found = challenge(held, folds, settings, values, at=choice.C)
    choice = choice.noted(_in_words(found, held), found.trials(settings, base=True, context=True))
    taken = found.not_behind
    return (data, choice, held) if taken is None else (more, replace(choice, C=taken.C, context=True), taken)


def _in_words(found: Challenge, held: HeldOut) -> str:
    if found.best is None:
        return (
            f"no context: {shown_share(best_of(found.first).accuracy)} of the first fold right with it, "
            f"{shown_share(held.by_fold[0])} without"
        )
    verdict = "no context" if found.not_behind is None else "the base sees context"
    return (
        f"{verdict}: {shown_share(found.best.accuracy)} of held-out nodes right with it at C = {found.best.C:g}, "
        f"{shown_share(held.accuracy)} without (standard error of the difference {shown_share(found.error)})"
    )

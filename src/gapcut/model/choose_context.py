"""Whether the base also sees what it takes a node's neighbours for, by held-out graphs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from gapcut.data import Graph
from gapcut.model.challenge import Challenge, challenge, worth_trying
from gapcut.model.chosen import Choice
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
    """The set whose base sees context, where the folds are labelled clearly better with it, else all as it is.

    ``choice``, ``held``: of ``data``, whose base sees edges; ``limit``: seconds of one fit to a fold. The first fold
    must not be clearly behind at the C of ``choice``; then C is sought among all ``values`` anew. The folds must be
    clearly better with it: what helps them a little has not helped graphs unlike them. Nothing is tried where no node
    has a neighbour.
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
    taken = found.clearly_won
    return (data, choice, held) if taken is None else (more, replace(choice, C=taken.C, context=True), taken)


def _in_words(found: Challenge, held: HeldOut) -> str:
    if found.best is None:
        return (
            f"no context: {best_of(found.first).accuracy:.2%} of the first fold right with it, "
            f"{held.by_fold[0]:.2%} without"
        )
    verdict = "no context" if found.clearly_won is None else "the base sees context"
    return (
        f"{verdict}: {found.best.accuracy:.2%} of held-out nodes right with it at C = {found.best.C:g}, "
        f"{held.accuracy:.2%} without (standard error of the difference {found.error:.2%})"
    )

"""Whether one label a node is learned on graphs with cycles, by held-out graphs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from gapcut.model.challenge import Challenge, challenge, worth_trying
from gapcut.model.chosen import Choice, shown_share
from gapcut.model.held_out import HeldOut, best_of
from gapcut.model.settings import Settings


def choose_oracle(
    held: HeldOut, choice: Choice, settings: Settings, values: Sequence[float]
) -> tuple[Choice, HeldOut]:
    """``oracle="lp"`` where it labels held-out graphs better than the cut did (``held``, ``choice``), else the same.

    ``settings`` are those of ``lp``, with the time limit of one fit to a fold. Of the ``values`` of C, that of
    ``choice`` and those beside it are tried; those count at which every fold reached its gap, so that the fit after the
    search has a gap to reach. With a base all are tried, as the cut hardly tells values of C apart there, and ``lp`` is
    taken unless it is clearly behind: folds of like graphs hardly tell the two apart, and graphs unlike them were
    labelled better by it always.
    """
    if not worth_trying(held):
        return choice, held
    place = list(values).index(choice.C)
    values = values if choice.base else values[max(0, place - 1) : place + 2]
    found = challenge(held, held.folds, settings, values, certified=True, favoured=choice.base)
    taken = found.not_clearly_behind if choice.base else found.won
    verdict = "; the cut stays" if taken is None else ""
    if taken is not found.won:
        verdict = "; not clearly behind, and beside a base"
    said = _in_words(found, held) + verdict
    choice = choice.noted(said, found.trials(settings, choice.base, choice.context))
    if taken is None:
        return choice, held
    return replace(choice, C=taken.C, oracle=settings.oracle), taken


def _in_words(found: Challenge, held: HeldOut) -> str:
    said = "one label a node (lp)"
    if found.best is not None:
        return (
            f"{said} at C = {found.best.C:g}: {shown_share(found.best.accuracy)} of held-out nodes right "
            f"(standard error of the difference {shown_share(found.error)})"
        )
    if found.path:
        return f"{said} is certified on the first fold only"
    if not found.first:
        return f"{said} is not certified"
    first, cut = shown_share(best_of(found.first).accuracy), shown_share(held.by_fold[0])
    return f"{said} has {first} of the first fold right, the cut {cut}"

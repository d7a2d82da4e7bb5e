"""Whether one label a node is learned on graphs with cycles, by held-out graphs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from gapcut.digits import percent
from gapcut.model.challenge import Challenge, challenge, worth_trying
from gapcut.model.chosen import Choice
from gapcut.model.held_out import HeldOut, best_of
from gapcut.model.settings import Settings


def choose_oracle(
    held: HeldOut, choice: Choice, settings: Settings, values: Sequence[float]
) -> tuple[Choice, HeldOut]:
    """``oracle="lp"`` where it labels held-out graphs better than the cut did (``held``, ``choice``), else the same.

    ``settings`` are those of ``lp``, with the time limit of one fit to a fold. Of the ``values`` of C, that of
    ``choice`` and those beside it are tried; those count at which every fold reached its gap, so that the fit after the
    search has a gap to reach. With a base it need not be ahead, only not behind by more than a standard error: folds of
    like graphs hardly tell the two apart there, and graphs unlike them are labelled better by it.
    """
    if not worth_trying(held):
        return choice, held
    place = list(values).index(choice.C)
    values = values[max(0, place - 1) : place + 2]
    found = challenge(held, held.folds, settings, values, certified=True, even=choice.base)
    taken = found.not_behind if choice.base else found.won
    verdict = "; the cut stays" if taken is None else ""
    if taken is not found.won:
        verdict = "; not behind, and beside a base"
    said = _in_words(found, held) + verdict
    choice = choice.noted(said, found.trials(settings, choice.base, choice.context))
    if taken is None:
        return choice, held
    return replace(choice, C=taken.C, oracle=settings.oracle), taken


def _in_words(found: Challenge, held: HeldOut) -> str:
    said = "one label a node (lp)"
    if found.best is not None:
        return (
            f"{said} at C = {found.best.C:g}: {_shown(found.best.accuracy)} of held-out nodes right "
            f"(standard error of the difference {_shown(found.error)})"
        )
    if found.path:
        return f"{said} is certified on the first fold only"
    if not found.first:
        return f"{said} is not certified"
    first, cut = _shown(best_of(found.first).accuracy), _shown(held.by_fold[0])
    return f"{said} has {first} of the first fold right, the cut {cut}"


def _shown(share: float) -> str:
    return percent(share, unit="%")

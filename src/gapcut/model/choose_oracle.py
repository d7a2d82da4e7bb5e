"""Whether one label a node is learned on graphs with cycles, by held-out graphs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from gapcut.model.chosen import Choice
from gapcut.model.held_out import NEARLY_ALL, HeldOut, best_of, first_fold, other_folds, trials_of
from gapcut.model.settings import Settings


def choose_oracle(
    held: HeldOut, choice: Choice, settings: Settings, values: Sequence[float]
) -> tuple[Choice, HeldOut]:
    """``oracle="lp"`` where it labels held-out graphs better than the cut did (``held``, ``choice``), else the same.

    ``settings`` are those of ``lp``, with the time limit of one fit to a fold. Only values of C count at which every
    fold reached its gap, so that the fit after the search has a gap to reach. After the first fold, ``lp`` is left
    where it is not ahead; after all, it must be ahead by more than one standard error. It is not tried where the cut
    has nearly all right.
    """
    folds = held.folds
    if held.accuracy > NEARLY_ALL:
        return choice, held
    first = first_fold(folds, settings, values, certified=True)
    before = held.by_fold[0]
    path: list[HeldOut] = []
    if first and best_of(first).accuracy > before:
        path = other_folds(folds, settings, first)
    trials = (*choice.trials, *trials_of(first, path, choice.base, settings.oracle, choice.context))
    picked = max((h for h in path if h.certified), key=lambda h: h.accuracy, default=None)
    if picked is None:
        found = "is certified on the first fold only" if path else "is not certified" if not first else ""
        found = found or f"has {best_of(first).accuracy:.2%} of the first fold right, the cut {before:.2%}"
        return replace(choice, trials=trials, reason=f"{choice.reason}; one label a node (lp) {found}"), held
    gain, error = picked.gain_over(held)
    reason = (
        f"{choice.reason}; one label a node (lp) at C = {picked.C:g}: {picked.accuracy:.2%} of held-out nodes right "
        f"(standard error of the difference {error:.2%})"
    )
    choice = replace(choice, trials=trials, reason=reason)
    if gain > error:
        return replace(choice, C=picked.C, oracle=settings.oracle), picked
    return choice, held

"""Another way to learn against the best so far, on the same held-out graphs."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from gapcut.model.chosen import Trial
from gapcut.model.held_out import (
    CLEARLY,
    NEARLY_ALL,
    Fold,
    Folds,
    HeldOut,
    best_of,
    first_fold,
    most_accurate,
    other_folds,
    paired,
    trials_of,
)
from gapcut.model.settings import Settings


@dataclass(frozen=True, eq=False)
class Challenge:
    """What came of it: the ``first`` fold along C, all folds at each C of the ``path``, the most accurate that counts
    (``best``, None where none does), its ``gain`` in accuracy over what was there and the standard ``error`` of it.
    """

    first: Sequence[Fold]
    path: Sequence[HeldOut] = ()
    best: HeldOut | None = None
    gain: float = 0.0
    error: float = 0.0

    @property
    def won(self) -> HeldOut | None:
        """The best, if it is to be taken in place of what was there: ahead by more than one standard error."""
        return self.best if self.gain > self.error else None

    @property
    def not_behind(self) -> HeldOut | None:
        """The same, behind by one at most."""
        return self.best if self.gain >= -self.error else None

    @property
    def not_clearly_behind(self) -> HeldOut | None:
        """The same, behind by three at most."""
        return self.best if self.gain >= -CLEARLY * self.error else None

    def trials(self, settings: Settings, base: bool, context: bool) -> list[Trial]:
        """For the record of the choice."""
        return trials_of(self.first, self.path, base, settings.oracle, context)


def worth_trying(held: HeldOut) -> bool:
    """Whether another way could gain more than a little."""
    return held.accuracy <= NEARLY_ALL


def behind(fold: Fold, held: HeldOut, clearly: bool = False) -> bool:
    """Whether the first fold is labelled alike, or worse by a standard error of the difference: others cannot be
    expected to make up for it. ``clearly``: worse by more than three."""
    at = held.folds.fold == 0
    gain, error = paired(fold.right - held.right[at], fold.weight)
    error = error if math.isfinite(error) else 0.0
    return gain < -CLEARLY * error if clearly else gain <= -error


def challenge(
    held: HeldOut,
    folds: Folds,
    settings: Settings,
    values: Sequence[float],
    at: float | None = None,
    certified: bool = False,
    favoured: bool = False,
) -> Challenge:
    """``settings`` on ``folds`` against ``held``, whose graphs and folds are the same.

    The first fold along the ``values`` of C, the others only if it is not :func:`behind` there. ``at``: so must the
    first fold be at this C alone before it is learned along all values. ``favoured``: it may be behind there, but not
    clearly, and the others are learned at every C that is not clearly behind the best. ``certified``: only values of C
    count at which every fold reached its gap.
    """
    first = first_fold(folds, settings, values if at is None else [at], certified)
    if not first or behind(best_of(first), held, clearly=favoured):
        return Challenge(first)
    if at is not None and len(values) > 1:
        first = first_fold(folds, settings, values, certified)
    path = other_folds(folds, settings, first, wide=favoured)
    best = most_accurate(found for found in path if found.certified or not certified)
    return Challenge(first, path) if best is None else Challenge(first, path, best, *best.gain_over(held))

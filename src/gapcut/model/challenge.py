"""Another way to learn against the best so far, on the same held-out graphs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from gapcut.model.chosen import Trial
from gapcut.model.held_out import (
    NEARLY_ALL,
    Fold,
    Folds,
    HeldOut,
    best_of,
    first_fold,
    other_folds,
    trials_of,
)
from gapcut.model.settings import Settings


@dataclass(frozen=True, eq=False)
class Challenge:
    """What came of it: the ``first`` fold along C, all folds at each C of the ``path``, the most accurate that counts
    (``picked``, None where none does), its ``gain`` in accuracy over what was there and the standard ``error`` of it.
    """

    first: Sequence[Fold]
    path: Sequence[HeldOut]
    picked: HeldOut | None
    gain: float
    error: float

    @property
    def won(self) -> HeldOut | None:
        """What is to be taken in place of what was there, if anything is: ahead by more than one standard error."""
        return self.picked if self.gain > self.error else None

    def trials(self, settings: Settings, base: bool, context: bool) -> list[Trial]:
        """For the record of the choice."""
        return trials_of(self.first, self.path, base, settings.oracle, context)


def worth_trying(held: HeldOut) -> bool:
    """Whether another way could gain more than a little."""
    return held.accuracy <= NEARLY_ALL


def challenge(
    held: HeldOut, folds: Folds, settings: Settings, values: Sequence[float], certified: bool = False
) -> Challenge:
    """``settings`` on ``folds`` against ``held``, whose graphs and folds are the same.

    The first fold along the ``values`` of C; the others only if it is ahead there. ``certified``: only values of C
    count at which every fold reached its gap.
    """
    first = first_fold(folds, settings, values, certified)
    path: list[HeldOut] = []
    if first and best_of(first).accuracy > held.by_fold[0]:
        path = other_folds(folds, settings, first)
    known = [found for found in path if found.certified or not certified]
    picked = max(known, key=lambda found: found.accuracy, default=None)
    gain, error = (0.0, 0.0) if picked is None else picked.gain_over(held)
    return Challenge(first, path, picked, gain, error)

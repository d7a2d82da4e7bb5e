"""What solving an energy returns."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Generic, Literal, TypeVar

import numpy as np

from gapcut.inference.energy import Energy
from gapcut.typing import AnyArray, Int32Array, IntArray

Status = Literal["optimal", "feasible", "stopped", "infeasible"]

Labels_co = TypeVar("Labels_co", bound=AnyArray, covariant=True)

TOLERANCE = 1e-9
"""A gap is closed when it is at most ``TOLERANCE`` times the excess of the labeling: the sum of how far its terms lie
above the least entries of their tables, which no constant added to a table changes."""


@dataclass(frozen=True)
class Solution(Generic[Labels_co]):
    """A labeling and what is proven about it.

    ``labels`` (V,): of an energy int64 codes (``Solution[IntArray]``); of a model the labels given at fit, often text
    (``Solution[AnyArray]``). ``energy`` is ``U(labels)``, its exact sum rounded once; ``bound <= min U``, rounding
    paid for; ``U(labels) - min U <= gap``, never negative: ``energy - bound`` before rounding, so it can be smaller
    than the difference of the two floats where the energy holds large constants. ``status``:

    - ``"optimal"``: ``gap`` is at most ``TOLERANCE`` (1e-9) times the excess of the labeling, the sum of how far its
      terms lie above the least entries of their tables. Constants change neither. Where the excess is 0, every term is
      at its least entry and the gap is 0;
    - ``"feasible"``: the bound is valid, the gap is open (``energy`` is inf where no allowed labeling was found);
    - ``"stopped"``: the same, and the time limit ended the search;
    - ``"infeasible"``: every labeling is forbidden, proven; ``energy`` and ``bound`` are inf, ``gap`` is 0.
    """

    labels: Labels_co
    energy: float
    bound: float
    gap: float
    status: Status
    seconds: float


@dataclass(frozen=True)
class Found:
    """What a method hands back: a labeling, a valid lower bound (+inf: infeasible), whether time ran out."""

    labels: IntArray | Int32Array
    bound: float
    out_of_time: bool = False


def closed(energy: Energy, labels: IntArray | Int32Array, value: float, bound: float) -> bool:
    """Whether the gap of ``labels`` with energy ``value`` counts as closed. Methods see no term below 0 (see
    ``normal.py``), so the magnitudes of the terms sum to the excess, or to less where an energy was made smaller."""
    if value == np.inf:
        return bound == np.inf
    if value - bound <= TOLERANCE * abs(value):  # the magnitudes sum to no less
        return True
    if energy.is_nonnegative:  # nor to more
        return False
    return bool(value - bound <= TOLERANCE * np.abs(energy.terms(labels)).sum())

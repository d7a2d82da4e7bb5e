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
"""A gap is closed when ``energy - bound <= TOLERANCE * sum of the magnitudes of the labeling's terms``."""


@dataclass(frozen=True)
class Solution(Generic[Labels_co]):
    """A labeling and what is proven about it.

    ``labels`` (V,): of an energy int64 codes (``Solution[IntArray]``); of a model the labels given at fit, often text
    (``Solution[AnyArray]``). ``energy`` is ``U(labels)`` in float64; ``bound <= min U``, rounding paid for;
    ``gap = energy - bound``, never negative. ``status``:

    - ``"optimal"``: the gap is closed, up to ``TOLERANCE`` relative to the terms of the energy;
    - ``"feasible"``: the bound is valid, the gap is open (``energy`` is inf where no allowed labeling was
    found);
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
    """Whether the gap of ``labels`` with energy ``value`` counts as closed."""
    if value == np.inf:
        return bound == np.inf
    return bool(value - bound <= TOLERANCE * np.abs(energy.terms(labels)).sum())

"""Energies without constants and of moderate size, which is what methods see; what is proven of the given one.

``U(y) = offset + 2^exponent N(y)``, where every term of ``N`` has least entry 0 and the offset is the sum of the least
entries of all terms. The *excess* of a labeling is ``U(y) - offset``, the sum of how far its terms lie above their
least entries. No constant added to a term changes it, and every sum here is exact before it is rounded.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from gapcut import _core
from gapcut.inference.energy import Energy
from gapcut.inference.packing import exact_sum, lower_sum
from gapcut.inference.solution import TOLERANCE, Solution, Status
from gapcut.typing import FloatArray, Int32Array, IntArray

MODERATE = 500
"""Powers of two: energies whose widest term lies between 2^-500 and 2^500 are not scaled."""

TOO_WIDE = 2**30
"""Times the excess of the labeling found: a wider term costs so many digits that solving again pays."""


@dataclass(frozen=True)
class Weighed:
    """A labeling of the given energy, its energy, exact and rounded once, and its excess, rounded up; both are +inf if
    it is forbidden."""

    labels: IntArray
    energy: float
    excess: float


@dataclass(frozen=True)
class Normal:
    """``energy`` as methods see it (``N``), of the ``given`` one; ``least``: the least entries of its terms, in the
    order of ``Energy.terms`` (0 where all are +inf); ``widest``: the largest finite range of a term."""

    given: Energy
    energy: Energy
    least: FloatArray
    exponent: int
    widest: float

    @classmethod
    def of(cls, given: Energy, upper: float = math.inf) -> Normal:
        """Entries more than ``upper`` above the least of their term become +inf."""
        if given.pixels is not None and upper == math.inf:
            return cls._of_grid(given)
        at = given.segments()
        entries = (given.unaries(), given.tables(), given.cliques.tables)
        ranges = [_core.term_ranges(x, starts) for x, starts in zip(entries, at, strict=True)]
        lows = [np.asarray(low) for low, _ in ranges]
        least = np.concatenate([lows[0], lows[1][np.searchsorted(at[1], given.table_at)], lows[2]])
        least[least == math.inf] = 0.0
        widest = min(max(most for _, most in ranges), upper)
        size = math.frexp(widest)[1]
        exponent = size if abs(size) > MODERATE else 0
        energy = given
        if exponent or upper < math.inf or least.any():
            moved = zip(entries, at, lows, strict=True)
            energy = given.with_entries(*[_core.normal_entries(*x, exponent, upper) for x in moved])
        return cls(given, energy, least, exponent, widest)

    @classmethod
    def _of_grid(cls, given: Energy) -> Normal:
        """Of a grid without a list of edges, whose table has least entry 0."""
        assert given.pixels is not None
        starts = given.unary_at
        lows, widest = _core.term_ranges(given.unaries(), starts)
        low = np.asarray(lows)
        energy = given
        if low.any():
            energy = given.with_unaries(_core.normal_entries(given.unaries(), starts, low, 0, math.inf))
        least = np.concatenate([low, np.zeros(given.n_edges)])
        return cls(given, energy, least, 0, max(widest, given.pixels.widest))

    def proven(self, bound: float) -> Fraction | None:
        """What a bound of ``energy`` proves: every labeling has this excess at least. None: all are forbidden."""
        if bound == math.inf:
            return None
        return Fraction(max(bound, 0.0)) * Fraction(2) ** self.exponent  # no term of N is below 0

    def weighed(self, labels: IntArray | Int32Array) -> Weighed:
        """A labeling with its energy and excess, which are made of the terms of the given energy alone."""
        terms = self.given.terms(labels)
        labels = np.asarray(labels, dtype=np.int64)
        labels.setflags(write=False)
        return Weighed(labels, exact_sum(terms), float(_core.excess(terms, self.least)))

    def judged(
        self, found: Weighed, proven: Fraction | None, out_of_time: bool, seconds: float
    ) -> Solution[IntArray]:
        """What a labeling and a proven excess say of the given energy."""
        labels, excess = found.labels, found.excess
        if proven is None:
            return Solution(labels, math.inf, math.inf, 0.0, "infeasible", seconds)
        status: Status = "stopped" if out_of_time else "feasible"
        bound = lower_sum(np.append(self.least, rounded_down(proven)))
        if excess == math.inf:
            return Solution(labels, math.inf, bound, math.inf, status, seconds)
        if is_closed(excess, proven):
            status = "optimal"
        gap = rounded_up(max(Fraction(excess) - proven, Fraction(0)))
        return Solution(labels, found.energy, bound, gap, status, seconds)


def is_closed(excess: float, proven: Fraction) -> bool:
    """The rule of :data:`TOLERANCE`."""
    return Fraction(excess) - proven <= Fraction(TOLERANCE) * Fraction(excess)


def rounded_down(value: Fraction) -> float:
    """The largest float that is not above."""
    return -rounded_up(-value)


def rounded_up(value: Fraction) -> float:
    """The least float that is not below."""
    nearest = float(value)
    return nearest if nearest >= value else math.nextafter(nearest, math.inf)

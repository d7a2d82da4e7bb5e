"""Non-negative terms for solvers that want them, as floats or as integers, with what was taken off."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from gapcut.inference.energy import Energy
from gapcut.inference.packing import exact_sum, lower_sum, spans
from gapcut.typing import FloatArray, IntArray

LARGEST_INTEGER_SUM = 2.0**50
"""Integer costs of one labeling stay below: exact in float64, far from overflow in 64 bits."""


@dataclass(frozen=True)
class Shifted:
    """``offset + sum of the terms <= U(y)`` for every ``y`` with ``U(y) <= upper`` as :meth:`Energy.energy` rounds it;
    all others may be forbidden.

    Terms are all nodes in order, then edges, then cliques: ``at`` (terms + 1,) where each one's row-major entries start
    in ``entries``, which are >= 0 or +inf.
    """

    at: IntArray
    entries: FloatArray
    offset: float


def shifted(energy: Energy, upper: float) -> Shifted | None:
    """Every term less its least entry, rounded down; entries that no labeling with energy at most ``upper`` can use
    become +inf. None if a term forbids everything."""
    sizes = np.concatenate([energy.n_labels, energy.table_sizes(), np.diff(energy.segments()[2])])
    at = np.concatenate([[0], np.cumsum(sizes)])
    tables = energy.tables()[spans(energy.table_at, energy.table_sizes())]
    entries = np.concatenate([energy.unaries(), tables, energy.cliques.tables])
    least = np.minimum.reduceat(entries, at[:-1]) if len(sizes) else np.zeros(0)
    if np.isinf(least).any():
        return None
    offset = lower_sum(least)
    room = math.nextafter(math.nextafter(upper, math.inf) - offset, math.inf)
    low = np.repeat(least, sizes)
    above = np.maximum(np.nextafter(entries - low, -np.inf), 0.0)
    above[entries == low] = 0.0
    above[(above > room) | np.isinf(entries)] = np.inf
    return Shifted(at, above, offset)


@dataclass(frozen=True)
class Integers:
    """``entries`` of :class:`Shifted` times ``scale``, a power of two, rounded down; ``top`` where they were +inf.

    ``top`` is more than any labeling of finite cost has in sum.
    """

    at: IntArray
    entries: NDArray[np.int64]
    scale: float
    top: int

    def cost(self, labels: IntArray, energy: Energy) -> int:
        """Sum of the terms of that energy at these labels."""
        return int(self.entries[self.at[:-1] + energy.cells(labels)].sum())


def integers(values: Shifted) -> Integers:
    """The largest scale with which no sum of finite costs reaches ``LARGEST_INTEGER_SUM``."""
    finite = np.where(values.entries < np.inf, values.entries, 0.0)
    total = exact_sum(np.maximum.reduceat(finite, values.at[:-1])) if len(finite) else 0.0
    exponent = 0 if total == 0 else math.floor(math.log2(LARGEST_INTEGER_SUM) - math.log2(total)) - 1
    scale = 2.0 ** min(max(exponent, -1000), 1000)
    whole = np.floor(finite * scale).astype(np.int64)
    top = int(np.maximum.reduceat(whole, values.at[:-1]).sum()) + 1 if len(whole) else 1
    return Integers(values.at, np.where(values.entries < np.inf, whole, top), scale, top)

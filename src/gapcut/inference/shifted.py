"""Non-negative terms for solvers that want them, as floats or as integers, with what was taken off."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from gapcut.inference.energy import Energy
from gapcut.inference.packing import lower_sum
from gapcut.typing import FloatArray, IntArray

LARGEST_INTEGER_SUM = 2.0**50
"""Integer costs of one labeling stay below: exact in float64, far from overflow in 64 bits."""


@dataclass(frozen=True)
class Shifted:
    """``offset + sum of the terms <= U(y)`` for every ``y`` with ``U(y) <= upper``; all others may be forbidden.

    ``terms``: (nodes, flat row-major entries >= 0 or +inf), every node in order, then edges, then cliques.
    """

    terms: list[tuple[IntArray, FloatArray]]
    offset: float


def shifted(energy: Energy, upper: float) -> Shifted | None:
    """Every term less its least entry, rounded down; entries that no labeling with energy at most ``upper`` can use
    become +inf. None if a term forbids everything."""
    given = [(np.array([u]), energy.unary(u)) for u in range(energy.n_nodes)]
    given += [(energy.edges[e], energy.table(e).ravel()) for e in range(energy.n_edges)]
    given += [(nodes, table.ravel()) for nodes, table in map(energy.clique, range(energy.n_cliques))]
    least = np.array([entries.min() for _, entries in given])
    if np.isinf(least).any():
        return None
    offset = lower_sum(least)
    room = math.nextafter(upper - offset, math.inf)
    terms = []
    for (nodes, entries), low in zip(given, least, strict=True):
        above = np.maximum(np.nextafter(entries - low, -np.inf), 0.0)
        above[(entries == low) | (above <= 0.0)] = 0.0
        terms.append((nodes, np.where((above > room) | np.isinf(entries), np.inf, above)))
    return Shifted(terms, offset)


@dataclass(frozen=True)
class Integers:
    """``terms`` of :class:`Shifted` times ``scale``, a power of two, rounded down; ``top`` where it was +inf.

    ``top`` is more than any labeling of finite cost has in sum.
    """

    terms: list[tuple[IntArray, NDArray[np.int64]]]
    scale: float
    top: int

    def cost(self, labels: IntArray, counts: IntArray) -> int:
        """Sum of the terms at these labels."""
        total = 0
        for nodes, entries in self.terms:
            cell = int(np.ravel_multi_index(tuple(labels[nodes]), tuple(counts[nodes])))
            total += int(entries[cell])
        return total


def integers(values: Shifted) -> Integers:
    """The largest scale with which no sum of finite costs reaches ``LARGEST_INTEGER_SUM``."""
    largest = [float(entries[np.isfinite(entries)].max(initial=0.0)) for _, entries in values.terms]
    total = math.fsum(largest)
    exponent = 0 if total == 0 else math.floor(math.log2(LARGEST_INTEGER_SUM) - math.log2(total)) - 1
    scale = 2.0 ** min(max(exponent, -1000), 1000)
    whole = [np.floor(np.where(np.isfinite(x), x, 0.0) * scale).astype(np.int64) for _, x in values.terms]
    top = sum(int(x.max(initial=0)) for x in whole) + 1
    terms = [
        (nodes, np.where(np.isfinite(x), i, top))
        for (nodes, x), i in zip(values.terms, whole, strict=True)
    ]
    return Integers(terms, scale, top)

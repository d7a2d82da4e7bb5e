"""Exact solvers on what exact reductions leave, one component after the other."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from gapcut.engines import Deadline
from gapcut.inference.energy import Energy
from gapcut.inference.methods.icm import improve
from gapcut.inference.methods.shares import before_restoring, can_be_reduced, enough_time, share_of
from gapcut.inference.methods.trws import trws
from gapcut.inference.reduction import reduce_energy
from gapcut.inference.solution import Found, closed
from gapcut.typing import Int32Array, IntArray

FIRST_SHARE = 0.4
"""Of the time left, for message passing on the whole energy, and again on its parts."""


@dataclass(frozen=True)
class Known:
    """What is known about one part: a labeling, its energy (+inf: none allowed is known), a valid bound."""

    labels: IntArray
    value: float
    bound: float

    @classmethod
    def of(cls, energy: Energy, labels: IntArray | Int32Array, bound: float) -> Known:
        """A labeling with its energy."""
        y = np.asarray(labels, dtype=np.int64)
        return cls(y, energy.energy(y), bound)

    def better(self, energy: Energy, labels: IntArray | Int32Array | None, bound: float) -> Known:
        """With another labeling and bound taken in where they are better."""
        bound = max(self.bound, bound)
        if labels is not None:
            other = Known.of(energy, labels, bound)
            if other.value < self.value:
                return other
        return dataclasses.replace(self, bound=bound)


Heavy: TypeAlias = Callable[[Energy, Known, Deadline], tuple[Known, bool]]
"""A solver of one part: what is known after it, and whether time ran out."""


def solve_parts(energy: Energy, clock: Deadline, heavy: Heavy, reduce: bool = True) -> Found:
    """Message passing on the whole; if the gap stays open, :func:`refine`."""
    share = FIRST_SHARE if can_be_reduced(energy, clock, 1 - FIRST_SHARE) else 1.0
    known, _ = first_known(energy, Deadline(share_of(clock, share)))
    if is_closed(energy, known):
        return Found(known.labels, known.bound)
    return refine(energy, known, clock, heavy, reduce)


def refine(energy: Energy, known: Known, clock: Deadline, heavy: Heavy, reduce: bool = True) -> Found:
    """Reduce, get a labeling and bound of every part, then ``heavy`` on those still open, small ones first. Never
    worse than what is known."""
    if not can_be_reduced(energy, clock):
        return Found(known.labels, known.bound, True)
    clock = before_restoring(energy, clock)
    reduced = reduce_energy(energy, Deadline(share_of(clock, FIRST_SHARE)), dead_ends=reduce)
    if reduced.constant == np.inf:
        return Found(known.labels, np.inf)
    first = Deadline(share_of(clock, FIRST_SHARE))
    parts = [first_known(part.energy, first)[0] for part in reduced.parts]
    out_of_time = False
    for i in np.argsort([part.energy.n_entries() for part in reduced.parts], kind="stable"):
        part = reduced.parts[i].energy
        if is_closed(part, parts[i]):
            continue
        if not enough_time(part, clock):
            out_of_time = True
            break
        parts[i], stopped = heavy(part, parts[i], clock)
        out_of_time |= stopped
    labels = reduced.labels([part.labels for part in parts])
    known = known.better(energy, labels, reduced.bound([part.bound for part in parts]))
    return Found(known.labels, known.bound, out_of_time)


def is_closed(energy: Energy, known: Known) -> bool:
    """Whether nothing is left to do: proven optimal, or proven infeasible."""
    return known.bound == np.inf or closed(energy, known.labels, known.value, known.bound)


def first_known(energy: Energy, clock: Deadline) -> tuple[Known, bool]:
    """TRW-S, then ICM from its labeling unless its gap is closed; whether time ran out."""
    found = trws(energy, clock)
    known = Known.of(energy, found.labels, found.bound)
    if is_closed(energy, known):
        return known, False
    known, stopped = polished(energy, known, known.labels, clock)
    return known, found.out_of_time or stopped


def polished(
    energy: Energy, known: Known, labels: IntArray | Int32Array, clock: Deadline
) -> tuple[Known, bool]:
    """With what ICM makes of a labeling taken in; whether time ran out."""
    improved, stopped = improve(energy, clock, labels)
    return known.better(energy, improved, -np.inf), stopped

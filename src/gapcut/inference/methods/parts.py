"""Exact solvers on what exact reductions leave, one component after the other."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from gapcut.inference.clock import Deadline
from gapcut.inference.energy import Energy
from gapcut.inference.methods.base import Clock
from gapcut.inference.methods.icm import improve
from gapcut.inference.methods.trws import run_trws
from gapcut.inference.reduction import Part, reduce_energy
from gapcut.inference.solution import Found, closed
from gapcut.typing import IntArray

FIRST_SHARE = 0.3
"""Of the time left, for a first labeling and bound of all parts."""


@dataclass(frozen=True)
class Known:
    """What is known about one part: a labeling, its energy (+inf: none allowed is known), a valid bound."""

    labels: IntArray
    value: float
    bound: float

    def better(self, energy: Energy, labels: IntArray | None, bound: float) -> Known:
        """With another labeling and bound taken in where they are better."""
        known = dataclasses.replace(self, bound=max(self.bound, bound))
        if labels is None:
            return known
        value = energy.energy(labels)
        return dataclasses.replace(known, labels=labels, value=value) if value < self.value else known


Heavy: TypeAlias = Callable[[Energy, Known, Clock], tuple[Known, bool]]
"""A solver of one part: what is known after it, and whether time ran out."""


def solve_parts(energy: Energy, clock: Clock, heavy: Heavy, reduce: bool = True) -> Found:
    """Reduce, get a first labeling and bound of every part, then ``heavy`` on those still open, small ones first."""
    if clock.left == 0.0:
        return Found(energy.native.unary_labels(), energy.independent_bound(), True)
    reduced = reduce_energy(energy, Deadline(_share(clock, FIRST_SHARE)), dead_ends=reduce)
    if reduced.constant == np.inf:
        return Found(np.zeros(energy.n_nodes, dtype=np.int64), np.inf)
    first = Deadline(_share(clock, FIRST_SHARE))
    known = [first_known(part, first) for part in reduced.parts]
    out_of_time = False
    for i in np.argsort([part.energy.n_entries() for part in reduced.parts], kind="stable"):
        part = reduced.parts[i].energy
        if known[i].bound == np.inf or closed(part, known[i].labels, known[i].value, known[i].bound):
            continue
        if clock.left == 0.0:
            out_of_time = True
            break
        known[i], stopped = heavy(part, known[i], clock)
        out_of_time |= stopped
    labels = reduced.labels([k.labels for k in known])
    return Found(labels, reduced.bound([k.bound for k in known]), out_of_time)


def _share(clock: Clock, share: float) -> float | None:
    return None if clock.left is None else share * clock.left


def first_known(part: Part, clock: Clock) -> Known:
    """TRW-S, then ICM from its labeling."""
    result = run_trws(part.energy, clock)
    labels = np.asarray(result.labels, dtype=np.int64)
    known = Known(labels, part.energy.energy(labels), float(result.bound))
    polished, _ = improve(part.energy, clock, labels)
    return known.better(part.energy, np.asarray(polished, dtype=np.int64), -np.inf)



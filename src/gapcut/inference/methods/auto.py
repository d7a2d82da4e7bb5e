"""The method for everybody: message passing, better labelings, reductions, then exact search of what is open."""

from __future__ import annotations

import math

import numpy as np

from gapcut.inference.clock import Deadline
from gapcut.inference.energy import Energy
from gapcut.inference.methods.base import Clock, Method
from gapcut.inference.methods.bp import bp
from gapcut.inference.methods.brute import brute
from gapcut.inference.methods.exact import has_toulbar2, toulbar2
from gapcut.inference.methods.icm import improve
from gapcut.inference.methods.linear_program import MOST_ENTRIES, integer_program
from gapcut.inference.methods.parts import Known, is_closed, refine, share_of
from gapcut.inference.methods.trws import run_trws
from gapcut.inference.solution import TOLERANCE, Found
from gapcut.typing import IntArray

ENUMERATE = 1e5
"""Parts with at most this many labelings are enumerated."""

EFFORT = 3.0
"""Seconds for what follows message passing, where no time limit is given."""

TOULBAR2_SHARE = 0.5
"""Of the time left for one part; the integer program gets the rest."""

MESSAGE_SHARE, LABELING_SHARE = 0.5, 0.4
"""Of the time left: what message passing may take at most, and then each method that only seeks labelings."""


def auto(energy: Energy, clock: Clock, *, tolerance: float = TOLERANCE, effort: float = EFFORT) -> Found:
    """Stops as soon as the gap is closed; the best labeling and the best bound of all that ran.

    1. TRW-S on every component, ICM from its labeling (forests and isolated nodes end exactly here).
    2. Better labelings: ICM from the unary minima, belief propagation, and alpha-expansion for pairwise energies, each
       followed by ICM.
    3. Exact reductions; components that stay open are enumerated if small, else solved by toulbar2 if pytoulbar2 is
       installed (for half of the time left), else, or after it, by the integer program.

    Without a time limit, steps 2 and 3 take ``effort`` seconds at most. ``tolerance`` as in ``trws``.
    """
    if not effort >= 0:
        raise ValueError(f"effort must be a number of seconds >= 0, got {effort}")
    known = _messages(energy, Deadline(share_of(clock, MESSAGE_SHARE)), tolerance)
    if is_closed(energy, known):
        return Found(known.labels, known.bound)
    clock = Deadline(effort) if clock.left is None else clock
    if energy.log_labelings() > math.log(ENUMERATE):
        for method in _labeling_methods(energy):
            if clock.left == 0.0:
                break
            known = _seek(energy, known, Deadline(share_of(clock, LABELING_SHARE)), method)
            if is_closed(energy, known):
                return Found(known.labels, known.bound)
    return refine(energy, known, clock, _search)


def _messages(energy: Energy, clock: Clock, tolerance: float) -> Known:
    result = run_trws(energy, clock, tolerance=tolerance)
    labels = np.asarray(result.labels, dtype=np.int64)
    known = Known(labels, energy.energy(labels), float(result.bound))
    if is_closed(energy, known):
        return known
    return _polish(energy, known, labels, clock)


def _labeling_methods(energy: Energy) -> list[Method]:
    from gapcut.inference.methods import METHODS  # it holds this method, so not before it is complete

    names = ["icm", "bp"] if energy.n_cliques else ["icm", "expansion", "bp"]
    return [METHODS[name] for name in names if name in METHODS]


def _seek(energy: Energy, known: Known, clock: Clock, method: Method) -> Known:
    found = method(energy, clock)
    labels = np.asarray(found.labels, dtype=np.int64)
    return _polish(energy, known.better(energy, labels, found.bound), labels, clock)


def _polish(energy: Energy, known: Known, labels: IntArray, clock: Clock) -> Known:
    polished, _ = improve(energy, clock, labels)
    return known.better(energy, np.asarray(polished, dtype=np.int64), -np.inf)


def _search(energy: Energy, known: Known, clock: Clock) -> tuple[Known, bool]:
    """One part, by the fittest exact method there is."""
    if energy.log_labelings() <= math.log(ENUMERATE):
        found = brute(energy, clock)
        return known.better(energy, np.asarray(found.labels, dtype=np.int64), found.bound), found.out_of_time
    program = energy.n_entries() <= MOST_ENTRIES
    if has_toulbar2():
        share = TOULBAR2_SHARE if program else 1.0
        known, stopped = toulbar2(energy, known, Deadline(share_of(clock, share)))
        if not stopped or is_closed(energy, known):
            return known, stopped
    if program and clock.left != 0.0:
        return integer_program(energy, known, clock)
    return known, True

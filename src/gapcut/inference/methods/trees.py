"""Local search by forests: many nodes get new labels at once, chosen exactly."""

from __future__ import annotations

import math
from functools import cached_property
from typing import Any

from gapcut import _core
from gapcut.engines import Deadline
from gapcut.inference.energy import Energy
from gapcut.inference.methods.icm import improve
from gapcut.inference.methods.shares import can_be_listed
from gapcut.inference.persistency import refuse_cliques
from gapcut.inference.solution import Found
from gapcut.typing import Int32Array

WORK, WORK_PER_ENTRY = 1e8, 5e3
"""Without a time limit: table entries that are read, the smaller of both (of an entry of the energy), times ``effort``.
A count, so that results are the same on any machine."""


def trees(
    energy: Energy, clock: Deadline, *, start: Any = None, effort: float = 1.0, random_state: int = 0
) -> Found:
    """From ``start`` ((V,) labels; by default the unary minima after ICM): the labels of an induced forest are chosen
    anew, exactly, given all others (Hamze and de Freitas 2004; Selby 2014), again and again; then the same in small
    windows, after random labels in their middle, kept unless the energy rises, or now and then though it does
    (simulated annealing). Where entries are forbidden, larger windows are solved by variable elimination as well
    (Dechter 1999), few nodes keeping random labels, and what is forbidden costs a penalty that grows. There half of the
    work goes to new labelings: annealing of single flips from random labels, once nodes with two neighbours are
    eliminated, then windows, then the best choice, node by node, between that labeling and earlier ones.

    With a time limit it goes on until then, else until it has read ``effort`` times 5,000 times what the tables hold,
    or 10^8 entries. The bound is the sum of all terms' minima.
    """
    refuse_cliques(energy, "method 'trees'")
    if not 0 <= effort < math.inf:
        raise ValueError(f"effort must be a finite number >= 0, got {effort}")
    if random_state < 0:
        raise ValueError(f"random_state must be at least 0, got {random_state}")
    labels, _ = improve(energy, clock, energy.unary_labels() if start is None else start)
    labels, stopped = Forests(energy, random_state).improve(labels, clock, effort)
    return Found(labels, energy.independent_bound(), stopped)


class Forests:
    """The search on one pairwise energy. Asked again it goes on, with what it has built and the labelings it has made;
    it is built when it is first asked."""

    def __init__(self, energy: Energy, seed: int = 0) -> None:
        self._energy, self._seed = energy, seed

    @cached_property
    def _search(self) -> _core.TreeSearch:
        return _core.TreeSearch(self._energy.native, self._seed)

    def improve(self, labels: Int32Array, clock: Deadline, effort: float) -> tuple[Int32Array, bool]:
        """Labels that are not worse, and whether the time limit ended the search."""
        energy = self._energy
        if not can_be_listed(energy, clock):
            return labels, True
        work = math.inf
        if clock.left is None:
            work = effort * min(WORK, WORK_PER_ENTRY * (energy.n_entries() + energy.n_nodes))
        found, _, _, stopped = self._search.run(labels, work, clock.left)
        return found, stopped

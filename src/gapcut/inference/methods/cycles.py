"""A bound above that of the local polytope: short cycles are made consistent too."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from gapcut import _core
from gapcut.engines import Deadline
from gapcut.inference.energy import Energy
from gapcut.inference.methods.icm import improve
from gapcut.inference.methods.parts import Known, is_closed
from gapcut.inference.methods.shares import enough_time, share_of
from gapcut.inference.methods.trws import trws
from gapcut.inference.persistency import refuse_cliques
from gapcut.inference.progress import report, turn_of
from gapcut.inference.solution import TOLERANCE, Found

SHARE = 0.3
"""Of the time left, what message passing may take before."""

LARGEST = 4_000_000
"""Table entries of all edges: larger energies are left as they are."""

WORK = 5e9
"""Without a time limit: table entries that are read. A count, so that results are the same on any machine."""


def cycles(
    energy: Energy, clock: Deadline, *, max_sweeps: int = 1000, effort: float = 1.0, start: Any = None
) -> Found:
    """TRW-S and ICM; where the gap stays open, message passing on nodes, pairs and triplets of nodes (Sontag et al.,
    Tightening LP relaxations for MAP using message passing, UAI 2008): triangles and cycles of four nodes, those that
    raise the bound most, then such cycles of their chords, again and again. Soft sweeps lead out of fixed points.

    Pairs of at most 4 million table entries in all; others end as TRW-S does. Without a time limit it ends after
    ``max_sweeps``, or after ``effort`` times 5 * 10^9 entries read. ``start``: (V,) labels that are known.
    """
    refuse_cliques(energy, "method 'cycles'")
    if max_sweeps < 1:
        raise ValueError(f"max_sweeps must be at least 1, got {max_sweeps}")
    if not 0 <= effort < math.inf:
        raise ValueError(f"effort must be a finite number >= 0, got {effort}")
    found = trws(energy, turn_of(clock, share_of(clock, SHARE)), start=start)
    known = Known.of(energy, found.labels, found.bound)
    if is_closed(energy, known):
        return Found(known.labels, known.bound)
    labels, stopped = improve(energy, clock, known.labels)
    known = known.better(energy, labels, -np.inf)
    known, late = tightened(energy, known, clock, effort, max_sweeps)
    return Found(known.labels, known.bound, stopped or late or found.out_of_time)


def can_be_tightened(energy: Energy) -> bool:
    """Whether it has pairs only, and not too many."""
    return energy.pixels is None and not energy.n_cliques and energy.n_entries() <= LARGEST


def tightened(
    energy: Energy, known: Known, clock: Deadline, effort: float, max_sweeps: int = 100_000
) -> tuple[Known, bool]:
    """What is known with a bound that short cycles have raised, and perhaps better labels; whether time ran out."""
    if not can_be_tightened(energy):
        return known, False
    if not enough_time(energy, clock, 0.2):
        return known, True
    work = math.inf if clock.left is not None else effort * WORK
    labels, bound, _, _, stopped = _core.tighten(
        _finite(energy, known).native, clock.left, max_sweeps, known.value, TOLERANCE, work
    )
    improved, _ = improve(energy, clock, labels)
    known = known.better(energy, labels, bound).better(energy, improved, -np.inf)
    report(clock, known.labels, known.bound)
    return known, stopped


def _finite(energy: Energy, known: Known) -> Energy:
    """With entries that forbid nothing, but cost more than a labeling as good as the known one can pay, or, where
    none is known, any that is allowed. It is nowhere above the given energy."""
    unary, tables = energy.unaries(), energy.tables()
    if np.isfinite(unary).all() and np.isfinite(tables).all():
        return energy
    finite = max(float(x[x < np.inf].max(initial=0.0)) for x in (unary, tables))
    most = finite * (energy.n_nodes + energy.n_edges)
    if known.value < np.inf:
        most = max(known.value - energy.independent_bound(), 0.0)
    dear = 2.0 * (most + finite)
    return energy.with_entries(np.minimum(unary, dear), np.minimum(tables, dear), energy.cliques.tables)

"""Branch and bound by toulbar2, in a child process."""

from __future__ import annotations

import importlib.util

import numpy as np

from gapcut.inference.energy import Energy
from gapcut.inference.external import run_child
from gapcut.inference.methods.base import Clock
from gapcut.inference.methods.parts import Known, solve_parts
from gapcut.inference.packing import lower_sum
from gapcut.inference.shifted import Integers, integers, shifted
from gapcut.inference.solution import Found


def exact(energy: Energy, clock: Clock, *, reduce: bool = True) -> Found:
    """TRW-S and ICM, then toulbar2 on what is open, in a child process with our own wall clock.

    Needs pytoulbar2: ``pip install 'gapcut[exact]'``. Costs go over as integers, rounded down at a stated scale,
    so the bound is valid; a gap of that rounding (about 1e-15 of the sum of all terms' ranges) may stay.
    ``reduce=False`` leaves out dead-end elimination.
    """
    if not has_toulbar2():
        raise ValueError("method 'exact' needs pytoulbar2: pip install 'gapcut[exact]', or use method='ilp'")
    return solve_parts(energy, clock, toulbar2, reduce)


def has_toulbar2() -> bool:
    """Whether pytoulbar2 can be imported."""
    return importlib.util.find_spec("pytoulbar2") is not None


def toulbar2(energy: Energy, known: Known, clock: Clock) -> tuple[Known, bool]:
    """Solve one component; its answer is None if no labeling is better than the known one."""
    terms = shifted(energy, known.value)
    if terms is None:
        return known.better(energy, None, np.inf), False
    costs = integers(terms)
    counts = energy.n_labels
    top = min(costs.top, costs.cost(known.labels, counts)) if known.value < np.inf else costs.top
    answer = run_child("toulbar", {"labels": counts, "terms": costs.terms, "top": top}, clock.left)
    if answer is None:
        return known, True
    if answer["labels"] is None:  # nothing costs less than top
        if known.value == np.inf:
            return known.better(energy, None, np.inf), False
        return known.better(energy, None, _bound(terms.offset, costs, top)), False
    labels = np.array(answer["labels"], dtype=np.int64)
    return known.better(energy, labels, _bound(terms.offset, costs, costs.cost(labels, counts))), False


def _bound(offset: float, costs: Integers, cost: int) -> float:
    return lower_sum(np.array([offset, cost / costs.scale]))

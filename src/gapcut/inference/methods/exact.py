"""Branch and bound by toulbar2, in a child process."""

from __future__ import annotations

import importlib.util

import numpy as np

from gapcut.engines import Deadline
from gapcut.inference.energy import Energy
from gapcut.inference.external import run_child
from gapcut.inference.methods.parts import Known, solve_parts
from gapcut.inference.packing import lower_sum
from gapcut.inference.shifted import integers, shifted
from gapcut.inference.solution import Found


def exact(energy: Energy, clock: Deadline, *, reduce: bool = True) -> Found:
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


def toulbar2(
    energy: Energy, known: Known, clock: Deadline, backtracks: int | None = None
) -> tuple[Known, bool]:
    """Solve one component; whether time or ``backtracks`` ended the search. It looks only for labelings that are
    better than the known one, so finding none proves that one."""
    terms = shifted(energy, known.value)
    if terms is None:
        return known.better(energy, None, np.inf), False
    costs = integers(terms)
    counts = energy.n_labels
    top = min(costs.top, costs.cost(known.labels, counts)) if known.value < np.inf else costs.top
    payload = {"labels": counts, "terms": costs.terms, "top": top, "backtracks": backtracks}
    answer = run_child("toulbar", payload, clock.left)
    if answer is None:
        return known, True
    labels = None if answer["labels"] is None else np.array(answer["labels"], dtype=np.int64)
    if not answer["finished"]:
        return known.better(energy, labels, -np.inf), True
    if labels is None and known.value == np.inf:  # nothing costs less than any allowed labeling would
        return known.better(energy, None, np.inf), False
    least = top if labels is None else costs.cost(labels, counts)
    return known.better(energy, labels, lower_sum(np.array([terms.offset, least / costs.scale]))), False

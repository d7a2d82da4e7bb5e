"""Branch and bound by toulbar2, in a child process."""

from __future__ import annotations

import importlib.util
from typing import Any

import numpy as np

from gapcut.engines import Deadline
from gapcut.inference.energy import Energy
from gapcut.inference.external import Ended, run_child
from gapcut.inference.methods.parts import Known, solve_parts
from gapcut.inference.packing import lower_sum
from gapcut.inference.shifted import Integers, integers, shifted
from gapcut.inference.solution import Found
from gapcut.typing import IntArray


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
    top = min(costs.top, costs.cost(known.labels, energy)) if known.value < np.inf else costs.top
    ended = run_toulbar2(energy, costs, top, backtracks, clock.left)
    if ended.answer is None:
        return known.better(energy, last_printed(ended.printed, energy), -np.inf), True
    found = ended.answer["labels"]
    labels = None if found is None else np.array(found, dtype=np.int64)
    if not ended.answer["finished"]:
        return known.better(energy, labels, -np.inf), True
    if labels is None and known.value == np.inf:  # nothing costs less than any allowed labeling would
        return known.better(energy, None, np.inf), False
    least = top if labels is None else costs.cost(labels, energy)
    return known.better(energy, labels, lower_sum([terms.offset, least / costs.scale])), False


def run_toulbar2(
    energy: Energy, costs: Integers, top: int, backtracks: int | None, seconds: float | None
) -> Ended:
    """toulbar2 in a process of its own on these costs, for labelings that cost less than ``top``."""
    return run_child("toulbar", payload(energy, costs, top, backtracks), seconds)


def payload(energy: Energy, costs: Integers, top: int, backtracks: int | None) -> dict[str, Any]:
    """What ``external/toulbar.py`` is given."""
    factor_at, member, _, _ = energy.factor_arrays()
    return {
        "labels": energy.n_labels,
        "factor_at": factor_at,
        "member": member,
        "at": costs.at,
        "costs": costs.entries,
        "top": top,
        "backtracks": backtracks,
    }


def last_printed(printed: bytes, energy: Energy) -> IntArray | None:
    """The last labeling of which toulbar2 printed a whole line before it was killed."""
    for line in reversed(printed.split(b"\n")[:-1]):
        words = line.split()
        if line.startswith(b" ") and len(words) == energy.n_nodes and all(word.isdigit() for word in words):
            labels = np.array(words, dtype=np.int64)
            return labels if (labels < energy.n_labels).all() else None
    return None

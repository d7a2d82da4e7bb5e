"""Iterated conditional modes: a local minimum, bounded by independent minima of all terms."""

from __future__ import annotations

from typing import Any

from gapcut import _core
from gapcut.engines import Deadline
from gapcut.inference.energy import Energy
from gapcut.inference.methods.shares import can_be_listed
from gapcut.inference.solution import Found
from gapcut.typing import Int32Array


def icm(energy: Energy, clock: Deadline, *, start: Any = None) -> Found:
    """Improve ``start`` ((V,) labels; by default the unary minima) node by node until no node can be improved."""
    labels, stopped = improve(energy, clock, energy.unary_labels() if start is None else start)
    return Found(labels, energy.independent_bound(), stopped)


def improve(energy: Energy, clock: Deadline, labels: Any) -> tuple[Int32Array, bool]:
    """Labels after ICM, and whether time ran out before it ended."""
    start = energy.check_labels(labels)
    if not can_be_listed(energy, clock):
        return start, True
    if energy.n_cliques:
        improved, stopped = _core.factor_icm(energy.factors(), start, clock.left)
    else:
        improved, stopped = _core.icm(energy.native, start, clock.left)
    return improved, stopped

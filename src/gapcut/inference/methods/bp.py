"""Loopy belief propagation, min-sum and damped: a labeling without a bound of its own."""

from __future__ import annotations

import numpy as np

from gapcut import _core
from gapcut.engines import Deadline
from gapcut.inference.energy import Energy
from gapcut.inference.methods.shares import can_be_listed
from gapcut.inference.solution import Found


def bp(
    energy: Energy,
    clock: Deadline,
    *,
    max_sweeps: int = 200,
    damping: float = 0.3,
    patience: int = 20,
    tolerance: float = 1e-9,
) -> Found:
    """Messages from factors to nodes, node by node, until none changes by more than ``tolerance`` of the largest, or
    ``patience`` sweeps found no better labeling; the best labeling of all sweeps.

    ``damping``: the part of the old message that stays, in [0, 1). The bound is the sum of all terms' minima.
    """
    if max_sweeps < 1 or patience < 1:
        raise ValueError(f"max_sweeps and patience must be at least 1, got {max_sweeps} and {patience}")
    if not 0 <= damping < 1:
        raise ValueError(f"damping must be in [0, 1), got {damping}")
    if not tolerance >= 0:
        raise ValueError(f"tolerance must be a number >= 0, got {tolerance}")
    if not can_be_listed(energy, clock):
        return Found(energy.unary_labels(), energy.independent_bound(), True)
    labels, infeasible, stopped, _ = _core.belief_propagation(
        energy.factors(), clock.left, max_sweeps, damping, patience, tolerance
    )
    return Found(labels, np.inf if infeasible else energy.independent_bound(), stopped)

"""Sequential tree-reweighted message passing (Kolmogorov 2006): bound and labeling.

With cliques, its extension to factors of any order: SRMP (Kolmogorov, A new look at reweighted message passing,
PAMI 2015), the factors joined through single nodes.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from gapcut import _core
from gapcut.engines import Deadline
from gapcut.inference.energy import Energy
from gapcut.inference.methods.shares import enough_time
from gapcut.inference.progress import report, teller
from gapcut.inference.solution import TOLERANCE, Found

SWEEPS = 1000


def trws(
    energy: Energy,
    clock: Deadline,
    *,
    max_sweeps: int = SWEEPS,
    tolerance: float = TOLERANCE,
    patience: int = 10,
    least_progress: float = 5e-3,
    order: str = "breadth-first",
    escape: bool = True,
    start: Any = None,
) -> Found:
    """Sweep every component until its gap is closed, or ``max_sweeps``, or it stalls.

    ``tolerance``: closed when energy - bound <= tolerance * sum of the magnitudes of the labeling's terms. Stalled: in
    ``patience`` sweeps neither the bound nor the energy gained ``least_progress`` of the gap left. ``order`` of the
    nodes: ``"breadth-first"`` or ``"index"``. Forests of edges are solved exactly. ``escape``: components that stall
    with an open gap get sweeps with soft minima at falling temperatures, then sharp ones again, which bring the bound
    to within about 0.05 % of the linear program's; bounds come from sharp sweeps alone, and ``max_sweeps`` counts both.
    ``start``: (V,) labels that are known; returned if no sweep finds better ones.
    Large grids (``Energy.grid``) are swept by rows and columns without a list of edges, messages in float32, without
    escapes; of the labelings found, better regions are taken over. Bounds come from float64, rounding paid for.
    Energies with cliques are treated by SRMP, without escapes, at most at the bound of the relaxation with clique
    marginals that agree on every node.
    """
    if max_sweeps < 1 or patience < 1:
        raise ValueError(f"max_sweeps and patience must be at least 1, got {max_sweeps} and {patience}")
    for name, value in (("tolerance", tolerance), ("least_progress", least_progress)):
        if not (value >= 0 and math.isfinite(value)):
            raise ValueError(f"{name} must be a finite number >= 0, got {value}")
    given = None if start is None else energy.check_labels(start)
    settings = (max_sweeps, tolerance, patience, least_progress, order)
    if not enough_time(energy, clock):
        labels = energy.unary_labels() if given is None else given
        return Found(labels, energy.independent_bound(), True)
    result: _core.TrwsResult
    if energy.pixels is not None:
        result = _core.grid_trws(energy.native_grid, clock.left, *settings[:-1], teller(clock))
    elif energy.n_cliques:
        result = _core.srmp(energy.factors(), clock.left, *settings, np.zeros(0))
    else:
        result = _core.trws(energy.native, clock.left, *settings, escape, None, teller(clock))
    labels = result.labels
    if given is not None and energy.energy(given) < energy.energy(labels):
        labels = given
    report(clock, labels, result.bound)
    return Found(labels, result.bound, result.stopped)


def continued(energy: Energy, clock: Deadline, messages: _core.Messages) -> Found:
    """The same for a pairwise energy with finite tables, with the settings of ``auto``, from the messages that the last
    call left; leaves its own. Bounds hold for any messages; those of an energy with the same nodes and edges
    fit."""
    result = _core.trws(
        energy.native, clock.left, SWEEPS, TOLERANCE, 10, 5e-3, "breadth-first", True, messages, teller(clock)
    )
    if result.bound == math.inf:
        messages.clear()
    report(clock, result.labels, result.bound)
    return Found(result.labels, result.bound, result.stopped)

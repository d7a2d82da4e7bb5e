"""Alpha-expansion and fusion moves solved by roof duality, so that tables may be arbitrary."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from gapcut import _core
from gapcut.engines import Deadline
from gapcut.inference.energy import Energy
from gapcut.inference.methods.icm import improve
from gapcut.inference.methods.shares import can_be_listed
from gapcut.inference.methods.trws import trws
from gapcut.inference.persistency import refuse_cliques
from gapcut.inference.solution import Found, closed
from gapcut.typing import Int32Array

SHARE = 0.4
"""Of the time left, what message passing may take before the moves."""


def expansion(
    energy: Energy, clock: Deadline, *, start: Any = None, proposals: Any = None, max_rounds: int = 100
) -> Found:
    """Moves in which each node keeps its label or takes another: the energy never rises.

    From ``start`` ((V,) labels; by default the labeling of TRW-S) through ICM, fused with the labelings of TRW-S
    and of ICM from the unary minima and with all ``proposals`` ((P, V) labels); then every label is expanded in
    turn (Boykov, Veksler, Zabih 2001; roof duality decides, undecided nodes keep their label) until none helps,
    at most ``max_rounds`` times each. The bound is that of TRW-S.
    """
    refuse_cliques(energy, "method 'expansion'")
    if max_rounds < 0:
        raise ValueError(f"max_rounds must be at least 0, got {max_rounds}")
    given = [] if proposals is None else [energy.check_labels(p) for p in proposals]
    first = None if start is None else energy.check_labels(start)
    share = None if clock.left is None else SHARE * clock.left
    message = trws(energy, Deadline(share))
    found = np.asarray(message.labels, dtype=np.int32)
    labels = found if first is None else first
    if message.bound == np.inf or closed(energy, found, energy.energy(found), message.bound):
        return Found(found, message.bound)
    labels, stopped = improve(energy, clock, labels)
    local, _ = improve(energy, clock, energy.unary_labels())
    labels, moves_stopped = move(energy, clock, labels, [found, local, *given], max_rounds)
    return Found(labels, message.bound, stopped or moves_stopped or message.out_of_time)


def move(
    energy: Energy, clock: Deadline, labels: Int32Array, proposals: Sequence[Int32Array], max_rounds: int
) -> tuple[Int32Array, bool]:
    """Labels after fusion with every proposal, then expansions; and whether time ran out before it ended."""
    if not can_be_listed(energy, clock):
        return labels, True
    rows = np.ascontiguousarray(proposals, dtype=np.int32).reshape(len(proposals), energy.n_nodes)
    moved, _, _, stopped = _core.expansion(energy.native, labels, rows, max_rounds, clock.left)
    return moved, stopped

"""Shares of the time left, and whether they are worth beginning with."""

from __future__ import annotations

from gapcut.engines import Deadline
from gapcut.inference.energy import Energy

SECONDS_PER_TERM, SECONDS_PER_CLIQUE, SECONDS_PER_ENTRY = 5e-7, 2e-5, 2e-8
"""Roughly what arranging or reducing an energy costs; not begun when less time is left. Entries that edges share count
once."""

LISTING_SECONDS = 2e-7
"""Of a node or an edge, roughly, where a grid gets its list of edges."""


REDUCING_SECONDS, RESTORING_SECONDS = 1.2e-6, 4e-7
"""Of a node or an edge, roughly, where a large energy is reduced, and where labelings of its parts become one of the
whole."""


def share_of(clock: Deadline, share: float) -> float | None:
    """That part of the seconds left."""
    return None if clock.left is None else share * clock.left


def enough_time(energy: Energy, clock: Deadline, share: float = 1.0) -> bool:
    """Whether, in this share of the time left, it is worth while to begin with something that copies the energy."""
    if energy.pixels is not None:
        return clock.left is None or share * clock.left > SECONDS_PER_ENTRY * len(energy.unaries())
    needed = SECONDS_PER_TERM * (energy.n_nodes + energy.n_edges) + SECONDS_PER_CLIQUE * energy.n_cliques
    needed += SECONDS_PER_ENTRY * (len(energy.unaries()) + len(energy.tables()) + len(energy.cliques.tables))
    return clock.left is None or share * clock.left > needed


def can_be_listed(energy: Energy, clock: Deadline) -> bool:
    """Whether there is time for the list of edges that most methods need; only a grid may still lack it."""
    if energy.pixels is None or clock.left is None:
        return True
    return clock.left > LISTING_SECONDS * (energy.n_nodes + energy.n_edges)


def can_be_reduced(energy: Energy, clock: Deadline, share: float = 1.0) -> bool:
    """Whether, in this share of the time left, it can be reduced and something of what is left be solved."""
    if not enough_time(energy, clock, share):
        return False
    return clock.left is None or share * clock.left > REDUCING_SECONDS * (energy.n_nodes + energy.n_edges)


def before_restoring(energy: Energy, clock: Deadline) -> Deadline:
    """The end of work on the parts, so that there is time to put them together."""
    if clock.left is None:
        return clock
    return Deadline(max(0.0, clock.left - RESTORING_SECONDS * (energy.n_nodes + energy.n_edges)))

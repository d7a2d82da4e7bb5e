"""Enumeration of all labelings, for tests and for what is tiny."""

from __future__ import annotations

import math

import numpy as np

from gapcut.inference.energy import Energy
from gapcut.inference.methods.base import Clock
from gapcut.inference.solution import Found
from gapcut.typing import FloatArray

MOST_LABELINGS = 2e6
UNIT_ROUNDOFF = 2.0**-53


def brute(energy: Energy, clock: Clock) -> Found:
    """Enumerate; refused above two million labelings. The bound is the minimum less what rounding may add."""
    count = math.exp(energy.log_labelings())
    if count > MOST_LABELINGS * (1 + 1e-9):
        raise ValueError(
            f"brute force would enumerate {count:.3g} labelings, more than {MOST_LABELINGS:.0f}: "
            "use method='auto'"
        )
    totals, magnitudes, out_of_time = _all_energies(energy, clock)
    if out_of_time:
        return Found(energy.native.unary_labels(), energy.native.independent_bound(), True)
    n_terms = energy.n_nodes + energy.n_edges + 4
    with np.errstate(invalid="ignore"):
        lower = np.where(totals < np.inf, totals - 2 * n_terms * UNIT_ROUNDOFF * magnitudes, np.inf)
    best = int(np.argmin(totals))
    labels = np.zeros(energy.n_nodes, dtype=np.int64)
    for u in reversed(range(energy.n_nodes)):
        best, labels[u] = divmod(best, int(energy.n_labels[u]))
    return Found(labels, float(lower.min()))


def _all_energies(energy: Energy, clock: Clock) -> tuple[FloatArray, FloatArray, bool]:
    """(labelings,) energies and sums of magnitudes of their terms, last node fastest; whether time ran
    out."""
    totals, magnitudes = np.zeros(1), np.zeros(1)
    counts = energy.n_labels
    later = np.maximum(energy.edges[:, 0], energy.edges[:, 1]) if energy.n_edges else np.zeros(0)
    by_later = [np.flatnonzero(later == u) for u in range(energy.n_nodes)]
    for u in range(energy.n_nodes):
        if clock.left == 0.0:
            return totals, magnitudes, True
        terms = [np.broadcast_to(energy.unary(u), (len(totals), counts[u]))]
        stride = np.concatenate([np.cumprod(counts[:u][::-1])[::-1], [1]])[1:]
        for e in by_later[u]:
            first = int(energy.edges[e].min())
            table = energy.table(int(e)) if energy.edges[e, 0] == first else energy.table(int(e)).T
            terms.append(table[np.arange(len(totals)) // stride[first] % counts[first]])
        totals, magnitudes = (
            sum(terms, totals[:, None]).ravel(),
            sum((np.abs(t) for t in terms), magnitudes[:, None]).ravel(),
        )
    return totals, magnitudes, False

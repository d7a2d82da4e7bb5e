"""Enumeration of all labelings, for tests and for what is tiny."""

from __future__ import annotations

import math

import numpy as np

from gapcut.engines import Deadline
from gapcut.inference.energy import Energy
from gapcut.inference.solution import Found
from gapcut.typing import FloatArray, IntArray

MOST_LABELINGS = 2e6
UNIT_ROUNDOFF = 2.0**-53


def brute(energy: Energy, clock: Deadline) -> Found:
    """Enumerate; refused above two million labelings. The bound is the minimum less what rounding may add."""
    count = math.exp(energy.log_labelings())
    if count > MOST_LABELINGS * (1 + 1e-9):
        raise ValueError(
            f"brute force would enumerate {count:.3g} labelings, more than {MOST_LABELINGS:.0f}: "
            "use method='auto'"
        )
    totals, magnitudes, out_of_time = _all_energies(energy, clock)
    if out_of_time:
        return Found(energy.unary_labels(), energy.independent_bound(), True)
    n_terms = energy.n_nodes + energy.n_edges + energy.n_cliques + 4
    with np.errstate(invalid="ignore"):
        lower = np.where(totals < np.inf, totals - 2 * n_terms * UNIT_ROUNDOFF * magnitudes, np.inf)
    best = int(np.argmin(totals))
    labels = np.zeros(energy.n_nodes, dtype=np.int64)
    for u in reversed(range(energy.n_nodes)):
        best, labels[u] = divmod(best, int(energy.n_labels[u]))
    return Found(labels, float(lower.min()))


def _all_energies(energy: Energy, clock: Deadline) -> tuple[FloatArray, FloatArray, bool]:
    """(labelings,) energies and sums of magnitudes of their terms, last node fastest; whether time ran out."""
    totals, magnitudes = np.zeros(1), np.zeros(1)
    counts = energy.n_labels
    terms_at = _terms_by_last_node(energy)
    for u in range(energy.n_nodes):
        if clock.left == 0.0:
            return totals, magnitudes, True
        stride = np.concatenate([np.cumprod(counts[:u][::-1])[::-1], [1]])[1:]
        terms = [np.broadcast_to(energy.unary(u), (len(totals), counts[u]))]
        for nodes, table in terms_at[u]:
            chosen = [np.arange(len(totals)) // stride[v] % counts[v] for v in nodes[:-1]]
            terms.append(table[tuple(chosen)])
        totals, magnitudes = (
            sum(terms, totals[:, None]).ravel(),
            sum((np.abs(t) for t in terms), magnitudes[:, None]).ravel(),
        )
    return totals, magnitudes, False


def _terms_by_last_node(energy: Energy) -> list[list[tuple[IntArray, FloatArray]]]:
    """For every node the edges and cliques of which it is the last: their ascending nodes, the table so turned."""
    terms_at: list[list[tuple[IntArray, FloatArray]]] = [[] for _ in range(energy.n_nodes)]
    terms = [(energy.edges[e], energy.table(e)) for e in range(energy.n_edges)]
    terms += [energy.clique(c) for c in range(energy.n_cliques)]
    for nodes, table in terms:
        order = np.argsort(nodes)
        terms_at[int(nodes.max())].append((nodes[order], table.transpose(order)))
    return terms_at

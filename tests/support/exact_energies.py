"""Energies in exact rational arithmetic: minima, excesses, what a solution claims. Imported by tests of inference."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import numpy as np

from gapcut.inference import TOLERANCE, Energy, Solution

Terms = list[tuple[tuple[int, ...], np.ndarray]]


def terms_of(energy: Energy) -> Terms:
    """(nodes, table) of every term."""
    terms: Terms = [((u,), energy.unary(u)) for u in range(energy.n_nodes)]
    terms += [(tuple(energy.edges[e]), energy.table(e)) for e in range(energy.n_edges)]
    terms += [(tuple(nodes), table) for nodes, table in map(energy.clique, range(energy.n_cliques))]
    return terms


def exact_value(terms: Terms, labels: tuple[int, ...]) -> Fraction | None:
    """``U(labels)``; None if it is forbidden."""
    entries = [float(table[tuple(labels[u] for u in nodes)]) for nodes, table in terms]
    return None if math.inf in entries else sum(map(Fraction, entries), Fraction(0))


def all_values(energy: Energy) -> dict[tuple[int, ...], Fraction]:
    """The energies of all allowed labelings."""
    terms = terms_of(energy)
    every = itertools.product(*[range(k) for k in energy.n_labels.tolist()])
    values = ((y, exact_value(terms, y)) for y in every)
    return {y: value for y, value in values if value is not None}


def offset_of(energy: Energy) -> Fraction:
    """The sum of the least entries of all terms."""
    least = [float(table.min()) for _, table in terms_of(energy)]
    return sum((Fraction(x) for x in least if x < math.inf), Fraction(0))


def check_claims(energy: Energy, found: Solution, values: dict[tuple[int, ...], Fraction]) -> None:
    """That labels, energy, bound, gap and status are true, given the energies of all labelings."""
    labels = tuple(found.labels.tolist())
    if not values:
        assert found.energy == math.inf
        assert found.status != "optimal"
        return
    assert found.status != "infeasible"
    least = min(values.values())
    assert Fraction(found.bound) <= least
    if labels not in values:
        assert found.energy == found.gap == math.inf
        assert found.status in ("feasible", "stopped")
        return
    assert found.energy == float(values[labels])
    assert values[labels] - least <= Fraction(found.gap)
    excess = values[labels] - offset_of(energy)
    if found.status == "optimal":
        assert values[labels] - least <= Fraction(TOLERANCE) * excess
    else:
        assert Fraction(found.gap) > Fraction(TOLERANCE) * excess * (1 - Fraction(1, 2**40))

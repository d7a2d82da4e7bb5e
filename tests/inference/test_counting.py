"""Terms over any number of nodes against enumeration."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from test_solve import random_energy

from gapcut import Energy, solve
from gapcut.inference import all_different, cardinality
from tiny_energies import INF


def every(energy: Energy):
    """All labelings."""
    return itertools.product(*[range(k) for k in energy.n_labels])


def test_cardinality_costs() -> None:
    rng = np.random.default_rng(0)
    for i in range(60):
        energy = random_energy(rng, "normal")
        nodes = rng.permutation(energy.n_nodes)[: rng.integers(0, energy.n_nodes + 1)]
        label = int(rng.integers(3))
        costs = rng.normal(size=len(nodes) + 1)
        if i % 3 == 0:
            costs[rng.random(len(costs)) < 0.4] = INF
        elif i % 3 == 1:
            costs = np.where(np.arange(len(costs)) <= 1, 0.0, INF)  # at most one
        counted = cardinality(energy, nodes, label, costs)
        found = solve(counted)
        expected = min(energy.energy(y) + costs[sum(y[u] == label for u in nodes)] for y in every(energy))
        assert found.energy == pytest.approx(expected, abs=1e-12)
        assert found.status == ("infeasible" if expected == INF else "optimal")
        if expected < INF:
            y = found.labels[: energy.n_nodes]
            extra = costs[sum(y[u] == label for u in nodes)]
            assert energy.energy(y) + extra == pytest.approx(expected, abs=1e-12)


def test_all_different_labels() -> None:
    rng = np.random.default_rng(1)
    for _ in range(60):
        energy = random_energy(rng, "normal")
        nodes = rng.permutation(energy.n_nodes)[: rng.integers(0, energy.n_nodes + 1)]
        found = solve(all_different(energy, nodes))
        allowed = [y for y in every(energy) if len({y[u] for u in nodes}) == len(nodes)]
        expected = min(map(energy.energy, allowed), default=INF)
        assert found.energy == pytest.approx(expected, abs=1e-12)
        assert found.status == ("infeasible" if expected == INF else "optimal")


def test_an_assignment_and_exactly_ten_of_forty() -> None:
    rng = np.random.default_rng(2)
    costs = rng.random((6, 6))
    found = solve(all_different(Energy(costs), range(6)), "ilp")
    orders = itertools.permutations(range(6))
    assert found.energy == pytest.approx(min(costs[np.arange(6), order].sum() for order in orders))
    assert found.status == "optimal"
    gains = rng.normal(size=40)
    exactly = np.full(41, INF)
    exactly[10] = 0.0
    energy = cardinality(Energy(np.stack([np.zeros(40), gains], axis=1)), range(40), 1, exactly)
    assert solve(energy).energy == pytest.approx(np.sort(gains)[:10].sum())
    assert energy.n_labels[-1] == 24  # counts above ten are one


def test_what_does_not_fit_is_named() -> None:
    energy = Energy([[0.0, 1.0], [0.0, 1.0, 2.0]])
    with pytest.raises(ValueError, match="node 2 does not exist"):
        all_different(energy, [0, 2])
    with pytest.raises(ValueError, match="a node stands twice"):
        cardinality(energy, [1, 1], 0, [0, 0, 0])
    with pytest.raises(ValueError, match="costs must be 3 numbers"):
        cardinality(energy, [0, 1], 0, [0, 0])
    with pytest.raises(ValueError, match="costs must be 3 numbers"):
        cardinality(energy, [0, 1], 0, [0, math.nan, 0])
    with pytest.raises(ValueError, match="nodes must be a list of node numbers"):
        all_different(energy, [0.5])  # type: ignore[list-item]
    many = Energy(np.zeros((20_000, 2)))
    with pytest.raises(ValueError, match="tables that are too large"):
        cardinality(many, range(20_000), 1, np.arange(20_001.0))

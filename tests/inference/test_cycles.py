"""Bounds of short cycles: never above the optimum, never below those of TRW-S, and closed where a cycle left a gap."""

from __future__ import annotations

import math

import numpy as np
import pytest

from gapcut import _core
from gapcut.inference import Energy, solve
from own_time import OwnTime
from tiny_energies import INF, KINDS, minimum, random_graph

UNLIKE = np.array([[1.0, 0.0], [0.0, 1.0]])


def pairs_only(rng: np.random.Generator, kind: str) -> Energy:
    """Up to six nodes of one to three labels, most pairs joined, some twice."""
    n = int(rng.integers(1, 7))
    labels = rng.integers(1, 4, n)
    edges = [(u, v) for u in range(n) for v in range(n) if u != v and rng.random() < 0.4]
    values = KINDS[kind]
    return Energy(
        [values(rng, k) for k in labels],
        np.array(edges, dtype=int).reshape(-1, 2),
        [values(rng, (labels[u], labels[v])) for u, v in edges],
    )


@pytest.mark.parametrize("kind", KINDS)
def test_bounds_are_between_those_of_trws_and_the_minimum(kind: str) -> None:
    rng = np.random.default_rng(len(kind))
    closed, open_before = 0, 0
    for _ in range(100):
        energy = pairs_only(rng, kind)
        least, plain, found = minimum(energy), solve(energy, "trws"), solve(energy, "cycles")
        assert plain.bound <= found.bound <= least <= found.energy
        assert found.energy == energy.energy(found.labels) <= plain.energy
        open_before += plain.status == "feasible"
        closed += plain.status == "feasible" and found.status == "optimal"
    assert closed >= 0.5 * open_before
    assert open_before > 0 or kind in ("forbidden", "mostly forbidden")


def test_bounds_of_the_core_are_valid_after_any_number_of_sweeps() -> None:
    """Also where it is stopped while messages are soft, and with wide and narrow entries beside each other."""
    rng = np.random.default_rng(1)
    for trial in range(40):
        scale = 10.0 ** rng.integers(-6, 7, (1, 3, 3)) if trial % 2 else 1.0
        edges = [(u, v) for u in range(6) for v in range(u) if rng.random() < 0.7]
        energy = Energy(rng.normal(size=(6, 3)), edges, scale * rng.normal(size=(len(edges), 3, 3)))
        least = minimum(energy)
        for sweeps in (1, 10, 11, 30, 75, 150):
            labels, bound, _, done, _ = _core.tighten(energy.native, None, sweeps, INF, 0.0, INF)
            assert done <= sweeps
            assert bound <= least <= energy.energy(labels)


@pytest.mark.parametrize("n", [3, 4, 5, 6, 8])
def test_an_odd_cycle_is_closed(n: int) -> None:
    """Neighbours want to differ, but for one pair: the local polytope has bound 0 at marginals of a half. Cycles of
    more than four nodes have no chord that is looked for."""
    nodes = np.arange(n)
    edges = np.stack([nodes, (nodes + 1) % n], axis=1)
    tables = [UNLIKE] * (n - 1) + [UNLIKE if n % 2 else 1.0 - UNLIKE]
    energy = Energy(np.zeros((n, 2)), edges, tables)
    local, found = solve(energy, "trws"), solve(energy, "cycles")
    assert local.bound == pytest.approx(0.0, abs=1e-9)
    assert found.energy == 1.0
    if n <= 4:
        assert found.status == "optimal"
    assert local.bound <= found.bound <= 1.0


@pytest.mark.parametrize("seed", range(3))
def test_a_planar_spin_glass_loses_most_of_its_gap(seed: int) -> None:
    rng = np.random.default_rng(seed)
    node = np.arange(144).reshape(12, 12)
    right = np.stack([node[:, :-1], node[:, 1:]], -1).reshape(-1, 2)
    edges = np.concatenate([right, np.stack([node[:-1], node[1:]], -1).reshape(-1, 2)])
    tables = rng.normal(size=(len(edges), 1, 1)) * (2 * UNLIKE - 1)
    energy = Energy(0.1 * rng.normal(size=(144, 2)), edges, tables)
    local, found, best = solve(energy, "trws"), solve(energy, "cycles"), solve(energy)
    assert best.energy - found.bound < 0.15 * (best.energy - local.bound)
    assert found.bound <= best.energy


def test_chords_of_a_dense_graph_are_not_needed() -> None:
    """Triangles alone, of three labels."""
    energy = random_graph(np.random.default_rng(3), 9, 3, 0.9)
    local, found, least = solve(energy, "trws"), solve(energy, "cycles"), minimum(energy)
    assert local.bound < found.bound <= least
    assert least - found.bound < 0.5 * (least - local.bound)


def test_the_same_without_a_limit_again_and_again() -> None:
    energy = random_graph(np.random.default_rng(5), 40, 2, 0.3)
    first, second = (solve(energy, "cycles") for _ in range(2))
    assert (first.labels.tolist(), first.bound) == (second.labels.tolist(), second.bound)


def test_a_limit_and_effort_end_it() -> None:
    energy = random_graph(np.random.default_rng(6), 150, 2, 0.4)
    found = solve(energy, "cycles", time_limit=0.5)
    assert found.seconds < 1.5
    assert solve(energy, "cycles", effort=0.0).bound <= solve(energy, "cycles", effort=0.2).bound


def test_what_is_forbidden_stays_so() -> None:
    """A 2-colouring of a triangle: message passing with bounds alone need not see that there is none."""
    energy = Energy(np.zeros((3, 2)), [(0, 1), (1, 2), (0, 2)], np.where(UNLIKE > 0, INF, 0.0))
    found = solve(energy, "cycles")
    assert found.energy == INF
    assert solve(energy).status == "infeasible"


def test_settings_are_checked() -> None:
    energy = Energy([[0.0, 1.0]])
    with pytest.raises(ValueError, match="max_sweeps must be at least 1"):
        solve(energy, "cycles", max_sweeps=0)
    with pytest.raises(ValueError, match="effort must be"):
        solve(energy, "cycles", effort=math.inf)


def test_a_grid_of_noise_is_closed() -> None:
    """Potts, uniform unaries without any structure: TRW-S ends 0.1 % below, and toulbar2 far above."""
    rng = np.random.default_rng(3)
    node = np.arange(1600).reshape(40, 40)
    down, right = np.stack([node[:-1], node[1:]], -1), np.stack([node[:, :-1], node[:, 1:]], -1)
    edges = np.concatenate([down.reshape(-1, 2), right.reshape(-1, 2)])
    energy = Energy(rng.random((1600, 5)), edges, 0.3 * (1 - np.eye(5)))
    assert solve(energy, "trws").status == "feasible"
    assert solve(energy, "cycles").status == "optimal"


def two_hubs(n: int) -> Energy:
    """Every two of n nodes make a cycle of four with the hubs: there are n^2 / 2."""
    edges = np.array([(i, n + hub) for i in range(n) for hub in (0, 1)])
    signs = np.random.default_rng(n).choice([-1.0, 1.0], (len(edges), 1, 1))
    return Energy(np.zeros((n + 2, 2)), edges, signs * np.array([[1.0, -1.0], [-1.0, 1.0]]))


def many_labels(k: int) -> Energy:
    """Five nodes, all joined; a table over three of them has k^3 entries."""
    rng = np.random.default_rng(k)
    edges = np.array([(i, j) for i in range(5) for j in range(i + 1, 5)])
    return Energy(rng.random((5, k)), edges, rng.random((len(edges), k, k)))


@pytest.mark.parametrize("make", [lambda: two_hubs(3000), lambda: many_labels(200), lambda: many_labels(400)])
def test_limits_hold_where_cycles_or_labels_are_very_many(make) -> None:
    """Before candidates were as few as there is room for, the first took ten times its limit, and 500 MB."""
    energy, clock = make(), OwnTime()
    found = solve(energy, "cycles", time_limit=1.0)
    assert clock.seconds <= 1.5
    assert found.bound <= found.energy == energy.energy(found.labels)

"""More time never makes it worse: energies and limits of all kinds, against the methods that ``auto`` is made of."""

from __future__ import annotations

import itertools
import math
from pathlib import Path

import numpy as np
import pytest

from gapcut.engines import Deadline
from gapcut.inference import METHODS, Energy, read_energy, solve
from gapcut.inference.methods.exact import has_toulbar2, last_printed, toulbar2
from gapcut.inference.methods.parts import Known
from own_time import OwnTime, kept_waiting
from tiny_energies import INF, random_graph

LIMITS = (0.05, 0.2, 1.0, 5.0)
SLACK = 0.2


def grid_edges(height: int, width: int) -> np.ndarray:
    n = np.arange(height * width).reshape(height, width)
    across = np.stack([n[:, :-1], n[:, 1:]], -1).reshape(-1, 2)
    return np.concatenate([across, np.stack([n[:-1], n[1:]], -1).reshape(-1, 2)])


def spin_glass(seed: int, side: int) -> Energy:
    rng = np.random.default_rng(seed)
    edges = grid_edges(side, side)
    tables = rng.normal(size=(len(edges), 1, 1)) * np.array([[1.0, -1.0], [-1.0, 1.0]])
    return Energy(0.1 * rng.normal(size=(side * side, 2)), edges, tables)


def potts(seed: int, side: int, k: int) -> Energy:
    rng = np.random.default_rng(seed)
    return Energy.grid(rng.random((side, side, k)), 0.3)


def colouring(seed: int, n: int) -> Energy:
    """Three colours, a planted proper one, equal neighbours forbidden."""
    rng = np.random.default_rng(seed)
    colour = rng.integers(0, 3, n)
    pairs = rng.integers(0, n, (4 * n, 2))
    edges = pairs[colour[pairs[:, 0]] != colour[pairs[:, 1]]]
    return Energy(rng.random((n, 3)), edges, np.where(np.eye(3) > 0, INF, 0.0))


def triples(seed: int, n: int) -> Energy:
    rng = np.random.default_rng(seed)
    scopes = [rng.choice(n, 3, replace=False) for _ in range(2 * n)]
    return Energy(rng.normal(size=(n, 3)), cliques=[(s, rng.normal(size=(3, 3, 3))) for s in scopes])


INSTANCES = {
    **{f"spin glass {side}": lambda side=side: spin_glass(side, side) for side in (8, 16, 24, 40, 100)},
    **{f"potts {side} x {k}": lambda s=side, k=k: potts(s, s, k) for side, k in ((10, 3), (30, 5), (100, 8))},
    **{f"colouring {n}": lambda n=n: colouring(n, n) for n in (20, 60, 300)},
    **{f"triples {n}": lambda n=n: triples(n, n) for n in (12, 60, 500)},
    **{
        f"random {n} x {k}": lambda n=n, k=k, d=d: random_graph(np.random.default_rng(n), n, k, d)
        for n, k, d in (
            (10, 3, 0.5),
            (30, 2, 0.5),
            (60, 4, 0.2),
            (100, 2, 0.1),
            (200, 6, 0.05),
            (40, 12, 0.3),
        )
    },
}


def test_there_are_twenty_instances() -> None:
    assert len(INSTANCES) == 20


@pytest.mark.parametrize("name", INSTANCES)
def test_auto_is_no_worse_with_more_time_nor_than_its_parts(name: str) -> None:
    """Two limits each here; see below for all."""
    check_instance(INSTANCES[name](), (0.05, 0.5))


@pytest.mark.slow
@pytest.mark.parametrize("name", INSTANCES)
def test_all_limits(name: str) -> None:
    check_instance(INSTANCES[name](), LIMITS)


def check_instance(energy: Energy, limits: tuple[float, ...]) -> None:
    found = {}
    for limit in limits:
        clock = OwnTime()
        found[limit] = solve(energy, time_limit=limit)
        assert clock.seconds <= limit + max(0.1 * limit, SLACK)
    for shorter, longer in itertools.pairwise(limits):
        assert no_worse(energy, found[longer].energy, found[shorter].energy, longer)
    alone = ["icm", "trws", "bp"] + ([] if energy.n_cliques else ["expansion", "trees"])
    for method in alone:
        half = solve(energy, method, time_limit=limits[-1] / 2).energy
        assert no_worse(energy, found[limits[-1]].energy, half, limits[-1]), method


def no_worse(energy: Energy, value: float, other: float, limit: float) -> bool:
    """Up to 2 % of the excess, at the second or third try at the latest: ten seeds of ``trees`` have a standard
    deviation of 0.65 % on the spin glass of 24 x 24. A try that had to wait for the processor tells nothing."""
    slack = 0.0 if other == INF else 0.02 * (other - energy.independent_bound())
    for _ in range(2):
        if value <= other + slack:
            break
        waited = kept_waiting()
        value = solve(energy, time_limit=limit).energy
        if kept_waiting() - waited > 0.1 * limit:
            return True
    return value <= other + slack


@pytest.mark.parametrize("seed", range(4))
def test_forests_and_elimination_get_over_forbidden_pairs(seed: int) -> None:
    """From a labeling of which most is forbidden to one that is allowed, near the minimum (5 % of the way up to
    the sum of all nodes' largest entries)."""
    energy = colouring(seed, 40)
    start = np.zeros(energy.n_nodes, dtype=np.int64)
    assert energy.energy(start) == INF
    found, least = solve(energy, "trees", start=start, effort=2.0), solve(energy, "ilp").energy
    assert found.energy <= least + 0.05 * (energy.unaries().reshape(-1, 3).max(axis=1).sum() - least)


def test_the_published_spin_glass(shared: Path) -> None:
    """In two seconds better than the integer program in 24, which ends at -3630.15."""
    energy = read_energy(shared / "cases" / "inference" / "spin_glass_24.cfn")
    found = solve(energy, time_limit=2.0)
    assert found.bound <= found.energy == energy.energy(found.labels) <= -3630.15


@pytest.mark.parametrize("limit", [math.inf, 1e12, 1e300])
@pytest.mark.parametrize("method", METHODS)
def test_any_limit_is_taken(method: str, limit: float) -> None:
    if method == "exact" and not has_toulbar2():
        pytest.skip("pytoulbar2 is not installed")
    energy = random_graph(np.random.default_rng(0), 5, 2, 0.8)
    if method == "trees":  # it would go on until then
        return
    assert solve(energy, method, time_limit=limit).energy < INF


def test_the_last_labeling_of_a_killed_solver_is_kept() -> None:
    if not has_toulbar2():
        pytest.skip("pytoulbar2 is not installed")
    energy = spin_glass(24, 24)
    labels = np.zeros(energy.n_nodes, dtype=np.int64)
    known = Known.of(energy, labels, energy.independent_bound())
    after, stopped = toulbar2(energy, known, Deadline(3.0))
    assert stopped
    assert after.value < known.value
    assert after.value == energy.energy(after.labels)


def test_only_whole_lines_count() -> None:
    energy = Energy(np.zeros((3, 2)))
    assert last_printed(b"New solution: 3 (0 backtracks)\n 0 1 1\n", energy).tolist() == [0, 1, 1]
    assert last_printed(b" 0 1 1\nNew solution: 2\n 1 1", energy).tolist() == [0, 1, 1]
    assert last_printed(b" 0 1 1\n 1 1\n", energy).tolist() == [0, 1, 1]
    assert last_printed(b"New solution: 2\n 1", energy) is None
    assert last_printed(b" 0 1 2\n", energy) is None

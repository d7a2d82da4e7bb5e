"""More time never makes it worse: energies and limits of all kinds, against the methods that ``auto`` is made of."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Collection
from pathlib import Path

import numpy as np
import pytest

from gapcut import Machine
from gapcut.datasets import make_planted
from gapcut.engines import Deadline
from gapcut.inference import METHODS, Energy, Progress, Solution, read_energy, solve
from gapcut.inference.methods.exact import has_toulbar2, last_printed, toulbar2
from gapcut.inference.methods.linear_program import MOST_ENTRIES
from gapcut.inference.methods.parts import Known
from gapcut.inference.methods.trees import Forests
from gapcut.typing import IntArray
from own_time import OwnTime, kept_waiting
from tiny_energies import INF, random_graph

LIMITS = (0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0)
SLACK = 0.2


def grid_edges(height: int, width: int) -> np.ndarray:
    n = np.arange(height * width).reshape(height, width)
    across = np.stack([n[:, :-1], n[:, 1:]], -1).reshape(-1, 2)
    return np.concatenate([across, np.stack([n[:-1], n[1:]], -1).reshape(-1, 2)])


def spin_glass(seed: int, side: int, constant: float = 0.0) -> Energy:
    """Normal couplings; every entry with a constant added."""
    rng = np.random.default_rng(seed)
    edges = grid_edges(side, side)
    tables = rng.normal(size=(len(edges), 1, 1)) * np.array([[1.0, -1.0], [-1.0, 1.0]])
    return Energy(constant + 0.1 * rng.normal(size=(side * side, 2)), edges, constant + tables)


def potts(seed: int, side: int, k: int) -> Energy:
    rng = np.random.default_rng(seed)
    return Energy.grid(rng.random((side, side, k)), 0.3)


def large_grid(side: int, k: int) -> Energy:
    """An image of noise around a plane, truncated differences: without a list of edges."""
    rng = np.random.default_rng(side)
    seen = np.linspace(0, k, side)[:, None] + rng.normal(size=(side, side))
    levels = np.arange(k)
    return Energy.grid((seen[..., None] - levels) ** 2, np.minimum(np.abs(levels[:, None] - levels), 2.0))


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


def random_energy(n: int, k: int, density: float) -> Energy:
    return random_graph(np.random.default_rng(n), n, k, density)


def tree(n: int, k: int) -> Energy:
    rng = np.random.default_rng(n)
    edges = np.stack([rng.integers(0, np.arange(1, n)), np.arange(1, n)], axis=1)
    return Energy(rng.normal(size=(n, k)), edges, rng.normal(size=(n - 1, k, k)))


def zeros() -> Energy:
    return Energy(np.zeros((100, 3)), grid_edges(10, 10), np.zeros((180, 3, 3)))


def learned() -> Energy:
    machine = Machine(C=10.0, gap=0.1, time_limit=20.0).fit(make_planted(4, 60, n_labels=6, noise=2.0))
    return machine.energy(make_planted(1, 1000, n_labels=6, noise=2.0, seed=1)[0])


INSTANCES: dict[str, Callable[[], Energy]] = {
    **{f"spin glass {side}": lambda side=side: spin_glass(side, side) for side in (8, 24, 100)},
    "spin glass 16 and 1e6": lambda: spin_glass(16, 16, 1e6),
    **{f"potts {side} x {k}": lambda s=side, k=k: potts(s, s, k) for side, k in ((10, 3), (30, 5), (100, 8))},
    "grid 512 x 8": lambda: large_grid(512, 8),
    **{f"colouring {n}": lambda n=n: colouring(n, n) for n in (20, 60, 300)},
    **{f"triples {n}": lambda n=n: triples(n, n) for n in (12, 60, 500)},
    "binary 60": lambda: random_energy(60, 2, 0.3),
    "random 40 x 12": lambda: random_energy(40, 12, 0.3),
    "random 200 x 6": lambda: random_energy(200, 6, 0.05),
    "tree 2000 x 5": lambda: tree(2000, 5),
    "zeros": zeros,
    "learned 1000 x 6": learned,
}


def test_there_are_twenty_instances() -> None:
    assert len(INSTANCES) == 20


@pytest.mark.parametrize("name", INSTANCES)
def test_what_was_told_holds_at_the_end_and_limits_are_kept(name: str) -> None:
    """The cheaper methods that take longest. That none finds less than another does needs a processor of its own: see
    below."""
    energy = INSTANCES[name]()
    methods = [method for method in ("auto", "trws", "cycles", "expansion", "trees") if takes(method, energy)]
    check_bounds([watched(energy, method, limit) for method in methods for limit in (0.05, 0.1)])


@pytest.mark.quiet
@pytest.mark.timeout(1800)
@pytest.mark.parametrize("name", INSTANCES)
def test_every_method_at_all_limits(name: str) -> None:
    check_instance(INSTANCES[name](), tuple(METHODS), LIMITS)


def takes(method: str, energy: Energy) -> bool:
    """Whether a method takes this energy at all, and may need more than a moment."""
    if method in ("cycles", "expansion", "qpbo", "trees") and energy.n_cliques:
        return False
    if method in ("lp", "ilp") and energy.n_entries() > MOST_ENTRIES:
        return False
    if method == "qpbo":
        return bool(energy.n_labels.max() <= 2)
    return method != "brute" and (method != "exact" or has_toulbar2())


def check_instance(energy: Energy, methods: tuple[str, ...], limits: tuple[float, ...]) -> None:
    """Within its limit; no worse than it said on the way, than with a smaller limit, and, ``auto``, than any other
    method within half of its own. No bound of any run is above any labeling."""
    used = [method for method in methods if takes(method, energy)]
    found = {(method, limit): watched(energy, method, limit) for method in used for limit in limits}
    for method, (shorter, longer) in itertools.product(used, itertools.pairwise(limits)):
        assert no_worse(energy, method, found[method, longer], found[method, shorter], longer), (
            method,
            longer,
        )
    for method, (other, longer) in itertools.product(used, itertools.combinations(limits, 2)):
        if other <= longer / 2 and method not in ("exact", "ilp", "lp"):
            assert no_worse(energy, "auto", found["auto", longer], found[method, other], longer), (
                method,
                longer,
            )
    check_bounds(found.values())


def check_bounds(found: Collection[Solution[IntArray]]) -> None:
    """No bound of any run is above any labeling."""
    assert max(solution.bound for solution in found) <= min(solution.energy for solution in found)


def watched(energy: Energy, method: str, limit: float) -> Solution[IntArray]:
    """A run at whose end everything that it told on the way still holds. Beyond the limit only when waiting for the
    processor; a second try is allowed, since children wait for it too, unseen."""
    for _ in range(2):
        told: list[Progress] = []
        clock = OwnTime()
        found = solve(energy, method, time_limit=limit, progress=told.append)
        taken = clock.seconds
        if taken <= limit + max(0.1 * limit, SLACK):
            break
    assert taken <= limit + max(0.1 * limit, SLACK), (method, limit, taken)
    assert found.energy <= min((step.energy for step in told), default=INF), (method, limit)
    assert found.bound >= max((step.bound for step in told), default=-INF), (method, limit)
    assert found.energy == energy.energy(found.labels)
    return found


def no_worse(
    energy: Energy, method: str, found: Solution[IntArray], other: Solution[IntArray], limit: float
) -> bool:
    """Up to 2 % of the excess, at the second or third try at the latest: ten seeds of ``trees`` have a standard
    deviation of 0.65 % on the spin glass of 24 x 24. A try that had to wait for the processor tells nothing."""
    value, least = found.energy, other.energy
    slack = 0.0 if least == INF else 0.02 * (least - energy.independent_bound())
    for _ in range(2):
        if value <= least + slack:
            break
        waited = kept_waiting()
        value = solve(energy, method, time_limit=limit).energy
        if kept_waiting() - waited > 0.1 * limit:
            return True
    return value <= least + slack


@pytest.mark.parametrize("seed", range(4))
def test_forests_and_elimination_get_over_forbidden_pairs(seed: int) -> None:
    """From a labeling of which most is forbidden to one that is allowed, near the minimum (5 % of the way up to
    the sum of all nodes' largest entries)."""
    energy = colouring(seed, 40)
    start = np.zeros(energy.n_nodes, dtype=np.int64)
    assert energy.energy(start) == INF
    found, least = solve(energy, "trees", start=start, effort=2.0), solve(energy, "ilp").energy
    assert found.energy <= least + 0.05 * (energy.unaries().reshape(-1, 3).max(axis=1).sum() - least)


def test_forests_end_where_series_reduction_leaves_nothing() -> None:
    """A cycle with forbidden pairs: the search has nothing to seek then, and ends at the optimum without a limit."""
    n = 12
    edges = np.stack([np.arange(n), (np.arange(n) + 1) % n], axis=1)
    energy = Energy(np.random.default_rng(0).random((n, 3)), edges, np.where(np.eye(3) > 0, INF, 0.0))
    found = solve(energy, "trees", start=np.zeros(n, dtype=np.int64))
    assert found.energy == solve(energy).energy < INF


@pytest.mark.parametrize("make", [lambda: colouring(0, 60), lambda: spin_glass(0, 12)])
def test_forests_asked_again_go_on(make: Callable[[], Energy]) -> None:
    """Never worse than before, from whatever labels, and after five runs better than after one."""
    energy = make()
    worst = np.zeros(energy.n_nodes, dtype=np.int32)
    forests, again = Forests(energy), Forests(energy)
    values = []
    for _ in range(5):
        labels, stopped = forests.improve(worst, Deadline(None), 0.02)
        assert not stopped
        assert labels.tolist() == again.improve(worst, Deadline(None), 0.02)[0].tolist()
        values.append(energy.energy(labels))
    assert values == sorted(values, reverse=True)
    assert values[-1] < values[0]


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

"""Solvers against enumeration in exact arithmetic."""

from __future__ import annotations

import itertools
import math
import pickle
from pathlib import Path

import numpy as np
import pytest

from exact_energies import exact_value, offset_of, terms_of
from gapcut.inference import METHODS, TOLERANCE, Energy, solve, solve_many
from own_time import OwnTime
from reported_cases import reported_energies, reported_energy

INF = math.inf


def exact_minimum(energy: Energy) -> float:
    """min U by enumeration; each energy is the exact sum of its terms, rounded once, so comparisons are
    exact."""
    unaries = [energy.unary(u).tolist() for u in range(energy.n_nodes)]
    tables = [energy.table(e).tolist() for e in range(energy.n_edges)]
    pairs = energy.edges.tolist()
    best = INF
    for y in itertools.product(*[range(len(u)) for u in unaries]):
        terms = [u[k] for u, k in zip(unaries, y, strict=True)]
        terms += [t[y[u]][y[v]] for t, (u, v) in zip(tables, pairs, strict=True)]
        best = min(best, math.fsum(terms))
    return best


VALUES = {
    "ties": lambda rng, shape: rng.integers(-2, 3, shape).astype(float),
    "normal": lambda rng, shape: rng.normal(size=shape),
    "zeros": lambda rng, shape: np.zeros(shape),
    "scales": lambda rng, shape: rng.normal(size=shape) * 10.0 ** rng.integers(-12, 13, shape),
    "extremes": lambda rng, shape: rng.choice([0.0, 1e12, -1e12, 1e-12, -1e-12, 1.0], shape),
    "forbidden": lambda rng, shape: np.where(rng.random(shape) < 0.25, INF, rng.normal(size=shape)),
    "mostly forbidden": lambda rng, shape: np.where(
        rng.random(shape) < 0.55, INF, rng.integers(-2, 3, shape)
    ),
    "positive": lambda rng, shape: rng.random(shape),
}


def random_energy(rng: np.random.Generator, kind: str, forest: bool = False, most_nodes: int = 5) -> Energy:
    """Label counts 1-4, isolated nodes, edges repeated in both directions (also in forests)."""
    n = int(rng.integers(1, most_nodes + 1))
    labels = rng.integers(1, 5, n)
    values = VALUES[kind]
    if forest:
        edges = [(v, int(rng.integers(v))) for v in range(1, n) if rng.random() < 0.85]
        edges = [edges[i] for i in rng.permutation(len(edges))]
        edges += [
            edges[i][::-1] if rng.random() < 0.5 else edges[i]
            for i in range(len(edges))
            if rng.random() < 0.2
        ]
    else:
        count = int(rng.integers(0, 9)) if n > 1 else 0
        edges = [tuple(rng.choice(n, 2, replace=False)) for _ in range(count)]
    tables = [values(rng, (labels[u], labels[v])) for u, v in edges]
    return Energy([values(rng, k) for k in labels], np.array(edges, dtype=int).reshape(-1, 2), tables)


def check(energy: Energy, solution, minimum: float) -> None:
    assert solution.bound <= minimum <= solution.energy
    assert solution.energy == energy.energy(solution.labels)
    assert solution.gap >= 0
    if solution.status == "infeasible":
        assert minimum == INF
    elif solution.status == "optimal":
        excess = exact_value(terms_of(energy), solution.labels) - offset_of(energy)
        assert solution.energy - minimum <= TOLERANCE * float(excess)
    else:
        assert solution.status == "feasible"


@pytest.mark.parametrize("kind", VALUES)
def test_bound_is_below_the_minimum_and_energy_above(kind: str) -> None:
    rng = np.random.default_rng(sum(map(ord, kind)))
    for i in range(200):
        energy = random_energy(rng, kind)
        minimum = exact_minimum(energy)
        for method in METHODS:
            if method == "qpbo" and energy.n_labels.max() > 2:
                continue
            if i < 40 or method not in ("exact", "ilp", "lp"):
                check(energy, solve(energy, method), minimum)
        check(energy, solve(energy, "trws", order="index", max_sweeps=3), minimum)


@pytest.mark.parametrize("kind", VALUES)
def test_brute_force_ends_at_the_minimum(kind: str) -> None:
    """To the rounding of the largest terms."""
    rng = np.random.default_rng(sum(map(ord, kind)) + 1)
    proven = 0
    for _ in range(200):
        energy = random_energy(rng, kind)
        minimum = exact_minimum(energy)
        solution = solve(energy, "brute")
        check(energy, solution, minimum)
        proven += solution.status in ("optimal", "infeasible")
        assert (solution.status == "infeasible") == (minimum == INF)
        if minimum < INF:
            entries = [energy.unary(u) for u in range(energy.n_nodes)]
            entries += [energy.table(e).ravel() for e in range(energy.n_edges)]
            rounding = 4e-16 * sum(np.abs(x[np.isfinite(x)]).max(initial=0.0) for x in entries)
            assert solution.energy - minimum <= len(entries) * rounding
    assert proven == 200


@pytest.mark.parametrize("kind", VALUES)
def test_auto_closes_what_is_small(kind: str) -> None:
    rng = np.random.default_rng(1)
    for _ in range(100):
        energy = random_energy(rng, kind)
        assert solve(energy).status in ("optimal", "infeasible")


@pytest.mark.parametrize("kind", VALUES)
def test_forests_end_exactly(kind: str) -> None:
    rng = np.random.default_rng(2)
    for _ in range(200):
        energy = random_energy(rng, kind, forest=True)
        minimum = exact_minimum(energy)
        solution = solve(energy, "trws")
        check(energy, solution, minimum)
        assert solution.status == ("infeasible" if minimum == INF else "optimal")


def test_trws_bound_improves_on_independent_minima() -> None:
    rng = np.random.default_rng(3)
    for _ in range(50):
        n = 8
        edges = [(u, v) for u in range(n) for v in range(u) if rng.random() < 0.6]
        energy = Energy(rng.normal(size=(n, 3)), edges, rng.normal(size=(len(edges), 3, 3)))
        trws, icm = solve(energy, "trws"), solve(energy, "icm")
        assert icm.bound - 1e-9 <= trws.bound
        assert trws.gap < 0.7 * icm.gap


def test_more_sweeps_never_lower_the_bound() -> None:
    rng = np.random.default_rng(4)
    n = 30
    edges = [(u, v) for u in range(n) for v in range(u) if rng.random() < 0.3]
    energy = Energy(rng.normal(size=(n, 4)), edges, rng.normal(size=(len(edges), 4, 4)))
    bounds = [solve(energy, "trws", max_sweeps=s).bound for s in (1, 2, 3, 5, 8, 13, 40)]
    assert all(a <= b + 1e-12 for a, b in itertools.pairwise(bounds))
    assert bounds[0] < bounds[-1]


def test_orders_and_many_labels_agree() -> None:
    """Widths around the vector length, and beyond what is kept in registers; tables in either direction."""
    rng = np.random.default_rng(5)
    for k in (1, 2, 3, 4, 5, 7, 8, 9, 12, 16, 17, 20, 26, 31, 32, 33, 40, 50, 57, 81):
        labels = np.array([k, max(1, k - 1), k + 1])
        tables = [rng.random((labels[u], labels[v])) for u, v in [(0, 1), (2, 1), (2, 0)]]
        energy = Energy([rng.random(m) for m in labels], [(0, 1), (2, 1), (2, 0)], tables)
        brute = solve(energy, "brute")
        for order in ("index", "breadth-first"):
            solution = solve(energy, "trws", order=order)
            assert solution.bound <= brute.energy <= solution.energy
        assert solve(energy).energy == pytest.approx(brute.energy, abs=1e-12)


def test_icm_ends_in_a_local_minimum_and_repairs_forbidden_starts() -> None:
    rng = np.random.default_rng(6)
    for _ in range(100):
        energy = random_energy(rng, "normal")
        start = [int(rng.integers(k)) for k in energy.n_labels]
        y = solve(energy, "icm", start=start).labels
        assert energy.energy(y) <= energy.energy(start)
        for u in range(energy.n_nodes):
            for k in range(energy.n_labels[u]):
                other = y.copy()
                other[u] = k
                assert energy.energy(y) <= energy.energy(other) + 1e-12
    forbid_equal = np.where(np.eye(2) > 0, INF, 0.0)
    energy = Energy(np.zeros((3, 2)), [(0, 1), (1, 2)], forbid_equal)
    assert solve(energy, "icm", start=[0, 0, 0]).energy == 0


def test_infeasible_is_proven() -> None:
    only_equal = np.where(np.eye(2) > 0, 0.0, INF)
    energy = Energy([[0, INF], [1, 1], [INF, 0]], [(0, 1), (1, 2), (0, 2)], only_equal)
    for method in ("trws", "auto", "brute"):
        solution = solve(energy, method)
        assert solution.status == "infeasible"
        assert solution.energy == solution.bound == INF
        assert solution.gap == 0
    odd_cycle = Energy(np.zeros((3, 2)), [(0, 1), (1, 2), (2, 0)], np.where(np.eye(2) > 0, INF, 0.0))
    assert solve(odd_cycle).status == "infeasible"
    open_cycle = solve(odd_cycle, "trws")
    assert (open_cycle.status, open_cycle.energy, open_cycle.bound) == ("feasible", INF, 0.0)


def test_empty_and_edgeless() -> None:
    assert solve(Energy(np.zeros((0, 3)), [], [])).energy == 0
    solution = solve(Energy([[3, 1], [5], [0, 0, -1]], []))
    assert solution.labels.tolist() == [1, 0, 2]
    assert (solution.energy, solution.status) == (5.0, "optimal")


def test_long_path_is_exact() -> None:
    """Case 10 (scipy 14385): 100,000 nodes; checked against dynamic programming over integers."""
    rng = np.random.default_rng(7)
    n, k = 100_000, 4
    unary = rng.integers(-50, 50, (n, k))
    tables = rng.integers(-50, 50, (n - 1, k, k))
    best = unary[0]
    for i in range(1, n):
        best = (best[:, None] + tables[i - 1]).min(axis=0) + unary[i]
    path = np.stack([np.arange(n - 1), np.arange(1, n)], axis=1)
    solution = solve(Energy(unary, path, tables))
    assert solution.energy == best.min()
    assert solution.status == "optimal"
    shuffled = rng.permutation(n)
    unary_there = np.empty_like(unary)
    unary_there[shuffled] = unary
    assert solve(Energy(unary_there, shuffled[path], tables)).energy == best.min()


def grid(rng: np.random.Generator, side: int, k: int) -> Energy:
    number = np.arange(side * side).reshape(side, side)
    edges = np.concatenate(
        [
            np.stack([number[:, :-1], number[:, 1:]], -1).reshape(-1, 2),
            np.stack([number[:-1], number[1:]], -1).reshape(-1, 2),
        ]
    )
    return Energy(rng.normal(size=(side * side, k)), edges, rng.normal(size=(len(edges), k, k)))


def test_large_attractive_grid_is_proven_optimal() -> None:
    """Long enough for several chunks a sweep; one table shared by all edges; two components and an isolated
    node."""
    rng = np.random.default_rng(12)
    side, k = 130, 8
    edges = grid(rng, side, 2).edges
    n = side * side
    unaries = rng.normal(size=(2 * n + 1, k))
    energy = Energy(unaries, np.concatenate([edges, edges[:, ::-1] + n]), 0.2 * (1 - np.eye(k)))
    for order in ("index", "breadth-first"):
        solution = solve(energy, "trws", order=order)
        assert solution.status == "optimal"
        assert solution.energy < solve(energy, "icm").energy
    half = solve(Energy(unaries[:n], edges, np.stack([0.2 * (1 - np.eye(k))] * len(edges))))
    assert energy.energy(solution.labels) == pytest.approx(
        half.energy
        + energy.part(np.arange(n, 2 * n + 1), np.arange(len(edges), 2 * len(edges))).energy(
            solution.labels[n:]
        )
    )


def test_time_limit_is_kept() -> None:
    energy = grid(np.random.default_rng(8), 150, 8)
    for method in ("auto", "trws"):
        for limit in (0.0, 0.15):
            clock = OwnTime()
            solution = solve(energy, method, time_limit=limit)
            assert clock.seconds < limit + 1.0
            assert solution.status == "stopped"
            assert -INF < solution.bound <= solution.energy < INF
    assert solve(energy, "icm", time_limit=0.0).status == "stopped"


def test_threads_do_not_change_solutions() -> None:
    rng = np.random.default_rng(9)
    energies = [random_energy(rng, kind, most_nodes=9) for kind in VALUES for _ in range(5)]
    energies += [grid(rng, 9, 5) for _ in range(2)]
    one = solve_many(energies, effort=0.1)
    for n_threads in (2, 5):
        for a, b in zip(one, solve_many(energies, n_threads=n_threads, effort=0.1), strict=True):
            assert a.labels.tolist() == b.labels.tolist()
            assert (a.energy, a.bound, a.status) == (b.energy, b.bound, b.status)
    for energy, a in zip(energies, one, strict=True):
        b = solve(energy, effort=0.1)
        assert (a.energy, a.bound) == (b.energy, b.bound)
    stopped = solve_many([grid(rng, 100, 8) for _ in range(3)], n_threads=2, time_limit=0.0)
    assert {s.status for s in stopped} == {"stopped"}


def test_solving_one_after_the_other_changes_nothing() -> None:
    rng = np.random.default_rng(10)
    a, b = grid(rng, 10, 4), grid(rng, 7, 3)
    alone = solve(b)
    solve(a)
    again = solve(b)
    assert (alone.energy, alone.bound, alone.labels.tolist()) == (
        again.energy,
        again.bound,
        again.labels.tolist(),
    )


def test_bound_and_energy_of_a_pickled_energy_are_the_same() -> None:
    energy = grid(np.random.default_rng(11), 5, 3)
    a, b = solve(energy), solve(pickle.loads(pickle.dumps(energy)))
    assert (a.energy, a.bound) == (b.energy, b.bound)


def test_methods_and_settings_are_checked() -> None:
    energy = Energy([[0, 1]], [])
    with pytest.raises(ValueError, match=f"unknown method 'viterbi': use one of {', '.join(METHODS)}"):
        solve(energy, "viterbi")
    with pytest.raises(ValueError, match="method 'trws' has no setting 'sweeps': it has max_sweeps"):
        solve(energy, "trws", sweeps=3)
    with pytest.raises(ValueError, match="node order"):
        solve(energy, "trws", order="random")
    with pytest.raises(ValueError, match="max_sweeps"):
        solve(energy, "trws", max_sweeps=0)
    with pytest.raises(ValueError, match="tolerance"):
        solve(energy, "trws", tolerance=-1.0)
    with pytest.raises(ValueError, match="time_limit"):
        solve(energy, time_limit=-1)
    with pytest.raises(TypeError, match="expected a gapcut"):
        solve([[0, 1]])  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="node 0 has label 2"):
        solve(energy, "icm", start=[2])
    with pytest.raises(ValueError, match="brute force would enumerate"):
        solve(Energy(np.zeros((30, 2)), []), "brute")


def test_reported_cases(shared: Path) -> None:
    for case in reported_energies(shared):
        energy = reported_energy(case)
        for method in ("auto", "brute"):
            solution = solve(energy, method)
            assert solution.energy == pytest.approx(case["min"], abs=1e-12), case["what"]
            assert solution.status == "optimal"
            if "x" in case:
                assert solution.labels.tolist() == case["x"]
    huge = solve(Energy([[1e13, -1e13]], []))
    assert (huge.labels.tolist(), huge.energy) == ([1], -1e13)

"""Roof duality and the moves built on it, against enumeration and against the linear program."""

from __future__ import annotations

import itertools
import json
import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog
from scipy.sparse import lil_array

from gapcut import _core
from gapcut.inference import Energy, RoofDual, persistency, solve
from own_time import OwnTime

INF = math.inf

VALUES = {
    "ties": lambda rng, shape: rng.integers(-2, 3, shape).astype(float),
    "zeros": lambda rng, shape: np.zeros(shape),
    "normal": lambda rng, shape: rng.normal(size=shape),
    "scales": lambda rng, shape: rng.normal(size=shape) * 10.0 ** rng.integers(-12, 13, shape),
    "tiny": lambda rng, shape: rng.normal(size=shape) * 1e-300,
    "huge": lambda rng, shape: rng.normal(size=shape) * 1e280,
    "forbidden": lambda rng, shape: np.where(rng.random(shape) < 0.2, INF, rng.normal(size=shape)),
    "mostly forbidden": lambda rng, shape: np.where(rng.random(shape) < 0.5, INF, rng.integers(-2, 3, shape)),
}
EXACT = ("ties", "zeros", "mostly forbidden")  # sums are exact, so are the sets of minimisers


def binary_energy(rng: np.random.Generator, kind: str) -> Energy:
    """One or two labels a node, isolated nodes, edges repeated in both directions, frustrated cycles."""
    n = int(rng.integers(1, 8))
    labels = rng.integers(1, 3, n) if rng.random() < 0.3 else np.full(n, 2)
    count = int(rng.integers(0, 3 * n)) if n > 1 else 0
    edges = [tuple(rng.choice(n, 2, replace=False)) for _ in range(count)]
    tables = [VALUES[kind](rng, (labels[u], labels[v])) for u, v in edges]
    weak = 0.3 if rng.random() < 0.7 else 1.0  # weak unaries leave more to the cycles
    unaries = [VALUES[kind](rng, k) * (weak if kind not in EXACT else 1.0) for k in labels]
    return Energy(unaries, np.array(edges, dtype=int).reshape(-1, 2), tables)


def labelings(energy: Energy) -> tuple[np.ndarray, np.ndarray]:
    """All labelings and their energies, exact sums rounded once."""
    ys = np.array(list(itertools.product(*[range(k) for k in energy.n_labels])))
    return ys, np.array([energy.energy(y) for y in ys])


def overwrite(dual: RoofDual, y: np.ndarray) -> np.ndarray:
    return np.where(dual.labelled, dual.values, y).astype(int)


@pytest.mark.parametrize("kind", VALUES)
def test_persistency_and_bound(kind: str) -> None:
    rng = np.random.default_rng(sum(map(ord, kind)))
    unlabelled = unique = 0
    for trial in range(300):
        energy = binary_energy(rng, kind)
        ys, values = labelings(energy)
        minimum = values.min()
        start = [int(rng.integers(k)) for k in energy.n_labels] if trial % 2 else None
        dual = persistency(energy, start=start)
        scale = sum(np.abs(x[np.isfinite(x)]).sum() for x in _entries(energy))
        slack = 0.0 if kind in EXACT else 1e-12 * scale
        assert dual.bound <= minimum
        assert dual.bound >= energy.native.independent_bound() - 1e-12 * scale
        unlabelled += int((~dual.labelled).sum())
        if minimum == INF:
            continue
        best = ys[values <= minimum + slack]
        unique += len(best) == 1
        assert (overwrite(dual, best) == best).all(axis=1).any()
        if slack == 0.0 or len(best) == 1:  # else rounding may hide which of them are minimisers
            assert (dual.values == best)[:, dual.strong].all()
        for y, value in zip(ys, values, strict=True):  # autarky
            assert energy.energy(overwrite(dual, y)) <= value + slack
        assert dual.labelled[dual.strong].all()
    assert kind in EXACT or unique > 100
    assert (unlabelled > 0) == (kind != "zeros")


def _entries(energy: Energy) -> list[np.ndarray]:
    return [energy.unary(u) for u in range(energy.n_nodes)] + [energy.table(e) for e in range(energy.n_edges)]


def local_polytope(unary: np.ndarray, pairs: np.ndarray, tables: np.ndarray) -> float:
    """The linear program whose value roof duality finds combinatorially."""
    n, m = len(unary), len(pairs)
    constraints = lil_array((n + 4 * m, 2 * n + 4 * m))
    right = np.concatenate([np.ones(n), np.zeros(4 * m)])
    for i in range(n):
        constraints[i, 2 * i] = constraints[i, 2 * i + 1] = 1
    row = n
    for p, (i, j) in enumerate(pairs):
        entry = 2 * n + 4 * p + np.arange(4).reshape(2, 2)
        for x in range(2):
            for node, entries in ((i, entry[x]), (j, entry[:, x])):
                constraints[row, entries[0]] = constraints[row, entries[1]] = 1
                constraints[row, 2 * node + x] = -1
                row += 1
    cost = np.concatenate([unary.ravel(), tables.ravel()])
    result = linprog(cost, A_eq=constraints.tocsr(), b_eq=right, bounds=(0, None), method="highs")
    return float(result.fun)


def test_bound_is_the_value_of_the_linear_program() -> None:
    rng = np.random.default_rng(1)
    halves = 0
    for _ in range(40):
        n = int(rng.integers(5, 25))
        pairs = np.array([(i, j) for i in range(n) for j in range(i) if rng.random() < 0.4]).reshape(-1, 2)
        unary, tables = rng.normal(size=(n, 2)), rng.normal(size=(len(pairs), 2, 2))
        dual = persistency(Energy(unary, pairs, tables))
        assert dual.bound == pytest.approx(local_polytope(unary, pairs, tables), abs=1e-7)
        assert _relaxed_value(dual.values, unary, pairs, tables) == pytest.approx(dual.bound, abs=1e-9)
        halves += int((~dual.labelled).sum())
    assert halves > 100


def _relaxed_value(x: np.ndarray, unary: np.ndarray, pairs: np.ndarray, tables: np.ndarray) -> float:
    """The least cost of pair variables that agree with x in {0, 1/2, 1}."""
    value = float((unary[:, 0] * (1 - x) + unary[:, 1] * x).sum())
    for (i, j), t in zip(pairs, tables, strict=True):
        if 0.5 in (x[i], x[j]) and x[i] == x[j]:
            value += 0.5 * min(t[0, 0] + t[1, 1], t[0, 1] + t[1, 0])
        else:
            value += np.array([1 - x[i], x[i]]) @ t @ np.array([1 - x[j], x[j]])
    return value


def test_repeated_pairs_count_as_one() -> None:
    """A frustrated triangle whose third edge is taken back by a repeated edge is a path: exact."""
    equal, other = [[0.0, 1.0], [1.0, 0.0]], [[1.0, 0.0], [0.0, 1.0]]
    unary = [[0.0, 0.1], [0.0, 0.0], [0.0, 0.0]]
    triangle = persistency(Energy(unary, [(0, 1), (1, 2), (2, 0)], [equal, equal, other]))
    assert (triangle.values == 0.5).all()
    path = persistency(Energy(unary, [(0, 1), (1, 2), (2, 0), (0, 2)], [equal, equal, other, equal]))
    assert path.values.tolist() == [0, 0, 0]
    assert path.bound == pytest.approx(1.0)


def test_submodular_energies_are_exact() -> None:
    rng = np.random.default_rng(2)
    for _ in range(200):
        n = int(rng.integers(2, 9))
        edges = [tuple(rng.choice(n, 2, replace=False)) for _ in range(2 * n)]
        tables = rng.normal(size=(len(edges), 2, 2))
        tables[:, 1, 1] = tables[:, 0, 1] + tables[:, 1, 0] - tables[:, 0, 0] - rng.random(len(edges))
        energy = Energy(rng.normal(size=(n, 2)), edges, tables)
        assert persistency(energy).labelled.all()
        solution = solve(energy, "qpbo")
        assert solution.status == "optimal"
        assert solution.energy == labelings(energy)[1].min()


def test_extreme_entries_keep_their_resolution() -> None:
    """What nobody can afford does not coarsen the integer scale, when a labeling is known that avoids it."""
    rng = np.random.default_rng(3)
    unary, pairs = rng.normal(size=(50, 2)), [(i, i + 1) for i in range(49)]
    tables = np.where(rng.random((49, 2, 2)) < 0.3, 1e30, rng.normal(size=(49, 2, 2)))
    tables[:, 0, 0] = rng.normal(size=49)
    energy = Energy(unary, pairs, tables)
    dual = persistency(energy, start=np.zeros(50, dtype=int))
    exact = solve(energy, "trws")
    assert exact.status == "optimal"
    assert dual.values.astype(int).tolist() == exact.labels.tolist()
    assert dual.bound == pytest.approx(exact.energy, rel=1e-9)
    forbidden = Energy(unary, pairs, np.where(tables == 1e30, INF, tables))
    assert persistency(forbidden).values.astype(int).tolist() == exact.labels.tolist()
    assert solve(Energy([[1e13, -1e13]], []), "qpbo").energy == -1e13


def test_infeasible_is_proven_where_the_relaxation_can() -> None:
    only_equal = np.where(np.eye(2) > 0, 0.0, INF)
    energy = Energy([[0, INF], [1, 1], [INF, 0]], [(0, 1), (1, 2)], only_equal)
    assert solve(energy, "qpbo").status == "infeasible"
    assert solve(Energy([[0.0, 1.0], [INF, INF]], []), "qpbo").status == "infeasible"
    odd_cycle = Energy(np.zeros((3, 2)), [(0, 1), (1, 2), (2, 0)], np.where(np.eye(2) > 0, INF, 0.0))
    assert solve(odd_cycle, "qpbo").status == "feasible"  # the relaxation does not see it


def test_qpbo_beats_local_search_and_is_reproducible() -> None:
    rng = np.random.default_rng(4)
    edges = [(u, v) for u in range(40) for v in range(u) if rng.random() < 0.3]
    gained = 0
    for _ in range(20):
        energy = Energy(rng.normal(size=(40, 2)), edges, rng.normal(size=(len(edges), 2, 2)))
        found, local = solve(energy, "qpbo"), solve(energy, "icm")
        assert found.energy <= local.energy + 1e-12
        assert found.labels.tolist() == solve(energy, "qpbo").labels.tolist()
        gained += found.energy < local.energy
    assert gained > 10


def test_refusals() -> None:
    three = Energy([[0, 1], [0, 1, 2]], [])
    with pytest.raises(
        ValueError, match=r"at most two labels a node, but node 1 has 3: use method='expansion'"
    ):
        solve(three, "qpbo")
    with pytest.raises(ValueError, match="node 1 has 3"):
        persistency(three)
    with pytest.raises(ValueError, match="improve_rounds"):
        solve(Energy([[0, 1]], []), "qpbo", improve_rounds=-1)
    with pytest.raises(ValueError, match="max_rounds"):
        solve(three, "expansion", max_rounds=-1)
    with pytest.raises(ValueError, match="node 0 has label 5"):
        solve(three, "expansion", start=[5, 0])
    with pytest.raises(ValueError, match="node 1 has label 3"):
        solve(three, "expansion", proposals=[[0, 0], [0, 3]])
    with pytest.raises(ValueError, match="node 0 has label 2"):
        persistency(Energy([[0, 1]]), start=[2])


@pytest.mark.parametrize("method", ["qpbo", "expansion"])
def test_cliques_are_never_left_out(method: str) -> None:
    with pytest.raises(ValueError, match="clique"):
        solve(Energy(np.zeros((3, 2)), [], [], cliques=[((0, 1, 2), np.zeros((2, 2, 2)))]), method)


entries = st.one_of(
    st.floats(min_value=-1e250, max_value=1e250), st.sampled_from([0.0, 1.0, -1.0, INF, 1e-308, 5e-324])
)


@settings(max_examples=200, deadline=None)
@given(data=st.data(), n=st.integers(1, 5))
def test_bound_and_autarky_of_any_function(data: st.DataObject, n: int) -> None:
    unary = data.draw(st.lists(st.tuples(entries, entries), min_size=n, max_size=n))
    pair = st.tuples(st.integers(0, n - 1), st.integers(0, n - 1)).filter(lambda p: p[0] != p[1])
    pairs = data.draw(st.lists(pair, max_size=8)) if n > 1 else []
    tables = [np.reshape(data.draw(st.tuples(entries, entries, entries, entries)), (2, 2)) for _ in pairs]
    energy = Energy(unary, pairs, tables)
    dual = persistency(energy)
    _, values = labelings(energy)
    assert dual.bound <= values.min()
    assert not math.isnan(dual.bound)


def multi_label_energy(rng: np.random.Generator, kind: str, nodes: int = 6) -> Energy:
    n = int(rng.integers(1, nodes + 1))
    labels = rng.integers(1, 5, n)
    edges = [
        tuple(rng.choice(n, 2, replace=False)) for _ in range(int(rng.integers(0, 2 * n)) if n > 1 else 0)
    ]
    tables = [VALUES[kind](rng, (labels[u], labels[v])) for u, v in edges]
    return Energy([VALUES[kind](rng, k) for k in labels], np.array(edges, dtype=int).reshape(-1, 2), tables)


def forbidden_terms(energy: Energy, y: np.ndarray) -> int:
    return int(np.isinf(energy.terms(y)).sum())


@pytest.mark.parametrize("kind", VALUES)
def test_moves_never_raise_the_energy(kind: str) -> None:
    rng = np.random.default_rng(5)
    for _ in range(150):
        energy = multi_label_energy(rng, kind)
        draw = [rng.integers(0, energy.n_labels) for _ in range(3)]
        start, proposals = draw[0].astype(np.int32), np.array(draw[1:], dtype=np.int32)
        labels, moves, improvements, stopped = _core.expansion(energy.native, start, proposals, 5, None)
        before = (forbidden_terms(energy, start), energy.energy(start))
        after = (forbidden_terms(energy, labels), energy.energy(labels))
        assert after <= before
        assert (improvements > 0) == (labels.tolist() != start.tolist())
        assert moves >= 2
        assert not stopped


def test_fusion_is_exact_where_roof_duality_is() -> None:
    """On trees every move is solved: no labeling between start and proposal, or start and alpha, is better."""
    rng = np.random.default_rng(6)
    for kind in ("ties", "normal", "forbidden"):
        for _ in range(100):
            n = 6
            labels = rng.integers(1, 5, n)
            edges = [(v, int(rng.integers(v))) for v in range(1, n)]
            tables = [VALUES[kind](rng, (labels[u], labels[v])) for u, v in edges]
            energy = Energy([VALUES[kind](rng, k) for k in labels], edges, tables)
            start, other = (rng.integers(0, labels).astype(np.int32) for _ in range(2))
            fused, _, _, _ = _core.expansion(energy.native, start, other[None], 0, None)
            between = itertools.product(
                *[{a, b} for a, b in zip(start.tolist(), other.tolist(), strict=True)]
            )
            best = min(energy.energy(y) for y in between)
            assert energy.energy(fused) == pytest.approx(best, abs=1e-12)
            final, _, _, _ = _core.expansion(energy.native, start, other[None], 100, None)
            for alpha in range(4):
                moves = itertools.product(
                    *[{k, alpha} if alpha < m else {k} for k, m in zip(final.tolist(), labels, strict=True)]
                )
                assert energy.energy(final) <= min(energy.energy(y) for y in moves) + 1e-12


def test_expansion_reaches_the_minimum_of_most_small_energies() -> None:
    rng = np.random.default_rng(7)
    hits = 0
    for _ in range(150):
        energy = multi_label_energy(rng, "normal")
        solution = solve(energy, "expansion")
        minimum = labelings(energy)[1].min()
        assert solution.bound <= minimum <= solution.energy
        assert solution.energy <= min(solve(energy, "trws").energy, solve(energy, "icm").energy)
        hits += solution.energy == minimum
    assert hits >= 140


def test_expansion_starts_where_told_and_takes_proposals() -> None:
    rng = np.random.default_rng(8)
    edges = [(u, v) for u in range(12) for v in range(u) if rng.random() < 0.7]
    energy = Energy(rng.normal(size=(12, 3)), edges, rng.normal(size=(len(edges), 3, 3)))
    plain = solve(energy, "expansion")
    known = solve(energy, "brute")
    assert solve(energy, "expansion", proposals=[known.labels], max_rounds=0).energy <= known.energy + 1e-9
    assert solve(energy, "expansion", start=known.labels).energy == known.energy
    assert known.energy <= plain.energy <= solve(energy, "icm").energy
    assert solve(energy, "expansion").labels.tolist() == plain.labels.tolist()


def large(rng: np.random.Generator, n: int, k: int) -> Energy:
    edges = rng.integers(0, n, (5 * n, 2))
    edges = edges[edges[:, 0] != edges[:, 1]]
    return Energy(rng.normal(size=(n, k)), edges, rng.normal(size=(len(edges), k, k)))


@pytest.mark.parametrize(("method", "n", "k"), [("expansion", 3000, 20), ("qpbo", 30_000, 2)])
def test_time_limits_are_kept(method: str, n: int, k: int) -> None:
    energy = large(np.random.default_rng(9), n, k)
    for limit in (0.0, 0.1):
        clock = OwnTime()
        solution = solve(energy, method, time_limit=limit)
        assert clock.seconds < limit + 1.0
        assert solution.status == "stopped"
        assert -INF < solution.bound <= solution.energy < INF


def test_reported_cases_of_any_tables(shared: Path) -> None:
    """Tables that are no metric, asymmetric or negative: elsewhere refused or wrong."""
    cases = json.loads((shared / "cases" / "inference.json").read_text())["cases"]
    checked = 0
    for case in cases:
        if "V" not in case:
            continue
        unaries = case.get("unary", np.zeros((3, 3)))
        energy = Energy(unaries, case["edges"], np.array(case["V"], dtype=float))
        assert solve(energy, "expansion").energy == case["min"]
        checked += 1
    assert checked == 2

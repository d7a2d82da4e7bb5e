"""Min-marginals and the m best labelings against enumeration in exact arithmetic."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from test_solve import VALUES, random_energy

from exact_energies import all_values, exact_value, offset_of, terms_of
from gapcut import Energy, min_marginals, solve, solve_best
from gapcut.inference import TOLERANCE
from tiny_energies import INF, random_graph, tiny_energy


def exact_marginals(energy: Energy) -> dict[tuple[int, int], Fraction]:
    """Of all labels that some allowed labeling has."""
    found: dict[tuple[int, int], Fraction] = {}
    for y, value in all_values(energy).items():
        for place in enumerate(y):
            found[place] = min(found.get(place, value), value)
    return found


@pytest.mark.parametrize("kind", VALUES)
def test_no_lower_bound_is_above_its_min_marginal(kind: str) -> None:
    rng = np.random.default_rng(0)
    for i in range(60):
        energy = random_energy(rng, kind, forest=i % 3 == 0, most_nodes=6)
        truth, found = exact_marginals(energy), min_marginals(energy)
        assert not truth or Fraction(found.bound) <= min(truth.values())
        for u, row in enumerate(found.lower):
            assert row.shape == energy.unary(u).shape
            assert (row >= found.bound).all()
            for k, lower in enumerate(row.tolist()):
                assert (u, k) not in truth or Fraction(lower) <= truth[u, k]


@pytest.mark.parametrize("kind", ["ties", "normal", "forbidden", "mostly forbidden", "positive"])
def test_min_marginals_of_forests_are_exact(kind: str) -> None:
    rng = np.random.default_rng(1)
    for _ in range(100):
        energy = random_energy(rng, kind, forest=True)
        truth, found = exact_marginals(energy), min_marginals(energy)
        assert found.exact
        for u, row in enumerate(found.lower):
            expected = [float(truth.get((u, k), INF)) for k in range(len(row))]
            assert row.tolist() == pytest.approx(expected, abs=1e-12)


def test_min_marginals_with_cycles_are_named_bounds_and_tell_labels_apart() -> None:
    rng = np.random.default_rng(2)
    lost = known = 0.0
    for _ in range(10):
        energy = random_graph(rng, 6, 3, 0.6, 0.3)
        truth, found = exact_marginals(energy), min_marginals(energy)
        assert not found.exact
        lost += sum(float(value) - found.lower[u][k] for (u, k), value in truth.items())
        known += sum(float(value - min(truth.values())) for value in truth.values())
    assert lost < 0.2 * known


def test_min_marginals_of_large_constants_and_a_stop() -> None:
    energy = Energy([[1e9, 1e9 + 1.0], [0.0, 0.5]], [[0, 1]], [[[0.0, 2.0], [2.0, 0.0]]])
    assert min_marginals(energy).lower[0].tolist() == pytest.approx([1e9, 1e9 + 1.5])
    stopped = min_marginals(random_graph(np.random.default_rng(3), 40, 4, 0.5), time_limit=0.0)
    assert all(np.isfinite(row).all() for row in stopped.lower)
    infeasible = min_marginals(Energy([[INF, INF], [0.0, 1.0]]))
    assert infeasible.bound == INF
    with pytest.raises(ValueError, match="min_marginals takes terms over one and two nodes only"):
        min_marginals(Energy(np.zeros((3, 2)), cliques=[((0, 1, 2), np.zeros((2, 2, 2)))]))


@pytest.mark.parametrize("kind", VALUES)
def test_the_best_labelings_are_proven(kind: str) -> None:
    rng = np.random.default_rng(4)
    for i in range(12):
        energy = tiny_energy(rng, "ties") if i % 4 == 0 else random_energy(rng, kind, forest=i % 2 == 0)
        values = all_values(energy)
        ascending, terms, offset = sorted(values.values()), terms_of(energy), offset_of(energy)
        found = solve_best(energy, 5)
        if not values:
            assert [solution.status for solution in found] == ["infeasible"]
            continue
        assert len(found) == min(5, len(values))
        assert len({tuple(solution.labels.tolist()) for solution in found}) == len(found)
        for value, solution in zip(ascending, found, strict=False):
            own = exact_value(terms, tuple(solution.labels.tolist()))
            assert own is not None
            assert Fraction(solution.bound) <= value
            assert solution.status == "optimal"
            assert own - value <= Fraction(TOLERANCE) * (own - offset)


def test_best_labelings_of_a_large_tree_and_of_one_with_cycles() -> None:
    rng = np.random.default_rng(5)
    n = 200
    tree = Energy(
        rng.random((n, 3)), [(v, int(rng.integers(v))) for v in range(1, n)], rng.random((n - 1, 3, 3))
    )
    found = solve_best(tree, 10)
    assert [solution.status for solution in found] == ["optimal"] * 10
    assert found[0].energy == solve(tree).energy
    assert all(a.energy <= b.energy for a, b in itertools.pairwise(found))
    cut_short = solve_best(random_graph(rng, 60, 4, 0.3), 5, time_limit=0.5)
    assert 1 <= len(cut_short) <= 5
    assert all(solution.bound <= solution.energy for solution in cut_short)
    assert {solution.status for solution in cut_short} <= {"stopped", "optimal"}
    for m in (0, -1, 2.0, True):
        with pytest.raises(ValueError, match="m must be a whole number"):
            solve_best(tree, m)  # type: ignore[arg-type]
    assert math.isfinite(solve_best(tree, 1)[0].gap)

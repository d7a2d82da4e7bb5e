"""Message passing against the linear program: both bound the same relaxation."""

from __future__ import annotations

import itertools
import time

import numpy as np
import pytest

from gapcut import _core
from gapcut.inference import Energy, solve
from random_energies import FAMILIES, random_energy

INF = np.inf


def below_the_program(energy: Energy, **settings: bool) -> float:
    """By how much of its value the linear program's optimum is above the bound of TRW-S."""
    program, messages = solve(energy, "lp"), solve(energy, "trws", **settings)
    assert program.bound <= messages.energy + 1e-9 * abs(messages.energy)
    return (program.bound - messages.bound) / abs(program.bound)


def check_family(family: str, seeds: range) -> None:
    gaps = [below_the_program(random_energy(family, seed)) for seed in seeds]
    assert min(gaps) >= -1e-9
    assert max(gaps) <= 1e-3, f"seed {seeds[int(np.argmax(gaps))]}"


@pytest.mark.parametrize("family", FAMILIES)
def test_messages_reach_the_optimum_of_the_program(family: str) -> None:
    check_family(family, range(2))


@pytest.mark.slow
@pytest.mark.parametrize("family", FAMILIES)
def test_messages_reach_the_optimum_of_the_program_at_length(family: str) -> None:
    check_family(family, range(100))


def run(energy: Energy, max_sweeps: int = 1000, escape: bool = True) -> _core.TrwsResult:
    return _core.trws(energy.native, None, max_sweeps, 1e-9, 10, 5e-3, "breadth-first", escape)


def stuck_energy() -> Energy:
    """Sharp sweeps end 5 % below the optimum of the relaxation."""
    energy = random_energy("dense, random", 24)
    assert below_the_program(energy, escape=False) > 0.02
    return energy


def test_bounds_rise_and_sweeps_are_counted_through_escapes() -> None:
    energy = stuck_energy()
    whole = run(energy)
    assert whole.soft_sweeps > 20
    counts = sorted({1, 5, 20, *range(30, whole.sweeps, 7), whole.sweeps})
    results = [run(energy, count) for count in counts]
    assert [r.sweeps for r in results] == counts
    assert all(a.bound <= b.bound for a, b in itertools.pairwise(results))
    assert results[-1].bound == whole.bound
    stalled = run(energy, escape=False)
    assert stalled.soft_sweeps == 0
    assert whole.bound > stalled.bound
    best = [energy.energy(r.labels) for r in (stalled, whole)]
    assert best[1] <= best[0]


def test_what_closes_sees_no_soft_sweep() -> None:
    for family in FAMILIES:
        for seed in range(6):
            energy = random_energy(family, seed)
            plain, escaping = run(energy, escape=False), run(energy)
            if solve(energy, "trws", escape=False).status == "optimal":
                assert (plain.bound, plain.sweeps) == (escaping.bound, escaping.sweeps)
                assert escaping.soft_sweeps == 0


def test_forbidden_entries_and_huge_or_tiny_values_survive_soft_sweeps() -> None:
    """Complete graphs of five nodes; bounds against enumeration."""
    rng = np.random.default_rng(1)
    edges = np.stack(np.triu_indices(5, 1), 1)
    escapes = 0
    for i in range(150):
        labels = rng.integers(2, 5, 5) if i % 2 else np.full(5, rng.integers(2, 5))
        tables = []
        for u, v in edges:
            table = rng.normal(size=(labels[u], labels[v])) * 10.0 ** rng.integers(-9, 10, 1 if i % 3 else ())
            table[rng.random(table.shape) < (0.0, 0.2, 0.4)[i % 3]] = INF
            tables.append(table)
        energy = Energy([rng.normal(size=k) for k in labels], edges, tables)
        result, best = run(energy), solve(energy, "brute").energy
        escapes += result.soft_sweeps > 0
        assert result.bound <= best <= energy.energy(result.labels)
    assert escapes >= 15


def test_escapes_stop_when_asked() -> None:
    rng = np.random.default_rng(2)
    edges = rng.integers(0, 400, (3000, 2))
    edges = edges[edges[:, 0] != edges[:, 1]]
    energy = Energy(rng.normal(size=(400, 12)), edges, rng.normal(size=(len(edges), 12, 12)))
    begin = time.perf_counter()
    whole = run(energy)
    seconds = time.perf_counter() - begin
    assert whole.soft_sweeps > 0
    for share in (0.2, 0.5, 0.8):
        solution = solve(energy, "trws", time_limit=share * seconds)
        assert solution.bound <= whole.bound + 1e-12 * abs(whole.bound)  # solve adds a component's terms
        assert solution.bound <= solution.energy

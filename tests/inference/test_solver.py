"""Evidence, progress, settings of the wrong kind, and solving again after changes."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from test_solve import VALUES, grid, random_energy

from exact_energies import all_values, check_claims
from gapcut import Energy, Solver, solve
from gapcut.inference import Progress
from tiny_energies import INF, random_graph, tiny_energy


@pytest.mark.parametrize("kind", VALUES)
def test_evidence_against_enumeration(kind: str) -> None:
    rng = np.random.default_rng(0)
    for i in range(40):
        energy = tiny_energy(rng, "forbidden") if i % 4 == 0 else random_energy(rng, kind)
        u = int(rng.integers(energy.n_nodes))
        fixed = {u: int(rng.integers(energy.n_labels[u]))}
        v = int(rng.integers(energy.n_nodes))
        soft = {v: rng.integers(-3, 4, energy.n_labels[v])}
        given = energy.with_evidence(fixed, soft)
        agreeing = {
            y: value + int(soft[v][y[v]]) for y, value in all_values(energy).items() if y[u] == fixed[u]
        }
        if kind not in ("scales", "extremes"):  # where the sum of entry and evidence is rounded
            assert {y: float(x) for y, x in agreeing.items()} == pytest.approx(
                {y: float(x) for y, x in all_values(given).items()}
            )
        check_claims(given, solve(energy, fixed=fixed, soft=soft), all_values(given))


def test_evidence_that_does_not_fit_is_named() -> None:
    energy = Energy([[0.0, 1.0], [0.0, 1.0, 2.0]])
    for fixed, soft, message in (
        ({2: 0}, None, "node 2 does not exist"),
        ({0: 2}, None, "node 0 cannot have label 2: its labels are 0..1"),
        ({0: 0.5}, None, "node 0 cannot have label 0.5"),
        (None, {1: [0.0]}, r"soft evidence of node 1 has shape \(1,\), expected \(3,\)"),
        (None, {1: [0.0, np.nan, 1.0]}, "soft evidence of node 1 must be finite"),
        (None, {"a": [0.0]}, "node 'a' does not exist"),
    ):
        with pytest.raises(ValueError, match=message):
            solve(energy, fixed=fixed, soft=soft)
    assert solve(energy, soft={0: [INF, 0.0]}).labels.tolist() == [1, 0]


def test_solving_again_is_as_proven_as_from_nothing() -> None:
    for kind in VALUES:
        rng = np.random.default_rng(1)
        for _ in range(8):
            energy = random_energy(rng, kind)
            solver = Solver(energy)
            for _ in range(4):
                u = int(rng.integers(energy.n_nodes))
                soft = {u: rng.normal(size=energy.n_labels[u])}
                fixed = {u: 0} if rng.random() < 0.3 else {}
                given = energy.with_evidence(fixed, soft)
                check_claims(given, solver.solve(fixed=fixed, soft=soft), all_values(given))


@pytest.mark.parametrize("k", [2, 3, 6, 9])
def test_solving_again_after_a_small_change_takes_fewer_sweeps(k: int) -> None:
    """All layouts of messages; the bound is that of a solve from nothing, or better."""
    from gapcut import _core

    rng = np.random.default_rng(k)
    energy = grid(rng, 30, k)
    settings = (1000, 1e-9, 10, 5e-3, "breadth-first", False)
    messages = _core.Messages()
    _core.trws(energy.native, None, *settings, messages)
    changed = energy.with_evidence(soft={5: 0.1 * rng.normal(size=k), 77: 0.1 * rng.normal(size=k)})
    cold = _core.trws(changed.native, None, *settings)
    warm = _core.trws(changed.native, None, *settings, messages)
    assert warm.sweeps < cold.sweeps
    assert warm.bound >= cold.bound - 1e-3 * abs(cold.bound)
    messages.clear()
    assert _core.trws(changed.native, None, *settings, messages).sweeps == cold.sweeps


def test_solver_keeps_the_last_labeling_and_stops() -> None:
    energy = grid(np.random.default_rng(3), 60, 5)
    solver = Solver(energy)
    first = solver.solve(time_limit=0.5)
    again = solver.solve(time_limit=0.1)
    assert again.energy <= first.energy
    assert again.bound <= first.energy


@pytest.mark.parametrize("method", ["auto", "trws"])
def test_progress_only_gets_better_and_is_true(method: str) -> None:
    energy = grid(np.random.default_rng(4), 60, 5)
    heard: list[Progress] = []
    found = solve(energy, method, time_limit=1.5, progress=heard.append)
    assert len(heard) >= 2
    for earlier, later in itertools.pairwise(heard):
        assert later.energy <= earlier.energy
        assert later.bound >= earlier.bound
        assert later.seconds >= earlier.seconds
    assert (heard[-1].energy, heard[-1].bound) == (found.energy, found.bound)
    assert heard[-1].bound <= heard[-1].energy

    def interrupt(progress: Progress) -> None:
        raise RuntimeError("enough")

    with pytest.raises(RuntimeError, match="enough"):
        solve(energy, method, progress=interrupt)


def test_settings_of_the_wrong_kind() -> None:
    energy = Energy([[0.0, 1.0]])
    for method, settings, message in (
        ("trws", {"max_sweeps": 2.5}, r"max_sweeps of method 'trws' must be a whole number, got 2\.5"),
        ("trws", {"max_sweeps": True}, "max_sweeps of method 'trws' must be a whole number, got True"),
        ("trws", {"tolerance": "small"}, "tolerance of method 'trws' must be a number, got 'small'"),
        ("trws", {"order": 3}, "order of method 'trws' must be a text, got 3"),
        ("trws", {"escape": 1}, "escape of method 'trws' must be True or False, got 1"),
        ("bp", {"damping": None}, "damping of method 'bp' must be a number, got None"),
        ("auto", {"effort": [1]}, r"effort of method 'auto' must be a number, got \[1\]"),
        ("trws", {"max_sweeps": 2**40}, "max_sweeps of method 'trws' must be at most"),
    ):
        with pytest.raises(ValueError, match=message):
            solve(energy, method, **settings)
    assert solve(energy, "trws", max_sweeps=np.int64(3), tolerance=0).status == "optimal"


@pytest.mark.parametrize("method", ["auto", "trws"])
def test_never_worse_than_the_start(method: str) -> None:
    """Also where no time is left to find anything, and where the start is the minimum of a hard energy."""
    energy = random_graph(np.random.default_rng(5), 12, 3, 0.9)
    best = solve(energy, "brute")
    few = {"effort": 0.0} if method == "auto" else {"max_sweeps": 1, "escape": False}
    for limit in (None, 0.0):
        assert solve(energy, method, limit, start=best.labels, **few).energy == best.energy
    with pytest.raises(ValueError, match="node 0 has label 3"):
        solve(energy, method, start=[3] * 12)

"""Exact methods against enumeration, bounds of the others, what they do when time runs out."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from gapcut.engines import Deadline
from gapcut.inference import METHODS, Energy, Solution, solve
from gapcut.inference.methods.exact import has_toulbar2
from gapcut.inference.methods.linear_program import integer_program
from gapcut.inference.methods.parts import Known
from gapcut.inference.reduction import reduce_energy
from gapcut.inference.shifted import integers, shifted
from reported_cases import reported_energies, reported_energy
from tiny_energies import INF, KINDS, minimum, random_graph, start, tiny_energy

FOREVER = Deadline(None)


def agree(found: Known | Solution, energy: Energy, best: float) -> None:
    value = energy.energy(found.labels)
    assert found.bound <= best <= value
    if best == INF:
        assert found.bound == INF
    else:
        scale = np.abs(energy.terms(found.labels)).sum() + 1
        assert value - best <= 1e-12 * scale
        assert best - found.bound <= 1e-8 * scale


def check_all(seed: int, count: int) -> None:
    rng = np.random.default_rng(seed)
    for i in range(count):
        energy = tiny_energy(rng, list(KINDS)[i % len(KINDS)])
        best = minimum(energy)
        agree(integer_program(energy, start(energy), FOREVER)[0], energy, best)
        for method in ("auto", "brute", "ilp"):
            agree(solve(energy, method), energy, best)
        for method in ("bp", "icm", "lp", "trws"):
            solution = solve(energy, method)
            assert solution.bound <= best <= solution.energy
        agree_reduced(energy, best)


def agree_reduced(energy: Energy, best: float) -> None:
    for dead_ends in (True, False):
        reduced = reduce_energy(energy, FOREVER, dead_ends)
        parts = [solve(part.energy, "brute") for part in reduced.parts]
        if reduced.constant == INF:
            assert best == INF
            continue
        labels = reduced.labels([part.labels for part in parts])
        bound = reduced.bound([part.bound for part in parts])
        assert bound <= best <= energy.energy(labels)
        if best < INF:
            assert energy.energy(labels) - bound <= 1e-12 * (np.abs(energy.terms(labels)).sum() + 1)


def test_methods_agree_with_enumeration() -> None:
    check_all(0, 240)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(10))
def test_methods_agree_with_enumeration_at_length(seed: int) -> None:
    check_all(100 + seed, 500)


def frustrated(rng: np.random.Generator, n: int, k: int) -> Energy:
    """Random tables on a dense graph: large gaps, no hope to prove anything soon."""
    return random_graph(rng, n, k, 0.3)


@pytest.mark.parametrize("method", ["exact", "ilp"])
def test_exact_methods_close_what_message_passing_leaves_open(method: str) -> None:
    if method == "exact" and not has_toulbar2():
        pytest.skip("pytoulbar2 is not installed")
    rng = np.random.default_rng(5)
    for _ in range(2):
        energy = random_graph(rng, 16, 3, 0.4)
        assert solve(energy, "trws").status == "feasible"
        solution = solve(energy, method)
        assert solution.status == "optimal"
        assert solve(energy).energy == pytest.approx(solution.energy, abs=1e-9)


def test_auto_is_no_worse_than_its_parts() -> None:
    rng = np.random.default_rng(6)
    for _ in range(3):
        energy = frustrated(rng, 60, 4)
        whole = solve(energy, effort=0.1)
        for part in ("trws", "icm"):
            solution = solve(energy, part)
            assert whole.energy <= solution.energy
            assert whole.bound >= solution.bound


def test_too_large_for_a_program_is_refused_in_one_line() -> None:
    k = 150
    edges = [(u, (u + s) % 101) for s in (1, 2) for u in range(101)]
    energy = Energy(np.zeros((101, k)), edges, 1.0 - np.eye(k))
    with pytest.raises(
        ValueError, match=r"method 'lp' would build .* columns, more than .*: use method='trws'"
    ):
        solve(energy, "lp")


def test_settings_are_checked() -> None:
    energy = Energy([[0, 1]])
    for method, setting in (("bp", {"damping": 1.0}), ("bp", {"max_sweeps": 0}), ("auto", {"effort": -1.0})):
        with pytest.raises(ValueError, match=next(iter(setting))):
            solve(energy, method, **setting)


def test_integers_never_exceed_the_energy() -> None:
    """Scaled and rounded costs: a lower bound of every labeling that is not worse than the known one."""
    rng = np.random.default_rng(7)
    for i in range(200):
        energy = tiny_energy(rng, list(KINDS)[i % len(KINDS)])
        counts = energy.n_labels
        labels = [np.array([int(rng.integers(k)) for k in counts]) for _ in range(4)]
        values = [energy.energy(y) for y in labels]
        terms = shifted(energy, max(values))
        if terms is None:
            continue
        costs = integers(terms)
        for y, value in zip(labels, values, strict=True):
            if value < INF:
                cost = costs.cost(y, energy)
                assert cost < costs.top
                assert terms.offset + cost / costs.scale <= value + 1e-15 * abs(value)
                assert terms.offset + cost / costs.scale >= value - 1e-9


def test_the_known_labeling_stays_allowed() -> None:
    """However its energy was rounded: else an integer program without any other labeling proves nothing."""
    rng = np.random.default_rng(8)
    for _ in range(500):
        energy = Energy(rng.normal(size=(4, 2)))
        labels = np.eye(4, dtype=np.int64)[0]
        labels ^= np.argmin(energy.unaries().reshape(4, 2), axis=1)
        terms = shifted(energy, energy.energy(labels))
        assert terms is not None
        assert (terms.entries[terms.at[:-1] + labels] < INF).all()


def test_reported_cases(shared: Path) -> None:
    for case in reported_energies(shared):
        energy = reported_energy(case)
        for method in METHODS:
            if method == "qpbo" and energy.n_labels.max() > 2:
                continue
            if method in ("cycles", "expansion", "qpbo", "trees") and energy.n_cliques:
                continue
            solution = solve(energy, method)
            assert solution.bound <= case["min"] + 1e-12
            assert solution.energy == energy.energy(solution.labels)
            if method in ("auto", "brute", "exact", "ilp"):
                assert solution.energy == pytest.approx(case["min"], abs=1e-12), (case["what"], method)
                assert solution.status == "optimal"

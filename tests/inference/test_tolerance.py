"""When a labeling is called optimal: against exact rational enumeration, whatever constants and scales."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest

from exact_energies import all_values, check_claims
from gapcut.inference import METHODS, Energy, read_energy, solve
from gapcut.inference.methods.exact import has_toulbar2
from tiny_energies import random_graph

INF = math.inf
EXACT = {"auto", "brute", "exact", "ilp"}
SLOW = {"exact", "ilp", "lp"}


def one_scale(scale: float):
    return lambda rng, shape: scale * rng.normal(size=shape)


def mixed(rng, shape):
    """Entries of any size beside each other, zeros among them."""
    return rng.choice([0.0, 1.0, -1.0], shape) * 10.0 ** rng.integers(-300, 301, shape)


KINDS = {
    "1e-300": one_scale(1e-300),
    "subnormal": one_scale(1e-318),
    "1e300": one_scale(1e300),
    "1e150": one_scale(1e150),
    "integers": lambda rng, shape: rng.integers(-2, 3, shape).astype(float),
    "zeros": lambda rng, shape: np.zeros(shape),
    "mostly zero": lambda rng, shape: np.where(rng.random(shape) < 0.7, 0.0, rng.normal(size=shape)),
    "forbidden": lambda rng, shape: np.where(rng.random(shape) < 0.2, INF, rng.normal(size=shape)),
    "soft and hard": lambda rng, shape: rng.choice([1e9, 1e12, 0.0, 1.0, INF], shape) + rng.random(shape),
    "mixed": mixed,
}
CONSTANTS = {"none": 0.0, "1e9": 1e9, "-1e9": -1e9}


def random_energy(rng: np.random.Generator, kind: str, constant: float, most_labels: int) -> Energy:
    n = int(rng.integers(1, 6))
    labels = rng.integers(1, most_labels + 1, n)
    values = KINDS[kind]
    edges = [rng.choice(n, 2, replace=False) for _ in range(rng.integers(0, 8))] if n > 1 else []
    return Energy(
        [values(rng, k) + constant for k in labels],
        np.array(edges, dtype=int).reshape(-1, 2),
        [values(rng, (labels[u], labels[v])) + constant * rng.integers(0, 2) for u, v in edges],
        [([0, 1, 2], values(rng, tuple(labels[:3])))] if n > 2 and rng.random() < 0.3 else None,
    )


def methods_for(energy: Energy) -> list[str]:
    """All that take the energy."""
    left_out = set() if has_toulbar2() else {"exact"}
    if energy.n_labels.max() > 2:
        left_out.add("qpbo")
    if energy.n_cliques:
        left_out |= {"cycles", "qpbo", "expansion", "trees"}
    return [method for method in METHODS if method not in left_out]


@pytest.mark.parametrize("constant", CONSTANTS)
@pytest.mark.parametrize("kind", KINDS)
def test_claims_are_true_and_small_energies_close(kind: str, constant: str) -> None:
    rng = np.random.default_rng([len(kind), len(constant), 7])
    for i in range(24):
        energy = random_energy(rng, kind, CONSTANTS[constant], most_labels=2 + i % 2)
        values = all_values(energy)
        for method in methods_for(energy):
            if method in SLOW and i >= 6:
                continue
            found = solve(energy, method)
            check_claims(energy, found, values)
            if method in ("auto", "brute"):
                assert found.status == ("optimal" if values else "infeasible"), (method, i)


@pytest.mark.parametrize("constant", [0.0, 1e9, -1e12])
def test_a_constant_changes_no_status(constant: float) -> None:
    """The status is that without it, and the gap stays small against the energy's own terms."""
    rng = np.random.default_rng(3)
    for _ in range(5):
        plain = random_graph(rng, 12, 3, 0.4)
        tables = [plain.table(e) for e in range(plain.n_edges)]
        rounded = plain.unaries().reshape(-1, 3) + constant  # rounds the entries too: they are what is solved
        moved = Energy(rounded, plain.edges, tables)
        same = Energy(rounded - constant, plain.edges, tables)
        for method in ("auto", "trws", "lp", "ilp", "expansion"):
            a, b = solve(moved, method), solve(same, method)
            assert a.status == b.status, method
            assert a.gap == pytest.approx(b.gap, abs=1e-6)


@pytest.mark.parametrize("exponent", [-1000, -300, 300, 900])
def test_a_power_of_two_changes_only_the_scale(exponent: int) -> None:
    rng = np.random.default_rng(4)
    plain = random_graph(rng, 10, 3, 0.4)
    tables = [plain.table(e) for e in range(plain.n_edges)]
    scaled = Energy(
        np.ldexp(plain.unaries(), exponent).reshape(-1, 3),
        plain.edges,
        [np.ldexp(table, exponent) for table in tables],
    )
    for method in methods_for(plain):
        a, b = solve(plain, method), solve(scaled, method)
        assert (a.labels.tolist(), a.status) == (b.labels.tolist(), b.status), method
        if method in EXACT:
            assert b.status == "optimal"
        assert b.bound == pytest.approx(math.ldexp(a.bound, exponent), rel=1e-9)


def test_an_optimum_of_which_all_terms_are_zero_closes() -> None:
    energy = Energy(np.zeros((3, 2)), [(0, 1), (1, 2), (0, 2)], [[[0.0, -1.0], [2.0, 0.0]]] * 3)
    shifted = Energy([[0.0, 1.0], [0.0, 5e-324]], [(0, 1)], [[[0.0, 1.0], [1.0, 0.0]]])
    for method in ("auto", "trws", "brute", "ilp", "expansion", "qpbo"):
        assert solve(shifted, method).status == "optimal", method
        assert solve(shifted, method).gap == 0.0, method
    assert solve(energy).status == "optimal"


RIGHT = {
    "zero_optimum.cfn": (0.0, {"auto", "trws", "cycles", "expansion", "qpbo", "exact", "ilp", "lp"}),
    "offset_1e9.h5": (29999999936.355873, {"auto", "cycles", "exact", "ilp"}),
    "lp_tiny.h5": (1e-305, {"auto", "trws", "cycles", "brute", "expansion", "qpbo", "exact", "ilp", "lp"}),
    "uai_comments.uai": (
        0.5798184952529422,
        {"auto", "trws", "cycles", "brute", "expansion", "qpbo", "exact", "ilp", "lp"},
    ),
}


@pytest.mark.parametrize("name", RIGHT)
def test_known_cases(name: str, shared: Path) -> None:
    """Methods that can prove the minimum do, and none claims less or better."""
    if name.endswith(".h5"):
        pytest.importorskip("h5py")
    energy = read_energy(shared / "cases" / "inference" / name)
    least, proving = RIGHT[name]
    for method in methods_for(energy):
        if method == "brute" and energy.log_labelings() > math.log(1e6):
            continue
        found = solve(energy, method)
        assert found.bound <= least * (1 + 1e-15)
        assert found.energy >= least * (1 - 1e-12)
        assert found.status == ("optimal" if method in proving else "feasible"), method
        if method in proving:
            assert found.energy == pytest.approx(least, rel=1e-15, abs=1e-300)

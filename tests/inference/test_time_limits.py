"""A limit of one second on 3,000 nodes, for every method."""

from __future__ import annotations

import numpy as np
import pytest

from gapcut.inference import METHODS, Energy, solve
from gapcut.inference.methods.exact import has_toulbar2
from own_time import OwnTime
from tiny_energies import INF

N_NODES, LIMIT, TOLERANCE = 3000, 1.0, 0.5


def random_graph(labels: np.ndarray, n_edges: int) -> Energy:
    """Random tables: large gaps, no hope to prove anything soon."""
    rng = np.random.default_rng(4)
    ends = rng.integers(0, N_NODES, (n_edges, 2))
    ends = ends[ends[:, 0] != ends[:, 1]]
    tables = [rng.normal(size=(labels[u], labels[v])) for u, v in ends]
    return Energy([rng.normal(size=k) for k in labels], ends, tables)


def hard_for(method: str) -> Energy:
    if method == "qpbo":
        return random_graph(np.full(N_NODES, 2), 30_000)
    if method == "brute":  # a million labelings
        return random_graph(np.where(np.arange(N_NODES) < 20, 2, 1), 12_000)
    return random_graph(np.full(N_NODES, 11), 15_000)


def with_cliques() -> Energy:
    rng = np.random.default_rng(5)
    triples = [rng.choice(N_NODES, 3, replace=False) for _ in range(6000)]
    return Energy(rng.normal(size=(N_NODES, 5)), cliques=[(t, rng.normal(size=(5, 5, 5))) for t in triples])


def seconds_of(energy: Energy, method: str, limit: float) -> float:
    clock = OwnTime()
    solution = solve(energy, method, time_limit=limit)
    taken = clock.seconds
    assert -INF < solution.bound <= solution.energy < INF
    if limit == 0.0:
        assert solution.status == "stopped"
    return taken


@pytest.mark.parametrize("method", METHODS)
def test_a_second_is_kept(method: str) -> None:
    if method == "exact" and not has_toulbar2():
        pytest.skip("pytoulbar2 is not installed")
    energy = hard_for(method)
    assert seconds_of(energy, method, LIMIT) < LIMIT + TOLERANCE
    if method != "brute":
        assert seconds_of(energy, method, 0.0) < TOLERANCE


@pytest.mark.parametrize("method", ["auto", "ilp", "lp", "trws"])
def test_a_second_is_kept_with_cliques(method: str) -> None:
    """``trws`` is SRMP here."""
    assert seconds_of(with_cliques(), method, LIMIT) < LIMIT + TOLERANCE


def test_what_the_exact_search_proves_at_once_needs_no_more_of_a_long_limit() -> None:
    """Message passing leaves a gap, and what seeks labelings only would take half of the limit."""
    pytest.importorskip("pytoulbar2")
    rng = np.random.default_rng(3)
    n = 40
    edges = np.unique(np.sort(rng.integers(0, n, (160, 2))), axis=0)
    edges = edges[edges[:, 0] < edges[:, 1]]
    tables = rng.normal(size=(len(edges), 3, 3))
    energy = Energy(rng.normal(size=(n, 3)), edges, tables)
    assert solve(energy, method="trws").status != "optimal"
    found = solve(energy, time_limit=60.0)
    assert found.status == "optimal"
    assert found.seconds < 20.0

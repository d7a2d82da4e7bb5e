"""Maximum flow against SciPy, and the closure solver with and without persistency."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.sparse.csgraph import maximum_flow

from gapcut import _core


def random_network(rng: np.random.Generator, n: int, m: int, largest: int):
    excess = rng.integers(-largest, largest + 1, size=n)
    tail = rng.integers(n, size=m)
    head = (tail + 1 + rng.integers(n - 1, size=m)) % n
    forward = rng.integers(0, largest + 1, size=m) * (rng.random(m) < 0.8)
    backward = rng.integers(0, largest + 1, size=m) * (rng.random(m) < 0.5)
    return excess, np.stack([tail, head], axis=1).astype(np.int32), forward, backward


def scipy_flow(excess, arcs, forward, backward) -> int:
    n = len(excess)
    source, sink = n, n + 1
    tails = np.concatenate([arcs[:, 0], arcs[:, 1], np.full(n, source), np.arange(n)])
    heads = np.concatenate([arcs[:, 1], arcs[:, 0], np.arange(n), np.full(n, sink)])
    caps = np.concatenate([forward, backward, np.maximum(excess, 0), np.maximum(-excess, 0)])
    graph = sp.csr_array((caps.astype(np.int32), (tails, heads)), shape=(n + 2, n + 2))
    graph.sum_duplicates()
    return int(maximum_flow(graph, source, sink).flow_value)


def cut_cost(side, excess, arcs, forward, backward) -> int:
    side = side.astype(bool)
    terminal = np.where(side, np.maximum(-excess, 0), np.maximum(excess, 0)).sum()
    tail, head = side[arcs[:, 0]], side[arcs[:, 1]]
    return int(terminal + forward[tail & ~head].sum() + backward[head & ~tail].sum())


@pytest.mark.parametrize(
    ("n", "m", "largest", "rounds"), [(5, 8, 3, 1500), (30, 90, 10, 400), (200, 800, 1000, 40)]
)
def test_flow_equals_scipy_and_cut_costs_the_flow(n, m, largest, rounds):
    rng = np.random.default_rng(n)
    for _ in range(rounds):
        network = random_network(rng, n, m, largest)
        value, side = _core.max_flow(*network)
        assert value == scipy_flow(*network)
        assert value == cut_cost(side, *network)


def test_long_thin_network_has_many_levels():
    """Case 10 (scipy 14385): a path of 100,000 nodes."""
    n = 100_000
    excess = np.zeros(n, dtype=np.int64)
    excess[0], excess[-1] = 7, -5
    arcs = np.stack([np.arange(n - 1), np.arange(1, n)], axis=1).astype(np.int32)
    rng = np.random.default_rng(0)
    capacity = rng.integers(3, 9, size=n - 1)
    value, side = _core.max_flow(excess, arcs, capacity, np.zeros(n - 1, dtype=np.int64))
    assert value == 3
    assert cut_cost(side, excess, arcs, capacity, np.zeros(n - 1, dtype=np.int64)) == 3


def test_reported_cut_of_another_library():
    """Case 8 (networkx 4972) in tenths: flow 3.1, source side {s, b}."""
    # s=20 -> a, 20 -> b; a -> b 10, b -> a 1, a -> c 20; a -> t 10, b -> t 10, c -> t 20
    excess = np.array([20 - 10, 20 - 10, -20])  # a and b each pass 10 straight on
    arcs = np.array([[0, 1], [0, 2]], dtype=np.int32)
    value, side = _core.max_flow(excess, arcs, np.array([10, 20]), np.array([1, 0]))
    assert value + 20 == 31
    assert side.tolist() == [0, 1, 0]


def brute_closure(gains, pairs, b) -> float:
    n = len(gains)
    z = (np.arange(2**n)[:, None] >> np.arange(n)) & 1
    return float((z @ gains + (z[:, pairs[:, 0]] * z[:, pairs[:, 1]]) @ b).max())


@pytest.mark.parametrize("persistency", [True, False])
def test_closure_equals_enumeration(persistency):
    rng = np.random.default_rng(3)
    for _ in range(2000):
        n, m = int(rng.integers(2, 9)), int(rng.integers(0, 14))
        gains = rng.normal(size=n) - 0.5
        pairs = rng.integers(n, size=(m, 2))
        pairs = pairs[pairs[:, 0] != pairs[:, 1]].astype(np.int32)
        b = rng.random(len(pairs))
        if rng.random() < 0.5:
            gains, b = np.round(2 * gains), np.round(2 * b)
        scale = 10.0 ** rng.integers(-200, 200)
        z, rounding, core = _core.closure(gains * scale, pairs, b * scale, persistency)
        value = gains @ z + (z[pairs[:, 0]] * z[pairs[:, 1]]) @ b
        best = brute_closure(gains, pairs, b)
        assert value == pytest.approx(best, abs=1e-12)
        assert rounding / scale < 1e-14 * (n + m) * (1 + np.abs(gains).sum() + b.sum())
        if not persistency:
            assert core == n


def test_rounding_bound_covers_what_integers_lose():
    """Coefficients far below one unit of the scale: the labeling may be wrong by them, the bound says so."""
    gains = np.array([1e18, 1e-3, -1e-3])
    pairs = np.zeros((0, 2), dtype=np.int32)
    z, rounding, _ = _core.closure(gains, pairs, np.zeros(0))
    assert z[0] == 1
    assert gains[gains > 0].sum() - gains @ z <= rounding


def test_overflow_is_an_error_not_a_wrong_answer():
    with pytest.raises(OverflowError):
        _core.closure(np.array([1e308, 1e308]), np.zeros((0, 2), dtype=np.int32), np.zeros(0))

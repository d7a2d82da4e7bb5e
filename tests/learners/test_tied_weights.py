"""Weights that label pairs share, against programs over all labelings in which they are written out."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest

from brute_oracle import enumerated_optimum, objective
from gapcut.learners import Block, CuttingPlane, FrankWolfe, Limits, PrimalDual, Subgradient
from gapcut.model.domain import WeightShape, tied_pairs, weight_box
from gapcut.oracles import CutOracle, TreeOracle, TrwsOracle
from gapcut.oracles.brute import BruteOracle
from gapcut.oracles.lp import LpOracle
from gapcut.problem import learning_problem
from lp_relaxed import lp_relaxed_optimum
from one_hot import forest
from tiny import (
    all_labelings,
    indicator_loss,
    joint_feature_map,
    label_loss,
    one_hot,
    random_costs,
    tiny_graph,
)


@dataclass
class WrittenOut:
    """The same problem in weights of its own: ``w = T u`` for all K K De pairwise weights, none left out."""

    T: np.ndarray
    lower: np.ndarray
    upper: np.ndarray
    C: float

    @property
    def dim(self):
        return self.T.shape[1]

    def clamp(self, x):
        return np.clip(x, self.lower, self.upper)

    def conjugate(self, x):
        u = self.clamp(x)
        return float(u @ x - 0.5 * u @ u)


def matrix(kind: str, n_labels: int, node_dim: int, edge_dim: int) -> tuple[np.ndarray, int]:
    """T, and how many of its columns are unary."""
    unary = n_labels * node_dim
    if kind == "symmetric":
        names = [(min(k, m), max(k, m)) for k in range(n_labels) for m in range(n_labels)]
    else:
        names = ["equal" if k == m else None for k in range(n_labels) for m in range(n_labels)]
    distinct = sorted({name for name in names if name is not None}, key=str)
    T = np.zeros((unary + len(names) * edge_dim, unary + len(distinct) * edge_dim))
    T[:unary, :unary] = np.eye(unary)
    for pair, name in enumerate(names):
        for d in range(edge_dim):
            if name is not None:
                T[unary + pair * edge_dim + d, unary + distinct.index(name) * edge_dim + d] = 1.0
    return T, unary


def tied_problem(rng, kind: str, *, free: bool, trees: bool, C: float):
    """A problem of the package, its graphs and labels, and the same written out."""
    n_labels, node_dim, edge_dim = int(rng.integers(2, 4)), int(rng.integers(1, 3)), int(rng.integers(1, 3))
    count = 9 if trees else 4  # with lp, graphs are mixed one by one from 8 on
    graphs = [
        tiny_graph(rng, int(rng.integers(1, 8 // n_labels + 1)), 6, node_dim, edge_dim) for _ in range(count)
    ]
    if trees:
        graphs = [forest(graph, rng) for graph in graphs]
    labels = [rng.integers(n_labels, size=graph.n_nodes) for graph in graphs]
    shape = WeightShape(n_labels, node_dim, edge_dim)
    rule = "none" if free else "pairwise"
    lower, upper = weight_box(shape, rule, None, kind, free_pairwise=free, oracle="")
    costs = random_costs(rng, n_labels)
    problem = learning_problem(
        graphs, labels, n_labels=n_labels, C=C, loss_scale=4.0, lower=lower, upper=upper, costs=costs,
        tied=tied_pairs(kind, n_labels),
    )  # fmt: skip
    T, unary = matrix(kind, n_labels, node_dim, edge_dim)
    low = np.full(T.shape[1], -np.inf)
    if not free:
        low[unary:] = 0.0
    return problem, graphs, labels, WrittenOut(T, low, np.full(T.shape[1], np.inf), C)


def planes_of(problem, graphs, labels, written: WrittenOut, one_label: bool):
    """All labelings of all graphs, in the weights of the problem that is written out."""
    K, found = problem.n_labels, []
    for graph, y in zip(graphs, labels, strict=True):
        z = all_labelings(graph.n_nodes, K)
        truth = one_hot(y, K)
        if one_label:
            z = z[(z.sum(axis=2) == 1.0).all(axis=1)]
            losses = (z * label_loss(problem, graph, y)).sum(axis=(1, 2))
        else:
            losses = (np.abs(z - truth) * indicator_loss(problem, graph, y)).sum(axis=(1, 2))
        planes = joint_feature_map(graph, truth) - joint_feature_map(graph, z)
        found.append((planes @ written.T, losses))
    return found


def brute(problem, graphs, labels):
    losses = [
        indicator_loss(problem, g, y) * np.ones(problem.n_labels) for g, y in zip(graphs, labels, strict=True)
    ]
    return BruteOracle(problem, zip(graphs, labels, losses, strict=True))


PAIRS = {
    "primal-dual, cut": (PrimalDual, CutOracle, False, False),
    "block, cut": (Block, CutOracle, False, False),
    "cutting-plane, cut": (CuttingPlane, CutOracle, False, False),
    "frank-wolfe, cut": (FrankWolfe, CutOracle, False, False),
    "subgradient, cut": (Subgradient, CutOracle, False, False),
    "block, brute": (Block, None, False, False),
    "primal-dual, lp": (PrimalDual, LpOracle, True, True),
    "block, lp": (Block, LpOracle, True, True),
    "block, tree": (Block, TreeOracle, True, True),
    "block, trws": (Block, TrwsOracle, True, True),
}


@pytest.mark.parametrize("kind", ["symmetric", "potts"])
@pytest.mark.parametrize("pair", PAIRS)
def test_certificates_are_of_the_problem_written_out(pair, kind):
    make, oracle, one_label, trees = PAIRS[pair]
    rng = np.random.default_rng([len(pair), kind == "potts"])
    certified = 0
    for C in (0.3, 10.0, 10.0, 300.0):
        problem, graphs, labels, written = tied_problem(rng, kind, free=one_label, trees=trees, C=C)
        known = planes_of(problem, graphs, labels, written, one_label)
        low, high = enumerated_optimum(written, known)
        asked = brute(problem, graphs, labels) if oracle is None else oracle(problem)
        result = make().run(problem, asked, Limits(gap=1e-2, max_passes=150))
        unary, pairwise = problem.expand(result.weights)
        full = np.concatenate([unary.ravel(), pairwise.ravel()])
        u = np.linalg.lstsq(written.T, full, rcond=None)[0]
        assert np.allclose(written.T @ u, full, atol=1e-12 * (1 + np.abs(full).max()))
        slip = 1e-7 * (1.0 + high)
        assert result.certificate.lower <= high + slip
        assert low - slip <= objective(written, known, u) <= result.certificate.upper + slip
        certified += result.certificate.status == "certified"
    assert certified >= (1 if make in (FrankWolfe, Subgradient) else 3)


@pytest.mark.parametrize("kind", ["symmetric", "potts"])
def test_certificates_on_graphs_with_cycles_are_of_the_relaxed_problem(kind):
    rng = np.random.default_rng(kind == "potts")
    for C in (0.1, 1.0, 10.0, 100.0):
        for free in (True, False):
            problem, graphs, labels, _ = tied_problem(rng, kind, free=free, trees=False, C=C)
            best, _ = lp_relaxed_optimum(problem, graphs, labels)
            certificate = PrimalDual().run(problem, LpOracle(problem), Limits(gap=1e-2)).certificate
            slip = 1e-6 * (1.0 + best)
            assert certificate.lower <= best + slip
            assert best - slip <= certificate.upper
            assert certificate.status == "certified"


def test_shared_weights_are_the_same_bit_for_bit():
    problem, *_ = tied_problem(np.random.default_rng(1), "symmetric", free=False, trees=False, C=10.0)
    result = PrimalDual().run(problem, CutOracle(problem), Limits(gap=1e-2))
    _, pairwise = problem.expand(result.weights)
    assert np.array_equal(pairwise, pairwise.transpose(1, 0, 2))
    assert np.abs(pairwise).max() > 0.0


def test_a_problem_with_other_ties_has_another_fingerprint():
    rng = np.random.default_rng(2)
    graph = tiny_graph(rng, 4, 6, 1, 1)
    y = [np.array([0, 1, 0, 1])]
    found = {
        learning_problem([graph], y, n_labels=2, C=1.0, loss_scale=1.0, tied=tied).fingerprint
        for tied in (None, tied_pairs("symmetric", 2))
    }
    assert len(found) == 2

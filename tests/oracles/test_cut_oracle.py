"""The cut oracle against enumeration of all labelings."""

from __future__ import annotations

import numpy as np
import pytest

from gapcut.engines import OutOfTime
from gapcut.oracles import CutOracle
from gapcut.problem import learning_problem
from tiny import TinyGraph, enumerated_planes, indicator_loss, tiny_problem

N_RANDOM = 2500


def random_weights(rng: np.random.Generator, problem) -> np.ndarray:
    """Signed unary weights and sparse non-negative pairwise ones, at scales from tiny to huge, often tied."""
    w = rng.normal(size=problem.dim)
    w[problem.unary_count :] = np.abs(w[problem.unary_count :]) * (
        rng.random(problem.dim - problem.unary_count) < 0.6
    )
    if rng.random() < 0.4:
        w = np.round(2 * w)
    if rng.random() < 0.2:
        w *= 10.0 ** rng.integers(-12, 13)
    return w * (rng.random() < 0.95)


def test_equals_enumeration_on_random_graphs():
    rng = np.random.default_rng(0)
    cuts = 0
    for _ in range(N_RANDOM):
        problem, graphs, labels = tiny_problem(rng)
        w = random_weights(rng, problem)
        oracle = CutOracle(problem)
        answer = oracle.evaluate(w)
        planes, losses = enumerated_planes(problem, graphs[0], labels[0])
        values = losses - planes @ w
        best, scale = values.max(), 1.0 + np.abs(planes @ w).max() + losses.max()
        found = answer.losses[0] - answer.planes[0] @ w
        assert found == pytest.approx(best, abs=1e-12 * scale)
        assert best <= answer.bounds[0] <= max(best, 0.0) + 1e-9 * scale
        # the plane is the plane of the labeling, the labeling one of the enumeration's
        match = (np.abs(planes - answer.planes[0]) <= 1e-9 * (1 + np.abs(planes))).all(axis=1)
        assert (match & (np.abs(losses - answer.losses[0]) <= 1e-9 * scale)).any()
        cuts += oracle.statistics(w)["components"]
    assert cuts > 50, "too few instances got past persistency for this test to mean something"


def test_bounds_are_tight_to_rounding():
    rng = np.random.default_rng(1)
    for _ in range(100):
        problem, *_ = tiny_problem(rng)
        w = rng.normal(size=problem.dim)
        w[problem.unary_count :] = np.abs(w[problem.unary_count :])
        answer = CutOracle(problem).evaluate(w)
        value = answer.losses[0] - answer.planes[0] @ w
        assert 0.0 <= answer.bounds[0] - max(value, 0.0) <= 1e-10 * (1.0 + abs(value) + np.abs(w).sum() * 20)


def test_total_is_the_mean_and_threads_do_not_change_a_bit():
    rng = np.random.default_rng(2)
    problem, *_ = tiny_problem(rng, n_graphs=37)
    w = random_weights(rng, problem)
    each = CutOracle(problem).evaluate(w)
    totals = [CutOracle(problem, n_threads=t).total(w) for t in (1, 2, 3)]
    assert totals[0].plane == pytest.approx(each.planes.mean(axis=0))
    assert totals[0].loss == pytest.approx(each.losses.mean())
    assert totals[0].bound == pytest.approx(each.bounds.mean())
    for other in totals[1:]:
        assert np.array_equal(totals[0].plane, other.plane)
        assert (totals[0].loss, totals[0].bound) == (other.loss, other.bound)


def test_chosen_graphs_come_in_the_order_asked():
    rng = np.random.default_rng(3)
    problem, *_ = tiny_problem(rng, n_graphs=6)
    w = random_weights(rng, problem)
    oracle = CutOracle(problem)
    everything, some = oracle.evaluate(w), oracle.evaluate(w, [4, 1])
    assert np.array_equal(some.planes, everything.planes[[4, 1]])
    assert np.array_equal(some.bounds, everything.bounds[[4, 1]])
    with pytest.raises(ValueError, match="no graph 6"):
        oracle.evaluate(w, [6])


def test_labelings_attain_the_reported_loss():
    rng = np.random.default_rng(4)
    problem, graphs, labels = tiny_problem(rng, n_graphs=5, loss_scale=100.0)
    w = random_weights(rng, problem)
    oracle = CutOracle(problem)
    for z, graph, y, loss in zip(oracle.labelings(w), graphs, labels, oracle.evaluate(w).losses, strict=True):
        assert z.shape == (graph.n_nodes, problem.n_labels)
        wrong = z != np.eye(problem.n_labels)[y]
        assert loss == pytest.approx(indicator_loss(problem, graph, y)[wrong].sum())


def test_relaxing_to_fractions_gains_nothing():
    """The relaxation over z in [0,1] with m = min(z_u, z_v) is tight, so random fractional points stay below."""
    rng = np.random.default_rng(5)
    for _ in range(200):
        problem, graphs, labels = tiny_problem(rng)
        w = random_weights(rng, problem)
        unary, pairwise = problem.expand(w)
        bound = CutOracle(problem).evaluate(w).bounds[0]
        planes, losses = enumerated_planes(problem, graphs[0], labels[0])
        true_score = (losses - planes @ w)[0]  # z = 0: loss minus the true score
        z = rng.random((graphs[0].n_nodes, problem.n_labels))
        graph = graphs[0]
        score = (z * (graph.node_features @ unary.T)).sum()
        for (u, v), phi in zip(graph.edges, graph.edge_features, strict=True):
            score += (np.minimum(z[u][:, None], z[v][None, :]) * (pairwise @ phi)).sum()
        truth = np.eye(problem.n_labels)[labels[0]]
        loss_change = (z * indicator_loss(problem, graph, labels[0]) * (1 - 2 * truth)).sum()
        assert true_score + loss_change + score <= bound + 1e-9 * (1 + abs(bound))


def test_refuses_what_it_cannot_solve_exactly():
    graph = TinyGraph(np.ones((2, 1)), np.array([[0, 1]]), np.array([[-0.5]]))
    problem = learning_problem([graph], [np.array([0, 1])], n_labels=2, C=1.0, loss_scale=1.0)
    with pytest.raises(ValueError, match=r"graph 0, edge 0, feature 0 is -0\.5"):
        CutOracle(problem)
    graph.edge_features[:] = 1.0
    free = np.full(2 + 4, -np.inf)
    problem = learning_problem([graph], [np.array([0, 1])], n_labels=2, C=1.0, loss_scale=1.0, lower=free)
    with pytest.raises(ValueError, match="allows negative"):
        CutOracle(problem)
    problem = learning_problem([graph], [np.array([0, 1])], n_labels=2, C=1.0, loss_scale=1.0)
    w = np.zeros(problem.dim)
    w[problem.unary_count :] = -1.0
    with pytest.raises(ValueError, match=r"labels \(0, 1\), edge feature 0 is -1"):
        CutOracle(problem).evaluate(w)
    w[:] = np.nan
    with pytest.raises(ValueError, match="finite"):
        CutOracle(problem).total(w)


def test_time_limit_and_huge_numbers():
    """Case 9 (LAGraph 395) for huge weights."""
    rng = np.random.default_rng(6)
    problem, *_ = tiny_problem(rng, n_graphs=20)
    with pytest.raises(OutOfTime):
        CutOracle(problem).evaluate(np.zeros(problem.dim), time_left=0.0)
    graph = TinyGraph(np.full((2, 1), 1e300), np.array([[0, 1]]), np.array([[1e300]]))
    problem = learning_problem([graph], [np.array([0, 1])], n_labels=2, C=1.0, loss_scale=1.0)
    with pytest.raises(OverflowError, match="too large"):
        CutOracle(problem).evaluate(np.full(problem.dim, 1e300))
    assert np.isfinite(CutOracle(problem).evaluate(np.full(problem.dim, 1e-300)).bounds[0])


def test_dense_and_sparse_rows_give_the_same_bits():
    import scipy.sparse as sp

    rng = np.random.default_rng(7)
    nodes = rng.random((6, 20)) * (rng.random((6, 20)) < 0.2)
    edges, features = np.array([[0, 1], [2, 3], [4, 5], [1, 2]]), rng.random((4, 1))
    labels = rng.integers(2, size=6)
    answers = []
    for rows in (nodes, sp.csr_array(nodes)):
        problem = learning_problem(
            [TinyGraph(rows, edges, features)], [labels], n_labels=2, C=1.0, loss_scale=1.0
        )
        answers.append(CutOracle(problem).evaluate(np.full(problem.dim, 0.3)))
    assert np.array_equal(answers[0].planes, answers[1].planes)
    assert np.array_equal(answers[0].bounds, answers[1].bounds)


def test_persistency_saves_work_and_changes_no_optimum():
    rng = np.random.default_rng(8)
    for _ in range(50):
        problem, *_ = tiny_problem(rng, n_graphs=4)
        w = random_weights(rng, problem)
        with_rules, without = CutOracle(problem), CutOracle(problem, persistency=False)
        a, b = with_rules.evaluate(w), without.evaluate(w)
        scale = 1.0 + np.abs(a.planes @ w) + a.losses
        assert (a.losses - a.planes @ w) == pytest.approx(b.losses - b.planes @ w, abs=1e-9 * scale.max())
        variables = without.statistics(w)["variables"]
        assert without.statistics(w)["core_variables"] == variables
        assert with_rules.statistics(w)["core_variables"] <= variables


def test_core_network_is_what_the_cuts_saw():
    """Without persistency the cut of the network is the labeling, where there is only one maximiser."""
    from gapcut import _core

    rng = np.random.default_rng(9)
    for _ in range(50):
        problem, graphs, _ = tiny_problem(rng, n_graphs=2)
        w = rng.normal(size=problem.dim)
        w[problem.unary_count :] = np.abs(w[problem.unary_count :])
        for persistency in (True, False):
            oracle = CutOracle(problem, persistency=persistency)
            sizes = oracle.statistics(w)
            networks = [oracle.core_network(w, g) for g in range(2)]
            assert sum(len(n[0]) for n in networks) == sizes["core_variables"]
            assert sum(len(n[1]) for n in networks) == sizes["core_arcs"]
            weighted = any(g.node_weights is not None for g in graphs) or problem.costs is not None
            if persistency or weighted:  # loss 0 makes ties
                continue
            for (excess, arcs, forward, backward), z in zip(networks, oracle.labelings(w), strict=True):
                _, side = _core.max_flow(excess, arcs, forward, backward)
                assert side.sum() == z.sum()

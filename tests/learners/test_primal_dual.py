"""The primal-dual learner: its proofs against enumeration, and what they do not depend on."""

from __future__ import annotations

import itertools
from fractions import Fraction

import numpy as np
import pytest

from brute_oracle import all_planes, enumerated_optimum, objective
from gapcut import Graph, GraphSet, _core
from gapcut.certificates import dual_bound
from gapcut.datasets import make_planted
from gapcut.learners import Limits, PrimalDual
from gapcut.learners.base import Session
from gapcut.learners.mixtures import mixture_of_two
from gapcut.learners.steps import Steps
from gapcut.oracles import CutOracle
from gapcut.oracles.relaxation import RelaxedLabels
from gapcut.problem import learning_problem
from tiny import (
    TinyGraph,
    all_labelings,
    frozen_and_bounded,
    indicator_loss,
    joint_feature_map,
    one_hot,
    tiny_problem,
)

TRADE_OFFS = [1e-6, 0.1, 1.0, 10.0, 1e3]


def solve(problem, gap=1e-2, **settings):
    return PrimalDual(**settings).run(problem, CutOracle(problem), Limits(gap=gap, max_passes=300))


@pytest.mark.parametrize("C", TRADE_OFFS)
def test_brackets_the_enumerated_optimum_and_certifies(C):
    rng = np.random.default_rng(int(np.log10(C) * 10) + 100)
    certified = 0
    for _ in range(30):
        problem, graphs, labels = tiny_problem(rng, n_graphs=int(rng.integers(1, 4)), max_bits=8, C=C)
        result = solve(problem)
        _, best = enumerated_optimum(problem, all_planes(problem, graphs, labels))
        tolerance = 1e-7 * (1.0 + abs(best))  # of the interior point
        assert result.certificate.lower <= best + tolerance
        value = objective(problem, all_planes(problem, graphs, labels), result.weights)
        assert best - tolerance <= value <= result.certificate.upper
        assert (result.weights >= problem.lower).all()
        assert (result.weights <= problem.upper).all()
        certified += result.certificate.status == "certified"
    assert certified == 30


def test_relaxed_labels_give_planes_that_are_averages_of_true_ones():
    """The threshold labelings of z average to its plane and loss (relaxed_dual.hpp)."""
    rng = np.random.default_rng(0)
    for _ in range(300):
        problem, (graph,), (y,) = tiny_problem(rng)
        z = rng.random((graph.n_nodes, problem.n_labels)).astype(np.float32)
        z[rng.random(z.shape) < 0.4] = rng.choice([0.0, 1.0, 0.5])
        plane, loss = _core.relaxed_sums(problem.core, z, 1)  # of one graph
        truth = one_hot(y, problem.n_labels)
        target, unit = joint_feature_map(graph, truth), indicator_loss(problem, graph, y)
        cuts = np.unique(np.concatenate([[0.0, 1.0], z.astype(float).ravel()]))
        mean, mean_loss = np.zeros(problem.dim), 0.0
        for low, high in itertools.pairwise(cuts):
            binary = (z >= high).astype(float)
            mean += (high - low) * (target - joint_feature_map(graph, binary))[problem.core.coordinates]
            mean_loss += (high - low) * (np.abs(binary - truth) * unit).sum()
        assert plane == pytest.approx(mean, abs=1e-9)
        assert loss == pytest.approx(mean_loss, abs=1e-9)


def test_repair_never_lowers_the_dual_and_helps():
    rng = np.random.default_rng(1)
    gained = 0.0
    for _ in range(100):
        problem, *_ = tiny_problem(rng, n_graphs=3, C=10.0)
        nodes = int(problem.core.node_offset[-1])
        z = rng.random((nodes, problem.n_labels)).astype(np.float32)
        repair = _core.Repair(problem.core, problem.lower, problem.upper, 1)

        c = problem.C / 3
        plane, loss = _core.relaxed_sums(problem.core, z, 1)
        repaired = repair.run(problem.core, z, c * plane, c, 1, 3, 0.0, 7)
        before = c * loss - problem.conjugate(c * plane)
        plane, loss = _core.relaxed_sums(problem.core, repaired, 1)
        after = c * loss - problem.conjugate(c * plane)
        scale = 1.0 + abs(before) + abs(after)
        assert after >= before - 1e-5 * scale  # labels come back in float32
        gained += (after - before) / scale
    assert gained > 1.0


def test_a_repair_does_not_depend_on_the_number_of_threads():
    """Large enough that nodes are surveyed in parallel, and neighbours meet in one batch."""
    rng = np.random.default_rng(11)
    nodes, labels = 8000, 8
    edges = rng.integers(0, nodes, (40_000, 2))
    edges = edges[edges[:, 0] != edges[:, 1]]
    graph = Graph(rng.random((nodes, 5)), edges, rng.random((len(edges), 9)), rng.integers(0, labels, nodes))
    codes = [np.asarray(graph.labels, dtype=np.int64)]
    problem = learning_problem(GraphSet((graph,)), codes, n_labels=labels, C=1.0, loss_scale=100.0)
    z = np.round(rng.random((nodes, labels)), 1).astype(np.float32)  # ties, zeros and ones
    W, _ = _core.relaxed_sums(problem.core, z, 1)
    repaired = [
        _core.Repair(problem.core, problem.lower, problem.upper, threads).run(
            problem.core, z, W, 1.0, 1, 2, 0.0, 3
        )
        for threads in (1, 2, 3)
    ]
    assert not np.array_equal(repaired[0], z)
    assert np.array_equal(repaired[0], repaired[1])
    assert np.array_equal(repaired[0], repaired[2])


def test_the_primal_weight_follows_the_distances_and_a_snapshot_keeps_them():
    rng = np.random.default_rng(3)
    problem, *_ = tiny_problem(rng, n_graphs=5, C=1e4)
    balanced, fixed, again = (
        CutOracle(problem).relaxation(PrimalDual(rebalance=b).native(), 1) for b in (0.9, 0.0, 0.9)
    )
    steps = []
    for _ in range(5):
        balanced.advance(40)
        fixed.advance(40)
        steps.append(balanced.state.primal_weight)
    assert fixed.state.primal_weight == 0.06
    assert len(set(steps)) > 1
    assert all(0.49 < b / a < 2.01 for a, b in itertools.pairwise(steps))
    again.load(balanced.save())
    assert again.state.primal_weight == balanced.state.primal_weight
    for relaxation in (balanced, again):
        relaxation.advance(100)
    assert np.array_equal(balanced.weights(), again.weights())


def test_a_mixture_of_dual_points_proves_no_less_than_either():
    rng = np.random.default_rng(13)
    mixed = 0
    for _ in range(60):
        problem, _, labels = tiny_problem(rng, n_graphs=3, C=3.0)
        session = Session(problem, CutOracle(problem), Limits(gap=1e-3))
        steps = Steps(PrimalDual(), problem, session.oracle)
        truth = one_hot(np.concatenate(labels), problem.n_labels)
        one, two = (
            steps.prove_lower(
                session, RelaxedLabels((0.9 * truth + 0.1 * rng.random(truth.shape)).astype(np.float32))
            )
            for _ in range(2)
        )
        mixture = mixture_of_two(problem, steps.relaxation, one, two, None)
        ends = one.relaxed.labels, two.relaxed.labels
        mixed += not any(np.array_equal(mixture, end) for end in ends)
        assert mixture.min() >= 0.0
        assert mixture.max() <= 1.0
        value = steps.prove_lower(session, RelaxedLabels(mixture)).value
        assert value >= max(one.value, two.value) - 1e-5 * (1.0 + abs(value))
    assert mixed >= 5


def test_every_true_labeling_is_a_dual_point_below_the_optimum():
    rng = np.random.default_rng(2)
    problem, (graph,), (y,) = tiny_problem(rng, C=3.0)
    _, best = enumerated_optimum(problem, all_planes(problem, [graph], [y]))
    for z in all_labelings(graph.n_nodes, problem.n_labels):
        plane, loss = _core.relaxed_sums(problem.core, z.astype(np.float32), 1)  # of one graph
        assert problem.C * loss - problem.conjugate(problem.C * np.asarray(plane)) <= best + 1e-7 * (1 + best)


def test_same_bits_in_every_run_and_for_any_number_of_threads():
    rng = np.random.default_rng(3)
    problem, *_ = tiny_problem(rng, n_graphs=30, C=10.0)
    results = [solve(problem, n_threads=t) for t in (1, 1, 2, 3)]
    for other in results[1:]:
        assert np.array_equal(results[0].weights, other.weights)
        assert (results[0].certificate.lower, results[0].certificate.upper) == (
            other.certificate.lower,
            other.certificate.upper,
        )


def test_steps_that_are_too_long_are_noticed_and_bounds_stay_valid():
    rng = np.random.default_rng(4)
    noticed = 0
    for _ in range(20):
        problem, graphs, labels = tiny_problem(rng, n_graphs=3, max_bits=8, C=10.0)
        result = solve(problem, damping=1e-3, kappa0=1e-3, primal_weight=5.0)
        _, best = enumerated_optimum(problem, all_planes(problem, graphs, labels))
        assert result.certificate.lower <= best + 1e-7 * (1 + best)
        assert best - 1e-7 * (1 + best) <= result.certificate.upper
        noticed += result.certificate.status == "certified"
    assert noticed >= 15


def test_boxes_frozen_and_bounded_weights():
    rng = np.random.default_rng(5)
    for round_ in range(30):
        boxed, graphs, labels = frozen_and_bounded(rng)
        result = solve(boxed)
        _, best = enumerated_optimum(boxed, all_planes(boxed, graphs, labels))
        tolerance = 1e-7 * (1.0 + abs(best))
        assert result.certificate.lower <= best + tolerance, round_
        assert best - tolerance <= result.certificate.upper
        assert result.certificate.status == "certified", round_


@pytest.mark.parametrize(
    "graph",
    [
        TinyGraph(np.zeros((2, 1)), np.array([[0, 1]]), np.zeros((1, 1))),
        TinyGraph(np.ones((1, 1)), np.zeros((0, 2), dtype=int), np.zeros((0, 2))),
        TinyGraph(np.ones((3, 2)), np.array([[0, 1], [1, 0], [0, 1]]), np.ones((3, 1))),
    ],
)
@pytest.mark.parametrize("C", [1e-6, 1.0, 1e6, 1e9])
def test_degenerate_data_end_certified(graph, C):
    labels = np.zeros(graph.n_nodes, dtype=int)
    for n_labels in (1, 3):
        problem = learning_problem([graph], [labels], n_labels=n_labels, C=C, loss_scale=100.0)
        result = solve(problem)
        _, best = enumerated_optimum(problem, all_planes(problem, [graph], [labels]))
        assert result.certificate.lower <= best * (1 + 1e-6) + 1e-6
        assert best <= result.certificate.upper * (1 + 1e-6) + 1e-6
        assert result.certificate.status == "certified"


def test_time_limit_and_interrupt_keep_an_honest_certificate():
    rng = np.random.default_rng(6)
    problem, graphs, labels = tiny_problem(rng, n_graphs=3, max_bits=8, C=100.0)
    _, best = enumerated_optimum(problem, all_planes(problem, graphs, labels))

    def interrupt(record):
        raise KeyboardInterrupt

    for limits, callback in ((Limits(gap=0.0, time_limit=0.0), None), (Limits(gap=1e-9), interrupt)):
        result = PrimalDual().run(problem, CutOracle(problem), limits, callback)
        assert result.certificate.status == "stopped"
        assert result.certificate.lower <= best <= result.certificate.upper + 1e-6


def test_the_arc_shares_bound_the_slack_at_any_weights_and_start_the_cut():
    """However far the shares are from the best split: the bound is above the maximum, and the cut finds it."""
    rng = np.random.default_rng(11)
    tight = 0
    for _ in range(200):
        problem, _, _ = tiny_problem(rng, n_graphs=2, C=float(rng.choice([0.1, 1.0, 100.0])))
        oracle = CutOracle(problem)
        relaxation = oracle.relaxation(PrimalDual().native(), 1)
        iterations = int(rng.choice([1, 7, 400]))
        relaxation.state.advance(iterations)
        reached = problem.clamp(relaxation.state.weights())
        for w in (reached, problem.clamp(rng.normal(size=problem.dim) * 3.0)):
            cold, warm = oracle.total(w), relaxation.total(w)
            slack = relaxation.slack(w)
            bound, rounding = slack.bound, slack.rounding
            found = max(0.0, cold.loss - float(cold.plane @ w))
            assert found <= bound
            assert 0.0 <= rounding <= 1e-9 * (1.0 + bound + float(np.abs(w).sum()))
            assert warm.bound == pytest.approx(cold.bound, rel=1e-12, abs=1e-12)
        if relaxation.state.iterations == 400:
            value = 0.5 * float(reached @ reached) + problem.C * oracle.total(reached).bound
            excess = problem.C * (relaxation.slack(reached).bound - oracle.total(reached).bound)
            tight += excess <= 0.01 * value
    assert tight >= 50


def test_bounds_of_many_arcs_are_the_same_bits_on_any_threads():
    """As many that threads are started: fewer are left to one."""
    rng = np.random.default_rng(5)
    K, graphs = 11, make_planted(20, 300)
    codes = [rng.integers(K, size=g.n_nodes) for g in graphs]
    features = [g.with_features(edge_features=np.abs(g.edge_features)) for g in graphs]
    problem = learning_problem(features, codes, n_labels=K, C=1.0, loss_scale=1.0)
    assert 10 * K * sum(g.n_nodes + g.n_edges for g in graphs) > 2**20
    w, z = rng.random(problem.dim), rng.random((sum(g.n_nodes for g in graphs), K)).astype(np.float32)
    slacks = []
    for threads in (1, 3):
        relaxation = CutOracle(problem).relaxation(PrimalDual().native(), threads)
        relaxation.state.advance(3)
        slacks.append(relaxation.slack(w))
    assert slacks[0] == slacks[1]
    (plane, loss), (other, of_it) = (_core.relaxed_sums(problem.core, z, threads) for threads in (3, 1))
    np.testing.assert_array_equal(plane, other)
    assert loss == of_it


def test_the_bound_counts_what_sums_over_many_graphs_round():
    """Losses are summed graph by graph, as the bound counts: all nodes in a row once lifted it above the optimum."""
    K, nodes, n = 3, 21, 20_001
    edges = np.zeros((0, 2), dtype=np.int64)
    graphs = [TinyGraph(np.ones((nodes, 1)), edges, np.zeros((0, 1)))] * n
    codes = [np.full(nodes, i % K) for i in range(n)]
    problem = learning_problem(graphs, codes, n_labels=K, C=1.0, loss_scale=100.0)
    relaxation = CutOracle(problem).relaxation(PrimalDual().native(), 1)
    labels = np.ones((n * nodes, K), dtype=np.float32)
    labels[np.arange(n * nodes), np.concatenate(codes)] = 0.0
    plane, loss = relaxation.plane(RelaxedLabels(labels))
    exact = nodes * K * Fraction(50.0 / nodes)
    assert abs(Fraction(loss) - exact) <= exact * (nodes * K + n + 8) / 2**53
    assert relaxation.roundings >= n * nodes / 16
    assert dual_bound(problem, plane, loss, n + relaxation.roundings)[0] <= exact


def test_a_split_of_another_problem_is_refused():
    rng = np.random.default_rng(12)
    refused = 0
    for _ in range(20):
        first, _, _ = tiny_problem(rng)
        second, _, _ = tiny_problem(rng, n_graphs=3)
        settings = PrimalDual().native()
        shard = _core.StepShard(first.core, _core.StepSetup(first.core, first.lower, settings))
        state = _core.PrimalDual(first.core, first.lower, first.upper, first.C, settings, 1, [shard])
        state.advance(3)
        if first.n_labels != second.n_labels or (
            state.active_pairs and first.core.edge_offset[-1] != second.core.edge_offset[-1]
        ):
            refused += 1
            with pytest.raises(ValueError, match="another problem"):
                _core.CutOracle(second.core, 1).sums_from(np.zeros(second.dim), shard)
    assert refused > 10


def graphs_of_like_neighbours() -> tuple[list[TinyGraph], list[np.ndarray]]:
    """Twelve features of edges, of which those between equal labels have most."""
    rng = np.random.default_rng(4)
    graphs, labels = [], []
    for _ in range(6):
        edges = rng.integers(30, size=(60, 2))
        edges = edges[edges[:, 0] != edges[:, 1]]
        y = rng.integers(4, size=30)
        alike = (y[edges[:, 0]] == y[edges[:, 1]])[:, None]
        present = rng.random((len(edges), 12)) < np.where(alike, 0.8, 0.1)
        features = np.where(present, 0.5 + rng.random(present.shape), 0.0)
        graphs.append(TinyGraph(np.eye(4)[y] + rng.normal(0.0, 0.6, (30, 4)), edges, features))
        labels.append(y)
    return graphs, labels


def test_no_pair_becomes_active_before_labels_move():
    """The first gradients are sums over the true labels: what they differ by is rounding, on whatever target."""
    graphs, labels = graphs_of_like_neighbours()
    problem = learning_problem(graphs, labels, n_labels=4, C=20.0, loss_scale=100.0)
    steps = Steps(PrimalDual(), problem, CutOracle(problem))
    steps.state.advance(1)
    assert steps.state.active_pairs == 0
    steps.state.advance(30)
    assert steps.state.active_pairs > 0


def test_sparse_edge_features_give_the_same_steps_by_either_loop():
    """How dense they are decides which loops they meet; columns of zeros change the density and nothing else."""
    graphs, labels = graphs_of_like_neighbours()
    found = []
    for zeros, threads in ((0, 1), (0, 3), (200, 1)):  # a quarter of the features, or a sixtieth
        wide = [
            TinyGraph(g.node_features, g.edges, np.pad(g.edge_features, ((0, 0), (0, zeros)))) for g in graphs
        ]
        problem = learning_problem(wide, labels, n_labels=4, C=20.0, loss_scale=100.0)
        steps = Steps(PrimalDual(n_threads=threads), problem, CutOracle(problem))
        steps.state.advance(40)
        found.append(problem.expand(steps.relaxation.weights())[1][..., :12])
        assert steps.state.active_pairs == 3
    assert np.array_equal(found[0], found[1])
    assert np.abs(found[0]).max() > 0.1
    assert np.allclose(found[0], found[2], rtol=0.0, atol=1e-5)

"""The cut and the brute oracle with cliques of three and four nodes, against enumeration of all labelings."""

from __future__ import annotations

import numpy as np
import pytest

from gapcut import CliqueSet, Graph
from gapcut.oracles import BruteOracle, CutOracle, TreeOracle, TrwsOracle
from gapcut.problem import LearningProblem, learning_problem
from tiny import clique_problem, enumerated_planes, indicator_loss

N_RANDOM = 1000


def random_weights(rng: np.random.Generator, problem: LearningProblem) -> np.ndarray:
    """Signed unary weights and sparse non-negative others, at scales from tiny to huge, often tied, often zero."""
    w = rng.normal(size=problem.dim)
    rest = problem.unary_count
    w[rest:] = 2 * np.abs(w[rest:]) * (rng.random(problem.dim - rest) < rng.choice([0.3, 0.7, 1.0]))
    w[:rest] -= 0.5 * (rng.random() < 0.5)
    if rng.random() < 0.4:
        w = np.round(2 * w)
    if rng.random() < 0.2:
        w *= 10.0 ** rng.integers(-12, 13)
    return w * (rng.random() < 0.95)


@pytest.mark.parametrize(("persistency", "rounds"), [(True, N_RANDOM), (False, 150)])
def test_equals_enumeration_on_random_graphs(persistency: bool, rounds: int) -> None:
    rng = np.random.default_rng(0)
    cuts = won = 0
    for _ in range(rounds):
        problem, graphs, labels = clique_problem(rng)
        w = random_weights(rng, problem)
        oracle = CutOracle(problem, persistency=persistency)
        answer = oracle.evaluate(w)
        planes, losses = enumerated_planes(problem, graphs[0], labels[0])
        values = losses - planes @ w
        best, scale = values.max(), 1.0 + np.abs(planes @ w).max() + losses.max()
        found = answer.losses[0] - answer.planes[0] @ w
        assert found == pytest.approx(best, abs=1e-12 * scale)
        assert best <= answer.bounds[0] <= max(best, 0.0) + 1e-9 * scale
        match = (np.abs(planes - answer.planes[0]) <= 1e-9 * (1 + np.abs(planes))).all(axis=1)
        assert (match & (np.abs(losses - answer.losses[0]) <= 1e-9 * scale)).any()
        cuts += oracle.statistics(w)["components"]
        without = w.copy()
        without[problem.core.coordinates >= problem.core.pairwise_end] = 0.0
        won += best > (losses - planes @ without).max() + 1e-9 * scale
    assert cuts > 50
    assert won > rounds / 10, "cliques decided too few of these instances for this test to mean something"


def test_brute_oracle_of_the_package_agrees() -> None:
    rng = np.random.default_rng(1)
    for _ in range(100):
        problem, graphs, labels = clique_problem(rng, n_graphs=2, max_bits=10)
        w = random_weights(rng, problem)
        losses = [indicator_loss(problem, g, y) for g, y in zip(graphs, labels, strict=True)]
        brute, cut = BruteOracle(problem, zip(graphs, labels, losses, strict=True)), CutOracle(problem)
        one, other = brute.evaluate(w), cut.evaluate(w)
        values = [a.losses - a.planes @ w for a in (one, other)]
        scale = 1.0 + np.abs(one.planes @ w) + one.losses
        assert np.all(np.abs(values[0] - values[1]) <= 1e-10 * scale)
        assert np.all(values[1] <= one.bounds)
        assert np.all(values[0] <= other.bounds)


def test_totals_do_not_depend_on_threads() -> None:
    rng = np.random.default_rng(2)
    problem, *_ = clique_problem(rng, n_graphs=37)
    w = random_weights(rng, problem)
    each = CutOracle(problem).evaluate(w)
    totals = [CutOracle(problem, n_threads=t).total(w) for t in (1, 2, 3)]
    assert totals[0].plane == pytest.approx(each.planes.mean(axis=0))
    for other in totals[1:]:
        assert np.array_equal(totals[0].plane, other.plane)
        assert (totals[0].loss, totals[0].bound) == (other.loss, other.bound)


def test_last_member_is_decided_without_a_cut() -> None:
    """Two members are in for their own sake; the third pays for itself only with the clique's gain."""
    graph = Graph([[1.0], [1.0], [-1.0]], None, cliques=[CliqueSet([[0, 1, 2]], [[3.0]])])
    problem = learning_problem(
        [graph], [np.zeros(3, dtype=int)], n_labels=1, C=1.0, loss_scale=1e-3, tuples=[np.array([[0, 0, 0]])]
    )
    oracle = CutOracle(problem)
    w = np.ones(problem.dim)
    assert oracle.statistics(w)["core_variables"] == 0
    assert oracle.labelings(w)[0].ravel().tolist() == [1.0, 1.0, 1.0]
    w[1] = 1e-3
    assert oracle.labelings(w)[0].ravel().tolist() == [1.0, 1.0, 0.0]


def test_tuples_without_weight_cost_nothing() -> None:
    rng = np.random.default_rng(3)
    problem, *_ = clique_problem(rng, max_bits=12)
    w = random_weights(rng, problem)
    w[problem.core.coordinates >= problem.core.pairwise_end] = 0.0
    stats = CutOracle(problem).statistics(w)
    assert stats["variables"] == problem.core.node_offset[-1] * problem.n_labels


def test_tuples_that_are_never_true_are_left_out_of_the_problem() -> None:
    graph = Graph(np.zeros((3, 1)), None, cliques=[CliqueSet([[0, 1, 2]], [[1.0]])])
    everything = np.array(list(np.ndindex(2, 2, 2)))
    problem = learning_problem(
        [graph], [np.array([0, 1, 1])], n_labels=2, C=1.0, loss_scale=1.0, tuples=[everything]
    )
    weights = problem.clique_weights(np.arange(1.0, problem.dim + 1))[0]
    assert np.flatnonzero(weights).tolist() == [3]
    assert problem.radius == pytest.approx(1.0)


def test_refusals_name_the_culprit() -> None:
    def packed(features: float, **box: np.ndarray) -> LearningProblem:
        graph = Graph(np.ones((3, 1)), None, cliques=[CliqueSet([[0, 1, 2]], [[features]])])
        return learning_problem(
            [graph],
            [np.zeros(3, dtype=int)],
            n_labels=1,
            C=1.0,
            loss_scale=1.0,
            tuples=[np.zeros((1, 3), int)],
            **box,
        )

    with pytest.raises(ValueError, match=r"graph 0, clique group 0, clique 0, feature 0 is -0\.5"):
        CutOracle(packed(-0.5))
    with pytest.raises(ValueError, match="allows negative"):
        CutOracle(packed(1.0, lower=np.full(2, -np.inf)))
    with pytest.raises(ValueError, match=r"clique group 0, labels \(0, 0, 0\), feature 0"):
        CutOracle(packed(1.0)).total(np.array([0.0, -1.0]))
    for one_hot in (TreeOracle, TrwsOracle):
        with pytest.raises(ValueError, match="the problem has cliques: use oracle='cut'"):
            one_hot(packed(1.0))

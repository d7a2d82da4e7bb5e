"""The learning problem: which coordinates it keeps, its box and conjugate, and the constants that proofs rest on."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from gapcut.problem import LearningProblem, learning_problem
from tiny import TinyGraph, clique_problem, enumerated_planes, tiny_problem

GRAPH = TinyGraph(
    np.array([[1.0, -2.0], [0.5, 3.0], [-1.0, 0.0]]), np.array([[0, 1], [1, 2]]), np.array([[1.0], [2.0]])
)
LABELS = np.array([0, 1, 1])


def problem_of(graph: TinyGraph = GRAPH, labels: np.ndarray = LABELS, **changes: object) -> LearningProblem:
    return learning_problem([graph], [labels], **{"n_labels": 2, "C": 1.0, "loss_scale": 10.0, **changes})


# ---- coordinates


def test_pairs_that_no_true_labeling_shows_have_no_weight() -> None:
    """Their weights are zero at every optimum, as long as features are not negative and weights must not be."""
    problem = problem_of()
    unary, pairwise = problem.expand(np.arange(1.0, problem.dim + 1))
    assert problem.unary_count == unary.size == 4
    assert {tuple(pair) for pair in np.argwhere(pairwise[..., 0]).tolist()} == {(0, 1), (1, 1)}
    assert problem_of(lower=np.full(8, -np.inf)).dim == 8
    negative = replace(GRAPH, edge_features=np.array([[1.0], [-2.0]]))
    assert problem_of(negative).dim == 8


def test_weights_frozen_at_zero_are_left_out_and_others_stay() -> None:
    lower, upper = np.full(8, -np.inf), np.full(8, np.inf)
    lower[5], upper[5] = 0.0, 0.0
    lower[6], upper[6] = 2.0, 2.0
    problem = problem_of(lower=lower, upper=upper)
    assert problem.core.coordinates.tolist() == [0, 1, 2, 3, 4, 6, 7]
    assert problem.clamp(np.zeros(problem.dim)).tolist() == [0, 0, 0, 0, 0, 2, 0]


@pytest.mark.parametrize("make", [tiny_problem, clique_problem])
def test_expanding_and_compacting_are_inverse(make) -> None:
    rng = np.random.default_rng(0)
    for _ in range(20):
        problem, _, _ = make(rng)
        w = rng.normal(size=problem.dim)
        unary, pairwise = problem.expand(w)
        cliques = problem.clique_weights(w)
        assert [c.shape for c in cliques] == [(g.n_tuples, g.dim) for g in problem.core.cliques]
        assert np.array_equal(problem.compact(unary, pairwise, cliques), w)
        entries = [unary, pairwise, *cliques]
        assert sum(np.count_nonzero(part) for part in entries) == problem.dim


# ---- box and conjugate


def test_the_conjugate_is_the_largest_value_over_the_box_and_attained_at_clamp() -> None:
    rng = np.random.default_rng(1)
    for _ in range(50):
        problem, _, _ = tiny_problem(rng)
        value = rng.normal(size=problem.dim)
        frozen = rng.random(problem.dim) < 0.3
        problem = replace(
            problem,
            lower=np.where(frozen, value, problem.lower),
            upper=np.where(frozen, value, np.where(rng.random(problem.dim) < 0.3, 0.5, problem.upper)),
        )
        x = rng.normal(size=problem.dim) * 3.0
        best = problem.clamp(x)
        assert problem.conjugate(x) == pytest.approx(x @ best - 0.5 * best @ best)
        for _ in range(20):
            w = problem.clamp(best + rng.normal(size=problem.dim))
            assert x @ w - 0.5 * w @ w <= problem.conjugate(x) + 1e-12 * (1.0 + x @ x)


# ---- constants of the proofs


@pytest.mark.parametrize("make", [tiny_problem, clique_problem])
def test_constants_bound_every_plane_and_loss(make) -> None:
    """``radius``: the norm of a plane; ``absolute_mean``: each coordinate, twice; ``max_loss``: the loss."""
    rng = np.random.default_rng(2)
    tight = 0
    for _ in range(40):
        problem, graphs, labels = make(rng, n_graphs=3, max_bits=9)
        planes, losses = zip(
            *(enumerated_planes(problem, g, y) for g, y in zip(graphs, labels, strict=True)), strict=True
        )
        longest = max(np.linalg.norm(rows, axis=1).max() for rows in planes)
        assert longest <= problem.radius * (1 + 1e-12)
        tight += longest >= 0.7 * problem.radius
        mean = sum(np.abs(rows).max(axis=0) for rows in planes) / 3
        assert (mean <= 2.0 * problem.absolute_mean * (1 + 1e-12)).all()
        assert max(d.max() for d in losses) <= problem.max_loss * (1 + 1e-12)
    assert tight > 10


def test_constants_by_hand() -> None:
    problem = problem_of()
    assert problem.absolute_mean.tolist() == [2.5, 5.0, 2.5, 5.0, 3.0, 3.0]
    assert problem.max_loss == 10.0
    # label 0: y = (1, 0, 0), signed sums of feature 0 are +1 -0.5 +1, of feature 1 -2 -3 -0; label 1: the negatives
    assert problem.radius == pytest.approx(np.sqrt(2 * 2.0**2 + 2 * 5.0**2 + 2 * 3.0**2))
    both = learning_problem(
        [GRAPH, replace(GRAPH, node_features=3.0 * GRAPH.node_features)],
        [LABELS, LABELS],
        n_labels=2,
        C=1.0,
        loss_scale=10.0,
    )
    assert both.absolute_mean[:4].tolist() == [5.0, 10.0, 5.0, 10.0]  # the mean over graphs
    assert both.radius == pytest.approx(np.sqrt(9 * 2 * (2.0**2 + 5.0**2) + 2 * 3.0**2))  # of the larger one


# ---- the same problem or another


def test_another_C_changes_nothing_else() -> None:
    problem = problem_of()
    other = problem.with_C(7)
    assert (problem.C, other.C) == (1.0, 7.0)
    assert other.core is problem.core
    assert other.fingerprint == problem.fingerprint


CHANGES = {
    "a node feature": {"graph": replace(GRAPH, node_features=GRAPH.node_features + 1e-9)},
    "an edge feature": {"graph": replace(GRAPH, edge_features=np.array([[1.0], [2.5]]))},
    "an edge": {"graph": replace(GRAPH, edges=np.array([[0, 1], [2, 0]]))},
    "a label": {"labels": np.array([0, 1, 0])},
    "a class": {"n_labels": 3},
    "the loss": {"loss_scale": 11.0},
    "the box": {"upper": np.full(8, 9.0)},
    "a sign rule": {"lower": np.full(8, -np.inf)},
}


@pytest.mark.parametrize("change", CHANGES)
def test_the_fingerprint_tells_other_problems_apart(change: str) -> None:
    assert problem_of(**CHANGES[change]).fingerprint != problem_of().fingerprint
    assert problem_of().fingerprint == problem_of().fingerprint


@pytest.mark.parametrize(
    "change",
    [
        {"graph": replace(GRAPH, node_weights=np.array([1.0, 2.0, 3.0]))},
        {"class_weight": np.array([1.0, 3.0])},
    ],
)
def test_the_fingerprint_knows_what_nodes_weigh(change: dict) -> None:
    assert problem_of(**change).fingerprint != problem_of().fingerprint

"""Graphs as the core stores them: what a wrong node costs, sums of features, rows dense and sparse."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from gapcut.problem import learning_problem, loss_weights, row_matrix
from tiny import clique_problem, joint_feature_map, one_hot, tiny_problem


@pytest.mark.parametrize(
    "weights", [None, [3.0, 0.0, 1.0, 4.0], [1e308, 1e308, 1e308, 0.0], [5e-324, 0, 0, 0]]
)
def test_a_labeling_that_is_wrong_everywhere_loses_rho(weights: list[float] | None) -> None:
    """A wrong label costs two wrong indicators; weights near the largest and the smallest float are no exception."""
    given = None if weights is None else np.array(weights)
    loss = loss_weights(given, np.array([0, 1, 2, 1]), 100.0, None)
    assert 2.0 * loss.sum() == pytest.approx(100.0)
    shares = np.ones(4) if given is None else given / given.max()
    np.testing.assert_allclose(loss, 50.0 * shares / shares.sum(), rtol=1e-14)


def test_class_weights_multiply_node_weights() -> None:
    labels, factor = np.array([0, 2, 2, 1]), np.array([1.0, 0.5, 6.0])
    nodes = np.array([1.0, 2.0, 3.0, 4.0])
    by_class = loss_weights(nodes, labels, 10.0, factor)
    assert np.array_equal(by_class, loss_weights(nodes * factor[labels], labels, 10.0, None))
    assert by_class[1] / by_class[3] == pytest.approx(2.0 * 6.0 / (4.0 * 0.5))


def test_no_node_costs_anything_where_all_weights_are_zero() -> None:
    labels = np.array([0, 1])
    assert loss_weights(np.zeros(2), labels, 10.0, None).tolist() == [0.0, 0.0]
    assert loss_weights(np.ones(2), labels, 10.0, np.zeros(2)).tolist() == [0.0, 0.0]


@pytest.mark.parametrize("make", [tiny_problem, clique_problem])
def test_true_feature_sums_are_the_joint_feature_maps_of_the_labels(make) -> None:
    rng = np.random.default_rng(0)
    for _ in range(40):
        problem, graphs, labels = make(rng, n_graphs=3)
        core = problem.core
        tuples = [group.tuples for group in core.cliques]
        expected = sum(
            joint_feature_map(g, one_hot(y, core.n_labels), tuples)
            for g, y in zip(graphs, labels, strict=True)
        )
        np.testing.assert_allclose(core.true_feature_sum(), expected, rtol=1e-12, atol=1e-12)


def test_a_mix_of_dense_and_sparse_rows_is_stacked_in_order() -> None:
    rng = np.random.default_rng(1)
    dense = rng.random((4, 5)) * (rng.random((4, 5)) < 0.5)
    twice = sp.csr_array((np.array([1.0, 2.0]), (np.array([0, 0]), np.array([3, 3]))), shape=(1, 5))
    rows = row_matrix([dense, sp.csr_array(dense), twice])
    assert (rows.rows, rows.cols, rows.sparse) == (9, 5, True)
    assert not row_matrix([dense, dense]).sparse


def test_sparse_and_dense_rows_make_the_same_problem() -> None:
    rng = np.random.default_rng(2)
    problem, graphs, labels = tiny_problem(rng, n_graphs=4, loss_scale=4.0)
    for graph in graphs:
        graph.node_features = sp.csr_array(graph.node_features)
    other = learning_problem(
        graphs, labels, n_labels=problem.n_labels, C=1.0, loss_scale=4.0, costs=problem.costs
    )
    assert other.fingerprint == problem.fingerprint
    assert np.array_equal(other.absolute_mean, problem.absolute_mean)
    assert other.radius == problem.radius

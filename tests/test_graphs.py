"""Neighbours of points, against plain loops."""

from __future__ import annotations

import numpy as np
import pytest

from gapcut.graphs import knn_graph, radius_graph


def test_nearest_neighbours_are_those_of_all_distances():
    points = np.random.default_rng(0).normal(size=(40, 3))
    far = np.linalg.norm(points[:, None] - points, axis=-1)
    near = {(min(i, j), max(i, j)) for i in range(40) for j in np.argsort(far[i])[1:5].tolist()}
    graph = knn_graph(points, 4, labels=[f"p{i}" for i in range(40)])
    assert graph.edges.tolist() == [list(pair) for pair in sorted(near)]
    assert graph.edge_features[:, 0] == pytest.approx([far[u, v] for u, v in graph.edges])
    assert graph.edge_feature_names == ("distance", "offset[0]", "offset[1]", "offset[2]")
    assert np.array_equal(graph.node_features, points)
    assert graph.labels[3] == "p3"


def test_pairs_within_a_radius_are_those_of_all_distances():
    points = np.random.default_rng(1).normal(size=(40, 2))
    far = np.linalg.norm(points[:, None] - points, axis=-1)
    pairs = [[i, j] for i in range(40) for j in range(i + 1, 40) if far[i, j] <= 0.5]
    assert radius_graph(points, 0.5).edges.tolist() == pairs
    assert radius_graph(points, 1e-9).n_edges == 0


def test_equal_points_have_no_self_loops():
    graph = knn_graph(np.zeros((6, 2)), 2)
    assert (graph.edges[:, 0] < graph.edges[:, 1]).all()
    assert set(graph.edges.ravel().tolist()) == set(range(6))
    assert (np.bincount(graph.edges.ravel()) >= 2).all()


def test_features_of_ones_own():
    points = [[0.0], [1.0], [3.0]]
    graph = knn_graph(points, 1, node_features=np.eye(3), edge_features=np.ones((2, 1)), name="line")
    assert graph.node_feature_names is None
    assert graph.edge_feature_names is None
    assert graph.name == "line"


@pytest.mark.parametrize("k", [0, 3])
def test_a_k_that_cannot_be_is_refused(k):
    with pytest.raises(ValueError, match=rf"k={k} neighbours of 3 points: k must be in \[1, 2\]"):
        knn_graph(np.zeros((3, 2)), k)


def test_points_that_are_none_are_refused():
    with pytest.raises(ValueError, match="must be a"):
        radius_graph([[0.0, np.nan]], 1.0)
    with pytest.raises(ValueError, match="radius=0"):
        radius_graph(np.zeros((3, 2)), 0)

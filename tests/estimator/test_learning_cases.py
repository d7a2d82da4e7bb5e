"""Reported cases of extreme numbers and unusual edges, through the estimator."""

from __future__ import annotations

import numpy as np
import pytest

from gapcut import Graph, GraphSet, StructuredSVM
from sample_graphs import sample_graphs

AS_GIVEN = {"standardize": False, "intercept": False, "incidence": False, "edge_lift": "none"}


@pytest.mark.parametrize("learner", ["primal-dual", "block"])
@pytest.mark.parametrize("factor", [1e300, 1e20, 1e-20, 1e-310])
def test_huge_and_denormal_features_are_scaled_and_learned(factor, learner):
    """Case 9 (LAGraph 395): what is not finite is refused, with its place, by Graph."""
    graphs = GraphSet(
        g.with_features(node_features=g.node_features * factor, edge_features=g.edge_features * factor)
        for g in sample_graphs(3)
    )
    svm = StructuredSVM(C=1.0, learner=learner).fit(graphs)
    assert svm.certificate_.status == "certified"
    assert np.isfinite(svm.unary_).all()
    assert svm.score(graphs) > 0.5


@pytest.mark.parametrize("factor", [1e300, 1e12, 1e-20, 1e-310])
def test_huge_features_as_given_end_with_a_true_certificate(factor):
    """Case 9, without scaling: the run ends, and says so where rounding keeps the gap open."""
    graphs = sample_graphs(3)
    scaled = GraphSet(
        g.with_features(node_features=g.node_features * factor, edge_features=g.edge_features) for g in graphs
    )
    svm = StructuredSVM(**AS_GIVEN, C=1.0, learner="block", max_passes=50, time_limit=2).fit(scaled)
    certificate = svm.certificate_
    assert 0 <= certificate.lower <= certificate.upper < np.inf
    assert (certificate.status == "certified") == (certificate.relative_gap <= 0.01)


@pytest.mark.parametrize("learner", ["primal-dual", "block"])
def test_a_path_of_a_hundred_thousand_nodes(learner):
    """Case 10 (scipy 14385)."""
    rng, n = np.random.default_rng(0), 100_000
    labels = np.arange(n) // 50 % 3
    path = np.stack([np.arange(n - 1), np.arange(1, n)], axis=1)
    graph = Graph(np.eye(3)[labels] + rng.normal(size=(n, 3)), path, np.ones((n - 1, 1)), labels=labels)
    svm = StructuredSVM(C=1.0, learner=learner, max_passes=4).fit([graph])
    assert 0 <= svm.certificate_.lower <= svm.certificate_.upper
    assert svm.score([graph]) > 0.6


def test_repeated_and_reversed_edges_add_up():
    """Case 11 (scipy 26160): each edge counts, so several of one direction are one with the sum of features."""
    once, twice, halves = [], [], []
    for g in sample_graphs(4):
        edges, features = g.edges, g.edge_features
        turned = np.concatenate([edges, edges[:, ::-1]]), np.concatenate([features, features])
        once.append(g.replace(edges=turned[0], edge_features=turned[1]))
        twice.append(
            g.replace(edges=np.tile(turned[0], (2, 1)), edge_features=np.tile(turned[1] / 2, (2, 1)))
        )
        halves.append(g)
    settings = {**AS_GIVEN, "C": 1.0, "loss_scale": 10.0, "gap": 1e-4}
    single, repeated, oneway = (
        StructuredSVM(**settings).fit(GraphSet(graphs)) for graphs in (once, twice, halves)
    )
    ends = single.certificate_, repeated.certificate_
    assert max(c.lower for c in ends) <= min(c.upper for c in ends)
    assert max(c.upper for c in ends) - min(c.lower for c in ends) <= 2e-4 * ends[0].upper
    assert single.certificate_.upper < oneway.certificate_.lower  # the reversed edges are not ignored
    y = once[0].labels
    energies = single.energy(once[0]).energy(y), single.energy(twice[0]).energy(y)
    assert energies[0] == pytest.approx(energies[1])
    with pytest.raises(ValueError, match="self loop"):
        StructuredSVM().fit([(np.ones((2, 1)), [[0, 0]], np.ones((1, 1)))], [[0, 1]])


def test_one_edge_in_the_training_set_gives_finite_weights():
    """Case 14 (superpoint_graph 127): the spread of every edge feature is zero."""
    graph = Graph([[1.0], [2.0]], [[0, 1]], [[0.0, 3.0, -1.0]], labels=["a", "b"])
    for standardize in (True, False):
        svm = StructuredSVM(C=1.0, standardize=standardize).fit([graph])
        assert np.isfinite(svm.unary_).all()
        assert np.isfinite(svm.pairwise_).all()
        assert svm.predict([graph])[0].tolist() == ["a", "b"]

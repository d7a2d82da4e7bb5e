"""How node features are prepared, as the training graphs choose it."""

import numpy as np
import pytest

from gapcut import Graph, StructuredSVM
from gapcut.model.settings import Settings
from gapcut.model.steps import choose_steps
from sample_graphs import sample_graphs


def graphs_of(label, count=9, nodes=60, features=2):
    """Graphs without edges whose labels are a function of their standard normal features."""
    rng = np.random.default_rng(0)
    tables = [rng.normal(size=(nodes, features)) for _ in range(count)]
    return [Graph(x, None, labels=label(x).astype(int)) for x in tables]


def steps(graphs, **how):
    settings = Settings.checked(StructuredSVM(node_lift="auto", **how).get_params(deep=False))
    chosen, reason = choose_steps(graphs, settings)
    return chosen.node_lift, chosen.standardize, reason


def test_stumps_where_classes_are_no_straight_line():
    lift, _, reason = steps(graphs_of(lambda x: np.abs(x[:, 0]) > 0.7))
    assert lift == "stumps"
    assert reason.startswith("stumps of node features: a linear model of single nodes has 9")


def test_none_where_they_are():
    lift, standardize, reason = steps(graphs_of(lambda x: x.sum(axis=1) > 0))
    assert (lift, standardize) == ("none", True)
    assert reason.startswith("no stumps: ")


@pytest.mark.parametrize(("given", "kept"), [(True, "scale"), (False, False)])
def test_zeros_and_ones_stay_as_they_are(given, kept):
    graphs = [g.replace(node_features=g.node_features > 0) for g in graphs_of(lambda x: x[:, 0] > 0)]
    assert steps(graphs, standardize=given)[:2] == ("none", kept)
    model = StructuredSVM(node_lift="auto", standardize=given, incidence=False, intercept=False).fit(graphs)
    assert np.array_equal(model.pipeline_.transform(graphs[0]).node_features, graphs[0].node_features)
    assert model.choice_.reason == "node features of 0 and 1 stay as they are"


def test_nodes_without_a_known_label_do_not_count():
    graphs = graphs_of(lambda x: np.abs(x[:, 0]) > 0.7)
    partly = [
        g.replace(
            labels=np.where(np.arange(g.n_nodes) % 3 > 0, g.labels, None), node_features=g.node_features
        )
        for g in graphs
    ]
    assert steps(partly)[0] == "stumps"


def test_one_labelled_graph_keeps_its_columns():
    graphs = sample_graphs(3)
    graphs = [graphs[0], *(g.replace(labels=None) for g in graphs[1:])]
    assert steps(graphs)[::2] == ("none", "no stumps: fewer than two graphs have labels")


def test_what_is_named_stays():
    graphs = graphs_of(lambda x: np.abs(x[:, 0]) > 0.7)
    settings = Settings.checked(StructuredSVM().get_params(deep=False))
    assert choose_steps(graphs, settings) == (settings, "")


def test_a_label_outside_the_classes_is_named_with_its_graph_and_node():
    graphs = [g.replace(name=f"page {i}") for i, g in enumerate(graphs_of(lambda x: x[:, 0] > 0))]
    with pytest.raises(
        ValueError, match=r"graph \d \('page \d'\), node 0: label \d is not one of the classes"
    ):
        steps(graphs, classes=["a", "b"])

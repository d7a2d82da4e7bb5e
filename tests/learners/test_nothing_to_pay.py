"""Problems whose optimum is 0, since no labeling costs anything at weights of 0: proven, not 100 % away."""

from __future__ import annotations

import numpy as np
import pytest

from gapcut import Graph, GraphSet, StructuredSVM
from sample_graphs import sample_graphs

LEARNERS = ["block", "cutting-plane", "frank-wolfe", "subgradient"]


def without_cycles(node_weights: np.ndarray | None, n_labels: int) -> GraphSet:
    """Chains of six nodes."""
    rng, edges = np.random.default_rng(0), np.array([[i, i + 1] for i in range(5)])
    return GraphSet(
        Graph(
            rng.normal(size=(6, 3)),
            edges,
            rng.normal(size=(5, 2)),
            np.arange(6) % n_labels,
            node_weights=node_weights,
        )
        for _ in range(3)
    )


def check_certified_at_zero(svm: StructuredSVM, graphs: GraphSet) -> None:
    svm.fit(graphs)
    proof = svm.certificate_
    assert (proof.lower, proof.upper, proof.relative_gap, proof.status) == (0.0, 0.0, 0.0, "certified")
    assert "0.00%" in svm.model_.message
    assert svm.check(graphs).verdict == "holds"


@pytest.mark.parametrize("learner", LEARNERS)
@pytest.mark.parametrize("oracle", ["tree", "trws", "lp", "ilp"])
def test_one_label_leaves_nothing_to_learn(learner, oracle):
    check_certified_at_zero(
        StructuredSVM(learner=learner, oracle=oracle, max_passes=5), without_cycles(None, n_labels=1)
    )


@pytest.mark.parametrize("learner", ["block", "cutting-plane", "frank-wolfe"])
@pytest.mark.parametrize("oracle", ["cut", "tree", "lp", "ilp"])
def test_nodes_without_weight_leave_nothing_to_pay(learner, oracle):
    check_certified_at_zero(
        StructuredSVM(learner=learner, oracle=oracle, max_passes=5), without_cycles(np.zeros(6), n_labels=2)
    )


def test_one_graph_that_costs_leaves_the_rest_as_it_was():
    graphs = sample_graphs(4)
    weightless = Graph(
        graphs[0].node_features,
        graphs[0].edges,
        graphs[0].edge_features,
        graphs[0].labels,
        node_weights=np.zeros(graphs[0].n_nodes),
    )
    proof = StructuredSVM(oracle="ilp", gap=0.05).fit(GraphSet([weightless, *graphs[1:]])).certificate_
    assert 0.0 < proof.lower <= proof.upper
    assert proof.status == "certified"

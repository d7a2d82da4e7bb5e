"""The paper's features, competitors and what each of ours adds, on two folds of small graphs that look like bridges."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from gapcut import Graph, GraphSet
from gapcut.comparison import Comparison
from gapcut.comparison.bridges import (
    bridge_variants,
    bridges_document,
    bridges_markdown,
    compare_on_bridges,
    seen,
)
from gapcut.scenes.bridges import CLASSES
from gapcut.scenes.experiment import ExperimentSettings, FoldGraphs
from gapcut.scenes.experiment.settings import PAPER_EDGES, PARTS
from gapcut.scenes.labelling.graphs import node_names

FULL = ExperimentSettings()
SETTINGS = replace(FULL, training=replace(FULL.training, gap=0.05))


def graphs(seed: int, count: int) -> GraphSet:
    """Parts 0..10 of all classes; the part of class k + 1 rests on that of class k, whose distribution is blurred."""
    rng = np.random.default_rng(seed)
    steps = np.arange(len(CLASSES) - 1)
    edges = np.concatenate([np.stack([steps + 1, steps], 1), np.stack([steps, steps + 1], 1)])
    made = []
    for _ in range(count):
        p = rng.dirichlet(np.ones(len(CLASSES)), len(CLASSES)) + 0.3 * np.eye(len(CLASSES))
        p /= p.sum(axis=1, keepdims=True)
        on_edges = rng.random((len(edges), len(PARTS.edges)))
        on_edges[:, PARTS.edges.index("rests on")] = np.arange(len(edges)) < len(steps)
        nodes = np.column_stack([p, np.log(p + 0.01)])
        made.append(Graph(nodes, edges, on_edges, np.array(CLASSES), node_weights=rng.random(11) + 1.0))
    names = node_names(CLASSES, (), PARTS)
    return GraphSet(made, node_feature_names=names, edge_feature_names=PARTS.edges)


FOLDS = [FoldGraphs([0], [1], graphs(f, 3), graphs(f + 10, 2), 0.0) for f in range(2)]


@pytest.fixture(scope="module")
def found() -> Comparison:
    return compare_on_bridges(FOLDS, bridge_variants(), SETTINGS, limit=0.2)


def test_the_papers_features_are_distributions_and_three_edge_features() -> None:
    first, full = bridge_variants()[0], bridge_variants()[-1]
    (graph, *_), given = seen(FOLDS[0].training, first), FOLDS[0].training[0]
    np.testing.assert_array_equal(graph.node_features, given.node_features[:, : len(CLASSES)])
    assert seen(FOLDS[0].training, first).edge_feature_names == PAPER_EDGES
    assert PAPER_EDGES == ("rests on", "direction consistency", "perpendicularity")
    np.testing.assert_array_equal(graph.edge_features[:, 0], given.edge_features[:, 0])
    assert graph.node_weights is None
    assert seen(FOLDS[0].training, full)[0].node_features.shape == given.node_features.shape


def test_the_first_model_sees_the_features_as_they_are(found: Comparison) -> None:
    model = found.models[0]
    assert model.pipeline_.node_names == tuple(f"p({name})" for name in CLASSES)
    assert model.pipeline_.edge_names == PAPER_EDGES
    graph = seen(FOLDS[0].tests, bridge_variants()[0])[0]
    ready = model.pipeline_.transform(graph)
    np.testing.assert_array_equal(ready.node_features, graph.node_features)
    np.testing.assert_array_equal(ready.edge_features, graph.edge_features)
    assert len(found.models) == 2


def test_every_row_is_there_and_says_what_it_has(found: Comparison) -> None:
    names = [row.contender.name for row in found.rows]
    assert len(set(names)) == len(names)
    assert names[:5] == [
        "primal-dual/cut, paper's features",
        "cutting-plane/cut, paper's features",
        "cutting-plane/qpbo/signed, paper's features",
        "cutting-plane/qpbo-rounded/signed, paper's features",
        "cutting-plane/qpbo-rounded-energy/signed, paper's features",
    ]
    assert [row.failure for row in found.rows] == [""] * len(names)
    alone = names.index("primal-dual/cut, our nodes alone")
    assert all(row.status == "certified" for row in found.rows[alone - 3 :])


def test_rows_without_pairs_have_no_pairwise_weight(monkeypatch: pytest.MonkeyPatch) -> None:
    for variant in bridge_variants():
        if not variant.pairs:
            assert not compare_on_bridges(FOLDS[:1], [variant], SETTINGS, 2.0).models[0].pairwise_.any()


def test_the_report_has_rows_and_the_whole_matrix(found: Comparison) -> None:
    text = bridges_markdown(found)
    assert "| primal-dual/cut, ours, incidence and pairs |" in text
    matrix = text.split("least to largest)\n\n")[1].split("\n\n")[0].splitlines()
    assert len(matrix) == 2 + len(CLASSES)
    assert all(line.count("|") == 2 + len(CLASSES) for line in matrix)
    document = bridges_document(found, FOLDS)
    assert np.shape(document["on_top_of"]) == (2, len(CLASSES), len(CLASSES))
    assert document["graphs"] == 4

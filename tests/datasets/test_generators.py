"""Generated scenes: reproducible, and what they are meant to be."""

from __future__ import annotations

import hashlib

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from gapcut.data import Graph, GraphSet
from gapcut.datasets import PLANTED_CLASSES, make_planted
from gapcut.scenes.datasets import make_scenes


def same(a: Graph, b: Graph) -> bool:
    arrays = ("node_features", "edges", "edge_features", "labels")
    return all(np.array_equal(getattr(a, name), getattr(b, name)) for name in arrays)


def digest(graphs: GraphSet) -> str:
    """Of edges, labels and features to six decimals."""
    found = hashlib.sha256()
    for graph in graphs:
        for whole in (graph.edges, graph.labels):
            found.update(np.ascontiguousarray(whole, dtype="<i8").tobytes())
        for features in (graph.node_features, graph.edge_features):
            found.update(np.rint(1e6 * features).astype("<i8").tobytes())
    return found.hexdigest()[:16]


@pytest.mark.parametrize(
    ("sizes", "seed", "expected"),
    [
        ((2, 460, 4500, 11), 0, "a60c3bd47cd39114"),
        ((3, 50, 300, 4), 3, "0975c1156357eca6"),
        ((1, 20, 45, 2), 1, "6a1506aa03c586f6"),
    ],
)
def test_scenes_are_those_on_which_recorded_times_rest(
    sizes: tuple[int, ...], seed: int, expected: str
) -> None:
    """Digests of the first generator, which this one replaced; new ones would mean to measure again."""
    assert digest(make_scenes(*sizes, noise=0.7, seed=seed)) == expected


def test_scenes_that_cannot_be_are_refused() -> None:
    for bad in ({"n_nodes": 5, "n_edges": 30}, {"n_nodes": 0}, {"n_graphs": 0}, {"n_labels": 0}):
        with pytest.raises(ValueError, match="no scene of"):
            make_scenes(**bad)


def test_planted_sizes_names_and_determinism() -> None:
    graphs = make_planted(5, 40, 90, 8, seed=4)
    assert all((g.n_nodes, g.n_edges) == (40, 90) for g in graphs)
    assert {str(k) for g in graphs for k in g.labels} == set(PLANTED_CLASSES[:8])
    assert graphs.edge_feature_names[:2] == ("on top of", "beside")
    assert graphs.node_feature_names[0] == "p(deck)"
    assert all(len(set(map(frozenset, g.edges.tolist()))) == 90 for g in graphs)  # no pair twice
    again, fewer, other = (
        make_planted(5, 40, 90, 8, seed=4),
        make_planted(2, 40, 90, 8, seed=4),
        make_planted(5, 40, 90, 8, seed=5),
    )
    assert all(map(same, graphs, again))
    assert all(
        same(a, b) and np.array_equal(a.node_weights, b.node_weights)
        for a, b in zip(fewer, graphs, strict=False)
    )
    assert not same(graphs[0], other[0])
    assert all(
        (g.node_weights >= 1).all() and (g.node_weights == np.round(g.node_weights)).all() for g in graphs
    )
    assert {str(k) for g in make_planted(8, seed=0) for k in g.labels} == set(PLANTED_CLASSES)
    assert make_planted(1, 2, None, 2)[0].n_edges == 1
    for bad in (
        {"n_labels": 1},
        {"n_labels": 12},
        {"n_nodes": 1},
        {"n_nodes": 5, "n_edges": 11},
        {"n_graphs": 0},
    ):
        with pytest.raises(ValueError, match=r"n_labels must be|no .* graphs of"):
            make_planted(**bad)


def test_edge_features_of_planted_bridges() -> None:
    features = np.vstack([g.edge_features for g in make_planted(20)])
    assert set(np.unique(features[:, :2])) == {0.0, 1.0}
    assert ((features[:, 2:4] >= 0) & (features[:, 2:4] <= 1)).all()
    assert (features[:, 4:] < 0).any(axis=0).all()  # signed: they need the lift
    clean = make_planted(20, hidden=0.0)
    on_top = {
        (str(g.labels[u]), str(g.labels[v]))
        for g in clean
        for (u, v), row in zip(g.edges, g.edge_features, strict=True)
        if row[0]
    }
    assert ("column", "footing") in on_top
    assert ("footing", "column") not in on_top  # directed


def nodes_and_labels(graphs: GraphSet, classes: tuple[str, ...]) -> tuple[np.ndarray, np.ndarray]:
    labels = np.concatenate([g.labels for g in graphs])
    return np.vstack([g.node_features for g in graphs]), np.array([classes.index(k) for k in labels])


def relation_of(graph: Graph) -> np.ndarray:
    """(E,) one of 12 kinds of edge: what is seen, and how much higher the first end is."""
    seen = graph.edge_features[:, 0] + 2 * graph.edge_features[:, 1]
    return (3 * seen + np.digitize(graph.edge_features[:, 4], [0.3, 1.0])).astype(int)


def propagate(unary: np.ndarray, tables: np.ndarray, edges: np.ndarray, sweeps: int = 40) -> np.ndarray:
    """Labels by damped max-product; unary (V, K), tables (E, K, K), higher is better."""
    u, v = edges.T
    forward, backward = np.zeros((2, len(edges), unary.shape[1]))
    for _ in range(sweeps):
        belief = unary.copy()
        np.add.at(belief, v, forward)
        np.add.at(belief, u, backward)
        to_v = ((belief[u] - backward)[:, :, None] + tables).max(axis=1)
        to_u = ((belief[v] - forward)[:, None, :] + tables).max(axis=2)
        forward = 0.5 * forward + 0.5 * (to_v - to_v.max(axis=1, keepdims=True))
        backward = 0.5 * backward + 0.5 * (to_u - to_u.max(axis=1, keepdims=True))
    np.add.at(unary := unary.copy(), v, forward)
    np.add.at(unary, u, backward)
    return unary.argmax(axis=1)


@pytest.mark.parametrize("n_labels", [2, 6, 11])
def test_relations_decide_what_nodes_leave_open(n_labels: int) -> None:
    classes = PLANTED_CLASSES[:n_labels]
    graphs = make_planted(40, n_labels=n_labels, seed=1)
    train, test = graphs[:20], graphs[20:]
    nodes, labels = nodes_and_labels(train, classes)
    model = LogisticRegression(max_iter=3000).fit(nodes, labels)
    alone = model.score(*nodes_and_labels(test, classes))

    counted = np.full((12, n_labels, n_labels), 0.5)
    for graph in train:
        ends = np.array([classes.index(k) for k in graph.labels])[graph.edges]
        np.add.at(counted, (relation_of(graph), ends[:, 0], ends[:, 1]), 1)
    prior = np.bincount(labels, minlength=n_labels) / len(labels)
    tables = np.log(counted / counted.sum(axis=(1, 2), keepdims=True)) - np.log(np.outer(prior, prior))
    right = total = 0
    for graph in test:
        found = propagate(
            model.predict_log_proba(graph.node_features), tables[relation_of(graph)], graph.edges
        )
        right += int((np.array(classes)[found] == graph.labels).sum())
        total += graph.n_nodes
    assert right / total >= alone + 0.15
    assert right / total >= 0.9

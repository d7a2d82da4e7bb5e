"""The steps together: columns, state, and the guarantee that incidence features give."""

from __future__ import annotations

import itertools
import json

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.exceptions import NotFittedError

from gapcut.data import Graph, GraphError, GraphSet
from gapcut.features import FeaturePipeline

SETTINGS = list(
    itertools.product(
        (True, False, "scale"),
        ("auto", "all", "stumps", "none"),
        (True, False),
        (True, False),
        ("none", "graph", "node", "larger"),
        ("none", "center", "standard"),
    )
)


def pipeline(chosen: tuple) -> FeaturePipeline:
    standardize, lift, incidence, intercept, degree, scale = chosen
    return FeaturePipeline(
        standardize, lift, incidence, intercept, degree_scale=degree, incidence_scale=scale
    )


def random_graphs(rng: np.random.Generator, count: int = 4, sparse: bool = False) -> GraphSet:
    graphs = []
    for i in range(count):
        n = int(rng.integers(1, 6))
        pairs = [(u, v) for u, v in rng.integers(n, size=(8, 2)) if u != v]
        nodes = np.hstack([rng.normal(size=(n, 3)) * [1, 50, 1e-3] + [0, 9, 0], np.ones((n, 1))])
        edges = np.hstack(
            [rng.normal(size=(len(pairs), 2)), rng.random((len(pairs), 1)), np.full((len(pairs), 1), -1.0)]
        )
        labels = [int(k) if k else None for k in rng.integers(4, size=n)]
        graphs.append(
            Graph(sp.csr_array(nodes) if sparse else nodes, pairs, edges, labels, rng.random(n), name=f"g{i}")
        )
    return GraphSet(graphs)


def dense(graph: Graph) -> np.ndarray:
    return graph.node_features.toarray() if graph.is_sparse else graph.node_features


@pytest.mark.parametrize("sparse", [False, True])
def test_all_settings_give_what_they_promise(sparse: bool) -> None:
    for number, chosen in enumerate(SETTINGS):
        graphs = random_graphs(np.random.default_rng(number), sparse=sparse)
        steps = pipeline(chosen)
        ready = steps.fit_transform(graphs)
        again, names = [steps.transform(g) for g in graphs], (steps.node_names, steps.edge_names)
        for raw, one, two in zip(graphs, ready, again, strict=True):
            assert (one.node_dim, one.edge_dim) == (len(names[0]), len(names[1]))
            assert np.array_equal(dense(one), dense(two))
            assert np.array_equal(one.edge_features, two.edge_features)
            assert one.is_sparse == (sparse and chosen[0] is not True)
            assert (one.edges is raw.edges, one.labels is raw.labels, one.name) == (True, True, raw.name)
            if chosen[1] != "none":
                assert (one.edge_features >= 0).all()


def test_nothing_switched_on_returns_features_as_given() -> None:
    graphs = random_graphs(np.random.default_rng(0))
    steps = FeaturePipeline(False, "none", False, False).fit(graphs)
    for graph in graphs:
        assert np.array_equal(steps.transform(graph).node_features, graph.node_features)
        assert np.array_equal(steps.transform(graph).edge_features, graph.edge_features)
    assert steps.edge_names == ("edge[0]", "edge[1]", "edge[2]", "edge[3]")


def test_names_say_where_a_column_comes_from() -> None:
    graphs = random_graphs(np.random.default_rng(1))
    named = GraphSet(
        list(graphs), node_feature_names="abcd", edge_feature_names=["lean", "twist", "touch", "sign"]
    )
    steps = FeaturePipeline().fit(named)
    edge = ("lean (pos)", "lean (neg)", "twist (pos)", "twist (neg)", "touch", "constant")
    assert steps.edge_names == edge
    sums = tuple(f"{end} {name}" for end in ("out", "in") for name in edge)
    assert steps.node_names == ("a", "b", "c", "constant", *sums)
    assert steps.raw_columns.node == ("a", "b", "c", "d")


@given(seed=st.integers(0, 2**32 - 1), chosen=st.sampled_from(SETTINGS), sparse=st.booleans())
@settings(max_examples=150, deadline=None)
def test_saved_state_transforms_alike(seed: int, chosen: tuple, sparse: bool) -> None:
    rng = np.random.default_rng(seed)
    train, later = random_graphs(rng, sparse=sparse), random_graphs(rng, sparse=sparse)
    steps = pipeline(chosen).fit(train)
    arrays, meta = steps.to_state()
    assert all(isinstance(a, np.ndarray) and a.dtype.kind in "if" for a in arrays.values())
    again = FeaturePipeline.from_state(arrays, json.loads(json.dumps(meta)))
    assert (again.node_names, again.edge_names) == (steps.node_names, steps.edge_names)
    for graph in later:
        one, two = steps.transform(graph), again.transform(graph)
        assert np.array_equal(dense(one), dense(two))
        assert np.array_equal(one.edge_features, two.edge_features)


def test_broken_state_is_refused() -> None:
    arrays, meta = FeaturePipeline().fit(random_graphs(np.random.default_rng(2))).to_state()
    for name in arrays:
        with pytest.raises(ValueError, match="missing from its saved state"):
            FeaturePipeline.from_state({k: v for k, v in arrays.items() if k != name}, meta)
        for bad in (np.full(3, np.nan), np.array(["x"]), np.ones((2, 2)), np.arange(50)):
            with pytest.raises(ValueError, match="feature step"):
                FeaturePipeline.from_state(arrays | {name: bad}, meta)
    with pytest.raises(ValueError, match="feature step"):
        FeaturePipeline.from_state(arrays | {"nodes.kept": arrays["nodes.kept"] + 2}, meta)
    with pytest.raises(ValueError, match="feature step"):
        FeaturePipeline.from_state(arrays | {"edges.peak": -arrays["edges.peak"]}, meta)
    with pytest.raises(ValueError, match="unknown step 'eval'"):
        FeaturePipeline.from_state(arrays, meta | {"steps": {"eval": {}}})
    with pytest.raises(ValueError, match="lacks column names or steps"):
        FeaturePipeline.from_state(arrays, {"node": [], "edge": []})
    with pytest.raises(ValueError, match="must be one of"):
        FeaturePipeline.from_state(arrays, meta | {"steps": meta["steps"] | {"lift": {"columns": "half"}}})


def test_use_before_fit_and_on_other_columns() -> None:
    with pytest.raises(NotFittedError, match="call fit"):
        FeaturePipeline().transform(Graph([[1.0]], []))
    with pytest.raises(NotFittedError):
        _ = FeaturePipeline().node_names
    with pytest.raises(ValueError, match="no graphs were given"):
        FeaturePipeline().fit([])
    steps = FeaturePipeline().fit(random_graphs(np.random.default_rng(3)))
    with pytest.raises(GraphError, match="graph 'odd': 2 node features, but the training graphs had 4"):
        steps.transform(Graph([[1.0, 2.0]], [], name="odd"))
    with pytest.raises(GraphError, match="1 edge features, but the training graphs had 4"):
        steps.transform(Graph(np.ones((2, 4)), [[0, 1]], [[1.0]]))
    alone = steps.transform(Graph(np.ones((1, 4)), []))
    assert alone.edge_features.shape == (0, len(steps.edge_names))
    for bad in ({"standardize": "no"}, {"edge_lift": True}, {"incidence": 1}, {"degree_scale": None}):
        with pytest.raises(ValueError, match="must be one of"):
            FeaturePipeline(**bad)


def test_a_second_fit_owes_nothing_to_the_first() -> None:
    first, second = (random_graphs(np.random.default_rng(seed)) for seed in (4, 5))
    steps = FeaturePipeline(incidence_scale="standard").fit(first)
    fresh = FeaturePipeline(incidence_scale="standard").fit(second)
    for one, two in zip(steps.fit_transform(second), map(fresh.transform, second), strict=True):
        assert np.array_equal(one.node_features, two.node_features)


def test_steps_see_unlabelled_nodes() -> None:
    """The sums of a node count the edges to unlabelled neighbours; the subgraph is taken afterwards."""
    graph = Graph([[1.0], [2.0], [4.0]], [[0, 1], [0, 2]], [[1.0], [3.0]], ["a", None, "b"])
    ready = FeaturePipeline(False, "auto", True, False).fit([graph]).transform(graph).induced(graph.labelled)
    assert ready.node_features.tolist() == [[1.0, 4.0, 0.0], [4.0, 0.0, 3.0]]
    assert ready.edge_features.tolist() == [[3.0]]


# ------------------------------------------------------------------------ what incidence features guarantee


def scores(graph: Graph, unary: np.ndarray, pairwise: np.ndarray) -> np.ndarray:
    """Scores of all K^V one-hot labelings, by the definition (docs/mathematics.md, Model)."""
    K = len(unary)
    table = dense(graph) @ unary.T
    pairs = np.einsum("ed,kld->ekl", graph.edge_features, pairwise)
    found = []
    for y in itertools.product(range(K), repeat=graph.n_nodes):
        labels = np.array(y)
        ends = labels[graph.edges]
        nodes = table[np.arange(graph.n_nodes), labels].sum()
        found.append(nodes + pairs[np.arange(graph.n_edges), ends[:, 0], ends[:, 1]].sum())
    return np.array(found)


def constrained_twin(
    steps: FeaturePipeline, unary: np.ndarray, pairwise: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Weights on model-ready columns, pairwise ones >= 0, for a real-weighted model of raw features.

    Raw column ``x = peak (deviation x' + mean)``; a signed edge column is ``peak (pos - neg)``; what is left
    constant goes to the intercepts. Then pairwise weights of column d gain ``m_d``, its sums ``-m_d / 2``.
    """
    K = len(unary)
    nodes, edges = list(steps.node_names), list(steps.edge_names)
    ready_unary, ready_pair = np.zeros((K, len(nodes))), np.zeros((K, K, len(edges)))
    step = steps.steps["nodes"]
    for i, column in enumerate(step.kept):
        ready_unary[:, i] = unary[:, column] * step.peak[i] * step.deviation[i]
        ready_unary[:, nodes.index("constant")] += unary[:, column] * step.peak[i] * step.mean[i]
    assert 3 not in step.kept  # the constant column 1 of the test graphs
    ready_unary[:, nodes.index("constant")] += unary[:, 3]
    scaler, lift = steps.steps["edges"], steps.steps["lift"]
    for j, (source, part) in enumerate(zip(lift.source, lift.part, strict=True)):
        sign = -1.0 if part == -1 else 1.0
        ready_pair[:, :, j] = sign * pairwise[:, :, scaler.kept[source]] * scaler.peak[source]
    dropped = sorted(set(range(pairwise.shape[2])) - set(scaler.kept.tolist()))
    for column in dropped:  # the constant column -1 of the test graphs
        ready_pair[:, :, edges.index("constant")] += -pairwise[:, :, column]
    m = np.maximum(0.0, -ready_pair.min(axis=(0, 1)))
    sums = steps.steps["incidence"]
    for d, name in enumerate(edges):
        for end, offset in (("out", 0), ("in", len(edges))):
            ready_unary[:, nodes.index(f"{end} {name}")] -= 0.5 * m[d] * sums.deviation[offset + d]
    return ready_unary, ready_pair + m


@pytest.mark.parametrize("incidence_scale", ["none", "center", "standard"])
@pytest.mark.parametrize("mode", [True, "scale"])
@pytest.mark.parametrize("lift", ["auto", "all"])
def test_non_negative_pairs_with_incidence_score_like_signed_ones(
    mode: bool | str, lift: str, incidence_scale: str
) -> None:
    for seed in range(12):
        rng = np.random.default_rng(seed)
        graphs = random_graphs(rng)
        steps = FeaturePipeline(mode, lift, True, True, incidence_scale=incidence_scale).fit(graphs)
        K = int(rng.integers(1, 4))
        unary, pairwise = rng.normal(size=(K, 4)), rng.normal(size=(K, K, 4))
        ready_unary, ready_pair = constrained_twin(steps, unary, pairwise)
        assert (ready_pair >= 0).all()
        for graph in graphs:
            signed = scores(graph, unary, pairwise)
            difference = signed - scores(steps.transform(graph), ready_unary, ready_pair)
            scale = 1 + np.abs(signed).max()
            if incidence_scale == "none":
                assert np.abs(difference).max() <= 1e-9 * scale
            assert np.ptp(difference) <= 1e-9 * scale  # one constant a graph

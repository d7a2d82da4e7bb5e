"""Each feature step on its own."""

from __future__ import annotations

import logging

import numpy as np
import pytest
import scipy.sparse as sp

from gapcut.data import Graph, GraphError
from gapcut.features import (
    Columns,
    DegreeScaler,
    EdgeScaler,
    Incidence,
    Intercept,
    NodeStandardizer,
    QuantileStumps,
    SignLift,
    incidence_sums,
)
from gapcut.features import standardize as standardize_module
from gapcut.features.block import Block
from gapcut.features.passes import Kept

RNG = np.random.default_rng(7)


def with_nodes(*tables: object) -> list[Graph]:
    return [Graph(t, []) for t in tables]


def with_edges(*tables: object) -> list[Graph]:
    """Paths whose edges carry the rows of the tables."""
    graphs = []
    for table in tables:
        rows = np.asarray(table, dtype=float)
        steps = np.arange(len(rows))
        graphs.append(Graph(np.zeros((len(rows) + 1, 1)), np.stack([steps, steps + 1], axis=1), rows))
    return graphs


def in_blocks(graphs: list[Graph]) -> Kept:
    return Kept(graphs)


def one_block(graph: Graph) -> Block:
    return Block.of([graph])


def columns(graphs: list[Graph]) -> Columns:
    return Columns(
        tuple(f"n{i}" for i in range(graphs[0].node_dim)), tuple(f"e{i}" for i in range(graphs[0].edge_dim))
    )


def test_standardizer_gives_mean_zero_and_deviation_one() -> None:
    tables = [RNG.normal(3, [1, 100, 1e-4], size=(n, 3)) for n in (5, 1, 8)]
    graphs = with_nodes(*[np.hstack([t, np.full((len(t), 1), 0.1)]) for t in tables])
    step = NodeStandardizer().fit(in_blocks(graphs), columns(graphs))
    ready = np.vstack([step.transform(one_block(g)).node_features for g in graphs])
    assert step.rename(columns(graphs)).node == ("n0", "n1", "n2")  # the constant column is gone
    expected = np.vstack(tables)
    np.testing.assert_allclose(ready, (expected - expected.mean(0)) / expected.std(0), rtol=1e-9, atol=1e-11)


@pytest.mark.parametrize("mode", [True, "scale"])
def test_sparse_and_dense_nodes_give_the_same_numbers(mode: bool | str) -> None:
    for seed in range(20):
        rng = np.random.default_rng(seed)
        tables = [
            rng.normal(size=(n, 6)) * (rng.random((n, 6)) < 0.3) * [1, -2, 1e200, 1e-200, 0, 1]
            for n in (4, 7)
        ]
        for table in tables:
            table[:, 5] = 2.0
        dense, sparse = with_nodes(*tables), with_nodes(*map(sp.csr_array, tables))
        a = NodeStandardizer(mode).fit(in_blocks(dense), columns(dense))
        b = NodeStandardizer(mode).fit(in_blocks(sparse), columns(sparse))
        for one, two in zip(dense, sparse, strict=True):
            left, right = a.transform(one_block(one)).node_features, b.transform(one_block(two)).node_features
            assert sp.issparse(right) == (mode == "scale")
            assert np.array_equal(left, right.toarray() if sp.issparse(right) else right)
            crossed = a.transform(one_block(two)).node_features
            assert np.array_equal(left, crossed.toarray() if sp.issparse(crossed) else crossed)


def test_scaling_divides_by_the_largest_absolute_value() -> None:
    graphs = with_nodes([[1.0, 5], [-4, 5]], [[2, 5]])
    step = NodeStandardizer("scale").fit(in_blocks(graphs), columns(graphs))
    assert step.transform(one_block(graphs[0])).node_features.tolist() == [[0.25], [-1.0]]
    keeping = NodeStandardizer("scale", keep_constant=True).fit(in_blocks(graphs), columns(graphs))
    assert keeping.transform(one_block(graphs[1])).node_features.tolist() == [[0.5, 1.0]]


@pytest.mark.parametrize("big", [1e300, 1.7e308, 5e-324, 1e-310])
def test_extreme_columns_standardise_without_overflow(big: float) -> None:
    graphs = with_nodes([[big], [-big]], [[big], [0.0]])
    step = NodeStandardizer().fit(in_blocks(graphs), columns(graphs))
    ready = np.vstack([step.transform(one_block(g)).node_features for g in graphs]).ravel()
    np.testing.assert_allclose([ready.mean(), ready.std()], [0, 1], atol=1e-12)


def test_a_value_that_overflows_after_scaling_is_named() -> None:
    graphs = with_nodes([[1e-200], [-1e-200]])
    step = NodeStandardizer().fit(in_blocks(graphs), columns(graphs))
    with pytest.raises(GraphError, match="node_features of node 1, feature 0 is inf"):
        list(step.transform(one_block(Graph([[0.0], [1e200]], []))).split())


def test_centring_huge_sparse_input_is_refused_with_advice(monkeypatch: pytest.MonkeyPatch) -> None:
    graphs = with_nodes(sp.csr_array((200_000, 100_000)))
    with pytest.raises(ValueError, match=r'149.0 GiB: use standardize="scale"'):
        NodeStandardizer().fit(in_blocks(graphs), Columns(("x",) * 100_000, ()))
    monkeypatch.setattr(standardize_module, "DENSE_LIMIT", 100)
    small = with_nodes(sp.csr_array(np.eye(3)))
    step = NodeStandardizer().fit(in_blocks(small), columns(small))
    with pytest.raises(ValueError, match="a graph's node features"):
        step.transform(Graph(sp.csr_array((50, 3)), []))


def test_edge_scaler_keeps_signs_and_drops_constants() -> None:
    graphs = with_edges([[1, 0, 3, -2], [-4, 0, 3, -2]], [[2, 0, 3, -2]])
    step = EdgeScaler().fit(in_blocks(graphs), columns(graphs))
    assert step.transform(one_block(graphs[0])).edge_features.tolist() == [[0.25], [-1]]
    keeping = EdgeScaler(keep_constant=True).fit(in_blocks(graphs), columns(graphs))
    assert keeping.rename(columns(graphs)).edge == ("e0", "e2", "e3")
    assert keeping.transform(one_block(graphs[1])).edge_features.tolist() == [[0.5, 1, -1]]


def test_lift_splits_signed_columns_only() -> None:
    graphs = with_edges([[1, 1, -1], [-3, 2, -2]])
    step = SignLift("auto").fit(in_blocks(graphs), columns(graphs))
    assert step.rename(columns(graphs)).edge == ("e0 (pos)", "e0 (neg)", "e1", "e2 (neg)")
    assert step.transform(one_block(graphs[0])).edge_features.tolist() == [[1, 0, 1, 1], [0, 3, 2, 2]]
    everything = SignLift("all").fit(in_blocks(graphs), columns(graphs))
    assert everything.rename(columns(graphs)).edge == ("e0 (pos)", "e0 (neg)", "e1 (pos)", "e2 (neg)")


def test_lift_does_not_clip_what_turns_negative_later(caplog: pytest.LogCaptureFixture) -> None:
    graphs = with_edges([[1, 1], [-3, 2]])
    step = SignLift("auto").fit(in_blocks(graphs), columns(graphs))
    with caplog.at_level(logging.WARNING):
        later = step.transform(one_block(with_edges([[0.0, -5.0]])[0].replace(name="later")))
    assert later.edge_features.tolist() == [[0, 0, -5]]
    assert "graph 'later': edge features in columns 1 are negative" in caplog.text


def test_stumps_cut_at_quantiles() -> None:
    graphs = with_edges(np.arange(20.0).reshape(20, 1), np.arange(20.0, 100.0).reshape(80, 1))
    step = QuantileStumps().fit(in_blocks(graphs), columns(graphs))
    assert step.threshold.tolist() == [4, 14, 24, 34, 44, 54, 64, 74, 84, 94]
    ready = np.vstack([step.transform(one_block(g)).edge_features for g in graphs])
    np.testing.assert_array_equal(ready.mean(0), (np.arange(10) + 0.5) / 10)
    assert step.rename(columns(graphs)).edge[0] == "e0 <= 4"
    coarse = with_edges([[0, 7], [1, 7], [1, 7]])
    step = QuantileStumps().fit(in_blocks(coarse), columns(coarse))
    assert (step.source.tolist(), step.threshold.tolist()) == ([0], [0.0])
    assert step.transform(one_block(with_edges([[0.5, 7], [-3, 7]])[0])).edge_features.tolist() == [[0], [1]]


def test_degree_scaling() -> None:
    star = Graph(np.zeros((5, 1)), [[0, 1], [0, 2], [3, 0], [0, 1]], np.full((4, 1), 8.0))
    by_graph = DegreeScaler("graph").fit(in_blocks([star]), columns([star])).transform(one_block(star))
    assert by_graph.edge_features.ravel().tolist() == [5.0] * 4  # 2 E / V = 8/5; the isolated node counts
    by_node = DegreeScaler("node").fit(in_blocks([star]), columns([star])).transform(one_block(star))
    np.testing.assert_allclose(by_node.edge_features.ravel(), 8 / np.sqrt([8, 4, 4, 8]))
    by_larger = DegreeScaler("larger").fit(in_blocks([star]), columns([star])).transform(one_block(star))
    assert by_larger.edge_features.ravel().tolist() == [2.0] * 4  # the centre has four edges
    lonely = Graph([[1.0]], [], np.empty((0, 1)))
    assert DegreeScaler("node").transform(one_block(lonely)).edge_features.shape == (0, 1)


def test_incidence_sums_match_loops_and_add_up_repeats() -> None:
    for seed in range(30):
        rng = np.random.default_rng(seed)
        n = int(rng.integers(2, 6))
        pairs = [(u, v) for u, v in rng.integers(n, size=(12, 2)) if u != v] * 2
        graph = Graph(rng.normal(size=(n, 2)), pairs, rng.normal(size=(len(pairs), 3)))
        expected = np.zeros((n, 6))
        for (u, v), row in zip(pairs, graph.edge_features, strict=True):
            expected[u, :3] += row
            expected[v, 3:] += row
        np.testing.assert_allclose(incidence_sums(graph), expected, atol=1e-12)
        ready = Incidence().fit(in_blocks([graph]), columns([graph])).transform(one_block(graph))
        np.testing.assert_allclose(
            ready.node_features, np.hstack([graph.node_features, expected]), atol=1e-12
        )


@pytest.mark.parametrize("scale", ["center", "standard"])
def test_incidence_sums_centred_and_standardised(scale: str) -> None:
    rng = np.random.default_rng(3)
    graphs = with_edges(rng.normal(2, 1e3, size=(9, 2)), rng.normal(2, 1e3, size=(4, 2)))
    step = Incidence(scale).fit(in_blocks(graphs), columns(graphs))
    sums = np.vstack([step.transform(one_block(g)).node_features[:, 1:] for g in graphs])
    np.testing.assert_allclose(sums.mean(0), 0, atol=1e-9)
    if scale == "standard":
        np.testing.assert_allclose(sums.std(0), 1)
    nothing = with_edges(np.empty((0, 2)))
    ready = Incidence(scale).fit(in_blocks(nothing), columns(nothing)).transform(one_block(nothing[0]))
    assert ready.node_features.tolist() == [[0, 0, 0, 0, 0]]
    assert step.rename(columns(graphs)).node == ("n0", "out e0", "out e1", "in e0", "in e1")


def test_intercepts_keep_sparsity() -> None:
    graph = Graph(sp.csr_array([[0, 2.0], [1, 0]]), [[0, 1]], [[3.0]])
    ready = Intercept().transform(one_block(graph))
    assert sp.issparse(ready.node_features)
    assert ready.node_features.toarray().tolist() == [[0, 2, 1], [1, 0, 1]]
    assert ready.edge_features.tolist() == [[3, 1]]


def test_an_edge_of_a_single_point_pair_gives_finite_features() -> None:
    """Case 14 (superpoint_graph 127). One edge in the whole training set: every column is constant, every spread 0."""
    graph = Graph([[1.0], [2.0]], [[0, 1]], [[0.0, 3.0, -1.0]])
    for step in (EdgeScaler(), EdgeScaler(True), SignLift("all"), QuantileStumps(), Incidence("standard")):
        ready = step.fit(in_blocks([graph]), columns([graph])).transform(one_block(graph))
        assert np.isfinite(ready.edge_features).all()
        assert np.isfinite(ready.node_features).all()


@pytest.mark.parametrize(
    ("step", "bad"),
    [
        (NodeStandardizer, 1),
        (NodeStandardizer, "x"),
        (SignLift, "none"),
        (DegreeScaler, "none"),
        (Incidence, True),
    ],
)
def test_settings_are_checked(step: type, bad: object) -> None:
    with pytest.raises(ValueError, match="must be one of"):
        step(bad)


def test_number_of_thresholds_is_checked() -> None:
    for bad in (0, -1, 1.5, True):
        with pytest.raises(ValueError, match="n_thresholds must be a positive whole number"):
            QuantileStumps(bad)

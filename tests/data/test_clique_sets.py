"""Clique sets: checks, subgraphs, sets of graphs, files."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest

from gapcut import CliqueSet, Graph, GraphError, GraphSet
from gapcut.data import GraphFileError, tuple_codes
from sample_cliques import xor_graph, xor_graphs

THREE = [[0, 1, 2], [3, 1, 0]]


def assert_same(one: Graph, other: Graph) -> None:
    assert len(one.cliques) == len(other.cliques)
    for a, b in zip(one.cliques, other.cliques, strict=True):
        assert np.array_equal(a.nodes, b.nodes)
        assert np.array_equal(a.features, b.features)
        assert a.features.shape == b.features.shape
        assert a.tuples == b.tuples
        assert not a.nodes.flags.writeable
        assert not a.features.flags.writeable


def refused(match: str, *args: object, **kwargs: object) -> None:
    with pytest.raises(GraphError, match=match):
        CliqueSet(*args, **kwargs)


def test_what_does_not_fit_is_named() -> None:
    refused(
        r"nodes of a clique set have shape \(2, 2\), but must be \(M, d\) with d from 3 to 32",
        [[0, 1], [1, 2]],
    )
    refused(r"shape \(3,\)", [0, 1, 2])
    refused(r"clique 1 is \(0, 0, 2\), which holds a node twice", [[0, 1, 2], [0, 0, 2]])
    refused(r"clique 0 is \(-1, 1, 2\), but node indices run from 0 to", [[-1, 1, 2]])
    refused(r"clique 0 is \(0\.5, 1, 2\), but node indices are whole numbers", [[0.5, 1, 2]])
    refused("2 cliques", THREE, [[1.0]])
    refused("features of a clique set of clique 1, feature 0 is nan", THREE, [[1.0], [np.nan]])
    refused("tuples='some' is unknown", THREE, tuples="some")
    refused(
        r"tuple 1 is \('a', 'b'\), but the cliques have 3 nodes", THREE, tuples=[("a", "b", "c"), ("a", "b")]
    )
    refused("tuple 1, .* is named twice", THREE, tuples=[("a", "b", "c"), ("a", "b", "c")])
    refused("cannot be hashed", THREE, tuples=[("a", "b", ["c"])])
    refused("holds None", THREE, tuples=[("a", "b", None)])
    refused("tuples is empty", THREE, tuples=[])
    with pytest.raises(
        GraphError, match=r"graph 'g': clique 1 of group 0 is \(3, 1, 0\), but .* from 0 to 2"
    ):
        Graph(np.zeros((3, 1)), None, cliques=[CliqueSet(THREE)], name="g")
    with pytest.raises(GraphError, match=r"pass \[it\]"):
        Graph(np.zeros((4, 1)), None, cliques=CliqueSet(THREE))
    with pytest.raises(GraphError, match=r"cliques\[0\] is a list"):
        Graph(np.zeros((4, 1)), None, cliques=[[[0, 1, 2]]])


def test_subgraphs_keep_the_cliques_that_are_whole() -> None:
    graph = Graph(
        np.zeros((5, 1)), None, cliques=[CliqueSet([[0, 2, 4], [1, 2, 3], [4, 3, 2]], [[1.0], [2.0], [3.0]])]
    )
    part = graph.induced(np.array([True, False, True, True, True]))
    assert part.cliques[0].nodes.tolist() == [[0, 1, 3], [3, 2, 1]]
    assert part.cliques[0].features.ravel().tolist() == [1.0, 3.0]
    assert graph.n_cliques == 3
    assert "3 of 3 nodes x 1" in repr(graph)


def test_pickle_and_copy() -> None:
    graph = xor_graph(np.random.default_rng(0), tuples=[(0, 1, 1), (1, 1, 0)])
    for other in (pickle.loads(pickle.dumps(graph)), copy.deepcopy(graph), graph.replace(name="other")):
        assert_same(graph, other)


def test_graphs_of_a_set_agree_or_have_none() -> None:
    graph = Graph(np.zeros((4, 1)), None, cliques=[CliqueSet(THREE, np.ones((2, 2)))])
    plain = Graph(np.zeros((2, 1)), None)
    both = GraphSet([plain, graph])
    assert both[0].cliques[0].nodes.shape == (0, 3)
    assert both[0].cliques[0].features.shape == (0, 2)
    assert "2 cliques" in repr(both)
    for other, match in (
        ([CliqueSet(THREE)], r"graph 1: clique group 0 has 0 features, but graph 0 has 2"),
        ([CliqueSet([[0, 1, 2, 3]], np.ones((1, 2)))], "cliques of 4 nodes, but graph 0 has 3"),
        ([CliqueSet(THREE, np.ones((2, 2)), "equal")], "other label tuples than graph 0"),
        ([CliqueSet(THREE, np.ones((2, 2)))] * 2, "graph 1: 2 clique groups, but graph 0 has 1"),
    ):
        with pytest.raises(GraphError, match=match):
            GraphSet([graph, Graph(np.zeros((4, 1)), None, cliques=other)])


@pytest.mark.parametrize("tuples", ["all", "equal", [(0, 1, 1), (1, 1, 0)]])
def test_files_carry_cliques(tmp_path, tuples) -> None:
    graphs = xor_graphs(3, tuples=tuples)
    graphs.save(tmp_path / "g.npz")
    for one, other in zip(graphs, GraphSet.load(tmp_path / "g.npz"), strict=True):
        assert_same(one, other)
    named = GraphSet(
        [Graph(np.zeros((3, 1)), None, cliques=[CliqueSet([[0, 1, 2]], tuples=[("a", "b", "c")])])]
    )
    named.save(tmp_path / "n.npz")
    assert_same(named[0], GraphSet.load(tmp_path / "n.npz")[0])


def test_a_folder_of_single_graphs_needs_no_offsets(tmp_path) -> None:
    for g in range(2):
        np.savez(
            tmp_path / f"{g}.npz",
            node_features=np.zeros((4, 1)),
            edges=np.zeros((0, 2), dtype=int),
            clique_nodes_0=np.array(THREE),
            clique_tuples_0=np.array("equal"),
        )
    graphs = GraphSet.load(tmp_path)
    assert [graph.cliques[0].nodes.tolist() for graph in graphs] == [THREE, THREE]


def test_damaged_files_are_refused_in_one_line(tmp_path) -> None:
    xor_graphs(2).save(tmp_path / "g.npz")
    with np.load(tmp_path / "g.npz") as file:
        good = dict(file)
    for name, value, match in (
        ("clique_nodes_0", good["clique_nodes_0"] + 100, "graph 0: clique 0 of group 0"),
        ("clique_nodes_0", good["clique_nodes_0"][:, 0], "must be"),
        ("clique_features_0", good["clique_features_0"][:-1], "clique_features_0"),
        ("clique_tuples_0", np.array("some"), "tuples='some'"),
        ("clique_tuples_0", np.array([1, 2]), "must be a word"),
        ("clique_offset_0", good["clique_offset_0"][:-1], "clique_offset_0"),
        ("clique_offset_0", None, "no array 'clique_offset_0'"),
        ("clique_nodes_7", good["clique_nodes_0"], "must count from 0"),
    ):
        arrays = {**good, name: value}
        np.savez(tmp_path / "bad.npz", **{k: v for k, v in arrays.items() if v is not None})
        with pytest.raises(GraphFileError, match=match):
            GraphSet.load(tmp_path / "bad.npz")
    mixed = CliqueSet([[0, 1, 2]], tuples=[(0, "a", 1)])
    graphs = GraphSet([Graph(np.zeros((3, 1)), None, cliques=[mixed])])
    with pytest.raises(ValueError, match="cannot be saved"):
        graphs.save(tmp_path / "m.npz")


def test_tuple_codes() -> None:
    codes = {"a": 0, "b": 1}
    assert tuple_codes("equal", 3, codes, 2).tolist() == [[0, 0, 0], [1, 1, 1]]
    assert len(tuple_codes("all", 4, codes, 2)) == 16
    assert tuple_codes((("b", "a", "a"), ("a", "c", "a")), 3, codes, 2).tolist() == [[1, 0, 0]]
    with pytest.raises(ValueError, match=r"30\^4 label tuples"):
        tuple_codes("all", 4, {}, 30)

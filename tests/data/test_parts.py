"""A graph set as a folder: nothing is lost, nothing but the part at work is in memory, no part is another unnoticed."""

from __future__ import annotations

import json
import pickle
import sys

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from any_graphs import assert_same, graph_sets
from gapcut.data import (
    CliqueSet,
    Graph,
    GraphError,
    GraphFileError,
    GraphFolder,
    GraphSet,
    each_set,
    parts,
    save_in_parts,
)
from gapcut.data.part_writer import PartWriter
from sample_cliques import xor_graphs
from sample_graphs import sample_graphs

SMALL = 1500  # bytes of a part: two or three sample graphs


def rich_graphs() -> GraphSet:
    """Names of all kinds, weights, unlabelled nodes, graphs without edges, cliques or labels."""
    rng = np.random.default_rng(0)
    group = CliqueSet([[0, 1, 2]], [[0.5]], [("a", "a", "b"), ("b", "b", "b")])
    edges = [[0, 1], [2, 1]]
    graphs = [
        Graph(
            rng.normal(size=(3, 2)), edges, rng.random((2, 1)), ["a", None, "b"], [1, 2, 3], [group], "pier"
        ),
        Graph(rng.normal(size=(3, 2)), edges, rng.random((2, 1)), ["long name", "b", "b"]),
        Graph(rng.normal(size=(1, 2)), None, None, name="alone"),
        Graph(np.empty((0, 2)), None),
    ]
    extras = {"fold": [0, 1, 0, 1], "site": ["north", "s", "", "w"], "keep": [True, False, True, False]}
    return GraphSet(graphs, extras=extras, node_feature_names=["x", "y"], edge_feature_names=["length"])


def same(a: GraphSet, b: GraphSet) -> None:
    assert_same(a, b)
    assert (a.node_feature_names, a.edge_feature_names) == (b.node_feature_names, b.edge_feature_names)
    for left, right in zip(a, b, strict=True):
        assert (left.node_feature_names, left.edge_feature_names) == (
            right.node_feature_names,
            right.edge_feature_names,
        )
        assert len(left.cliques) == len(right.cliques)
        for one, two in zip(left.cliques, right.cliques, strict=True):
            assert one.difference(two) is None
            assert one.nodes.tolist() == two.nodes.tolist()
            assert one.features.tolist() == two.features.tolist()


@pytest.mark.parametrize("part_bytes", [1, 200, 1 << 20])
def test_graphs_come_back_whatever_the_parts(tmp_path, part_bytes):
    graphs = rich_graphs()
    graphs.save_parts(tmp_path / "set", part_bytes)
    same(GraphSet.load(tmp_path / "set"), graphs)
    folder = GraphFolder(tmp_path / "set")
    assert folder.n_parts == {1: 4, 200: 2, 1 << 20: 1}[part_bytes]
    same(GraphSet(folder, extras=graphs.extras), graphs)
    assert [g.name for g in folder] == ["pier", None, "alone", None]
    assert folder[-2].name == folder[2].name == "alone"
    assert folder.extras == ("fold", "keep", "site")
    assert (len(folder), folder.total("nodes"), folder.total("edges"), folder.total("cliques")) == (
        4,
        7,
        4,
        1,
    )
    with pytest.raises(IndexError):
        folder[4]


@settings(max_examples=30, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(graphs=graph_sets(), part_bytes=st.integers(1, 200), number=st.integers(0, 10**9))
def test_any_set_comes_back(tmp_path, graphs, part_bytes, number):
    folder = tmp_path / f"{number}-{len(list(tmp_path.iterdir()))}"
    graphs.save_parts(folder, part_bytes)
    if len(graphs):
        same(GraphSet.load(folder), graphs)
    else:
        assert len(GraphSet.load(folder)) == 0


def test_sparse_features_and_cliques(tmp_path):
    graphs = GraphSet(Graph(sp.csr_array(np.eye(3) * k), [[0, 1]], [[1.0]], [0, 1, 1]) for k in range(4))
    graphs.save_parts(tmp_path / "sparse", 1)
    same(GraphSet.load(tmp_path / "sparse"), graphs)
    cliques = xor_graphs(4)
    cliques.save_parts(tmp_path / "cliques", SMALL)
    same(GraphSet.load(tmp_path / "cliques"), cliques)


def test_appending(tmp_path):
    graphs = rich_graphs()
    graphs[:2].save_parts(tmp_path / "set", 1)
    graphs[2:].append_parts(tmp_path / "set")  # neither edges nor cliques among these
    same(GraphSet.load(tmp_path / "set"), graphs)
    assert GraphFolder(tmp_path / "set").n_parts == 3
    before = (tmp_path / "set" / parts.INDEX).read_bytes()
    for wrong, said in (
        (sample_graphs(1), "3 node features, but the graphs before them have 2"),
        (GraphSet(graphs, extras=graphs.extras, node_feature_names=["x", "z"]), "'z' is new, 'y' is missing"),
        (GraphSet(graphs, node_feature_names=["x", "y"]), "per-graph arrays none, but"),
    ):
        with pytest.raises((ValueError, GraphError), match=said):
            wrong.append_parts(tmp_path / "set")
    assert (tmp_path / "set" / parts.INDEX).read_bytes() == before
    with pytest.raises(FileExistsError, match="has graphs already"):
        graphs.save_parts(tmp_path / "set")
    more = GraphFolder(tmp_path / "set").append(graphs)
    assert (len(more), more.n_parts) == (8, 4)


def test_an_append_that_did_not_end_leaves_the_set_as_it_was(tmp_path, monkeypatch):
    graphs = sample_graphs(6)
    graphs[:3].save_parts(tmp_path / "set", SMALL)

    def fail(*_):
        raise OSError("no space left")

    with monkeypatch.context() as patch:
        patch.setattr("gapcut.data.part_writer.write_text", fail)
        with pytest.raises(OSError, match="no space"):
            graphs[3:].append_parts(tmp_path / "set", SMALL)
    same(GraphSet.load(tmp_path / "set"), graphs[:3])
    graphs[3:].append_parts(tmp_path / "set", SMALL)
    same(GraphSet.load(tmp_path / "set"), graphs)


@pytest.mark.skipif(sys.platform == "win32", reason="folders cannot be locked there")
def test_two_writers(tmp_path):
    graphs = sample_graphs(2)
    graphs.save_parts(tmp_path / "set")
    with PartWriter(tmp_path / "set", append=True) as writer:
        writer.add(graphs.contents)
        with pytest.raises(GraphFileError, match="another writer is at work in it"):
            graphs.append_parts(tmp_path / "set")
        writer.close()
    graphs.append_parts(tmp_path / "set")
    assert len(GraphSet.load(tmp_path / "set")) == 6


@pytest.mark.parametrize("part_bytes", [1, 1 << 20])
def test_two_writers_where_folders_cannot_be_locked(tmp_path, monkeypatch, part_bytes):
    def fail(*_):
        raise OSError("not supported")

    if sys.platform != "win32":
        monkeypatch.setattr("fcntl.flock", fail)
    first, second = sample_graphs(2), sample_graphs(2, seed=1)
    first.save_parts(tmp_path / "set")

    def sets():
        second.append_parts(tmp_path / "set")  # quicker
        yield first

    with pytest.raises(GraphFileError, match=r"graphs\.json: changed by another writer"):
        save_in_parts(sets(), tmp_path / "set", True, part_bytes)
    same(GraphSet.load(tmp_path / "set"), GraphSet([*first, *second]))


@pytest.mark.parametrize("part_bytes", [1, 1 << 20])
def test_graphs_without_edges_or_cliques_come_first(tmp_path, part_bytes):
    graphs = rich_graphs()
    bare = [Graph(g.node_features, None, name="bare") for g in graphs[2:]]
    extras = {name: graphs.extras[name][2:] for name in graphs.extras}
    sets = [GraphSet(bare, extras=extras, node_feature_names=["x", "y"]), graphs]
    together = GraphSet(
        [*bare, *graphs],
        extras={name: [*extras[name], *graphs.extras[name]] for name in extras},
        node_feature_names=["x", "y"],
        edge_feature_names=["length"],
    )
    save_in_parts(sets, tmp_path / "at once", part_bytes=part_bytes)
    same(GraphSet.load(tmp_path / "at once"), together)
    sets[0].save_parts(tmp_path / "later", part_bytes)
    sets[1].append_parts(tmp_path / "later", part_bytes)
    same(GraphSet.load(tmp_path / "later"), together)


def test_a_failure_leaves_no_empty_folder(tmp_path):
    with pytest.raises(ValueError, match="node features"):
        save_in_parts([sample_graphs(1), rich_graphs()], tmp_path / "new")
    assert list(tmp_path.iterdir()) == []


def test_what_is_wrong_with_a_part_names_it(tmp_path):
    folder = tmp_path / "set"
    sample_graphs(6).save_parts(folder, SMALL)
    second = folder / "part-00001.npz"
    content = second.read_bytes()

    def says(*words: str) -> None:
        with pytest.raises(GraphFileError) as caught:
            GraphSet.load(folder)
        assert str(caught.value).startswith(f"{second}: "), caught.value
        assert all(word in str(caught.value) for word in words)
        assert "\n" not in str(caught.value)

    second.write_bytes(content[:-200] + b"\1" + content[-199:])
    says("damaged or altered", "SHA-256")
    second.write_bytes(content[:100])
    says("damaged or altered")
    second.write_bytes((folder / "part-00000.npz").read_bytes())
    says("damaged or altered")
    second.unlink()
    says("missing", "graphs.json counts it")
    second.write_bytes(content)
    assert len(GraphSet.load(folder)) == 6
    (folder / "notes.txt").write_text("fine")
    (folder / "other.npz").write_bytes(content)
    with pytest.raises(GraphFileError, match=r"other\.npz: not a part of this folder"):
        GraphSet.load(folder)


def test_a_part_that_changes_while_it_is_used(tmp_path):
    folder = tmp_path / "set"
    sample_graphs(6).save_parts(folder, SMALL)
    graphs = GraphFolder(folder)
    assert len(list(graphs)) == 6
    (folder / "part-00001.npz").write_bytes((folder / "part-00000.npz").read_bytes())
    with pytest.raises(GraphFileError, match=r"part-00001\.npz: damaged or altered"):
        list(graphs)
    (folder / "part-00001.npz").unlink()
    with pytest.raises(GraphFileError, match=r"part-00001\.npz: missing"):
        list(graphs)


@pytest.mark.parametrize(
    "change",
    [
        lambda d: "nothing",
        lambda d: [],
        lambda d: {**d, "version": 2},
        lambda d: {**d, "parts": 3},
        lambda d: {**d, "parts": [{**d["parts"][0], "graphs": -1}]},
        lambda d: {**d, "parts": [{**d["parts"][0], "graphs": True}]},
        lambda d: {**d, "parts": [{**d["parts"][0], "sha256": "../../etc/passwd"}]},
        lambda d: {**d, "shared": {**d["shared"], "node_features": "3"}},
        lambda d: {**d, "shared": {**d["shared"], "node_feature_names": ["one"]}},
        lambda d: {**d, "shared": {**d["shared"], "cliques": [[3, 1]]}},
        lambda d: {**d, "shared": {**d["shared"], "cliques": [[2, 1, "all"]]}},
        lambda d: {**d, "shared": {"node_features": 3}},
    ],
)
def test_a_made_up_index(tmp_path, change):
    sample_graphs(2).save_parts(tmp_path)
    path = tmp_path / parts.INDEX
    path.write_text(json.dumps(change(json.loads(path.read_text()))))
    with pytest.raises(GraphFileError) as caught:
        GraphSet.load(tmp_path)
    assert str(caught.value).startswith(f"{path}: not an index of graphs, or damaged")
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("count", ["graphs", "nodes", "edges", "cliques"])
def test_counts_that_do_not_fit(tmp_path, count):
    sample_graphs(2).save_parts(tmp_path)
    path = tmp_path / parts.INDEX
    document = json.loads(path.read_text())
    document["parts"][0][count] += 1
    path.write_text(json.dumps(document))
    with pytest.raises(GraphFileError, match="other counts"):
        GraphSet.load(tmp_path)


def test_select_and_pickle(tmp_path):
    graphs = rich_graphs()
    graphs.save_parts(tmp_path / "set", 1)
    same(GraphSet.load(tmp_path / "set", select="keep"), graphs.select("keep"))
    chosen = GraphFolder(tmp_path / "set", select="keep")
    assert len(chosen) == 2
    assert [g.name for g in pickle.loads(pickle.dumps(chosen))] == ["pier", "alone"]
    assert chosen[1].name == "alone"
    assert sum(len(part) for part in each_set(tmp_path / "set", "keep")) == 2
    with pytest.raises(ValueError, match="no boolean per-graph array 'fold'"):
        list(GraphFolder(tmp_path / "set", select="fold"))


def test_one_part_is_in_memory(tmp_path, monkeypatch):
    sample_graphs(6).save_parts(tmp_path, SMALL)
    loads = []
    read = parts.read_part
    monkeypatch.setattr(parts, "read_part", lambda *a: loads.append(a[2]) or read(*a))
    folder = GraphFolder(tmp_path)
    assert len(folder) == 6
    assert loads == []
    assert [g.n_nodes for g in folder] == [12] * 6
    assert loads == list(range(folder.n_parts))
    assert len(folder[-1:]) == 1  # the last part is there still
    assert loads == list(range(folder.n_parts))

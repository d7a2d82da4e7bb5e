"""``gapcut convert``, and folders of parts where commands take graphs."""

from __future__ import annotations

import json

import pytest

from any_graphs import assert_same
from gapcut import Machine
from gapcut.data import Graph, GraphFolder, GraphSet
from sample_graphs import same_model, sample_graphs


@pytest.fixture
def graphs(tmp_path):
    graphs = sample_graphs(6)
    graphs = GraphSet(graphs, extras={"keep": [True] * 4 + [False] * 2, "none": [False] * 6})
    graphs.save(tmp_path / "all.npz")
    return graphs


def test_there_and_back(tmp_path, graphs, run):
    code, out, _ = run("convert", tmp_path / "all.npz", tmp_path / "parts", "--part-size", 0.0015, "--json")
    assert code == 0
    found = json.loads(out)
    assert (found["graphs"], found["nodes"]) == (6, 72)
    assert found["parts"] == GraphFolder(tmp_path / "parts").n_parts > 1
    assert run("convert", tmp_path / "parts", tmp_path / "back.npz")[0] == 0
    assert_same(GraphSet.load(tmp_path / "back.npz"), graphs)
    assert run("convert", tmp_path / "all.npz", tmp_path / "parts", "--append", "--select", "keep")[0] == 0
    assert len(GraphFolder(tmp_path / "parts")) == 10


def test_a_folder_of_single_graphs(tmp_path, graphs, run):
    (tmp_path / "single").mkdir()
    for i, graph in enumerate(graphs):
        GraphSet([graph]).save(tmp_path / "single" / f"{i}.npz")
    code, out, _ = run("convert", tmp_path / "single", tmp_path / "parts")
    assert code == 0
    assert "6 graphs, 72 nodes" in out
    assert "1 part)" in out
    assert_same(GraphSet(GraphFolder(tmp_path / "parts")), GraphSet(graphs))


def test_a_folder_whose_first_file_has_no_edges(tmp_path, graphs, run):
    (tmp_path / "single").mkdir()
    bare = Graph(graphs[0].node_features, None, labels=graphs[0].labels)
    for i, graph in enumerate([bare, *graphs[:2]]):
        GraphSet([graph]).save(tmp_path / "single" / f"{i}.npz")
    assert run("convert", tmp_path / "single", tmp_path / "parts")[0] == 0
    assert_same(GraphSet.load(tmp_path / "parts"), GraphSet.load(tmp_path / "single"))


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["all.npz", "parts"], "has graphs already"),
        (["all.npz", "all.npz"], "read by this command"),
        (["parts", "parts", "--append"], "read by this command"),
        (["all.npz", "other.npz", "--append"], "--append is for a folder"),
        (["all.npz", "new", "--part-size", "0"], "--part-size"),
        (["all.npz", "new", "--part-size", "inf"], "--part-size"),
        (["all.npz", "new", "--part-size", "nan"], "--part-size"),
        (["all.npz", "new", "--select", "none"], "no graph is selected by 'none'"),
        (["parts", "new", "--select", "none"], "no graph is selected by 'none'"),
        (["empty.npz", "new"], "there are no graphs in it"),
        (["nowhere", "new"], "nowhere"),
        (["all.npz", "new.csv"], "new.csv: graphs are written as one .npz or as a folder of parts"),
        (["parts", "new.PARQUET"], "new.PARQUET: graphs are written as one .npz"),
    ],
)
def test_refusals(tmp_path, graphs, run, monkeypatch, arguments, said):
    monkeypatch.chdir(tmp_path)
    graphs.save_parts(tmp_path / "parts")
    GraphSet().save(tmp_path / "empty.npz")
    code, _, err = run("convert", *arguments)
    assert code == 2
    assert said in err
    assert err.count("\n") == 1
    assert not list(tmp_path.glob("new*"))
    assert len(GraphFolder(tmp_path / "parts")) == 6


def test_a_folder_that_is_there_may_be_called_like_a_file(tmp_path, graphs, run):
    (tmp_path / "old.csv").mkdir()
    assert run("convert", tmp_path / "all.npz", tmp_path / "old.csv")[0] == 0
    assert len(GraphFolder(tmp_path / "old.csv")) == 6


def test_commands_take_folders(tmp_path, graphs, run):
    graphs.save_parts(tmp_path / "parts", 1500)
    whole, by_parts = (json.loads(run("inspect", tmp_path / p, "--json")[1]) for p in ("all.npz", "parts"))
    assert whole == by_parts
    code, _, err = run("inspect", tmp_path / "parts", "--select", "fold")
    assert code == 2
    assert "no boolean per-graph array" in err
    for data in ("all.npz", "parts"):
        model = tmp_path / f"{data}.gapcut"
        assert run("train", tmp_path / data, "--C", 1, "--base", "none", "--out", model)[0] == 0
    assert same_model(*(Machine.load(tmp_path / f"{data}.gapcut") for data in ("all.npz", "parts")))

"""Data whose columns are not the model's: the file and the graph are named, and what to do."""

from __future__ import annotations

import numpy as np
import pytest

from gapcut import Graph, GraphSet, StructuredSVM
from sample_graphs import sample_graphs

DO = "give the same columns in the same order, or train on graphs like this one"


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    root = tmp_path_factory.mktemp("columns")
    graphs = sample_graphs(3)
    StructuredSVM(gap=0.5).fit(graphs).save(root / "m.gapcut")
    StructuredSVM(gap=0.5, base="trees").fit(graphs).save(root / "base.gapcut")
    bare = [Graph(g.node_features, g.edges, g.edge_features, g.labels) for g in graphs]
    wide = [Graph(np.c_[g.node_features, g.node_features], g.edges, g.edge_features, g.labels) for g in bare]
    edges = [g.with_features(edge_features=np.c_[g.edge_features, g.edge_features]) for g in bare]
    for name, each in (("good", bare), ("wide", wide), ("mixed", [bare[0], wide[1], bare[2]])):
        (root / name).mkdir()
        for i, graph in enumerate(each):
            GraphSet([graph]).save(root / name / f"{i}.npz")
    GraphSet(wide).save(root / "wide.npz")
    GraphSet(edges).save(root / "edges.npz")
    GraphSet(wide).save_parts(root / "parts", 1)
    return root


@pytest.mark.parametrize(
    ("data", "file", "detail"),
    [
        ("wide.npz", "wide.npz: graph 0", "6 node features, but the training graphs had 3"),
        ("edges.npz", "edges.npz: graph 0", "4 edge features, but the training graphs had 2"),
        ("wide", "wide/0.npz: graph", "6 node features, but the training graphs had 3"),
        ("mixed", "mixed/1.npz: graph", "6 node features, but the training graphs had 3"),
        ("parts", "parts/part-00000.npz: graph", "6 node features, but the training graphs had 3"),
    ],
)
@pytest.mark.parametrize("model", ["m.gapcut", "base.gapcut"])
def test_the_file_is_named(place, run, model, data, file, detail):
    out = place / "out.npz"
    for command in (["predict", "--out", out], ["evaluate"]):
        code, said, err = run(command[0], place / model, place / data, *command[1:])
        assert (code, said, out.exists()) == (2, "", False)
        assert err.strip().splitlines()[-1] == f"gapcut: {place / file}: {detail}: {DO}"


def test_figures_name_the_file(place, run, tmp_path):
    pytest.importorskip("matplotlib")
    command = ["inspect", place / "m.gapcut", "--figures", tmp_path / "f", "--data", place / "mixed"]
    code, _, err = run(*command)
    assert code == 2
    assert f"{place}/mixed/1.npz: graph: 6 node features" in err


def test_a_folder_of_results_says_what_to_do(place, run, tmp_path):
    code, _, err = run("predict", place / "m.gapcut", place / "mixed", "--out", tmp_path / "out")
    assert code == 1
    said = f"{place}/mixed/1.npz: graph: 6 node features, but the training graphs had 3: {DO}"
    assert said in err
    assert sorted(p.name for p in (tmp_path / "out").glob("*.npz")) == ["0.npz", "2.npz"]


def test_other_faults_are_said_as_they_are(place, run, tmp_path):
    good = sample_graphs(1)[0]
    GraphSet([good]).save(tmp_path / "0.npz")
    (tmp_path / "1.npz").write_bytes(b"PK no more")
    code, _, err = run("evaluate", place / "m.gapcut", tmp_path)
    assert code == 2
    assert f"{tmp_path}/1.npz: " in err
    assert "features" not in err

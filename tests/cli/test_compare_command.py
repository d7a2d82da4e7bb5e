"""``gapcut compare`` and ``gapcut inspect --figures``, on small generated graphs."""

from __future__ import annotations

import json

import numpy as np
import pytest

from gapcut import GraphSet, StructuredSVM
from gapcut.machine import Machine
from sample_graphs import relabelled, sample_graphs

pytest.importorskip("cyclopts")
pytest.importorskip("rich")

OPTIONS = ["--loss-scale", "10", "--jobs", "1", "--folds", "2", "--time-limit", "2"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    root = tmp_path_factory.mktemp("compare")
    graphs = relabelled(sample_graphs(6, seed=1), ["deck", "pier", "ground"])
    GraphSet(graphs, extras={"fold": np.arange(6) % 2}).save(root / "d.npz")
    return root


def compared(run, folder, *arguments):
    code, out, err = run("compare", folder / "d.npz", *OPTIONS, *arguments, "--json")
    assert code == 0, err
    return json.loads(out)


def test_every_default_pair_is_a_row(folder, run):
    report = compared(run, folder)
    names = [row["name"] for row in report["rows"]]
    assert names[:4] == [
        "primal-dual/cut",
        "cutting-plane/cut",
        "block/trws/signed",
        "block/trws/nonnegative",
    ]
    assert "block/qpbo/signed" in names
    assert "frank-wolfe/icm/signed" in names
    assert all(row["failure"] is None and len(row["folds"]) == 2 for row in report["rows"])
    first = report["rows"][0]
    assert first["speed_up"] == 1.0
    assert first["status"] == "certified"
    assert 0 <= first["worst_relative_gap"] <= 0.01
    icm = report["rows"][names.index("frank-wolfe/icm/signed")]
    assert icm["status"] == "uncertified"
    assert icm["worst_relative_gap"] is None


def test_a_row_is_what_fitting_by_hand_gives(folder, run):
    row = compared(run, folder, "--pairs", "block/cut", "--fold-array", "fold")["rows"][0]
    graphs = GraphSet.load(folder / "d.npz")
    accuracies = []
    for test in (0, 1):
        fold = np.arange(6) % 2
        svm = StructuredSVM(loss_scale=10.0, learner="block").fit(graphs[np.flatnonzero(fold != test)])
        accuracies.append(svm.score(graphs[np.flatnonzero(fold == test)]))
    assert [f["accuracy"] for f in row["folds"]] == pytest.approx(accuracies)
    assert row["accuracy"]["mean"] == pytest.approx(np.mean(accuracies))
    assert row["accuracy"]["std"] == pytest.approx(np.std(accuracies, ddof=1))


def test_what_is_refused_is_a_row_with_the_reason(folder, run):
    pairs = "primal-dual/trws,block/cut/signed,block/cut"
    rows = compared(run, folder, "--pairs", pairs)["rows"]
    assert [row["status"] for row in rows] == ["failed", "failed", "certified"]
    assert "not compatible with oracle='trws'" in rows[0]["failure"]
    assert "one min cut is exact only" in rows[1]["failure"]
    assert rows[2]["speed_up"] == 1.0  # against the first that has a time
    assert rows[0]["speed_up"] is None


def test_a_fit_that_raises_anything_is_a_row(folder, run, monkeypatch):
    def broken(self, graphs):
        raise RuntimeError("the solver broke\ndown")

    monkeypatch.setattr(Machine, "fit_resumable", broken)
    code, out, _ = run("compare", folder / "d.npz", *OPTIONS, "--pairs", "block/cut", "--inference", "trws")
    assert code == 0
    assert "block/cut failed: fold 0: the solver broke down" in out


def test_trees_are_compared_where_there_is_no_cycle(folder, tmp_path, run):
    from gapcut import Graph

    rng = np.random.default_rng(3)
    edges = [[0, 1], [1, 2], [2, 3]]
    GraphSet(
        [Graph(rng.normal(size=(4, 2)), edges, rng.random((3, 1)), labels=[0, 1, 0, 1]) for _ in range(4)]
    ).save(tmp_path / "chains.npz")
    code, out, err = run("compare", tmp_path / "chains.npz", *OPTIONS, "--max-passes", "5", "--json")
    assert code == 0, err
    assert json.loads(out)["rows"][-1]["name"] == "block/tree/signed"
    assert "block/tree/signed" not in [
        row["name"] for row in compared(run, folder, "--max-passes", "1")["rows"]
    ]


def test_inference_methods_on_the_held_out_graphs(folder, run):
    report = compared(run, folder, "--pairs", "block/cut", "--inference", "trws,ilp,icm")
    trws, ilp, icm = report["inference"]
    assert ilp["optimal"] == ilp["graphs"] == 6
    assert ilp["energy"] <= trws["energy"] + 1e-9
    assert ilp["energy"] <= icm["energy"] + 1e-9
    assert 0 <= trws["accuracy"] <= 1


def test_markdown_and_figure(folder, tmp_path, run):
    pytest.importorskip("matplotlib")
    png = tmp_path / "c.png"
    pairs = "block/cut,primal-dual/trws"
    code, out, _ = run(
        *("compare", folder / "d.npz", *OPTIONS, "--pairs", pairs, "--figure", png, "--inference", "trws")
    )
    assert code == 0
    lines = [line for line in out.splitlines() if line.startswith("|")]
    head = [line.count("|") for line in lines[:4]]
    assert len(set(head)) == 1
    assert lines[1].startswith("| --- | ---:")
    assert "accuracy" in lines[0]
    assert "speed-up" in lines[0]
    assert "±" in lines[2]
    assert "primal-dual/trws/signed failed" in out
    assert "models of block/cut" in out
    assert png.read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--pairs", "block"], "'block' is no pair"),
        (["--pairs", "swim/cut"], "learner='swim' must be"),
        (["--pairs", "block/sun"], "oracle='sun' must be"),
        (["--pairs", "block/auto"], "name the oracle"),
        (["--pairs", "block/trws/odd"], "signed or nonnegative"),
        (["--pairs", "block/trws,block/trws/signed"], "named twice"),
        (["--pairs", ","], "no pair to compare"),
        (["--oracle", "trws"], "use --pairs"),
        (["--inference", "magic"], "inference='magic' must be"),
        (["--figure", "nowhere/c.png"], "no such folder"),
    ],
)
def test_bad_usage_is_one_line(folder, run, arguments, words):
    code, out, err = run("compare", folder / "d.npz", *arguments)
    assert code == 2
    assert out == ""
    assert words in err
    assert err.count("\n") == 1


def test_figures_of_a_model(folder, tmp_path, run):
    pytest.importorskip("matplotlib")
    model, data = tmp_path / "m.gapcut", folder / "d.npz"
    StructuredSVM(loss_scale=10.0).fit(GraphSet.load(data)).save(model)
    code, out, err = run("inspect", model, "--figures", tmp_path / "only", "--json")
    assert code == 0, err
    assert [p.name for p in (tmp_path / "only").iterdir()] == ["weights.png"]
    code, out, err = run("inspect", model, "--figures", tmp_path / "both", "--data", data)
    assert code == 0, err
    assert "confusion.png" in out
    for name in ("weights.png", "confusion.png"):
        assert (tmp_path / "both" / name).read_bytes().startswith(b"\x89PNG")
    code, _, err = run("inspect", model, "--data", data)
    assert code == 2
    assert "--figures" in err
    code, _, err = run("inspect", data, "--figures", tmp_path / "none")
    assert code == 2
    assert "name a model file" in err
    assert not (tmp_path / "none").exists()

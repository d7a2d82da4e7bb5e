"""What train chooses by itself, bases and probabilities, on the command line."""

from __future__ import annotations

import json

import numpy as np
import pytest

from gapcut import Graph, GraphSet, StructuredSVM
from sample_graphs import relabelled, sample_graphs

pytest.importorskip("cyclopts")

TRAIN = ["--gap", "0.005", "--loss-scale", "10", "--jobs", "1"]


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    path = tmp_path_factory.mktemp("data") / "train.npz"
    relabelled(sample_graphs(8, seed=1), ["deck", "pier", "ground"]).save(path)
    return path


def as_json(run, *arguments):
    code, out, err = run(*arguments, "--json")
    assert code == 0, err
    return json.loads(out)


def test_train_chooses_C_and_says_why(data, tmp_path, run):
    out = tmp_path / "m.gapcut"
    report = as_json(run, "train", data, "--out", out, *TRAIN)
    assert report["C"] == StructuredSVM.load(out).C_ == report["choice"]["C"]
    assert report["choice"]["reason"].startswith("no stumps: a linear model of single nodes")
    assert "; no base: 96 labelled nodes are fewer than 1,000; C = " in report["choice"]["reason"]
    _, text, _ = run("inspect", out)
    assert "Accuracy on held-out folds" in text
    assert f"C={report['C']:g}" in text


def test_train_with_a_base_says_what_is_certified(data, tmp_path, run):
    out = tmp_path / "m.gapcut"
    code, text, _ = run("train", data, "--out", out, *TRAIN, "--base", "trees")
    assert code == 0
    assert "the certificate holds for the problem with its held-out columns" in text
    assert run("check", out, data)[0] == 0
    assert as_json(run, "inspect", out)["node_features"][-1] == "log p(pier)"


def test_evaluate_tells_the_calibration_error(data, tmp_path, run):
    out = tmp_path / "m.gapcut"
    as_json(run, "train", data, "--out", out, *TRAIN, "--C", "1", "--probability")
    report = as_json(run, "evaluate", out, data)
    assert 0 <= report["calibration_error"] < 0.5
    assert "calibration  expected error 0." in run("evaluate", out, data)[1]
    as_json(run, "train", data, "--out", out, *TRAIN, "--C", "1")
    assert as_json(run, "evaluate", out, data)["calibration_error"] is None


def test_evaluate_names_labels_that_are_never_predicted(tmp_path, run):
    x = np.zeros((10, 1))
    graphs = GraphSet([Graph(x, None, labels=["much"] * 8 + ["little"] * 2)] * 2)
    graphs.save(tmp_path / "g.npz")
    as_json(run, "train", tmp_path / "g.npz", "--out", tmp_path / "m.gapcut", *TRAIN)
    assert as_json(run, "evaluate", tmp_path / "m.gapcut", tmp_path / "g.npz")["never_predicted"] == [
        "little"
    ]
    assert "no node is labelled little" in run("evaluate", tmp_path / "m.gapcut", tmp_path / "g.npz")[1]


def test_cv_lets_each_fold_choose(data, run):
    report = as_json(run, "cv", data, *TRAIN, "--folds", "2", "--C", "cv")
    assert report["C"] == "cv"
    assert all(row["C"] in (0.1, 1, 10, 100, 1000) for row in report["folds"])
    assert "0" in run("cv", data, *TRAIN, "--folds", "2", "--C", "cv")[1]

"""The command line, in process: outputs, exit codes, and no half-written files."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest

from gapcut import GraphSet, StructuredSVM
from gapcut.machine import Machine
from sample_graphs import relabelled, sample_graphs

pytest.importorskip("cyclopts")
pytest.importorskip("rich")
import gapcut.cli.proving
import gapcut.cli.training
import gapcut.machine
import gapcut.model.proof
from gapcut.cli import main

PLAIN = ["--C", "1", "--node-lift", "none", "--base", "none"]
"""What an estimator does without being told; the graphs here have cycles."""
TRAIN = ["--gap", "0.005", "--loss-scale", "10", "--jobs", "1", *PLAIN]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    root = tmp_path_factory.mktemp("data")
    names = ["deck", "pier", "ground"]
    train = sample_graphs(8, seed=1)
    extras = {"keep": np.arange(8) < 6, "fold": np.arange(8) % 3}
    GraphSet(relabelled(train, names), extras=extras, edge_feature_names=["same", "noise"]).save(
        root / "train.npz"
    )
    relabelled(sample_graphs(4, seed=2), names).save(root / "test.npz")
    assert main(["train", str(root / "train.npz"), "--out", str(root / "m.gapcut"), *TRAIN]) == 0
    return root


def as_json(run, *arguments, code=0):
    found, out, err = run(*arguments, "--json")
    assert found == code, err
    return json.loads(out)


# ---- commands


def test_train_writes_a_model_with_its_certificate(folder, tmp_path, run):
    out = tmp_path / "m.gapcut"
    report = as_json(run, "train", folder / "train.npz", "--out", out, *TRAIN, "--certified")
    svm = StructuredSVM.load(out)
    assert report["certificate"]["status"] == "certified"
    assert report["certificate"]["upper"] == svm.certificate_.upper
    assert report["certificate"]["relative_gap"] <= 0.005
    assert report["classes"] == ["deck", "ground", "pier"]
    assert report["labelled"]["graphs"] == 8
    assert report["weights"]["pairwise_nonzero"] == np.count_nonzero(svm.pairwise_)
    assert not report["interrupted"]
    same = StructuredSVM(gap=0.005, loss_scale=10.0).fit(GraphSet.load(folder / "train.npz"))
    assert np.array_equal(same.unary_, svm.unary_)


def test_train_options_reach_the_estimator(folder, tmp_path, run):
    out = tmp_path / "m.gapcut"
    options = ["--C", "0.5", "--no-incidence", "--no-standardize", "--no-intercept", "--edge-lift", "none"]
    more = [
        "--learner",
        "cutting-plane",
        "--eps",
        "0.01",
        "--classes",
        "pier,deck,ground,water",
        "--balanced",
    ]
    code, text, err = run("train", folder / "train.npz", "--out", out, "--select", "keep", *options, *more)
    assert (code, err) == (0, "")
    assert "trained on    6 graphs" in text
    assert "optimum" in text
    svm = StructuredSVM.load(out)
    assert (svm.C, svm.incidence, svm.standardize, svm.intercept, svm.edge_lift) == (
        0.5,
        False,
        False,
        False,
        "none",
    )
    assert (svm.learner, svm.eps, svm.class_weight) == ("cutting-plane", 0.01, "balanced")
    assert svm.classes_.tolist() == ["pier", "deck", "ground", "water"]
    assert svm.certificate_.iteration_bound is not None
    _, text, _ = run("inspect", out)
    assert "Theorem B.4" in text


def test_certified_asks_for_the_target(folder, tmp_path, run):
    limited = ["--max-passes", "1", "--gap", "0", "--certified"]
    code, out, err = run("train", folder / "train.npz", "--out", tmp_path / "m.gapcut", *limited)
    assert (code, err) == (1, "")
    assert "stopped" in out
    assert StructuredSVM.load(tmp_path / "m.gapcut").certificate_.status == "stopped"


def test_predict_writes_labels_energies_and_bounds(folder, tmp_path, run):
    out = tmp_path / "labels.npz"
    report = as_json(run, "predict", folder / "m.gapcut", folder / "test.npz", "--out", out)
    svm, graphs = StructuredSVM.load(folder / "m.gapcut"), GraphSet.load(folder / "test.npz")
    with np.load(out, allow_pickle=False) as arrays:
        offset = arrays["node_offset"]
        assert offset[-1] == report["nodes"] == sum(g.n_nodes for g in graphs)
        for i, (graph, labels) in enumerate(zip(graphs, svm.predict(graphs), strict=True)):
            assert arrays["labels"][offset[i] : offset[i + 1]].tolist() == labels.tolist()
            found = svm.infer(graph)
            shown = (arrays["energy"][i], arrays["bound"][i], arrays["gap"][i])
            assert shown == (found.energy, found.bound, found.gap)


def test_evaluate_agrees_with_score(folder, run):
    report = as_json(run, "evaluate", folder / "m.gapcut", folder / "test.npz")
    svm, graphs = StructuredSVM.load(folder / "m.gapcut"), GraphSet.load(folder / "test.npz")
    assert report["accuracy"] == pytest.approx(svm.score(graphs))
    assert [c["label"] for c in report["classes"]] == ["deck", "ground", "pier"]
    assert report["inference"]["proven_optimal"] <= report["graphs"] == 4
    code, out, err = run("evaluate", folder / "m.gapcut", folder / "test.npz")
    assert (code, err) == (0, "")
    for word in ("deck", "precision", "accuracy", "proven optimal", "optimum"):
        assert word in out


def test_cross_validation(folder, run):
    report = as_json(run, "cv", folder / "train.npz", "--folds", 4, *TRAIN)
    assert [row["test"] for row in report["folds"]] == [2, 2, 2, 2]
    assert report["accuracy"]["mean"] == pytest.approx(np.mean([row["accuracy"] for row in report["folds"]]))
    by_array = as_json(run, "cv", folder / "train.npz", "--fold-array", "fold", *TRAIN, "--certified")
    assert [row["fold"] for row in by_array["folds"]] == ["0", "1", "2"]
    assert [row["test"] for row in by_array["folds"]] == [3, 3, 2]
    along = as_json(run, "cv", folder / "train.npz", "--folds", 2, "--path", "0.1,1", *TRAIN)
    assert [(row["fold"], row["C"]) for row in along["folds"]] == [
        ("0", 0.1),
        ("0", 1.0),
        ("1", 0.1),
        ("1", 1.0),
    ]
    means = [entry["accuracy"]["mean"] for entry in along["path"]]
    assert along["accuracy"]["mean"] == max(means)
    assert along["C"] == (0.1, 1.0)[means.index(max(means))]
    code, out, _ = run("cv", folder / "train.npz", "--folds", 2, *TRAIN)
    assert code == 0
    assert "accuracy" in out


def test_inspect_a_model(folder, run):
    report = as_json(run, "inspect", folder / "m.gapcut", "--top", 3)
    svm = StructuredSVM.load(folder / "m.gapcut")
    assert report["certificate"]["lower"] == svm.certificate_.lower
    assert report["weights"]["pairwise_zero"] == int((svm.pairwise_ == 0).sum())
    weights = [p["weight"] for p in report["strongest_pairs"]]
    assert weights == sorted(svm.pairwise_.ravel(), reverse=True)[: len(weights)]
    assert len(weights) <= 3
    code, out, _ = run("inspect", folder / "m.gapcut")
    assert code == 0
    assert "exactly zero" in out
    assert "same" in out


def test_inspect_data(folder, run):
    report = as_json(run, "inspect", folder / "train.npz")
    assert report["graphs"] == 8
    assert report["nodes"]["total"] == 96
    assert sum(entry["nodes"] for entry in report["labels"]) == 96
    assert set(report["per_graph_arrays"]) == {"keep", "fold"}
    code, out, _ = run("inspect", folder / "train.npz", "--select", "keep")
    assert code == 0
    assert "6 graphs" in out


# ---- proofs


def checked(proof):
    """Both ends as the checker, another program, proves them."""
    graphs = proof.with_name(f"{proof.stem}.graphs.npz")
    checker = Path(__file__).parents[2] / "checker" / "check_proof.py"
    command = [
        sys.executable,
        str(checker),
        str(proof),
        str(graphs),
        "--raw",
        str(proof.parent / "train.npz"),
    ]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stdout
    verified = re.search(r"VERIFIED: ([0-9.]+) <= optimum <= these weights <= ([0-9.]+)", done.stdout)
    assert (
        "raw data: those that the proof names; a feature after the steps differs by 0 at most" in done.stdout
    )
    return float(verified[1]), float(verified[2])


@pytest.mark.parametrize("options", [(), ("--oracle", "lp"), ("--learner", "block"), ("--balanced",)])
def test_train_writes_a_proof_that_is_verified(folder, tmp_path, run, options):
    shutil.copy(folder / "train.npz", tmp_path)
    given = ["--select", "keep", *TRAIN, *options]
    report = as_json(
        run, "train", tmp_path / "train.npz", "--out", tmp_path / "m", "--proof", tmp_path / "p.npz", *given
    )
    lower, upper = checked(tmp_path / "p.npz")
    proof = report["proof"]
    assert proof["lower"] == pytest.approx(lower, abs=2e-6)
    assert proof["upper"] == pytest.approx(upper, abs=2e-6)
    assert proof["relative_gap"] <= 1.01 * 0.005


@pytest.mark.parametrize(
    "options", [(), ("--oracle", "lp"), ("--edge-lift", "stumps", "--degree-scale", "graph")]
)
def test_prove_confirms_a_claim(folder, tmp_path, run, options):
    shutil.copy(folder / "train.npz", tmp_path)
    model = tmp_path / "m.gapcut"
    claim = as_json(run, "train", tmp_path / "train.npz", "--out", model, *TRAIN, *options)["certificate"]
    report = as_json(run, "prove", model, tmp_path / "train.npz", "--out", tmp_path / "p.npz")
    lower, upper = checked(tmp_path / "p.npz")
    assert lower >= claim["lower"] * (1 - 1e-4)
    assert upper <= claim["upper"] * (1 + 1e-4)
    assert report["bytes"] == (tmp_path / "p.npz").stat().st_size
    assert report["confirms"]
    code, out, _ = run("prove", model, tmp_path / "train.npz", "--out", tmp_path / "p.npz", "--time-limit", 0)
    assert code == 0
    assert "(less than the certificate claims)" in out
    assert checked(tmp_path / "p.npz")[0] <= lower  # nothing but that the objective is never negative


# ---- check


def test_check_confirms_a_true_claim(folder, run):
    report = as_json(run, "check", folder / "m.gapcut", folder / "train.npz")
    claimed, again = report["claimed"], report["recomputed"]
    assert report["verdict"] == "holds"
    assert report["same_data"]
    # the claim may rest on the shares of the arcs; the check makes the exact cut, which proves as much or more
    assert claimed["lower"] <= again["upper"] * (1.0 + 1e-9)
    assert again["upper"] <= claimed["upper"] * (1.0 + 1e-9)
    assert again["lower"] >= claimed["lower"] * (1 - 1e-9)
    code, out, _ = run("check", folder / "m.gapcut", folder / "train.npz")
    assert code == 0
    assert "the claim holds" in out


def forged(folder, tmp_path, change):
    """The model with another certificate and weights, and a checksum that is right."""
    from gapcut.files import read_container, write_container

    arrays, document = read_container(folder / "m.gapcut")
    document.pop("sha256")
    change(arrays, document)
    write_container(tmp_path / "forged.gapcut", arrays, document)
    return tmp_path / "forged.gapcut"


def _scale_upper(arrays, document):
    document["certificate"]["upper"] = document["certificate"]["upper"] * 0.999
    document["certificate"]["lower"] = document["certificate"]["lower"] * 0.99


def _raise_lower(arrays, document):
    document["certificate"]["lower"] = document["certificate"]["upper"] * 1.01
    document["certificate"]["upper"] = document["certificate"]["upper"] * 1.02


def _change_weights(arrays, document):
    arrays["unary"] = arrays["unary"] + 0.05


def _negative_weight(arrays, document):
    arrays["pairwise"] = np.where(arrays["pairwise"] > 0, -arrays["pairwise"], 0.0)


@pytest.mark.parametrize("change", [_scale_upper, _raise_lower, _change_weights, _negative_weight])
def test_check_finds_a_false_claim(folder, tmp_path, run, change):
    report = as_json(run, "check", forged(folder, tmp_path, change), folder / "train.npz", code=1)
    assert report["verdict"] == "violated"


def test_check_says_when_time_ran_out_or_the_data_differ(folder, run):
    report = as_json(run, "check", folder / "m.gapcut", folder / "train.npz", "--time-limit", 0, code=1)
    assert report["verdict"] == "not reproduced"
    other = as_json(run, "check", folder / "m.gapcut", folder / "test.npz", code=1)
    assert other["same_data"] is False
    assert other["verdict"] == "not reproduced"


def test_check_of_other_data_shows_no_end_that_nothing_computed(folder, run):
    code, out, _ = run("check", folder / "m.gapcut", folder / "test.npz")
    assert code == 1
    assert "inf" not in out
    assert "new training run" not in out
    assert "the claim is not reproduced: the data or the settings are not those" in out


def test_check_shows_one_table_in_80_columns(folder, run):
    code, out, _ = run("check", folder / "m.gapcut", folder / "train.npz")
    assert code == 0
    assert sum("──" in line for line in out.splitlines()) == 1


# ---- demo


def test_demo_on_graphs_drawn_by_chance(tmp_path, run, monkeypatch):
    pytest.importorskip("matplotlib")
    monkeypatch.setattr("gapcut.cli.demo.find_spec", lambda name: None)
    code, out, err = run("demo", "--out", tmp_path / "report", "--jobs", 1, "--json")
    assert code == 0
    assert "writing the report ..." in err.splitlines()
    report = json.loads(out)
    written = sorted(os.listdir(tmp_path / "report"))
    assert written == ["confusion.png", "convergence.png", "model.gapcut", "weights.png"]
    assert report["certificate"]["status"] == "certified"
    assert report["test"]["accuracy"] > report["node_only_accuracy"] + 0.05
    svm = StructuredSVM.load(tmp_path / "report" / "model.gapcut")
    assert svm.certificate_.upper == report["certificate"]["upper"]


# ---- errors


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["train", "{train}", "--out", "{out}", "--bogus"], "Unknown option: --bogus"),
        (["train", "{train}"], "--out"),
        (["train", "--out", "{out}"], "DATA"),
        (["train", "nowhere.npz", "--out", "{out}"], "nowhere.npz"),
        (["train", "{train}", "--out", "{folder}/none/m.gapcut"], "no such folder"),
        (["train", "{train}", "--out", "{folder}"], "is not a file"),
        (["train", "{train}", "--out", "{out}", "--C", "abc"], "abc"),
        (["train", "{train}", "--out", "{out}", "--C", "-1"], "C=-1"),
        (["train", "{train}", "--out", "{out}", "--learner", "magic"], 'Invalid value "magic" for --learner'),
        (["train", "{train}", "--out", "{out}", "--select", "none"], "no boolean per-graph array 'none'"),
        (
            ["train", "{train}", "--out", "{out}", "--classes", "deck,pier"],
            "label 'ground' is not one of the classes",
        ),
        (["train", "{model}", "--out", "{out}"], "m.gapcut"),
        (["predict", "{train}", "{train}", "--out", "{out}.npz"], "train.npz"),
        (["predict", "{model}", "{other}", "--out", "{out}.npz"], "node features"),
        (
            ["predict", "{model}", "{train}", "--out", "{out}.npz", "--inference", "magic"],
            'value "magic" for --inference',
        ),
        (["evaluate", "{model}", "{bare}"], "no labelled node"),
        (["evaluate", "nowhere.gapcut", "{train}"], "nowhere.gapcut"),
        (["cv", "{train}", "--folds", "1"], "--folds 1"),
        (["cv", "{train}", "--folds", "99"], "--folds 99"),
        (["cv", "{train}", "--path", "1,x"], "numbers separated by commas"),
        (["cv", "{train}", "--path", "1,1"], "names a C twice"),
        (["cv", "{train}", "--fold-array", "none"], "there is fold, keep"),
        (["inspect", "nowhere"], "nowhere"),
        (["inspect", "{model}", "--select", "keep"], "--select applies to graph sets"),
        (["check", "{model}", "{other}"], "node features"),
        (["check", "{model}", "{train}", "--time-limit", "-1"], "--time-limit -1"),
        (["prove", "{model}", "{other}", "--out", "{out}.npz"], "node features"),
        (["prove", "{model}", "{test}", "--out", "{out}"], "there is no claim to prove"),
        (["prove", "{model}", "{train}", "--out", "{out}", "--time-limit", "-1"], "--time-limit -1"),
        (["prove", "{model}", "{train}", "--out", "{model}"], "is read by this command"),
        (["train", "{train}", "--out", "{out}", "--proof", "{out}"], "would be written twice"),
        (["train", "{train}", "--out", "{out}", "--proof", "{out}.p", "--oracle", "trws"], "has no proofs"),
        (["demo", "--out", "{model}"], "is not a folder"),
        (
            ["demo", "--out", "{model}.html"],
            "a folder is written here, and its name ends like that of a .html file",
        ),
        (["inspect", "{broken}"], "broken.npz: not an .npz file, or cut short"),
        (["bogus"], 'Unknown command "bogus"'),
        (["bogus"], "evaluate, ... (see gapcut --help)"),
        (["demo", "extra"], "unexpected argument 'extra'"),
        (
            ["inspect", "{model}", "--figures", "{train}"],
            "train.npz is not a folder: name a folder to write to",
        ),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else None,
)
def test_bad_usage_and_input_is_one_line_and_exit_code_2(folder, tmp_path, run, arguments, message):
    graphs = GraphSet.load(folder / "test.npz")
    GraphSet(g.replace(labels=None) for g in graphs).save(tmp_path / "bare.npz")
    GraphSet(g.with_features(node_features=g.node_features[:, :2]) for g in graphs).save(
        tmp_path / "other.npz"
    )
    places = {
        "train": folder / "train.npz",
        "test": folder / "test.npz",
        "model": folder / "m.gapcut",
        "folder": folder,
        "out": tmp_path / "out.file",
        "bare": tmp_path / "bare.npz",
        "other": tmp_path / "other.npz",
        "broken": tmp_path / "broken.npz",
    }
    places["broken"].write_bytes(b"label;area\r\n1;2\r\n")
    code, out, err = run(*(a.format(**places) for a in arguments))
    assert code == 2
    assert out == ""
    assert err.count("\n") == 1
    assert err.startswith("gapcut: ")
    assert message in err
    assert sorted(os.listdir(tmp_path)) == ["bare.npz", "broken.npz", "other.npz"]


def test_help_and_version(run):
    code, out, _ = run("--help")
    assert code == 0
    for command in ("train", "predict", "evaluate", "cv", "inspect", "check", "demo"):
        assert command in out
    assert run("--version")[0] == 0
    assert run("train", "--help")[0] == 0


def test_labels_with_markup_are_printed_literally(tmp_path, run):
    relabelled(sample_graphs(3), ["[bold]x[/bold]", "[/]", ":smile:"]).save(tmp_path / "d.npz")
    code, out, err = run("inspect", tmp_path / "d.npz")
    assert (code, err) == (0, "")
    for label in ("[bold]x[/bold]", "[/]", ":smile:"):
        assert label in out


def test_integer_classes_are_read_as_integers(tmp_path, run):
    sample_graphs(3).save(tmp_path / "d.npz")
    arguments = ["train", tmp_path / "d.npz", "--out", tmp_path / "m.gapcut", "--classes", "2, 1,0,7", *TRAIN]
    assert run(*arguments)[0] == 0
    assert StructuredSVM.load(tmp_path / "m.gapcut").classes_.tolist() == [2, 1, 0, 7]
    code, _, err = run("train", tmp_path / "d.npz", "--out", tmp_path / "m.gapcut", "--classes", "a,b")
    assert code == 2
    assert "does not fit the labels" in err


# ---- Ctrl-C, pipes, extras


@pytest.fixture
def interrupt_at_pass(monkeypatch):
    def install(count, number=signal.SIGINT, room=gapcut.cli.training):
        @contextmanager
        def progress(task, target=None, before=""):
            def press(record):
                if record.passes >= count:
                    signal.raise_signal(number)

            yield press

        monkeypatch.setattr(room, "progress", progress)

    return install


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_interrupt_saves_the_best_model_so_far(folder, tmp_path, run, interrupt_at_pass, number):
    interrupt_at_pass(2, number)
    before = signal.getsignal(number)
    code, out, err = run(
        "train", folder / "train.npz", "--out", tmp_path / "m.gapcut", *PLAIN, "--gap", "0", "--json"
    )
    assert code == 130
    assert json.loads(out)["interrupted"]
    assert err == f"gapcut: interrupted: the best model so far was saved to {tmp_path / 'm.gapcut'}\n"
    svm = StructuredSVM.load(tmp_path / "m.gapcut")
    assert svm.certificate_.status == "stopped"
    assert 0 <= svm.certificate_.lower <= svm.certificate_.upper < np.inf
    assert signal.getsignal(number) is before


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_interrupt_while_the_model_is_written_waits_for_it(folder, tmp_path, run, monkeypatch, number):
    save = Machine.save

    def slow(self, path):
        signal.raise_signal(number)
        save(self, path)

    monkeypatch.setattr(Machine, "save", slow)
    code, _, err = run("train", folder / "train.npz", "--out", tmp_path / "m.gapcut", *TRAIN)
    assert (code, err.startswith("gapcut: interrupted: the best model so far was saved")) == (130, True)
    assert StructuredSVM.load(tmp_path / "m.gapcut").certificate_.status == "certified"


def test_interrupt_before_a_model_writes_nothing(folder, tmp_path, run, monkeypatch):
    monkeypatch.setattr(Machine, "fit_resumable", lambda self, X: signal.raise_signal(signal.SIGINT))
    code, out, err = run("train", folder / "train.npz", "--out", tmp_path / "m.gapcut")
    assert (code, out) == (130, "")
    assert err == "gapcut: interrupted before there was a model: nothing was written\n"
    assert os.listdir(tmp_path) == []


def test_interrupt_while_a_proof_is_made_keeps_the_model(folder, tmp_path, run, monkeypatch):
    monkeypatch.setattr(gapcut.machine, "prove_result", lambda *given: signal.raise_signal(signal.SIGINT))
    proof = ["--proof", tmp_path / "p.npz"]
    code, _, err = run("train", folder / "train.npz", "--out", tmp_path / "m.gapcut", *TRAIN, *proof)
    assert (code, err.startswith("gapcut: interrupted: the best model so far was saved")) == (130, True)
    assert StructuredSVM.load(tmp_path / "m.gapcut").certificate_.status == "certified"
    assert not (tmp_path / "p.npz").exists()


def test_interrupt_of_prove_writes_nothing(folder, tmp_path, run, interrupt_at_pass, monkeypatch):
    interrupt_at_pass(1, room=gapcut.cli.proving)
    monkeypatch.setattr(gapcut.model.proof, "_prove", lambda *given: pytest.fail("it goes on"))
    code, out, _ = run("prove", folder / "m.gapcut", folder / "train.npz", "--out", tmp_path / "p.npz")
    assert (code, out) == (130, "")
    assert os.listdir(tmp_path) == []


def test_a_real_process(folder, tmp_path):
    """Silent stderr in a pipe, exit code through the shell, and a reader that goes away."""
    command = [sys.executable, "-c", "import sys; from gapcut.cli import main; sys.exit(main())"]
    done = subprocess.run(
        [*command, "evaluate", folder / "m.gapcut", folder / "test.npz"], capture_output=True, text=True
    )
    assert (done.returncode, done.stderr) == (0, "")
    with subprocess.Popen(
        [*command, "inspect", folder / "m.gapcut", "--json"], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        process.stdout.close()
        assert process.stderr.read() == b""
        assert process.wait() == 0


def test_without_the_extra_one_line_says_what_to_install(run, monkeypatch):
    monkeypatch.setattr("gapcut.cli.find_spec", lambda name: None)
    code, out, err = run("train")
    assert (code, out) == (2, "")
    assert err == 'gapcut: the command line needs two more packages: pip install "gapcut[cli]"\n'


def test_interrupt_ends_a_cross_validation(folder, run, interrupt_at_pass):
    interrupt_at_pass(1)
    code, out, err = run("cv", folder / "train.npz", "--folds", 2, "--gap", "0")
    assert (code, out, err) == (130, "", "gapcut: interrupted: nothing more was written\n")


# ---- files and tables of a shape that others read


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_predict_writes_the_table_that_its_ending_names(folder, tmp_path, run, ending):
    out = tmp_path / f"labels.{ending}"
    if ending == "parquet":
        pytest.importorskip("pyarrow")
    for _ in range(2):  # its own kind is replaced
        assert run("predict", folder / "m.gapcut", folder / "test.npz", "--out", out)[::2] == (0, "")
    graphs = GraphSet.load(folder / "test.npz")
    found = Machine.load(folder / "m.gapcut").predict(graphs)
    if ending == "csv":
        head, *rows = (line.split(",") for line in out.read_text().splitlines())
    else:
        import pyarrow.parquet

        table = pyarrow.parquet.read_table(out)
        head = table.column_names
        rows = [[str(value) for value in row.values()] for row in table.to_pylist()]
    assert head == ["graph", "name", "node", "label"]
    wanted = [
        [str(i), g.name or "", str(node), str(label)]
        for i, (g, labels) in enumerate(zip(graphs, found, strict=True))
        for node, label in enumerate(labels)
    ]
    assert rows == wanted


def test_predict_refuses_other_endings_before_the_work(folder, tmp_path, run, monkeypatch):
    code, _, err = run("predict", folder / "m.gapcut", folder / "test.npz", "--out", tmp_path / "labels.txt")
    assert code == 2
    assert ".npz, .csv, .parquet" in err
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    code, _, err = run(
        "predict", folder / "m.gapcut", folder / "test.npz", "--out", tmp_path / "labels.parquet"
    )
    assert (code, len(err.splitlines())) == (2, 1)
    assert 'pip install "gapcut[parquet]"' in err
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("width", [60, 80])
def test_tables_fit_the_width(folder, run, monkeypatch, width):
    monkeypatch.setenv("COLUMNS", str(width))
    data, model = folder / "train.npz", folder / "m.gapcut"
    code, out, _ = run(
        "cv", data, "--folds", "2", "--path", "0.1,1", "--oracle", "cut", *TRAIN[2:], "--certified"
    )
    assert code == 0
    for text in (out, run("evaluate", model, folder / "test.npz")[1], run("inspect", data)[1]):
        ruled = {line.index("─") + line.count("─") for line in text.splitlines() if "─" in line}
        assert ruled
        assert max(ruled) <= width
    assert "accuracy" in out.split("seconds")[0]
    assert [line.split()[:2] for line in out.splitlines() if line.startswith((" 0 ", " 1 "))][:4] == [
        *(["0", "0.1"], ["0", "1"], ["1", "0.1"], ["1", "1"]),
    ]


def test_a_pipe_is_eighty_columns_wide(monkeypatch):
    from gapcut.cli.show import Cells, console

    monkeypatch.delenv("COLUMNS", raising=False)
    narrow = console()
    assert narrow.width == 80
    with narrow.capture() as held:
        narrow.print(Cells([f"column {i}" for i in range(12)], [[10.0**i for i in range(12)]], "Wide"))
    lines = held.get().splitlines()
    assert max(map(len, lines)) <= 80
    assert sum("column 0" in line for line in lines) > 1  # the key comes with every block
    assert all(sum(f"column {i} " in f"{line} " for line in lines) == 1 for i in range(1, 12))
    assert sum("Wide" in line for line in lines) == 1


@pytest.mark.parametrize("columns", ["0", "-1", "abc", "", "3", "1e9"])
def test_a_width_that_is_none_loses_no_result(folder, run, monkeypatch, columns):
    monkeypatch.setenv("COLUMNS", columns)
    code, out, _ = run("evaluate", folder / "m.gapcut", folder / "test.npz")
    assert code == 0
    assert "accuracy" in out


@pytest.mark.parametrize("command", [["--help"], ["inspect", "MODEL"], ["inspect", "DATA", "--json"]])
def test_head_ends_a_command_quietly(folder, command):
    places = {"MODEL": str(folder / "m.gapcut"), "DATA": str(folder / "train.npz")}
    read, write = os.pipe()
    os.close(read)  # whoever read is gone already
    words = [places.get(word, word) for word in command]
    with os.fdopen(write, "wb") as out:
        done = subprocess.run([sys.executable, "-m", "gapcut", *words], stdout=out, stderr=subprocess.PIPE)
    assert (done.returncode, done.stderr) == (0, b"")


def test_progress_goes_to_stderr_where_it_is_asked_for(folder, tmp_path, run, monkeypatch):
    import gapcut.cli.progress

    monkeypatch.setattr(gapcut.cli.progress, "SECONDS_BETWEEN_LINES", 0.0)
    words = ["train", folder / "train.npz", "--out", tmp_path / "m.gapcut", *TRAIN]
    assert run(*words)[2] == ""
    err = run(*words, "--verbose")[2].splitlines()
    assert err[0].startswith("training to a gap of 0.50 %")
    assert any("<= optimum <=" in line for line in err[1:])

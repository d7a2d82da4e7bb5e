"""No command writes over what it reads or over precious files, and none ends without its result."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gapcut import GraphSet, StructuredSVM
from gapcut.datasets import make_planted
from gapcut.machine import Machine
from sample_graphs import sample_graphs

pytest.importorskip("cyclopts")
pytest.importorskip("rich")
import gapcut.cli.inspection
from gapcut.cli import main, outputs

UAI = "MARKOV\n2\n2 2\n1\n2 0 1\n4\n1 2 3 4\n"


PLAIN = ["--oracle", "cut", "--node-lift", "none", "--base", "none"]
"""What an estimator does without being told."""


@pytest.fixture(scope="module")
def inputs(tmp_path_factory):
    root = tmp_path_factory.mktemp("inputs")
    graphs = GraphSet(sample_graphs(4, seed=1))
    graphs.save(root / "d.npz")
    (root / "folder").mkdir()
    for i in range(2):
        graphs[i : i + 1].save(root / "folder" / f"{i}.npz")
    StructuredSVM(gap=0.1).fit(graphs).save(root / "m.gapcut")
    (root / "q.uai").write_text(UAI)
    (root / "q.evid").write_text("1 0 1\n")
    (root / "scan.xyz").write_text("0 0 0 1\n1 1 1 0\n")
    return root


COMMANDS = {
    "train": (["train", "d.npz", "--out", "OUT"], ["d.npz"]),
    "train a folder": (["train", "folder", "--out", "OUT"], ["folder/0.npz", "folder/1.npz"]),
    "predict": (["predict", "m.gapcut", "d.npz", "--out", "OUT"], ["m.gapcut", "d.npz"]),
    "train with a proof": (["train", "d.npz", "--out", "x", "--proof", "OUT"], ["d.npz"]),
    "prove": (["prove", "m.gapcut", "d.npz", "--out", "OUT"], ["m.gapcut", "d.npz"]),
    "solve": (["solve", "q.uai", "--evidence", "q.evid", "--out", "OUT"], ["q.uai", "q.evid"]),
    "compare": (["compare", "d.npz", "--figure", "OUT"], ["d.npz"]),
    "scenes train": (["scenes", "train", "scan.xyz", "--out", "OUT"], ["scan.xyz"]),
    "label": (["label", "scan.xyz", "--model", "m.gapcut", "--out", "OUT"], ["scan.xyz", "m.gapcut"]),
}


def contents(root):
    return {path: path.read_bytes() for path in sorted(root.rglob("*")) if path.is_file()}


def aliases(path, root):
    """The same file under other names."""
    soft, hard, through = root / "soft.npz", root / "hard.xyz", root / "through"
    for alias in (soft, hard):
        alias.unlink(missing_ok=True)
    soft.symlink_to(path)
    os.link(path, hard)
    if not through.exists():
        through.symlink_to(root, target_is_directory=True)
    return {
        "itself": path,
        "soft link": soft,
        "hard link": hard,
        "through a folder": through / path.relative_to(root),
        "relative": Path(os.path.relpath(path)),
        "dots": path.parent / ".." / path.parent.name / path.name,
    }


@given(
    command=st.sampled_from(sorted(COMMANDS)),
    pick=st.integers(0, 1),
    alias=st.sampled_from(["itself", "soft link", "hard link", "through a folder", "relative", "dots"]),
    force=st.booleans(),
)
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_nothing_that_is_read_is_written_over(inputs, capsys, command, pick, alias, force):
    arguments, reads = COMMANDS[command]
    target = aliases(inputs / reads[pick % len(reads)], inputs)[alias]
    known = {path.name for path in inputs.iterdir()}
    words = [str(target) if a == "OUT" else str(inputs / a) if a in known else a for a in arguments]
    before = contents(inputs)
    code = main([*words, *(["--force"] if force else [])])
    err = capsys.readouterr().err
    assert code == 2
    assert len(err.splitlines()) == 1
    assert contents(inputs) == before


def test_files_beside_the_output_count_too(inputs, tmp_path, run):
    """The checkpoint of train, the summary of label, and what goes to a folder."""
    data = tmp_path / "m.gapcut.checkpoint"
    shutil.copy(inputs / "d.npz", data)
    code, _, err = run("train", data, "--out", tmp_path / "m.gapcut", "--force")
    assert (code, err) == (2, f"gapcut: {data} is read by this command: name another file to write\n")
    model = tmp_path / "weights.png"
    shutil.copy(inputs / "m.gapcut", model)
    for command in (["inspect", model, "--figures", tmp_path], ["report", model, "--out", tmp_path]):
        before = model.read_bytes()
        code, _, err = run(*command, "--force" if command[0] == "inspect" else "--json")
        assert code == 2
        assert model.read_bytes() == before


@pytest.mark.parametrize("command", ["train", "predict", "solve"])
def test_files_of_another_kind_are_replaced_with_force_only(inputs, tmp_path, run, command):
    arguments, _ = COMMANDS[command]
    out = tmp_path / ("out.npz" if command == "predict" else "out")
    words = [out if a == "OUT" else inputs / a if (inputs / a).exists() else a for a in arguments]
    words += ["--gap", "0.5"] if command == "train" else []
    precious = [b"my diary\n", (inputs / "d.npz").read_bytes(), (inputs / "q.uai").read_bytes()]
    for content in precious:
        out.write_bytes(content)
        code, _, err = run(*words)
        assert (code, "add --force to replace it" in err) == (2, True)
        assert out.read_bytes() == content
    assert run(*words, "--force")[0] == 0
    first = out.read_bytes()
    assert first not in precious
    assert run(*words)[0] == 0  # its own kind
    out.write_bytes(b"")
    assert run(*words)[0] == 0  # nothing is lost


def test_every_kind_knows_its_own(inputs, tmp_path, run):
    made = {}
    for name, kind in (("m.gapcut", outputs.MODEL), ("d.npz", outputs.GRAPHS)):
        made[kind] = inputs / name
    run("predict", inputs / "m.gapcut", inputs / "d.npz", "--out", tmp_path / "p.npz")
    run("solve", inputs / "q.uai", "--out", tmp_path / "l.txt")
    run("solve", inputs / "q.uai", "--out", tmp_path / "l.npz")
    made |= {outputs.LABELS: tmp_path / "p.npz", outputs.LABELING: tmp_path / "l.txt"}
    assert outputs.LABELS.fits(tmp_path / "l.npz")
    StructuredSVM(gap=0.0, max_passes=2, checkpoint=tmp_path / "c").fit(sample_graphs(4, seed=1))
    made[outputs.CHECKPOINT] = tmp_path / "c"
    for kind, path in made.items():
        assert [other.name for other in made if other.fits(path)] == [kind.name]


def test_a_folder_that_goes_away_does_not_take_the_result_with_it(inputs, tmp_path, run, monkeypatch):
    """Removed in the middle of training: the model goes to the system's temporary folder, and the exit code is 2."""
    refuge, there = tmp_path / "refuge", tmp_path / "there"
    refuge.mkdir()
    there.mkdir()
    monkeypatch.setattr(outputs.tempfile, "tempdir", str(refuge))
    fit = Machine.fit_resumable

    def and_remove(self, X):
        fit(self, X)
        shutil.rmtree(there)
        return self

    monkeypatch.setattr(Machine, "fit_resumable", and_remove)
    code, out, err = run("train", inputs / "d.npz", "--out", there / "m.gapcut", "--gap", "0.5")
    [saved] = refuge.glob("gapcut-*/m.gapcut")
    assert (code, out) == (2, "")
    assert err == (
        f"gapcut: {there / 'm.gapcut'}: No such file or directory: the result was saved as {saved} instead\n"
    )
    assert Machine.load(saved).certificate_.relative_gap <= 0.5


def test_a_figure_folder_that_cannot_be_written_does_not_end_without_figures(
    inputs, tmp_path, run, monkeypatch
):
    refuge = tmp_path / "refuge"
    refuge.mkdir()
    monkeypatch.setattr(outputs.tempfile, "tempdir", str(refuge))
    draw = gapcut.cli.inspection._figures

    def only_there(svm, folder, graphs):
        if refuge not in folder.parents:
            raise OSError(28, "No space left on device")
        return draw(svm, folder, graphs)

    monkeypatch.setattr(gapcut.cli.inspection, "_figures", only_there)
    code, _, err = run("inspect", inputs / "m.gapcut", "--figures", tmp_path / "f")
    [saved] = refuge.glob("gapcut-*/f")
    assert (code, str(saved) in err, (saved / "weights.png").is_file()) == (2, True, True)


def test_where_nothing_can_be_written_the_message_says_so(tmp_path):
    def full(path):
        raise OSError(28, "No space left on device")

    with pytest.raises(OSError, match="could not be saved elsewhere either"):
        outputs.write_result(tmp_path / "m", full)


# ---- real processes

AS_NOBODY = (
    "import os, sys; import gapcut.cli.app, gapcut.cli.training; from gapcut.cli import main; "
    "os.setgid(65534); os.setuid(65534); sys.exit(main())"
)


@pytest.mark.skipif(
    os.name != "posix" or os.getuid() != 0, reason="needs root, to become a user without rights"
)
def test_a_folder_without_rights_is_refused_before_the_work(inputs):
    with tempfile.TemporaryDirectory() as closed:
        os.chmod(closed, 0o755)
        out = os.path.join(closed, "m.gapcut")
        done = subprocess.run(
            [sys.executable, "-c", AS_NOBODY, "train", inputs / "d.npz", "--out", out],
            capture_output=True,
            text=True,
        )
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == f"gapcut: {out}: Permission denied\n"


TRAIN_OFTEN_KEPT = """
import dataclasses, sys
import gapcut.model.training as training
from gapcut.cli import main
make = training.make_learner
training.make_learner = lambda *given: dataclasses.replace(make(*given), checkpoint_seconds=0.2)
sys.exit(main())
"""


def test_a_full_disk_for_checkpoints_is_a_warning_and_the_model_is_saved(tmp_path):
    """A limit on the size of files that a model meets and a checkpoint does not stands for a full disk."""
    make_planted(20, 60, seed=1).save(tmp_path / "d.npz")
    limit = "import resource; resource.setrlimit(resource.RLIMIT_FSIZE, (60_000, 60_000))\n"
    out = tmp_path / "m.gapcut"
    done = subprocess.run(
        [
            sys.executable,
            "-c",
            limit + TRAIN_OFTEN_KEPT,
            "train",
            tmp_path / "d.npz",
            "--C",
            "30",
            *PLAIN,
            "--out",
            out,
        ],
        capture_output=True,
        text=True,
    )
    reason = "File too large: the run goes on without this checkpoint"
    assert (done.returncode, done.stderr) == (0, f"gapcut: warning: {out}.checkpoint: {reason}\n")
    assert StructuredSVM.load(out).certificate_.status == "certified"
    assert sorted(os.listdir(tmp_path)) == ["d.npz", "m.gapcut"]


def killed_training(folder, kills, seed, C="300", gap="3e-4"):
    """Train, killed at random moments by SIGKILL and SIGTERM, resumed each time and at last left alone."""
    rng = np.random.default_rng(seed)
    data, out, whole = folder / "d.npz", folder / "m.gapcut", folder / "whole.gapcut"
    kept = folder / "m.gapcut.checkpoint"
    make_planted(20, 60, seed=1).save(data)
    before = data.read_bytes()
    options = ["--C", C, "--gap", gap, "--jobs", "1", *PLAIN]
    command = [sys.executable, "-c", TRAIN_OFTEN_KEPT, "train", data, *options]

    def start(*more):
        return subprocess.Popen(
            [*command, *more], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
        )

    assert start("--out", whole).wait() == 0
    StructuredSVM(gap=0.5).fit(make_planted(3, 20, seed=2)).save(out)
    reached = 0
    for kill in range(kills):
        number = (signal.SIGKILL, signal.SIGTERM)[kill % 2]
        with start("--out", out, *(["--resume"] if kept.exists() else [])) as child:
            time.sleep(float(rng.uniform(1.0, 5.0)))
            child.send_signal(number)
            code = child.wait()
            assert code in ((-number, 0) if number == signal.SIGKILL else (-number, 130, 0)), (
                child.stderr.read()
            )
        model = StructuredSVM.load(out)
        assert data.read_bytes() == before
        if kept.exists():
            with np.load(kept) as arrays:
                assert int(arrays["counters"][0]) >= reached
                reached = int(arrays["counters"][0])
        elif code == 0 or reached:  # it was done before the signal came or before it ended, and starts anew
            assert np.array_equal(model.pairwise_, StructuredSVM.load(whole).pairwise_)
            reached = 0
    assert start("--out", out, *(["--resume"] if kept.exists() else [])).wait() == 0
    assert not [name for name in os.listdir(folder) if name.endswith((".part", ".checkpoint"))]
    ended, alone = StructuredSVM.load(out), StructuredSVM.load(whole)
    assert np.array_equal(ended.unary_, alone.unary_)
    assert np.array_equal(ended.pairwise_, alone.pairwise_)
    assert ended.certificate_ == alone.certificate_


def test_killed_at_some_moments_loses_nothing(tmp_path):
    killed_training(tmp_path, 2, seed=0, C="30", gap="3e-3")


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(4))
def test_killed_at_random_moments_loses_nothing(tmp_path, seed):
    killed_training(tmp_path, 10, seed)

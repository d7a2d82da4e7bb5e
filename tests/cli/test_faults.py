"""Commands on a full disk, in a folder without rights, in one that is removed, and ended by SIGTERM."""

from __future__ import annotations

import os
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import pytest

from gapcut import GraphSet, StructuredSVM
from sample_graphs import sample_graphs

pytest.importorskip("cyclopts")
pytest.importorskip("rich")
import gapcut.cli.solving
from gapcut.cli import outputs
from gapcut.machine import Machine

UAI = "MARKOV\n30\n" + "2 " * 30 + "\n30\n" + "".join(f"1 {i}\n" for i in range(30)) + "2\n1 2\n" * 30


@pytest.fixture(scope="module")
def inputs(tmp_path_factory):
    root = tmp_path_factory.mktemp("inputs")
    graphs = GraphSet(sample_graphs(4, seed=1))
    graphs.save(root / "d.npz")
    StructuredSVM(gap=0.1).fit(graphs).save(root / "m.gapcut")
    (root / "q.uai").write_text(UAI)
    return root


PLAIN = ["--C", "1", "--oracle", "cut", "--node-lift", "none", "--base", "none"]
"""Nothing is searched, so that no checkpoint is written at once: that one could not be written is a line of its own."""

# What is written, and by which words.
COMMANDS = {
    "train": ("m", ["train", "d.npz", "--gap", "0.5", *PLAIN, "--out", "OUT/m"]),
    "predict": ("p.npz", ["predict", "m.gapcut", "d.npz", "--out", "OUT/p.npz"]),
    "solve": ("l.npz", ["solve", "q.uai", "--out", "OUT/l.npz"]),
    "inspect": ("weights.png", ["inspect", "m.gapcut", "--figures", "OUT"]),
    "report": ("report.html", ["report", "m.gapcut", "--out", "OUT"]),
    "compare": (
        "c.png",
        ["compare", "d.npz", "--pairs", "block/cut", "--folds", "2", "--gap", "0.5", "--figure", "OUT/c.png"],
    ),
    "bridges make": ("girder-0.ply", ["bridges", "make", "--n", "1", "--jobs", "1", "--out", "OUT"]),
}


def words(command, inputs, out):
    arguments = COMMANDS[command][1]
    return [str(inputs / a) if (inputs / a).is_file() else a.replace("OUT", str(out)) for a in arguments]


def nowhere(monkeypatch, tmp_path):
    """No place of last resort."""
    monkeypatch.setattr(outputs.tempfile, "tempdir", str(tmp_path / "gone"))
    monkeypatch.setattr(outputs.os.path, "expanduser", lambda _: str(tmp_path / "gone"))


@pytest.mark.parametrize("command", COMMANDS)
def test_a_full_disk_loses_nothing_that_was_there(inputs, tmp_path, run, monkeypatch, command):
    out = tmp_path / "out"
    out.mkdir()
    if command in ("inspect", "report", "compare"):
        pytest.importorskip("matplotlib")
    assert run(*words(command, inputs, out))[0] == 0
    before = {path.name: path.read_bytes() for path in out.iterdir()}
    assert COMMANDS[command][0] in before
    nowhere(monkeypatch, tmp_path)
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (50, limits[1]))
    try:
        code, text, err = run(*words(command, inputs, out))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert (code, text, len(err.splitlines())) == (2, "", 1)
    assert "File too large" in err
    assert {path.name: path.read_bytes() for path in out.iterdir()} == before


@pytest.mark.parametrize(
    ("command", "module", "work"),
    [("predict", Machine, "solutions"), ("solve", gapcut.cli.solving, "solve_energy")],
)
def test_a_folder_removed_in_the_middle(inputs, tmp_path, run, monkeypatch, command, module, work):
    refuge, there = tmp_path / "refuge", tmp_path / "there"
    refuge.mkdir()
    there.mkdir()
    monkeypatch.setattr(outputs.tempfile, "tempdir", str(refuge))
    done = getattr(module, work)

    def and_remove(*arguments, **options):
        found = done(*arguments, **options)
        shutil.rmtree(there)
        return found

    monkeypatch.setattr(module, work, and_remove)
    name = COMMANDS[command][0]
    code, text, err = run(*words(command, inputs, there))
    [saved] = refuge.glob(f"gapcut-*/{name}")
    assert (code, text) == (2, "")
    assert (
        err == f"gapcut: {there / name}: No such file or directory: the result was saved as {saved} instead\n"
    )
    with np.load(saved) as arrays:
        assert len(arrays["labels"])


AS_NOBODY = """
import json, os, pkgutil, sys
from contextlib import suppress
from importlib import import_module
import gapcut
from gapcut.cli import main
# What commands import must be read before: the environment may be root's alone.
packages = ["matplotlib.pyplot", "trimesh", "ifcopenshell.api", "laspy", "pye57", "h5py"]
rooms = [room.name for room in pkgutil.walk_packages(gapcut.__path__, "gapcut.")]
for name in [*packages, *(room for room in rooms if not room.endswith("__main__"))]:
    with suppress(ImportError):
        import_module(name)
os.setgid(65534); os.setuid(65534)
for words in json.loads(sys.argv[1]):
    print(main(words), file=sys.stderr)
"""


@pytest.mark.skipif(
    os.name != "posix" or os.getuid() != 0, reason="needs root, to become a user without rights"
)
def test_a_folder_without_rights_is_refused_before_the_work():
    import json

    with tempfile.TemporaryDirectory() as place:
        root, closed = Path(place), Path(place) / "closed"
        root.chmod(0o755)
        closed.mkdir()
        closed.chmod(0o755)
        graphs = GraphSet(sample_graphs(4, seed=1))
        graphs.save(root / "d.npz")
        StructuredSVM(gap=0.1).fit(graphs).save(root / "m.gapcut")
        (root / "q.uai").write_text(UAI)
        asked = [words(command, root, closed) for command in COMMANDS]
        done = subprocess.run(
            [sys.executable, "-c", AS_NOBODY, json.dumps(asked)], capture_output=True, text=True
        )
        assert list(closed.iterdir()) == []
    lines = done.stderr.splitlines()
    assert lines[1::2] == ["2"] * len(COMMANDS)
    assert [
        line
        for line in lines[::2]
        if not (line.startswith(f"gapcut: {closed}") and line.endswith("Permission denied"))
    ] == []


@pytest.mark.parametrize(
    ("command", "where"),
    [
        ("predict", "gapcut.machine.Machine.solutions"),
        ("solve", "gapcut.cli.solving.solve_energy"),
        ("inspect", "gapcut.cli.inspection.draw_model"),
        ("compare", "gapcut.learners.base.Session.record"),
        ("bridges make", "gapcut.scenes.bridges.write_ply"),
    ],
)
def test_sigterm_ends_any_command_as_ctrl_c_does(inputs, tmp_path, run, monkeypatch, command, where):
    """One line and 130, files whole, nothing left over, and the handlers as before."""
    monkeypatch.setattr(where, lambda *_, **__: signal.raise_signal(signal.SIGTERM))
    before = signal.getsignal(signal.SIGTERM)
    code, text, err = run(*words(command, inputs, tmp_path))
    assert (code, text, err) == (130, "", "gapcut: interrupted: nothing more was written\n")
    assert signal.getsignal(signal.SIGTERM) is before
    assert {path.suffix for path in tmp_path.iterdir()} <= {".glb"}


def test_unpack_limit_is_an_option(inputs, tmp_path, run):
    """A file that unpacks to more than the default cap is read where the option allows it, and only there."""
    path = tmp_path / "d.npz"
    GraphSet(sample_graphs(4, seed=1)).save(path)
    words = ("predict", inputs / "m.gapcut", path, "--out", tmp_path / "p.npz")
    code, _, err = run(*words, "--unpack-limit", 1000)
    assert (code, len(err.splitlines())) == (2, 1)
    assert "unpack-limit" in err or "unpack_limit" in err
    assert run(*words, "--unpack-limit", 10**9)[0] == 0
    assert run(*words, "--unpack-limit", 0)[::2] == (
        2,
        "gapcut: --unpack-limit 0 must be a number of bytes\n",
    )

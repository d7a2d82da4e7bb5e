"""``gapcut solve``: output, files, exit codes."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest

from gapcut import Energy, Solution, write_energy

pytest.importorskip("cyclopts")
pytest.importorskip("rich")

LABELS, MINIMUM = [1, 0, 2], -3.5


@pytest.fixture
def file(tmp_path):
    unaries = [[0.0, -1.0], [0.0, 0.5], [0.0, 0.0, -0.5]]
    tables = [[[0.0, 0.0], [-2.0, np.inf]], np.zeros((2, 3))]
    path = tmp_path / "e.cfn"
    write_energy(Energy(unaries, [[0, 1], [1, 2]], tables), path)
    return path


def test_solve_prints_energy_bound_gap_status_and_time(file, run):
    code, out, err = run("solve", file)
    assert (code, err) == (0, "")
    lines = dict(line.split(maxsplit=1) for line in out.splitlines())
    assert lines["problem"] == "3 nodes, 2 edges, 2-3 labels"
    assert lines["energy"] == "-3.5"
    assert float(lines["bound"]) == pytest.approx(MINIMUM)
    assert lines["gap"].endswith("optimal")
    assert lines["time"].endswith(" s")


def test_solve_json(file, run):
    code, out, _ = run("solve", file, "--json", "--method", "brute")
    document = json.loads(out)
    assert code == 0
    assert document["energy"] == MINIMUM
    assert document["labeling"] == LABELS
    assert document["status"] == "optimal"
    assert document["bound"] <= MINIMUM


def test_solve_writes_the_labeling(file, run, tmp_path):
    assert run("solve", file, "--out", tmp_path / "labels.txt")[0] == 0
    assert (tmp_path / "labels.txt").read_text() == "1\n0\n2\n"
    assert run("solve", file, "--out", tmp_path / "labels.npz")[0] == 0
    with np.load(tmp_path / "labels.npz") as arrays:
        assert arrays["labels"].tolist() == LABELS
        assert arrays["energy"] == MINIMUM
        assert str(arrays["status"]) == "optimal"


def test_solve_with_evidence(file, run, tmp_path):
    evidence = tmp_path / "e.evid"
    evidence.write_text("1 0 0")
    document = json.loads(run("solve", file, "--evidence", evidence, "--json")[1])
    assert document["labeling"] == [0, 0, 2]
    assert document["energy"] == -0.5


def test_certified_asks_for_a_closed_gap(run, tmp_path):
    frustrated = tmp_path / "e.uai"
    write_energy(Energy([[0.0, 1.0], [1.0, 0.0]], [[0, 1]], [[[0.0, 1.0], [1.0, 0.0]]]), frustrated)
    assert run("solve", frustrated, "--certified")[0] == 0
    assert run("solve", frustrated, "--method", "icm", "--certified")[0] == 1
    assert run("solve", frustrated, "--method", "icm")[0] == 0


def test_infeasible_is_said_and_proven(run, tmp_path):
    path = tmp_path / "e.h5"
    pytest.importorskip("h5py")
    write_energy(Energy([[np.inf, np.inf]]), path)
    code, out, _ = run("solve", path, "--certified")
    assert code == 0
    assert "infeasible" in out
    assert json.loads(run("solve", path, "--json")[1])["energy"] is None


def test_bad_use_is_one_line_and_exit_2(file, run, tmp_path):
    broken = tmp_path / "broken.uai"
    broken.write_text("MARKOV\n2\n2 x\n")
    for arguments, message in [
        (["solve", broken], "broken.uai:3: expected the label count"),
        (["solve", tmp_path / "none.uai"], "No such file"),
        (["solve", tmp_path], "must end with"),
        (["solve", file, "--method", "magic"], 'value "magic" for --method'),
        (["solve", file, "--time-limit", "-1"], "time_limit"),
        (["solve", file, "--out", tmp_path / "no" / "l.txt"], "no such folder"),
        (["solve"], "ENERGY"),
    ]:
        code, out, err = run(*arguments)
        assert (code, out) == (2, "")
        assert message in err
        assert len(err.splitlines()) == 1


def test_several_energies(file, run, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # long paths are folded in the table
    other = tmp_path / "other.cfn.gz"
    write_energy(Energy([[2.0, 1.0]]), other)
    code, out, _ = run("solve", file.name, other.name)
    assert code == 0
    assert [line.split()[-2] for line in out.splitlines() if ".cfn" in line] == ["optimal", "optimal"]
    folder = tmp_path / "labelings"
    folder.mkdir()
    documents = json.loads(run("solve", file, other, "--json", "--out", folder)[1])["files"]
    assert [d["energy"] for d in documents] == [MINIMUM, 1.0]
    assert [d["labeling"] for d in documents] == [LABELS, [1]]
    assert (folder / "e.cfn.labels").read_text() == "1\n0\n2\n"
    assert (folder / "other.cfn.gz.labels").read_text() == "1\n"
    for arguments, message in [
        (["--out", tmp_path / "labels.txt"], "must be an existing folder"),
        (["--evidence", file], "--evidence goes with one energy only"),
    ]:
        code, _, err = run("solve", file, other, *arguments)
        assert code == 2
        assert message in err
    assert "would go to one file" in run("solve", file, file, "--out", folder)[2]
    hard = tmp_path / "hard.cfn"
    write_energy(Energy([[0.0, 1.0], [1.0, 0.0]], [[0, 1]], [[[0.0, 1.0], [1.0, 0.0]]]), hard)
    assert run("solve", other, hard, "--method", "icm", "--certified")[0] == 1


def test_a_bound_is_shown_rounded_down_energy_and_gap_up(run, tmp_path, monkeypatch):
    path = tmp_path / "e.cfn"
    write_energy(Energy([[0.0, 1.0]]), path)
    found = Solution(np.array([0]), 1.00000000041, 1.00000000009, 12345.123, "feasible", 0.1)
    monkeypatch.setattr("gapcut.cli.solving.solve_energy", lambda *_, **__: found)
    one = dict(line.split(maxsplit=1) for line in run("solve", path)[1].splitlines())
    assert (one["energy"], one["bound"]) == ("1.000000001", "1")
    assert one["gap"] == "12,346, feasible"
    found = replace(found, energy=-0.3, bound=-1.99999999991, gap=1.69991)
    two = run("solve", path, path)[1]
    assert two.count("-0.3 ") == two.count("  -2 ") == two.count("  1.7 ") == 2


def test_an_exact_decimal_stays_one(run, tmp_path):
    path = tmp_path / "e.cfn"
    write_energy(Energy([[0.3, 1.0]]), path)
    lines = dict(line.split(maxsplit=1) for line in run("solve", path)[1].splitlines())
    assert (lines["energy"], lines["bound"], lines["gap"]) == ("0.3", "0.3", "0, optimal")


def test_one_is_not_many(run, tmp_path):
    path = tmp_path / "e.cfn"
    write_energy(Energy([[0.0], [1.0]], [[0, 1]], [[[1.0]]]), path)
    assert "problem      2 nodes, 1 edge, 1 label\n" in run("solve", path)[1]

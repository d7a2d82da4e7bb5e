"""``gapcut train`` of a folder that memory does not hold: said before, the same model where nothing is left out, and
nothing left behind."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile

import numpy as np
import pytest

from gapcut import Graph, GraphFolder, GraphSet, Machine
from gapcut.cli import large_sets
from gapcut.cli.options import SearchOptions
from gapcut.data import folder as folders
from sample_graphs import sample_graphs

QUICK = ["--gap", 0.2, "--max-passes", 2, "--oracle", "cut", "--force", "--jobs", 1]
NAMED = [*QUICK, "--C", 1, "--base", "none", "--node-lift", "none"]


@pytest.fixture
def parts(tmp_path):
    sample_graphs(20, n_nodes=60).save_parts(tmp_path / "parts", 2_000)
    return tmp_path / "parts"


@pytest.fixture
def scratch(tmp_path, monkeypatch):
    """Where temporary files go: empty after each test."""
    folder = tmp_path / "scratch"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    monkeypatch.setattr(large_sets, "TELL_FROM", 1)
    yield folder
    assert not list(folder.iterdir())


def needs(parts) -> large_sets.Needs:
    return large_sets.Needs.of(GraphFolder(parts), SearchOptions(base=None, node_lift="none"))


def free(monkeypatch, size: float) -> None:
    monkeypatch.setattr(large_sets, "free_bytes", lambda: size / large_sets.SHARE)


def trained(run, parts, *options):
    out = parts.parent / "m"
    code, text, err = run("train", parts, "--out", out, *options, "--json")
    assert code == 0, err
    return Machine.load(out), json.loads(text), err


@pytest.mark.filterwarnings("ignore")
def test_what_is_held_and_the_same_model(parts, scratch, run, monkeypatch):
    known = needs(parts)
    one, document, err = trained(run, parts, *NAMED)
    assert (
        f"all 20 graphs are read at once; about {known.whole / 2**20:,.0f} MB of memory" in err
        or "at once" in err
    )
    free(monkeypatch, 0.5 * (known.apart + known.whole))
    two, document, err = trained(run, parts, *NAMED)
    assert "all 20 graphs are read a part at a time" in err
    assert "of disk for the state" in err
    assert document["graphs_left_out"] == 0
    assert np.array_equal(one.unary_, two.unary_)
    assert np.array_equal(one.pairwise_, two.pairwise_)
    assert one.certificate_ == two.certificate_


@pytest.mark.filterwarnings("ignore")
def test_a_sample_where_that_does_not_fit(parts, scratch, run, monkeypatch):
    free(monkeypatch, needs(parts).some(12).apart)
    one, document, err = trained(run, parts, *NAMED)
    count = document["graphs"]
    assert 10 <= count <= 12
    assert document["graphs_left_out"] == 20 - count
    assert f"{count} of 20 graphs (a random sample, the same one with --sample {count})" in err
    free(monkeypatch, float("inf"))
    two, again, _ = trained(run, parts, *NAMED, "--sample", count)
    assert again["graphs"] == count
    assert one.model_.data == two.model_.data
    assert np.array_equal(one.unary_, two.unary_)
    code, said, err = run("check", parts.parent / "m", parts, "--sample", count, "--time-limit", 60)
    assert "the graphs are others" not in said + err
    assert code == 0, said + err


def test_a_certificate_of_a_sample_says_so(parts, run):
    one, document, _ = trained(run, parts, *NAMED, "--sample", 12)
    model, about = (
        parts.parent / "m",
        "about a random sample of 12 graphs alone: 8 other graphs were left out",
    )
    assert (one.model_.data.sample, one.model_.data.left_out) == (12, 8)
    assert document["graphs_left_out"] == 8
    for command in (["inspect", model], ["evaluate", model, parts]):
        code, said, err = run(*command)
        assert code == 0, err
        assert about in " ".join(said.split())
    code, said, err = run("inspect", model, "--json")
    assert json.loads(said)["trained_on"]["left_out"] == 8
    code, said, err = run("check", model, parts)  # draws the same one again
    assert code == 0, said + err
    assert about in " ".join(said.split())
    code, said, err = run("check", model, parts, "--sample", 11)
    assert code == 1
    assert "those were a random sample, 12 graphs of 20" in " ".join(said.split())
    code, _, err = run("prove", model, parts, "--out", parts.parent / "p.npz")
    assert code == 2
    assert "those were a random sample, 12 graphs of 20" in err


@pytest.mark.filterwarnings("ignore")
def test_a_sample_is_resumed(parts, scratch, run, monkeypatch):
    free(monkeypatch, needs(parts).some(12).apart)
    endless = ["--gap", 0, "--max-passes", 5, *NAMED[4:], "--engine", "threads"]
    one, document, _ = trained(run, parts, *endless)
    assert document["graphs_left_out"] >= 8
    assert (parts.parent / "m.checkpoint").exists()
    endless[3] = 9
    two, again, _ = trained(run, parts, *endless, "--resume")
    assert again["graphs_left_out"] == document["graphs_left_out"]
    assert two.certificate_.passes > one.certificate_.passes


def test_a_sample_of_all_is_none(parts, run):
    one, document, _ = trained(run, parts, *NAMED, "--sample", 20)
    assert (one.model_.data.sample, document["graphs_left_out"]) == (0, 0)
    assert "left_out" not in one.to_state()[1]["data"]


def test_too_little_for_ten_graphs(parts, scratch, run, monkeypatch):
    free(monkeypatch, 1000.0)
    code, _, err = run("train", parts, "--out", parts.parent / "m", *NAMED)
    assert code == 2
    assert "not enough memory: ten graphs of this folder take about" in err
    assert not (parts.parent / "m").exists()


@pytest.mark.parametrize("error", [KeyboardInterrupt, OSError("No space left on device")])
def test_an_end_while_the_sample_is_written(parts, scratch, run, monkeypatch, error):
    free(monkeypatch, needs(parts).some(12).apart)

    def ended(*_):
        raise error

    monkeypatch.setattr(folders.PartWriter, "close", ended)
    code, _, err = run("train", parts, "--out", parts.parent / "m", *NAMED)
    assert code == (130 if error is KeyboardInterrupt else 2)
    assert ("has no room for the sample" in err) == (code == 2)
    assert not (parts.parent / "m").exists()


def test_a_proof_wants_all(parts, run):
    code, _, err = run(
        "train", parts, "--out", parts.parent / "m", "--proof", parts.parent / "p.npz", "--sample", 5
    )
    assert code == 2
    assert "--proof is about all graphs of DATA" in err


def wide(seed: int) -> Graph:
    """Many edges with many columns."""
    rng = np.random.default_rng(seed)
    labels = rng.integers(2, size=50)
    edges = rng.integers(50, size=(1000, 2))
    edges = edges[edges[:, 0] != edges[:, 1]]
    columns = rng.normal(size=(len(edges), 40))
    columns[:, 0] += labels[edges[:, 0]] == labels[edges[:, 1]]
    return Graph(labels[:, None] + rng.normal(size=(50, 1)), edges, columns, labels=labels)


CHILD = """
import resource, sys
from pathlib import Path
from gapcut.cli import large_sets, main
import gapcut.machine, gapcut.cli.training

size = next(line for line in Path("/proc/self/status").read_text().splitlines() if line.startswith("VmSize"))
most = int(size.split()[1]) * 1024 + (int(sys.argv[1]) << 20)
resource.setrlimit(resource.RLIMIT_AS, (most, most))
large_sets.TELL_FROM, large_sets.SHARE = int(sys.argv[2]), 10.0  # what is asked for is tried
raise SystemExit(main(sys.argv[3:]))
"""


@pytest.mark.skipif(sys.platform != "linux", reason="no limit of address space")
def test_within_a_limit_of_address_space(tmp_path, run):
    """Graphs that do not fit it together, raw and prepared and packed; packed alone they do."""
    many = GraphSet(wide(seed) for seed in range(200))  # 67 MB
    many.save_parts(tmp_path / "parts", 1 << 20)
    command = ["train", tmp_path / "parts", "--out", tmp_path / "m", *NAMED]
    environment = {"MALLOC_ARENA_MAX": "1", "MALLOC_MMAP_THRESHOLD_": "65536", "OMP_NUM_THREADS": "1"}
    found = {}
    for name, tell, engine in (("at once", 1 << 40, "threads"), ("apart", 1 << 20, "disk")):
        arguments = [sys.executable, "-c", CHILD, "400", str(tell), *map(str, command), "--engine", engine]
        found[name] = subprocess.run(arguments, env=environment, capture_output=True, text=True, check=False)
    assert found["at once"].returncode == 2
    assert "gapcut: not enough memory (" in found["at once"].stderr
    assert found["apart"].returncode == 0, found["apart"].stderr
    assert "all 200 graphs are read a part at a time" in found["apart"].stderr
    model = Machine.load(tmp_path / "m")
    code, _, err = run(*command)  # all in memory, without a limit
    assert code == 0, err
    known = Machine.load(tmp_path / "m")
    assert known.certificate_ == model.certificate_
    assert np.array_equal(known.unary_, model.unary_)
    assert np.array_equal(known.pairwise_, model.pairwise_)


def many_columns(seed: int) -> Graph:
    """Nodes of many columns, a few edges."""
    rng = np.random.default_rng(seed)
    labels = rng.integers(3, size=60)
    edges = np.c_[np.arange(59), np.arange(1, 60)]
    columns = np.c_[labels[:, None] + rng.normal(size=(60, 1)), rng.normal(size=(60, 39))]
    return Graph(columns, edges, np.ones((59, 1)), labels=labels)


@pytest.mark.parametrize(
    "named",
    [{"base": None}, {"base": "trees"}, {"base": "trees", "base_features": "own"}, {"base": "auto"}],
)
def test_packed_are_the_columns_that_weights_multiply(tmp_path, named):
    graphs = GraphSet(many_columns(seed) for seed in range(8))
    graphs.save_parts(tmp_path / "parts", 1 << 16)
    options = SearchOptions(C=1.0, oracle="cut", gap=0.5, node_lift="none", **named)
    found = large_sets.Needs.of(GraphFolder(tmp_path / "parts"), options)
    model = options.estimator(graphs).fit(graphs).model_
    columns = len(model.node_names)
    assert found.packed_columns == (columns if named["base"] != "auto" else len(model.pipeline.node_names))


def test_a_base_in_place_of_node_features_leaves_room_for_more_graphs(tmp_path):
    GraphSet(many_columns(seed) for seed in range(8)).save_parts(tmp_path / "parts", 1 << 16)
    folder = GraphFolder(tmp_path / "parts")
    alone, beside = (
        large_sets.Needs.of(folder, SearchOptions(base="trees", base_features=features))
        for features in ("edges", "own")
    )
    assert 5 * alone.packed < beside.packed

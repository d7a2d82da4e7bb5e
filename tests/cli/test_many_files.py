"""``gapcut predict`` and ``gapcut label`` of many files: none twice, none lost, a bad one stops no other."""

from __future__ import annotations

import dataclasses
import json
import threading
import time
from types import SimpleNamespace

import pytest

from gapcut import StructuredSVM
from gapcut.cli import labelling, main, tiling
from gapcut.cli.file_queue import LEDGER
from gapcut.data import GraphSet
from gapcut.scenes.clouds import las, write_cloud
from same_files import assert_same_arrays
from sample_graphs import sample_graphs
from street_samples import street

COUNT = 6
BROKEN = "2.npz"


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """A model, and files to label, of which one is broken."""
    root = tmp_path_factory.mktemp("many")
    StructuredSVM(gap=0.1).fit(sample_graphs(4)).save(root / "m.gapcut")
    (root / "in").mkdir()
    for i, graph in enumerate(sample_graphs(COUNT, seed=1)):
        GraphSet([graph, graph]).save(root / "in" / f"{i}.npz")
    (root / "in" / BROKEN).write_bytes(b"PK no more")
    return root


def predict(run, place, out, *options, data="in"):
    code, text, err = run("predict", place / "m.gapcut", place / data, "--out", out, *options, "--json")
    return code, json.loads(text) if text else {}, err


@pytest.mark.parametrize("engine", ["threads", "processes"])
def test_predict_many(place, tmp_path, run, engine):
    code, found, err = predict(run, place, tmp_path / "out", "--engine", engine, "--jobs", 2)
    assert code == 1
    assert err.splitlines()[0] == "gapcut: 1 of 6 files could not be labelled:"
    assert BROKEN in err.splitlines()[1]
    assert len(err.splitlines()) == 2
    assert [each["file"] for each in found["failed"]] == [str(place / "in" / BROKEN)]
    assert len(found["files"]) == COUNT - 1
    for i in (0, 1, 3, 4, 5):
        (tmp_path / "alone").mkdir(exist_ok=True)
        alone = tmp_path / "alone" / f"{i}.npz"
        assert run("predict", place / "m.gapcut", place / "in" / f"{i}.npz", "--out", alone)[0] == 0
    assert_same_arrays(tmp_path / "alone", tmp_path / "out")


def test_what_is_done_is_not_done_again(place, tmp_path, run):
    out = tmp_path / "out"
    assert predict(run, place, out)[1]["before"] == 0
    stamps = {path: path.stat().st_mtime_ns for path in out.glob("*.npz")}

    def again(*options, model="m.gapcut") -> int:
        """How many files were written anew."""
        assert predict(run, place, out, *options)[0] == 1
        now = {path: path.stat().st_mtime_ns for path in out.glob("*.npz")}
        changed = [path for path in now if now[path] != stamps.get(path)]
        stamps.update(now)
        return len(changed)

    assert again() == 0
    (out / "0.npz").unlink()
    (out / "1.npz").write_bytes(b"")
    assert again() == 2
    assert again("--inference", "icm") == COUNT - 1
    assert again("--inference", "icm") == 0
    ledger = out / LEDGER
    lines = ledger.read_bytes().splitlines(keepends=True)
    ledger.write_bytes(b"".join(lines[:-1]) + lines[-1][:40])  # the power went
    assert again("--inference", "icm") == 1
    assert again("--inference", "icm") == 0
    for made_up in (
        b"nonsense\n",
        b'{"file": 3}\n',
        b'{"file": "0.npz", "made_of": "", "written": [], "document": {}}\n',
    ):
        ledger.write_bytes(made_up)
        assert again() == COUNT - 1


def test_another_input_or_model_is_labelled_again(tmp_path, run, place):
    (tmp_path / "in").mkdir()
    graphs = sample_graphs(2, seed=5)
    graphs.save(tmp_path / "in" / "a.npz")
    for seed in (0, 0, 7):
        StructuredSVM(gap=0.1).fit(sample_graphs(4, seed=seed)).save(tmp_path / "m.gapcut")
        code, found, _ = predict(run, tmp_path, tmp_path / "out")
        assert code == 0
        assert found["before"] == 0  # a model file tells when it was trained: another file, another model
    assert predict(run, tmp_path, tmp_path / "out")[1]["before"] == 1
    graphs[:1].save(tmp_path / "in" / "a.npz")
    assert predict(run, tmp_path, tmp_path / "out")[1]["before"] == 0


def test_a_file_without_graphs(place, tmp_path, run):
    (tmp_path / "in").mkdir()
    GraphSet().save(tmp_path / "in" / "a.npz")
    sample_graphs(1).save(tmp_path / "in" / "b.npz")
    code, found, err = predict(run, place, tmp_path / "out", data=tmp_path / "in")
    assert code == 1
    assert len(found["files"]) == 1
    assert err.splitlines()[1] == f"gapcut: {tmp_path / 'in' / 'a.npz'}: there are no graphs in it"


def test_a_folder_of_parts(place, tmp_path, run):
    graphs = sample_graphs(6, seed=3)
    graphs.save_parts(tmp_path / "parts", 1500)
    graphs.save(tmp_path / "all.npz")
    assert run("predict", place / "m.gapcut", tmp_path / "parts", "--out", tmp_path / "labels")[0] == 0
    one, whole = tmp_path / "one", tmp_path / "whole"
    for folder, data in ((one, "parts"), (whole, "all.npz")):
        folder.mkdir()
        assert run("predict", place / "m.gapcut", tmp_path / data, "--out", folder / "p.npz")[0] == 0
    assert_same_arrays(one, whole)  # one output of a folder of parts is that of one file
    scores = [
        json.loads(run("evaluate", place / "m.gapcut", tmp_path / data, "--json")[1])
        for data in ("parts", "all.npz")
    ]
    for found in scores:
        found["inference"].pop("seconds")
    assert scores[0] == scores[1]
    (tmp_path / "parts" / "part-00001.npz").write_bytes((tmp_path / "parts" / "part-00000.npz").read_bytes())
    code, _, err = run("predict", place / "m.gapcut", tmp_path / "parts", "--out", tmp_path / "labels")
    assert code == 1
    assert "part-00001.npz: damaged or altered" in err


def test_refusals(place, tmp_path, run):
    model, data = place / "m.gapcut", place / "in" / "0.npz"
    for arguments, said in (
        ([data, data, "--out", tmp_path / "x.npz"], "name a folder with --out"),
        ([data, data, "--out", tmp_path / "x"], "two files would be written to one name"),
        ([data, "--out", tmp_path / "x.npz", "--engine", "processes"], "works on many files"),
        ([data, "--out", tmp_path / "x", "--address", "auto"], "is of a Ray cluster"),
        ([data, "--out", tmp_path / "x", "--select", "keep"], "--select is for one OUT"),
        ([place / "in", "--out", place / "in"], "is read by this command"),
        (["--out", tmp_path / "x"], "DATA"),
    ):
        code, _, err = run("predict", model, *arguments)
        assert code == 2, arguments
        assert said in err
        assert err.count("\n") == 1
    assert not (tmp_path / "x").exists()


@pytest.mark.cluster
def test_a_node_that_dies_changes_nothing(place, tmp_path, run, cluster):
    import ray

    from ray_nodes import NODE, started

    (tmp_path / "in").mkdir()
    for i, graph in enumerate(sample_graphs(200, seed=1)):
        GraphSet([graph]).save(tmp_path / "in" / f"{i}.npz")
    (tmp_path / "in" / BROKEN).write_bytes(b"PK no more")
    data, out = tmp_path / "in", tmp_path / "out"
    assert predict(run, place, tmp_path / "alone", data=data)[0] == 1
    node = started(lambda: cluster.add_node(**NODE))

    def end_one() -> None:
        while len(list(out.glob("*.npz"))) < 20:
            time.sleep(0.02)
        cluster.remove_node(node, allow_graceful=False)

    killer = threading.Thread(target=end_one)
    killer.start()
    options = ("--engine", "ray", "--address", cluster.address)
    code, found, err = predict(run, place, out, *options, data=data)
    killer.join()
    assert not ray.is_initialized()
    assert code == 1
    assert len(found["files"]) == 199
    assert err.splitlines()[0] == "gapcut: 1 of 200 files could not be labelled:"
    assert BROKEN in err.splitlines()[1]
    assert_same_arrays(tmp_path / "alone", out)
    assert predict(run, place, out, *options, data=data)[1]["before"] == 199


@pytest.fixture(scope="module")
def scans(tmp_path_factory):
    """A model of scenes, and scans of which one is broken."""
    pytest.importorskip("laspy")
    root = tmp_path_factory.mktemp("scans")
    (root / "train").mkdir()
    (root / "in").mkdir()
    for i in range(2):
        write_cloud(root / "train" / f"{i}.npz", street(i))
        write_cloud(root / "in" / f"{i}.npz", street(i + 5))
    (root / "in" / "bad.laz").write_bytes(b"LASF no more")
    options = ["--trees", "5", "--voxel", "0.3", "--gap", "0.1", "--jobs", "1", "--json"]
    assert main(["scenes", "train", str(root / "train"), "--out", str(root / "m.gapcut"), *options]) == 0
    return root


def label(run, scans, out, *options):
    code, text, err = run(
        "label", scans / "in", "--model", scans / "m.gapcut", "--out", out, *options, "--json"
    )
    assert code == 1
    assert err.splitlines()[0] == "gapcut: 1 of 3 scans could not be labelled:"
    assert "bad.laz" in err.splitlines()[1]
    return json.loads(text)


def test_scans_that_are_labelled_are_not_labelled_again(scans, tmp_path, run):
    assert label(run, scans, tmp_path / "out", "--jobs", 1)["before"] == 0
    again = label(run, scans, tmp_path / "out", "--jobs", 2)
    assert again["before"] == 2
    assert [each["points"] for each in again["scans"]] == [street(i).n_points for i in (5, 6)]
    (tmp_path / "out" / "0.npz.run.json").unlink()  # a scan without its summary is not one of ours
    assert run("label", scans / "in", "--model", scans / "m.gapcut", "--out", tmp_path / "out")[0] == 2
    assert label(run, scans, tmp_path / "out", "--force")["before"] == 1
    assert label(run, scans, tmp_path / "out", "--segments", "csv")["before"] == 0


def same_labels(scans, run, one, two, *options):
    label(run, scans, one)
    label(run, scans, two, *options)
    assert_same_arrays(one, two)


def test_scans_in_processes(scans, tmp_path, run):
    same_labels(scans, run, tmp_path / "one", tmp_path / "two", "--engine", "processes", "--jobs", 2)


@pytest.mark.parametrize(("options", "at_once"), [((), 1), (("--engine", "processes", "--jobs", 2), 2)])
def test_scans_at_work_at_once_share_the_free_memory(scans, tmp_path, run, monkeypatch, options, at_once):
    """Counted before the first one begins; a scan that is larger than its share is cut into tiles."""
    seen = []

    def noted(workers, work, jobs, settings):
        seen.append(work.tiling)
        raise ValueError("enough")

    monkeypatch.setattr(labelling, "do_files", noted)
    monkeypatch.setattr(tiling, "free_bytes", lambda: 1.2e6)
    out = tmp_path / "out"
    assert run("label", scans / "in", "--model", scans / "m.gapcut", "--out", out, *options)[0] == 2
    assert [each.whole for each in seen] == [0.6e6 / at_once]
    monkeypatch.setattr(las, "announced_points", lambda path: 900)
    grown = SimpleNamespace(settings=SimpleNamespace(segments="grown"))
    assert (seen[0].options(scans / "in" / "0.npz", grown) is None) == (at_once == 1)
    tiled = dataclasses.replace(seen[0], tile=9.0).options(scans / "in" / "0.npz", grown)
    assert tiled.room == 0.3e6 / at_once  # for what was read, until it is cut


@pytest.mark.cluster
def test_scans_on_a_cluster(scans, tmp_path, run, cluster):
    options = ("--engine", "ray", "--address", cluster.address)
    same_labels(scans, run, tmp_path / "one", tmp_path / "two", *options)


def test_processes_share_the_free_memory(place, tmp_path, run, monkeypatch):
    from gapcut.cli import file_queue

    _, _, err = predict(run, place, tmp_path / "a", "--engine", "processes", "--jobs", 2)
    assert "processes:" not in err
    monkeypatch.setattr(file_queue, "free_bytes", lambda: 400.0 * 2**20)  # half is enough for one
    code, found, err = predict(run, place, tmp_path / "b", "--engine", "processes", "--jobs", 2)
    assert code == 1
    assert len(found["files"]) == COUNT - 1
    assert err.startswith(
        "gapcut: 1 of 2 processes: the largest file takes about 120 MB, the 2 largest together 24"
    )
    assert "half of the free memory is 200 MB" in err
    assert_same_arrays(tmp_path / "a", tmp_path / "b")


@pytest.mark.parametrize(
    ("needs", "free", "fitting"), [([1, 1, 1], 6, 3), ([4, 1, 1], 10, 2), ([9, 1], 10, 1)]
)
def test_as_many_processes_as_the_largest_files_leave_room_for(needs, free, fitting, monkeypatch, capsys):
    from gapcut.cli import file_queue

    monkeypatch.setattr(file_queue, "free_bytes", lambda: float(free))
    assert file_queue.processes_for("processes", 3, needs) == min(3, fitting if fitting < len(needs) else 3)
    assert ("processes:" in capsys.readouterr().err) == (fitting < len(needs))
    assert file_queue.processes_for("threads", 3, needs) == 3

"""Files side by side in a folder see each other's points: like one scan, whatever is the matter with one of them."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from gapcut.cli import main
from gapcut.scenes.clouds import PointCloud, read_cloud, write_cloud
from gapcut.scenes.labelling import SceneSettings, TrainingOptions, train_scenes
from gapcut.scenes.tiles import (
    Around,
    Neighbour,
    ScanFile,
    TileOptions,
    forget_refused,
    label_tiled,
    leave_strips,
    look,
    remove_strips,
    side_by_side,
    steps,
)
from gapcut.scenes.tiles.folder import system_of
from gapcut.scenes.tiles.grid import snapped
from gapcut.scenes.tiles.strips import said_of
from street_samples import street

laspy = pytest.importorskip("laspy")

VOXEL = 0.4
ENTRY = "import sys; from gapcut.cli import main; sys.exit(main(sys.argv[1:]))"


def town() -> PointCloud:
    """Two streets, one behind the other, in whole millimetres."""
    clouds = [street(10 + j, spacing=0.35) for j in range(2)]
    xyz = np.concatenate([c.xyz + np.array([24.3 * j, 0, 0]) for j, c in enumerate(clouds)])
    return PointCloud(np.round(xyz, 3))


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """A model, and a folder of three files with seams at x = 16 and x = 32."""
    root = tmp_path_factory.mktemp("folders")
    options = TrainingOptions(n_trees=4, folds=2, gap=0.1, C=1.0)
    clouds = [street(i, spacing=0.35) for i in range(2)]
    train_scenes(clouds, SceneSettings(voxel=VOXEL), options).model.save(root / "m.gapcut")
    cloud = town()
    part = np.digitize(cloud.xyz[:, 0] - 500_000.0, [16.0, 32.0])
    (root / "in").mkdir()
    for i, name in enumerate("abc"):
        write_cloud(root / "in" / f"{name}.laz", cloud.select(part == i))
    return root


def label(place: Path, source: Path, out: Path, *more: str) -> int:
    arguments = ["label", source, "--model", place / "m.gapcut", "--out", out, "--tile", 10, "--halo", 5]
    jobs = () if "--jobs" in more else ("--jobs", "1")
    return main([*map(str, arguments), "--json", *jobs, *more])


def results(out: Path) -> dict[str, bytes]:
    return {p.name: p.read_bytes() for p in sorted(out.glob("*")) if p.suffix in (".laz", ".ply", ".npz")}


@pytest.fixture(scope="module")
def straight(place):
    """What a run in one process gives that nothing ended."""
    assert label(place, place / "in", place / "out") == 0
    assert not (place / "out" / ".gapcut-seams").exists()
    return results(place / "out")


def around(path: Path, others: list[Path], halo: float, strips: Path, low: PointCloud) -> Around:
    files = [Neighbour(ScanFile(p), look(ScanFile(p))) for p in [path, *others]]
    return Around(files[0], tuple(files[1:]), halo, tuple(low.shift.tolist()), strips)


def described(out: Path, name: str) -> dict:
    return json.loads((out / f"{name}.run.json").read_text())["neighbours"]


def test_a_file_called_like_the_folder_of_strips_is_said_before_the_first_scan(place, tmp_path, capsys):
    (tmp_path / ".gapcut-seams").write_text("mine")
    assert label(place, place / "in", tmp_path) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert f"{tmp_path / '.gapcut-seams'} is a file" in line
    assert "remove it, name another folder for --out or add --no-neighbours" in line
    assert [path.name for path in tmp_path.iterdir()] == [".gapcut-seams"]


# --- like one scan


@pytest.mark.parametrize("seed", range(3))
def test_files_that_see_everything_are_labelled_like_one_scan(place, tmp_path, seed):
    """Cut anywhere, with points that two files have, in formats of all kinds: with halos over all of it, segments and
    labels are those of all points in one file."""
    rng, cloud = np.random.default_rng(seed), town()
    write_cloud(tmp_path / "whole.npz", cloud)
    at = cloud.xyz[:, :2] - cloud.xyz[:, :2].min(axis=0)
    cut, buffer = rng.uniform([10, 3], [38, 9]), rng.uniform(0.0, 3.0)
    side = [(at[:, 0] < cut[0] + buffer), (at[:, 0] >= cut[0] - buffer)]
    parts = [side[0], side[1] & (at[:, 1] < cut[1] + buffer), side[1] & (at[:, 1] >= cut[1])]
    files = [
        tmp_path / f"part-{i}.{ending}" for i, ending in enumerate(rng.permutation(["laz", "ply", "npz"]))
    ]
    for path, rows in zip(files, parts, strict=True):
        write_cloud(path, cloud.select(np.flatnonzero(rows)))
    how = (place / "m.gapcut", TileOptions(12.0, 60.0))
    alone = around(tmp_path / "whole.npz", [], 60.0, tmp_path / "s", cloud)
    label_tiled(tmp_path / "w.npz", ScanFile(tmp_path / "whole.npz"), *how, around=alone)
    whole = read_cloud(tmp_path / "w.npz")
    for path, rows in zip(files, parts, strict=True):
        seen = around(path, [f for f in files if f != path], 60.0, tmp_path / "s", cloud)
        found = label_tiled(tmp_path / f"out-{path.name}", ScanFile(path), *how, around=seen)
        got = read_cloud(tmp_path / f"out-{path.name}")
        assert found.outside.lacked == {}
        assert np.array_equal(got.segments, whole.segments[rows])
        assert np.array_equal(got.labels, whole.labels[rows])
        assert np.allclose(got.extra["confidence"], whole.extra["confidence"][rows], atol=1e-6)
        assert found.found.segments == len(np.unique(got.segments))
        assert sum(found.found.counts.values()) == int(rows.sum())


def test_halos_hide_seams(place, straight, tmp_path):
    assert label(place, place / "in", tmp_path, "--no-neighbours") == 0
    cloud = town()
    write_cloud(tmp_path / "whole.npz", cloud)
    scan = ScanFile(tmp_path / "whole.npz")
    alone = around(scan.path, [], 5.0, tmp_path / "s", cloud)
    label_tiled(tmp_path / "w.npz", scan, place / "m.gapcut", TileOptions(10.0, 5.0), around=alone)
    truth = {
        tuple(p): v
        for p, v in zip(snapped(cloud.xyz).tolist(), read_cloud(tmp_path / "w.npz").labels, strict=True)
    }
    share = {}
    for out in (place / "out", tmp_path):
        clouds = [read_cloud(out / f"{name}.laz") for name in "abc"]
        same = [
            truth[tuple(p)] == v
            for c in clouds
            for p, v in zip(snapped(c.xyz).tolist(), c.labels, strict=True)
        ]
        share[out] = float(np.mean(same))
    assert share[place / "out"] >= 0.99
    assert share[place / "out"] >= share[tmp_path]
    assert described(place / "out", "b.laz")["seen"] == ["a.laz", "c.laz"]
    assert described(place / "out", "a.laz")["seen"] == ["b.laz"]
    assert "neighbours" not in json.loads((tmp_path / "a.laz.run.json").read_text())


def test_processes_in_any_order_give_the_bytes_of_one(place, straight, tmp_path):
    assert label(place, place / "in", tmp_path, "--engine", "processes", "--jobs", "2") == 0
    assert results(tmp_path) == straight


def test_a_file_alone_has_the_bytes_of_a_scan_alone(place, tmp_path):
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "a.laz").write_bytes((place / "in" / "a.laz").read_bytes())
    far = town().select(range(500))
    write_cloud(tmp_path / "in" / "far.laz", far.replace(xyz=far.xyz + np.array([9000.0, 0, 0])))
    assert label(place, tmp_path / "in", tmp_path / "out") == 0
    assert label(place, tmp_path / "in" / "a.laz", tmp_path / "alone.laz") == 0
    assert (tmp_path / "out" / "a.laz").read_bytes() == (tmp_path / "alone.laz").read_bytes()


def test_what_adjoins_is_told_before_the_work(place, straight, tmp_path, capsys):
    assert label(place, place / "in", place / "out") == 0
    said = capsys.readouterr()
    assert "3 of 3 files adjoin others: their halos of 5 m see them; about " in said.err
    assert json.loads(said.out)["before"] == 3
    assert results(place / "out") == straight


def test_a_file_that_is_added_has_only_its_neighbours_done_again(place, tmp_path, capsys):
    """Although it lies in another kilometre."""
    (tmp_path / "in").mkdir()
    east = np.array([3010.0, 0, 0])
    for name in "abc":
        cloud = read_cloud(place / "in" / f"{name}.laz")
        write_cloud(tmp_path / "in" / f"{name}.laz", cloud.replace(xyz=cloud.xyz + east))
    assert label(place, tmp_path / "in", tmp_path / "out") == 0
    west = cloud.replace(xyz=cloud.xyz + east - np.array([48.2, 0, 0]))
    write_cloud(tmp_path / "in" / "west.laz", west)
    assert west.xyz[:, 0].min() < 503_000 < read_cloud(tmp_path / "in" / "a.laz").xyz[:, 0].min()
    capsys.readouterr()
    assert label(place, tmp_path / "in", tmp_path / "out") == 0
    assert json.loads(capsys.readouterr().out)["before"] == 2
    assert described(tmp_path / "out", "a.laz")["seen"] == ["b.laz", "west.laz"]


# --- what goes wrong


def test_a_killed_run_goes_on(place, straight, tmp_path):
    arguments = [
        "label",
        place / "in",
        "--model",
        place / "m.gapcut",
        "--out",
        tmp_path,
        "--tile",
        10,
        "--halo",
        5,
    ]
    child = subprocess.Popen(
        [sys.executable, "-c", ENTRY, *map(str, arguments), "--jobs", "1"],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    while not list(tmp_path.glob("*.tiles/grown_*.arrays")) and child.poll() is None:
        time.sleep(0.01)
    child.send_signal(signal.SIGKILL)
    child.wait()
    assert (tmp_path / ".gapcut-seams").is_dir()
    assert list(tmp_path.glob("*.tiles"))
    assert label(place, place / "in", tmp_path) == 0
    assert results(tmp_path) == straight
    assert not (tmp_path / ".gapcut-seams").exists()


def test_a_broken_neighbour_is_told_and_spoils_no_other(place, straight, tmp_path, capsys):
    (tmp_path / "in").mkdir()
    for name in "abc":
        (tmp_path / "in" / f"{name}.laz").write_bytes((place / "in" / f"{name}.laz").read_bytes())
    whole = (place / "in" / "b.laz").read_bytes()
    (tmp_path / "in" / "b.laz").write_bytes(whole[: len(whole) // 2])
    assert label(place, tmp_path / "in", tmp_path / "out") == 1
    said = capsys.readouterr()
    assert "2 scans were labelled without points of a neighbour" in said.err
    assert "1 of 3 scans could not be labelled" in said.err
    assert [(Path(each["scan"]).name, each["neighbour"]) for each in json.loads(said.out)["lacked"]] == [
        ("a.laz", "b.laz"),
        ("c.laz", "b.laz"),
    ]
    (tmp_path / "in" / "b.laz").write_bytes(whole)
    assert label(place, tmp_path / "in", tmp_path / "out") == 0
    assert json.loads(capsys.readouterr().out)["lacked"] == []
    assert results(tmp_path / "out") == straight


@pytest.mark.parametrize("when", ["before", "after"])
def test_a_neighbour_that_changes_is_told(place, tmp_path, monkeypatch, when):
    files = []
    for name in "ab":
        files.append(tmp_path / f"{name}.laz")
        files[-1].write_bytes((place / "in" / f"{name}.laz").read_bytes())
    seen = around(files[0], files[1:], 5.0, tmp_path / "s", town())
    real = steps.thin_tile

    def change(*given):
        os.utime(files[1], ns=(1, 1))
        return real(*given) if given else None

    if when == "before":
        change()
    monkeypatch.setattr(steps, "thin_tile", change)
    how = (place / "m.gapcut", TileOptions(100.0, 5.0))
    found = label_tiled(tmp_path / "out.laz", ScanFile(files[0]), *how, around=seen)
    assert list(found.outside.lacked) == ["b.laz"]
    assert "was changed while" in found.outside.lacked["b.laz"]
    assert (found.outside.n_points > 0) == (when == "after")


def test_a_header_that_lies_is_not_believed(place, tmp_path, capsys):
    (tmp_path / "in").mkdir()
    for name in "ab":
        (tmp_path / "in" / f"{name}.laz").write_bytes((place / "in" / f"{name}.laz").read_bytes())
    content = bytearray((tmp_path / "in" / "b.laz").read_bytes())
    content[179:187] = np.float64(500_030.0).tobytes()  # its largest x
    (tmp_path / "in" / "b.laz").write_bytes(content)
    assert label(place, tmp_path / "in", tmp_path / "out") == 0
    said = capsys.readouterr()
    assert said.err.count("the header was not believed") == 1
    lacked = json.loads(said.out)["lacked"]
    assert [(Path(each["scan"]).name, each["neighbour"]) for each in lacked] == [
        ("a.laz", "b.laz"),
        ("b.laz", "a.laz"),
    ]
    assert all("header's box is not that of its points" in each["reason"] for each in lacked)


def test_a_file_without_points_stops_no_other(place, straight, tmp_path, capsys):
    (tmp_path / "in").mkdir()
    for name in "abc":
        (tmp_path / "in" / f"{name}.laz").write_bytes((place / "in" / f"{name}.laz").read_bytes())
    laspy.LasData(laspy.LasHeader(point_format=1, version="1.2")).write(str(tmp_path / "in" / "none.las"))
    assert label(place, tmp_path / "in", tmp_path / "out") == 1
    said = capsys.readouterr()
    assert [Path(each["file"]).name for each in json.loads(said.out)["failed"]] == ["none.las"]
    assert "none.las: holds no points" in said.err
    assert results(tmp_path / "out") == straight


def with_box(place: Path, name: str, low: list[float], high: list[float]) -> bytes:
    """A file with another box in its header."""
    content = bytearray((place / "in" / f"{name}.laz").read_bytes())
    content[179:227] = np.column_stack([high, low]).astype("<f8").tobytes()
    return bytes(content)


def test_boxes_that_nobody_filled_in_are_those_of_the_points(place, straight, tmp_path, capsys):
    (tmp_path / "in").mkdir()
    for name in "abc":
        (tmp_path / "in" / f"{name}.laz").write_bytes(with_box(place, name, [0, 0, 0], [0, 0, 0]))
    assert label(place, tmp_path / "in", tmp_path / "out") == 0
    assert json.loads(capsys.readouterr().out)["lacked"] == []
    assert described(tmp_path / "out", "b.laz")["seen"] == ["a.laz", "c.laz"]
    for name in "abc":
        found, wanted = (read_cloud(out / f"{name}.laz") for out in (tmp_path / "out", place / "out"))
        assert np.array_equal(found.labels, wanted.labels)
        assert np.array_equal(found.segments, wanted.segments)


@pytest.mark.parametrize(
    ("low", "high"), [([0, 0, 0], [16, 20, 9]), ([499_999, 5_999_999, -9e9], [500_017, 6_000_020, 9e9])]
)
def test_a_file_is_labelled_wherever_its_header_says_that_it_is(place, tmp_path, capsys, low, high):
    (tmp_path / "in").mkdir()
    for name in "ab":
        (tmp_path / "in" / f"{name}.laz").write_bytes(with_box(place, name, low, high))
    assert label(place, tmp_path / "in", tmp_path / "out") == 0
    assert json.loads(capsys.readouterr().out)["failed"] == []
    for name in "ab":
        assert (read_cloud(tmp_path / "out" / f"{name}.laz").labels >= 0).all()


def test_other_coordinate_systems_are_no_neighbours(place, tmp_path, capsys):
    (tmp_path / "in").mkdir()
    for name, code in (("a", 25832), ("b", 25833)):
        cloud = read_cloud(place / "in" / f"{name}.laz")
        write_cloud(tmp_path / "in" / f"{name}.ply", cloud.replace(crs=f"EPSG:{code}"))
    assert label(place, tmp_path / "in", tmp_path / "out") == 0
    assert "a.ply and b.ply lie side by side but state other coordinate systems" in capsys.readouterr().err
    assert label(place, tmp_path / "in", tmp_path / "off", "--no-neighbours") == 0
    assert results(tmp_path / "out") == results(tmp_path / "off")


def test_a_scan_has_no_neighbours_to_ask_for(place, tmp_path, capsys):
    assert label(place, place / "in" / "a.laz", tmp_path / "a.laz", "--neighbours") == 2
    assert "name the folder" in capsys.readouterr().err


# --- pieces


@pytest.mark.parametrize(
    ("crs", "system"),
    [
        (None, None),
        ("", None),
        ("EPSG:25832", "EPSG:25832"),
        ('PROJCS["A",GEOGCS["B",AUTHORITY["EPSG","4258"]],AUTHORITY["EPSG","2154"]]', "EPSG:2154"),
        (
            'PROJCRS["A",BASEGEOGCRS["B",ID["EPSG",4258]],CONVERSION["C",ID["EPSG",1]],ID["EPSG",2154]]',
            "EPSG:2154",
        ),
        (
            'COMPD_CS["A",PROJCS["B",GEOGCS["D",AUTHORITY["EPSG","4289"]],AUTHORITY["EPSG","28992"]],'
            'VERT_CS["N",AUTHORITY["EPSG","5709"]],AUTHORITY["EPSG","7415"]]',
            "EPSG:28992",
        ),
        ('PROJCS["Site [1]",GEOGCS["B",AUTHORITY["EPSG","4258"]]]', "SITE [1]"),
        ('GEOGCS["WGS 84",AUTHORITY["EPSG","4326"]]', "EPSG:4326"),
    ],
)
def test_coordinate_systems_are_compared_by_code_or_name(crs, system):
    assert system_of(crs) == system


def test_what_was_refused_is_tried_again(place, tmp_path):
    files = [place / "in" / f"{name}.laz" for name in "ab"]
    seen = around(files[0], files[1:], 5.0, tmp_path / "s", town())
    strip, neighbour = seen.strip(seen.neighbours[0]), seen.neighbours[0]
    leave_strips(seen.folder, neighbour, [seen.own], 5.0, ("intensity",))
    assert said_of(strip)["refused"] == "b has no intensity, but the model was trained with it"
    forget_refused(seen.folder)
    assert not strip.exists()
    leave_strips(seen.folder, neighbour, [seen.own], 5.0, ())
    assert said_of(strip)["refused"] is None
    forget_refused(seen.folder)
    assert strip.stat().st_size > 1000
    (seen.folder / "mine.txt").touch()
    remove_strips(seen.folder)
    assert [path.name for path in seen.folder.iterdir()] == ["mine.txt"]


def test_files_adjoin_within_the_halo_from_above(place):
    extents = [look(ScanFile(place / "in" / f"{name}.laz")) for name in "abc"]
    assert side_by_side(extents, 5.0, VOXEL).neighbours == [[1], [0, 2], [1]]
    assert side_by_side(extents, 17.0, VOXEL).neighbours == [[1, 2], [0, 2], [0, 1]]
    assert side_by_side([extents[0], None, extents[2]], 5.0, VOXEL).neighbours == [[], [], []]
    beside = side_by_side(extents, 5.0, VOXEL)
    assert len(set(beside.shift)) == 1

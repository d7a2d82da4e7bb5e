"""Scans labelled tile by tile: like whole ones, in any number of processes, also after a kill."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from gapcut.scenes.clouds import ClassMap, PointCloud, read_cloud, with_original, write_cloud, write_labelled
from gapcut.scenes.labelling import SceneModel, SceneSettings, TrainingOptions, train_scenes
from gapcut.scenes.labelling.scene import IntensityRange
from gapcut.scenes.regions import RegionSettings, grow_regions
from gapcut.scenes.tiles import ScanFile, TileOptions, label_tiled, steps
from gapcut.scenes.tiles.grid import TileGrid
from gapcut.scenes.tiles.plan import Scratch
from gapcut.scenes.tiles.survey import distinct_pairs, survey
from street_samples import street

laspy = pytest.importorskip("laspy")

SETTINGS = SceneSettings(voxel=0.2, extent=1.0)
OPTIONS = TrainingOptions(n_trees=6, folds=2, gap=0.05, C=1.0)
CLASSES = ClassMap({"ground": (2,), "wall": (6,), "pole": (15,), "wire": (14,), "bush": (3, 4)})


def shiny(seed: int, at: tuple[float, float] = (0.0, 0.0)) -> PointCloud:
    """A street with colour and intensity, somewhere else."""
    cloud = street(seed, colour=True)
    rng = np.random.default_rng(seed)
    return cloud.replace(
        xyz=cloud.xyz + np.array([*at, 0.0]), intensity=rng.integers(1, 4000, cloud.n_points) * 1.0
    )


def town() -> PointCloud:
    """Two streets, one beside the other, and a point alone far away."""
    clouds = [shiny(10 + j, (24.3 * j, 0.0)) for j in range(2)]
    clouds.append(clouds[0].select([0]).replace(xyz=clouds[0].xyz[:1] + np.array([180.0, 60.0, 0.0])))
    order = np.random.default_rng(0).permutation(sum(c.n_points for c in clouds))
    return clouds[0].replace(
        xyz=np.concatenate([c.xyz for c in clouds])[order],
        labels=np.concatenate([c.labels for c in clouds])[order],
        colour=np.concatenate([c.colour for c in clouds])[order],
        intensity=np.concatenate([c.intensity for c in clouds])[order],
    )


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    root = tmp_path_factory.mktemp("tiles")
    train_scenes([shiny(i) for i in range(2)], SETTINGS, OPTIONS).model.save(root / "m.gapcut")
    write_cloud(root / "town.laz", town())
    whole(root / "town.laz", root / "whole.laz", root / "m.gapcut")
    return root


def whole(source: Path, target: Path, model: Path, classes: ClassMap | None = None) -> None:
    """What a scan becomes that is labelled at once."""
    loaded, cloud, original = SceneModel.load(model), read_cloud(source), None
    if classes is not None and "label" not in cloud.added:
        original, cloud = cloud.labels, classes.ours(cloud)
    labelled = with_original(loaded.label(cloud).on(cloud, loaded.names), original)
    write_labelled(target, source, labelled, classes=classes)


def tiled(place, name, tile=9.0, halo=8.0, jobs=1, **more):
    return label_tiled(
        place / name, ScanFile(place / "town.laz"), place / "m.gapcut", TileOptions(tile, halo, jobs), **more
    )


@pytest.fixture(scope="module")
def straight(place):
    """The bytes of a run that nothing ended."""
    tiled(place, "straight.laz")
    return (place / "straight.laz").read_bytes()


def same_share(a: Path, b: Path) -> float:
    """Share of the points with one label; all that is not label, segment and confidence is the same."""
    one, two = laspy.read(a), laspy.read(b)
    names = list(one.point_format.dimension_names)
    assert names == list(two.point_format.dimension_names)
    free = ("label", "segment", "confidence", "classification")
    assert all(np.array_equal(one[n], two[n]) for n in names if n not in free)
    return float((one["label"] == two["label"]).mean())


# --- the same as whole


def test_tiles_with_a_halo_give_the_labels_of_the_whole(place):
    found = tiled(place, "t.laz")
    assert same_share(place / "t.laz", place / "whole.laz") >= 0.999
    once = SceneModel.load(place / "m.gapcut").label(read_cloud(place / "town.laz"))
    assert found.needs.tiles >= 11
    assert abs(found.n_segments - once.n_segments) <= 2  # a point that sees no other is a segment
    assert found.n_kept == once.n_kept
    assert found.solution.status == once.solution.status == "optimal"
    assert found.found.agreement > 0.95
    assert not (place / "t.laz.tiles").exists()


def test_one_tile_gives_the_bytes_of_the_whole(place):
    tiled(place, "one.laz", 1000.0)
    assert (place / "one.laz").read_bytes() == (place / "whole.laz").read_bytes()


def test_a_halo_of_nothing_is_refused():
    with pytest.raises(ValueError, match="halo=0"):
        TileOptions(10.0, 0.0)


def test_processes_give_the_bytes_of_one(place, straight):
    tiled(place, "two-jobs.laz", jobs=2)
    assert (place / "two-jobs.laz").read_bytes() == straight


@pytest.mark.parametrize("again", [False, True])
def test_classes_truth_and_original_are_those_of_the_whole(place, again, tmp_path):
    source = place / ("whole.laz" if again else "town.laz")
    whole(source, tmp_path / "w.laz", place / "m.gapcut", CLASSES)
    scan = ScanFile(source, classes=CLASSES)
    label_tiled(tmp_path / "t.laz", scan, place / "m.gapcut", TileOptions(1000.0))
    assert (tmp_path / "w.laz").read_bytes() == (tmp_path / "t.laz").read_bytes()


def test_other_formats_are_cut_too(place, tmp_path):
    write_cloud(tmp_path / "town.ply", town())
    whole(tmp_path / "town.ply", tmp_path / "w.ply", place / "m.gapcut")
    label_tiled(tmp_path / "t.ply", ScanFile(tmp_path / "town.ply"), place / "m.gapcut", TileOptions(1000.0))
    assert (tmp_path / "w.ply").read_bytes() == (tmp_path / "t.ply").read_bytes()


def cloud_optimised(source: Path, target: Path) -> None:
    """The points of a LAS file, with intensity and colour, in the tree of a COPC file: each tenth at its root, others
    in cubes two levels below it."""
    copc = pytest.importorskip("copclib")
    las = laspy.read(source)
    low, header = las.xyz.min(axis=0), las.header
    size = float((las.xyz.max(axis=0) - low).max()) + 1.0
    writer = copc.FileWriter(
        str(target), copc.CopcConfigWriter(7, copc.Vector3(*header.scales), copc.Vector3(*header.offsets))
    )
    about, box = writer.copc_config.copc_info, writer.copc_config.las_header
    about.center_x, about.center_y, about.center_z = (low + size / 2).tolist()
    about.halfsize, about.spacing = size / 2, 1.0
    box.min, box.max = copc.Vector3(*low), copc.Vector3(*las.xyz.max(axis=0))
    cubes = np.floor((las.xyz - low) / size * 4).astype(int)
    first = np.arange(len(las.xyz)) % 10 == 0
    parts = [((0, 0, 0, 0), np.flatnonzero(first))]
    for cube in np.unique(cubes[~first], axis=0):
        parts.append(((2, *cube.tolist()), np.flatnonzero(~first & (cubes == cube).all(axis=1))))
    for key, rows in parts:
        points = copc.Points(box)
        for row in rows:
            point = points.CreatePoint()
            point.x, point.y, point.z = las.xyz[row].tolist()
            point.intensity = int(las.intensity[row])
            point.red, point.green, point.blue = (int(las[c][row]) for c in ("red", "green", "blue"))
            points.AddPoint(point)
        writer.AddNode(copc.VoxelKey(*key), points)
    writer.Close()


@pytest.mark.filterwarnings("ignore:.*no longer a cloud-optimised one")
def test_a_cloud_optimised_file_is_read_chunk_by_chunk_in_its_order(place, tmp_path):
    source = tmp_path / "town.copc.laz"
    cloud_optimised(place / "town.laz", source)
    with pytest.warns(UserWarning, match="no longer a cloud-optimised one"):
        whole(source, tmp_path / "w.laz", place / "m.gapcut")
    label_tiled(tmp_path / "t.laz", ScanFile(source), place / "m.gapcut", TileOptions(1000.0))
    label_tiled(tmp_path / "n.laz", ScanFile(source), place / "m.gapcut", TileOptions(9.0, 8.0))
    assert (tmp_path / "w.laz").read_bytes() == (tmp_path / "t.laz").read_bytes()
    assert same_share(tmp_path / "n.laz", tmp_path / "w.laz") >= 0.999
    assert np.array_equal(laspy.read(tmp_path / "n.laz").xyz, laspy.read(source).xyz)
    assert len(laspy.read(source).xyz) == len(laspy.read(place / "town.laz").xyz)


# --- pieces


def test_a_point_on_a_border_is_in_one_tile():
    grid = TileGrid.of_size(10.0, 0.3)
    assert grid.size == pytest.approx(9.9)
    places = np.array([[0.0, 0.0, 0], [9.9, 0.0, 0], [-1e-9, 9.9, 0], [grid.size, grid.size, 0]])
    at = grid.of(places)
    assert at.shape == (4, 2)
    cube = np.floor(places[:, :2] / 0.3)
    assert np.array_equal(at, cube // 33)  # by the voxel, so that none is cut
    tile = (int(at[3, 0]), int(at[3, 1]))
    assert grid.margin(tile, places[3:], 2.0)[0] == pytest.approx(2.0, abs=1e-6)


def test_components_of_a_cut_cloud_are_parts_of_those_of_the_whole():
    rng = np.random.default_rng(3)
    flat = np.c_[rng.uniform(0, 20, (6000, 2)), rng.normal(scale=0.01, size=6000)]
    bush = rng.normal(size=(800, 3)) * [3, 3, 0.6] + [10, 10, 1.5]
    points = np.concatenate([flat, bush])
    settings = RegionSettings(offset=0.05, angle=15, reach=0.5, extent=1.5, least=5)
    all_of_it = grow_regions(points, settings)
    seen = points[:, 0] < 12
    part = grow_regions(points[seen], settings, margin=12 - points[seen, 0])
    first = part.step == 1
    for segment in np.unique(part.segments[first]):
        assert len(np.unique(all_of_it.segments[seen][first & (part.segments == segment)])) == 1
    deep = points[seen, 0] < 9
    assert np.array_equal(part.step[deep], all_of_it.step[seen][deep])


@pytest.mark.parametrize("n", [1, 2, 3, 50, 51])
def test_ranges_of_intensity_come_from_counts_too(n):
    values = np.random.default_rng(n).integers(0, 9, n) * 1.0
    distinct, counts = np.unique(values, return_counts=True)
    one, two = IntensityRange.of(values), IntensityRange.of(distinct, counts)
    assert (two.low, two.middle, two.top) == pytest.approx((one.low, one.middle, one.top))


def test_pairs_are_counted(place):
    pairs = np.random.default_rng(0).integers(-4, 5, (200, 2))
    distinct, of = distinct_pairs(pairs)
    assert np.array_equal(distinct, np.unique(pairs, axis=0))
    assert np.array_equal(distinct[of], pairs)
    seen, _ = survey(ScanFile(place / "town.laz"), 4.0, ("intensity",))
    assert sum(seen.squares.values()) == seen.n_points == town().n_points


# --- what goes wrong


class Stopped(RuntimeError):
    pass


@pytest.mark.parametrize("step", ["grow_tile", "place_tile"])
def test_a_run_that_ended_goes_on(place, straight, step, monkeypatch):
    done: list[tuple[int, int]] = []
    real = getattr(steps, step)

    def broken(plan, tile):
        if len(done) == 3:
            raise Stopped
        real(plan, tile)
        done.append(tile)

    monkeypatch.setattr(steps, step, broken)
    with pytest.raises(Stopped):
        tiled(place, f"{step}.laz")
    scratch = place / f"{step}.laz.tiles"
    assert scratch.is_dir()
    assert not (place / f"{step}.laz").exists()
    more: list[tuple[int, int]] = []
    monkeypatch.setattr(steps, step, lambda plan, tile: (more.append(tile), real(plan, tile))[1])
    found = tiled(place, f"{step}.laz")
    assert not set(done) & set(more)
    assert len(done) + len(more) <= found.needs.tiles + 3
    assert (place / f"{step}.laz").read_bytes() == straight
    assert not scratch.exists()


def test_a_killed_run_goes_on(place, straight):
    program = (
        "import sys, time; from pathlib import Path; from gapcut.scenes.tiles import *;"
        "from gapcut.scenes.tiles import steps; old = steps.grow_tile;"
        "steps.grow_tile = lambda p, t: (old(p, t), time.sleep(0.2))[0]; r = Path(sys.argv[1]);"
        "label_tiled(r / 'k.laz', ScanFile(r / 'town.laz'), r / 'm.gapcut', TileOptions(9.0, 8.0))"
    )
    child = subprocess.Popen([sys.executable, "-c", program, str(place)])
    scratch = place / "k.laz.tiles"
    while len(list(scratch.glob("grown_*.arrays"))) < 2 and child.poll() is None:
        time.sleep(0.02)
    child.send_signal(signal.SIGKILL)
    child.wait()
    kept = list(scratch.glob("grown_*.arrays"))
    assert 2 <= len(kept) < 11
    tiled(place, "k.laz")
    assert (place / "k.laz").read_bytes() == straight


def test_what_was_found_for_another_scan_or_halo_is_not_used(place, straight, monkeypatch):
    def stop(plan, tile):
        raise Stopped

    with monkeypatch.context() as patched:
        patched.setattr(steps, "rate_tile", stop)
        with pytest.raises(Stopped):
            tiled(place, "other.laz", halo=2.0)
    before = json.loads((place / "other.laz.tiles" / "state.json").read_text())
    assert before["halo"] == 2.0
    tiled(place, "other.laz")
    assert (place / "other.laz").read_bytes() == straight


def test_a_folder_of_somebody_else_is_left_alone(place):
    mine = place / "mine.laz.tiles"
    mine.mkdir()
    (mine / "thesis.txt").write_text("years of work")
    with pytest.raises(ValueError, match="is no scratch folder"):
        tiled(place, "mine.laz")
    assert (mine / "thesis.txt").read_text() == "years of work"


@pytest.mark.parametrize(
    ("state", "beside"),
    [
        ('{"step": 4000, "loss": 0.1}', "weights.npz"),
        ('{"classes": 3, "model": "resnet", "scans": 9}', "kept_0_0.arrays"),
        ("[1, 2]", "notes.txt"),
        ("half a thou", "kept_0_0.arrays"),
        ("", "thesis.txt"),
        ('{"classes": null, "gapc', "weights.npz"),
    ],
)
def test_a_state_of_somebody_else_is_left_alone(tmp_path, state, beside):
    (tmp_path / "state.json").write_text(state)
    (tmp_path / beside).write_text("years of work")
    with pytest.raises(ValueError, match="is no scratch folder"):
        Scratch(tmp_path).open({"model": "m"})
    assert (tmp_path / "state.json").read_text() == state
    assert (tmp_path / beside).read_text() == "years of work"


@pytest.mark.parametrize("state", ["", '{"cl', '{"classes": [["ground", [2'])
def test_a_state_that_was_cut_short_is_begun_anew(tmp_path, state):
    (tmp_path / "state.json").write_text(state)
    for name in ("points_-1_12.bin", "kept_0_0.arrays", "number.npy", ".table.arrays.ab12-345-0123abcd.part"):
        (tmp_path / name).touch()
    assert not Scratch(tmp_path).open({"model": "m"})
    assert [path.name for path in tmp_path.iterdir()] == ["state.json"]


def test_every_file_of_a_run_is_known_as_its_own(place, tmp_path, monkeypatch):
    def stop(*given, **more):
        raise Stopped

    monkeypatch.setattr("gapcut.scenes.tiles.label.write_added", stop)
    scan = ScanFile(place / "whole.laz", classes=CLASSES)
    with pytest.raises(Stopped):
        label_tiled(tmp_path / "t.laz", scan, place / "m.gapcut", TileOptions(9.0, 8.0))
    scratch = tmp_path / "t.laz.tiles"
    assert len(list(scratch.iterdir())) > 20
    assert Scratch(scratch).open(json.loads((scratch / "state.json").read_text()))
    (scratch / "state.json").write_text("")
    assert not Scratch(scratch).open({"model": "m"})


def test_what_was_found_for_classes_in_another_order_or_other_names_is_not_used(place, tmp_path, monkeypatch):
    def stop(plan, tile):
        raise Stopped

    source = tmp_path / "town.laz"
    source.write_bytes((place / "town.laz").read_bytes())
    reordered = ClassMap(dict(reversed(CLASSES.numbers.items())))
    how = (place / "m.gapcut", TileOptions(1000.0))
    states = []
    for classes, names in ((CLASSES, None), (reordered, None), (reordered, '{"2": "floor"}')):
        if names is not None:
            (tmp_path / "town.laz.labels.json").write_text(names)
        with monkeypatch.context() as patched:
            patched.setattr(steps, "place_tile", stop)
            with pytest.raises(Stopped):
                label_tiled(tmp_path / "t.laz", ScanFile(source, classes=classes), *how)
        states.append((tmp_path / "t.laz.tiles" / "state.json").read_text())
        label_tiled(tmp_path / "fresh.laz", ScanFile(source, classes=classes), *how)
    assert len(set(states)) == 3
    label_tiled(tmp_path / "t.laz", ScanFile(source, classes=reordered), *how)
    assert (tmp_path / "t.laz").read_bytes() == (tmp_path / "fresh.laz").read_bytes()


def test_missing_channels_are_told_before_the_work(place, tmp_path):
    write_cloud(tmp_path / "plain.laz", street(0))
    with pytest.raises(ValueError, match="has no intensity"):
        label_tiled(tmp_path / "o.laz", ScanFile(tmp_path / "plain.laz"), place / "m.gapcut")
    assert not (tmp_path / "o.laz.tiles").exists()


def test_a_damaged_file_is_told_in_one_line(place, tmp_path):
    content = (place / "town.laz").read_bytes()
    (tmp_path / "cut.laz").write_bytes(content[: len(content) // 2])
    with pytest.raises(ValueError, match=r"cut\.laz"):
        label_tiled(tmp_path / "o.laz", ScanFile(tmp_path / "cut.laz"), place / "m.gapcut")


def test_the_needs_are_told_before_the_work_and_progress_while_it_runs(place):
    heard, lines = [], []
    tiled(place, "told.laz", announce=heard.append, say=lines.append)
    (needs,) = heard
    assert needs.points == town().n_points
    assert needs.tiles >= 8
    assert needs.most <= needs.points
    assert needs.memory_mb > 0
    assert any("tile 3 of" in line and "left" in line for line in lines)

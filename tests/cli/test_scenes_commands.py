"""``gapcut scenes train``, ``gapcut label``, ``gapcut report``: the way from labelled scans to a page."""

from __future__ import annotations

import json
import re
import resource
import signal
from pathlib import Path

import numpy as np
import pytest

from gapcut.scenes.clouds import PointCloud, read_cloud, write_cloud
from gapcut.scenes.labelling import SceneModel, training
from street_samples import NAMES, street

pytest.importorskip("cyclopts")
pytest.importorskip("rich")
pytest.importorskip("laspy")
pytest.importorskip("matplotlib")


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    from gapcut.cli import main

    root = tmp_path_factory.mktemp("scenes")
    (root / "train").mkdir()
    for i, ending in enumerate(("laz", "ply", "npz")):
        write_cloud(root / "train" / f"street-{i}.{ending}", street(i))
    (root / "train" / "notes.md").write_text("not a scan")
    (root / "train" / "SOURCE.txt").write_text("where the scans are from: a street of 2026\n12 May, 3 pm\n")
    write_cloud(root / "new.laz", street(7))
    options = ["--trees", "10", "--voxel", "0.2", "--gap", "0.05", "--jobs", "1", "--json"]
    code = main(["scenes", "train", str(root / "train"), "--out", str(root / "m.gapcut"), *options])
    assert code == 0
    return root


@pytest.fixture(scope="module")
def labelled(place):
    from gapcut.cli import main

    arguments = ["label", place / "new.laz", "--model", place / "m.gapcut", "--out", place / "out.laz"]
    assert main([*(str(a) for a in arguments), "--jobs", "1", "--json"]) == 0
    return place / "out.laz"


def test_the_model_knows_the_names_of_its_labels(place):
    model = SceneModel.load(place / "m.gapcut")
    assert dict(model.names) == NAMES
    assert model.learner.certificate_.relative_gap <= 0.05
    assert model.learner.n_jobs == 1


def test_every_point_comes_back_in_order_with_label_confidence_and_segment(place, labelled):
    before, after = read_cloud(place / "new.laz"), read_cloud(labelled)
    assert np.abs(before.xyz - after.xyz).max() < 1e-3
    assert np.array_equal(after.extra["truth"], before.labels)
    assert after.extra["confidence"].min() > 0
    assert after.segments.min() >= 0
    assert dict(after.label_names) == NAMES
    known = before.labels >= 0
    assert (after.labels == before.labels)[known].mean() > 0.95


def test_the_summary_says_what_was_done(labelled):
    said = json.loads(labelled.with_name("out.laz.run.json").read_text())
    assert said["points"] == read_cloud(labelled).n_points
    assert said["gap"] >= 0
    assert said["energy"] >= said["bound"]
    assert sum(said["labels"].values()) == said["points"]
    assert said["seconds"] == pytest.approx(sum(said["steps"].values()))
    assert {"reading", "thinning", "segments", "forest", "inference", "writing"} <= set(said["steps"])


@pytest.mark.parametrize("ending", ["las", "ply", "pcd", "xyz", "npz"])
def test_any_format(place, run, ending):
    code, out, err = run(
        "label",
        place / "new.laz",
        "--model",
        place / "m.gapcut",
        "--out",
        place / f"any.{ending}",
        "--jobs",
        1,
    )
    assert code == 0, err
    assert "inference" in out
    assert "agreement" in out
    got, first = read_cloud(place / f"any.{ending}"), read_cloud(place / "new.laz")
    assert np.abs(got.xyz - first.xyz).max() < 1e-3
    assert (got.labels == first.labels)[first.labels >= 0].mean() > 0.95
    assert got.extra["confidence"].shape == (got.n_points,)


@pytest.mark.parametrize("ending", ["laz", "ply"])
def test_a_full_disk_loses_nothing_that_was_there(place, tmp_path, run, ending):
    scan, out = tmp_path / f"in.{ending}", tmp_path / "out"
    cloud = read_cloud(place / "new.laz")
    write_cloud(scan, cloud.select(np.arange(0, cloud.n_points, 8)))
    out.mkdir()
    (out / f"it.{ending}").write_bytes(scan.read_bytes())
    before = scan.read_bytes()
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (len(before) // 4, limits[1]))
    try:
        code, text, err = run(
            "label", scan, "--model", place / "m.gapcut", "--out", out / f"it.{ending}", "--force"
        )
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert (code, text, len(err.splitlines())) == (2, "", 1), err
    assert "File too large" in err
    assert {path.name: path.read_bytes() for path in out.iterdir()} == {f"it.{ending}": before}


def test_a_folder_of_scans(place, run):
    code, out, err = run(
        "label", place / "train", "--model", place / "m.gapcut", "--out", place / "all", "--jobs", 1, "--json"
    )
    assert code == 0, err
    assert len(json.loads(out)["scans"]) == 3
    assert json.loads(out)["skipped"] == ["SOURCE.txt", "notes.md"]
    assert json.loads(out)["failed"] == []
    assert sorted(p.name for p in (place / "all").glob("street*")) == sorted(
        f"street-{i}.{e}{more}"
        for i, e in enumerate(("laz", "ply", "npz"))
        for more in ("", ".run.json", ".reasons")
    )


def test_classes_of_las_and_back_and_a_table_of_segments(place, tmp_path, run):
    laspy = pytest.importorskip("laspy")
    numbers = {name: [k + 40, k + 80] for k, name in NAMES.items()}
    (tmp_path / "map.json").write_text(json.dumps(numbers))
    arguments = ["label", place / "new.laz", "--model", place / "m.gapcut", "--jobs", 1]
    options = ["--classes", tmp_path / "map.json", "--segments", "csv"]
    code, _, err = run(*arguments, "--out", tmp_path / "a.laz", *options)
    assert code == 0, err
    las = laspy.read(tmp_path / "a.laz")
    assert np.array_equal(las.classification, las["label"] + 40)
    lines = (tmp_path / "a.laz.segments.csv").read_text().splitlines()
    assert lines[0].startswith("segment,label,class,confidence,points,x_min")
    assert len(lines) == len(np.unique(las["segment"])) + 1
    assert sum(int(line.split(",")[4]) for line in lines[1:]) == len(las)
    first = lines[1].split(",")
    inside = las["segment"] == int(first[0])
    assert np.allclose([float(v) for v in first[5:11]], [*las.xyz[inside].min(0), *las.xyz[inside].max(0)])
    assert first[2] == NAMES[int(first[1])]
    assert set(las["label"][inside]) == {int(first[1])}
    assert 0 < float(first[11]) <= np.prod(np.ptp(las.xyz[inside], axis=0)) or inside.sum() < 4

    only = laspy.LasData(las.header)  # what another program would keep
    only.points = las.points
    only.remove_extra_dims(list(only.point_format.extra_dimension_names))
    only.vlrs.clear()
    only.classification = only.classification + 40  # the second of each
    only.write(str(tmp_path / "b.laz"))
    options = ["--out", tmp_path / "again.gapcut", "--trees", 5, "--voxel", 0.2, "--gap", 0.5, "--jobs", 1]
    code, _, err = run("scenes", "train", tmp_path / "b.laz", *options, "--classes", tmp_path / "map.json")
    assert code == 0, err
    assert SceneModel.load(tmp_path / "again.gapcut").class_names == [NAMES[k] for k in sorted(NAMES)]

    for content, said in [
        ("[1]", "is no JSON such as"),
        ('{"a": 256}', "gives 'a' no LAS class"),
        ('{"a": 3, "b": [2, 3]}', "LAS class 3 to two classes"),
        ('{"a": 3}', "gives no LAS class for "),
    ]:
        (tmp_path / "map.json").write_text(content)
        code, _, err = run(*arguments, "--out", tmp_path / "c.laz", "--classes", tmp_path / "map.json")
        assert (code, len(err.splitlines())) == (2, 1)
        assert said in err


def test_a_report_of_labelled_scans(place, labelled, run):
    code, out, err = run(
        "report", labelled, "--model", place / "m.gapcut", "--out", place / "report", "--json"
    )
    assert code == 0, err
    names = {Path(f).name for f in json.loads(out)["files"]}
    assert {"report.html", "confusion.png", "weights.png", "convergence.png", "out-truth.png"} <= names
    assert {"out-prediction.png", "out-errors.png"} <= names
    page = (place / "report" / "report.html").read_text()
    assert "proven bound" in page
    assert 'id="reasons-0"' in page
    assert re.search(r"accuracy \d\d\.\d\d %", page)
    assert not re.search(r"(src|href)=.?https?:", page)


def test_a_scan_unlike_the_training_scans_is_told(place, tmp_path, run):
    write_cloud(tmp_path / "fog.ply", PointCloud(np.random.default_rng(0).uniform(0, 8, (6000, 3))))
    options = ["--model", place / "m.gapcut", "--jobs", 1]
    for source, told in [(tmp_path / "fog.ply", True), (place / "train" / "street-0.laz", False)]:
        target = tmp_path / f"out-{source.name}"
        code, out, err = run("label", source, *options, "--out", target)
        assert code == 0, err
        assert ("its confidences may be too high" in out) == told
        said = json.loads(target.with_name(f"{target.name}.run.json").read_text())
        assert said["unlike_training"] == told
        assert (said["strange"] > said["strange_in_training"]) == told
        assert run("report", target, "--out", tmp_path / "page")[0] == 0
        page = (tmp_path / "page" / "report.html").read_text()
        assert ("its confidences may be too high" in page) == told


def test_a_report_of_a_model_alone(place, run):
    code, out, _ = run("report", place / "m.gapcut", "--out", place / "alone")
    assert code == 0
    assert "weights.png" in out
    assert (place / "alone" / "report.html").is_file()


def test_a_report_of_a_scan_without_truth_shows_its_labels(place, run):
    write_cloud(place / "bare.ply", street(3).replace(extra={}))
    code, out, err = run("report", place / "bare.ply", "--out", place / "bare")
    assert code == 0, err
    assert "bare-prediction.png" in out
    assert "bare-errors.png" not in out


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["scenes", "train", "{p}/nowhere", "--out", "{p}/x.gapcut"], "no such file or folder"),
        (["scenes", "train", "{p}/empty", "--out", "{p}/x.gapcut"], "no point cloud in it"),
        (["scenes", "train", "{p}/plain.npz", "--out", "{p}/x.gapcut"], "holds no labels"),
        (["scenes", "train", "{p}/train", "--out", "{p}/no/x.gapcut"], "no such folder"),
        (["scenes", "train", "{p}/train", "--out", "{p}/x.gapcut", "--channels", "smell"], "unknown channel"),
        (["scenes", "train", "{p}/train", "--out", "{p}/x.gapcut", "--channels", "colour"], "has no colour"),
        (["scenes", "train", "{p}/train", "--out", "{p}/x.gapcut", "--voxel", "0"], "voxel=0"),
        (["label", "{p}/new.laz", "--model", "{p}/new.laz", "--out", "{p}/x.laz"], "not a gapcut model"),
        (["label", "{p}/new.laz", "--model", "{p}/m.gapcut", "--out", "{p}/x.e57"], "are written as"),
        (["label", "{p}/new.laz", "--model", "{p}/m.gapcut", "--out", "{p}/new.laz"], "is the scan itself"),
        (
            ["label", "{p}/train", "--model", "{p}/m.gapcut", "--out", "{p}/train"],
            "folder of the scans itself",
        ),
        (["label", "{p}/cut.laz", "--model", "{p}/m.gapcut", "--out", "{p}/x.laz"], "cut short"),
        (
            ["label", "{p}/plain.npz", "--model", "{p}/m.gapcut", "--out", "{p}/x.laz", "--invalid", "no"],
            "invalid",
        ),
        (["report", "{p}/plain.npz", "--out", "{p}/r"], "holds no labels"),
        (["report", "{p}/out.laz", "--out", "{p}/new.laz"], "not a folder"),
    ],
)
def test_mistakes_end_in_one_clear_line(place, labelled, run, arguments, said):
    (place / "empty").mkdir(exist_ok=True)
    write_cloud(place / "plain.npz", PointCloud(street(0).xyz))
    (place / "cut.laz").write_bytes((place / "new.laz").read_bytes()[:2000])
    code, _, err = run(*(a.format(p=place) for a in arguments))
    assert code == 2
    assert said in err
    assert len(err.strip().splitlines()) == 1


@pytest.mark.parametrize("at", [1, 10, 11])
def test_ctrl_c_ends_training_in_one_line(place, tmp_path, run, monkeypatch, at):
    """Two values of C in five folds, then the weights that are kept."""
    runs, real = [], training.learn_weights

    def learn(graphs, classes, options, callback=None):
        runs.append(options)
        stop = (lambda record: signal.raise_signal(signal.SIGINT)) if len(runs) == at else callback
        return real(graphs, classes, options, stop)

    monkeypatch.setattr(training, "learn_weights", learn)
    options = ["--trees", 5, "--voxel", 0.2, "--gap", 1e-9, "--jobs", 1]
    code, _, err = run("scenes", "train", place / "train", "--out", tmp_path / "m.gapcut", *options)
    assert (code, len(runs)) == (130, at)
    if at == 11:
        assert err == f"gapcut: interrupted: the best model so far was saved to {tmp_path / 'm.gapcut'}\n"
        assert SceneModel.load(tmp_path / "m.gapcut").learner.certificate_.status == "stopped"
    else:
        assert err == "gapcut: interrupted before there was a model: nothing was written\n"
        assert list(tmp_path.iterdir()) == []


def test_a_folder_in_tiles_tells_a_broken_scan_at_the_end(place, tmp_path, capsys):
    from gapcut.cli import main

    (tmp_path / "scans").mkdir()
    whole = (place / "new.laz").read_bytes()
    for name, content in (("a.laz", whole), ("b.laz", whole[: len(whole) // 2]), ("c.laz", whole)):
        (tmp_path / "scans" / name).write_bytes(content)
    options = ["--tile", "9", "--halo", "8", "--jobs", "1", "--json"]
    arguments = ["label", tmp_path / "scans", "--model", place / "m.gapcut", "--out", tmp_path / "out"]
    assert main([*(str(a) for a in arguments), *options]) == 1
    said = capsys.readouterr()
    assert "1 of 3 scans could not be labelled" in said.err
    assert re.search(r"a\.laz: [\d,]+ points in \d+ tiles of 9 m", said.err)
    assert sorted(p.name for p in (tmp_path / "out").glob("*.laz*")) == [
        f"{name}.laz{more}" for name in "ac" for more in ("", ".reasons", ".run.json")
    ]
    summary = json.loads((tmp_path / "out" / "c.laz.run.json").read_text())
    assert summary["tiles"]["tiles"] > 3
    assert sum(summary["labels"].values()) == summary["points"] == summary["tiles"]["points"]


def test_a_geopackage_of_segments_says_what_the_table_says(place, tmp_path, run):
    import csv
    import sqlite3

    pytest.importorskip("pyogrio")
    cloud = read_cloud(place / "new.laz")
    write_cloud(tmp_path / "new.ply", cloud.replace(crs="EPSG:25832"))
    options = ["--model", place / "m.gapcut", "--out", tmp_path / "a.ply", "--jobs", 1]
    for kind in ("csv", "gpkg"):
        code, _, err = run("label", tmp_path / "new.ply", *options, "--segments", kind)
        assert code == 0, err
    table = list(csv.DictReader((tmp_path / "a.ply.segments.csv").open()))
    with sqlite3.connect(tmp_path / "a.ply.segments.gpkg") as stored:
        stored.row_factory = sqlite3.Row
        found = stored.execute("select * from segments order by segment").fetchall()
        assert stored.execute("select srs_id from gpkg_contents").fetchone()[0] == 25832
    assert len(found) == len(table)
    for row, line in zip(found, table, strict=True):
        assert row["class"] == line["class"]
        assert (row["segment"], row["label"], row["points"]) == tuple(
            int(line[k]) for k in ("segment", "label", "points")
        )
        shape = row["geom"]  # header, envelope (4 doubles), then WKB: 1 + 4 + 4 + 4 bytes before the corners
        corners = np.frombuffer(shape[8 + 32 + 13 :], "<f8").reshape(-1, 2)
        assert np.allclose(corners.min(axis=0), [float(line["x_min"]), float(line["y_min"])])
        assert np.allclose(corners.max(axis=0), [float(line["x_max"]), float(line["y_max"])])
        assert np.array_equal(corners[0], corners[-1])


def test_a_table_of_segments_in_tiles_is_that_of_the_whole(place, tmp_path, run):
    import csv

    options = ["--model", place / "m.gapcut", "--jobs", 1, "--segments", "csv"]
    for name, how in (("whole", []), ("tiled", ["--tile", 9, "--halo", 8]), ("one", ["--tile", 1000])):
        code, _, err = run("label", place / "new.laz", "--out", tmp_path / f"{name}.laz", *options, *how)
        assert code == 0, err
    whole, tiled, one = (
        list(csv.DictReader((tmp_path / f"{name}.laz.segments.csv").open()))
        for name in ("whole", "tiled", "one")
    )
    keys = [key for key in whole[0] if key != "class"]
    for found in (one, tiled):  # in tiles a segment or two may have other points
        assert len(found) == len(whole)
        a, b = (np.array([[float(row[key]) for key in keys] for row in rows]) for rows in (whole, found))
        same = (np.abs(a - b) <= 1e-6 * np.abs(a) + 1e-9).all(axis=1)
        assert same.mean() >= (1.0 if found is one else 0.95)
        assert [r["class"] for r in found] == [r["class"] for r in whole]
        assert sum(int(r["points"]) for r in found) == read_cloud(place / "new.laz").n_points


@pytest.mark.parametrize("tiles", [[], ["--tile", 9, "--halo", 8]])
def test_a_dxf_of_segments_has_a_prism_of_each_on_the_layer_of_its_class(place, tmp_path, run, tiles):
    import csv

    ezdxf = pytest.importorskip("ezdxf")
    options = ["--model", place / "m.gapcut", "--out", tmp_path / "a.laz", "--jobs", 1, *tiles]
    for kind in ("csv", "dxf"):
        code, _, err = run("label", place / "new.laz", *options, "--segments", kind)
        assert code == 0, err
    table = list(csv.DictReader((tmp_path / "a.laz.segments.csv").open()))
    document = ezdxf.readfile(tmp_path / "a.laz.segments.dxf")
    assert not document.audit().errors
    shapes = list(document.modelspace().query("LWPOLYLINE"))
    assert len(shapes) == len(table)
    assert {row["class"] for row in table} <= {layer.dxf.name for layer in document.layers}
    for shape, row in zip(shapes, table, strict=True):
        assert shape.dxf.layer == row["class"]
        assert shape.closed
        low, high = float(row["z_min"]), float(row["z_max"])
        assert (shape.dxf.elevation, shape.dxf.thickness) == pytest.approx((low, high - low), abs=1e-6)
        corners = np.array(list(shape.vertices()))
        assert np.allclose(corners.min(axis=0), [float(row["x_min"]), float(row["y_min"])])
        assert np.allclose(corners.max(axis=0), [float(row["x_max"]), float(row["y_max"])])
        said = [tag.value for tag in shape.get_xdata("GAPCUT")]
        told = dict(zip(said[::2], said[1::2], strict=True))
        assert (told["segment"], told["points"]) == (int(row["segment"]), int(row["points"]))
        assert told["confidence"] == pytest.approx(float(row["confidence"]), rel=1e-5)
    assert run("label", place / "new.laz", *options, "--segments", "dxf")[0] == 0  # ours, and replaced
    (tmp_path / "a.laz.segments.dxf").write_text("999\nsomebody's drawing\n")
    code, _, err = run("label", place / "new.laz", *options, "--segments", "dxf")
    assert code == 2
    assert "a.laz.segments.dxf" in err


def test_labels_corrected_by_hand_are_reported_without_reasons(place, tmp_path, run):
    target = tmp_path / "a.ply"
    assert (
        run("label", place / "new.laz", "--model", place / "m.gapcut", "--out", target, "--jobs", 1)[0] == 0
    )
    cloud = read_cloud(target)
    write_cloud(target, cloud.replace(labels=np.where(np.arange(cloud.n_points) < 50, 0, cloud.labels)))
    code, _, err = run("report", target, "--out", tmp_path / "page")
    assert code == 0, err
    assert "a.ply.reasons is of other labels" in err
    assert 'id="reasons-0"' not in (tmp_path / "page" / "report.html").read_text()


def test_a_folder_goes_on_after_a_stop_between_a_scan_and_its_summary(place, tmp_path, monkeypatch, capsys):
    from gapcut.cli import main
    from gapcut.scenes.labelling.reasons import Reasons

    (tmp_path / "scans").mkdir()
    (tmp_path / "scans" / "a.laz").write_bytes((place / "new.laz").read_bytes())
    arguments = [
        "label",
        tmp_path / "scans",
        "--model",
        place / "m.gapcut",
        "--out",
        tmp_path / "out",
        "--jobs",
        1,
    ]

    def stop(*_):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(Reasons, "save", stop)
        assert main([str(a) for a in arguments]) == 130
    assert "the same command goes on" in capsys.readouterr().err
    assert (tmp_path / "out" / "a.laz").is_file()
    assert main([str(a) for a in arguments]) == 0
    assert json.loads((tmp_path / "out" / "a.laz.run.json").read_text())["points"] > 0


def test_ctrl_c_in_tiles_ends_a_folder(place, tmp_path, monkeypatch):
    from gapcut.cli import main

    (tmp_path / "scans").mkdir()
    for name in ("a.laz", "b.laz"):
        (tmp_path / "scans" / name).write_bytes((place / "new.laz").read_bytes())

    def stop(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr("gapcut.scenes.tiles.label_tiled", stop)
    options = ["--tile", "9", "--halo", "8", "--jobs", "1"]
    arguments = ["label", tmp_path / "scans", "--model", place / "m.gapcut", "--out", tmp_path / "out"]
    assert main([*(str(a) for a in arguments), *options]) == 130
    assert not [p for p in (tmp_path / "out").iterdir() if p.suffix == ".json"]


def test_a_corrected_scan_beside_the_file_is_read_as_those_of_the_folder(tmp_path):
    from gapcut.cli.scenes import _beside
    from gapcut.scenes.labelling import Corrections, key_of

    lines = ["0 0 0 3", "nan 0 0 3", "1 0 0 4"]
    (tmp_path / "out.xyz").write_text("\n".join(lines) + "\n")
    columns = "x,y,z,segment"
    cloud = read_cloud(tmp_path / "out.xyz", invalid="drop", columns=columns.split(","))
    one = Corrections(tmp_path / "c.json", "out", key_of(cloud), {3: "wall"})
    [found] = _beside(one, tmp_path, columns)
    assert one.fit(found)
    assert found.segments.tolist() == [3, 4]


def test_a_scan_is_corrected_and_learned_from(place, labelled, tmp_path, run):
    from gapcut.scenes.labelling.corrections import segments_key

    cloud = read_cloud(labelled)
    largest = int(np.argmax(np.bincount(cloud.segments)))
    (tmp_path / "train").mkdir()
    for path in (place / "train").glob("street*"):
        (tmp_path / "train" / path.name).write_bytes(path.read_bytes())
    (tmp_path / "out.laz").write_bytes(labelled.read_bytes())
    said = {"scan": "out", "key": segments_key(cloud.segments), "segments": []}
    said["segments"] = [{"segment": largest, "class": "lawn"}]

    def train(more, *also):
        (tmp_path / "c.json").write_text(
            json.dumps({"gapcut": "corrections", "format": 1, "scans": [{**said, **more}]})
        )
        options = ["--trees", 5, "--voxel", 0.2, "--gap", 0.5, "--jobs", 1, "--json"]
        out = ["--out", tmp_path / "again.gapcut", "--corrections", tmp_path / "c.json"]
        return run("scenes", "train", tmp_path / "train", *out, *options, *also)

    code, _, err = train({})
    assert code == 2
    assert f"calls segment {largest} of out 'lawn', a class that no scan has" in err
    code, out, err = train({}, "--new-classes", "lawn, kerb")
    assert code == 0, err
    assert json.loads(out)["scans"] == 4
    assert SceneModel.load(tmp_path / "again.gapcut").class_names == [
        *(NAMES[k] for k in sorted(NAMES)),
        "lawn",
    ]
    for more, told in [
        ({"key": "0" * 64}, "speaks of out, which has other segments"),
        ({"scan": "absent", "key": "0" * 64}, "speaks of absent, which is not there"),
    ]:
        code, _, err = train(more)
        assert (code, len(err.splitlines())) == (2, 1)
        assert told in err

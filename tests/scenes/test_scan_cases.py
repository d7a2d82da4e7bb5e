"""Scan files that failed once (``cases/scans`` of the shared data, each one of a kind): labelled by the command, and
read again by the programs they come from."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from cloud_samples import assert_las_kept

from gapcut.scenes.clouds import read_cloud

laspy = pytest.importorskip("laspy")
pytest.importorskip("cyclopts")
ADDED = {"label", "segment", "confidence"}


@pytest.fixture(scope="module")
def cases(shared: Path) -> Path:
    return shared / "cases" / "scans"


@pytest.fixture(scope="module")
def model(cases: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    from gapcut.cli import main

    path = tmp_path_factory.mktemp("model") / "m.gapcut"
    options = ["--trees", "10", "--gap", "0.05", "--jobs", "1", "--json"]
    assert main(["scenes", "train", str(cases / "train"), "--out", str(path), *options]) == 0
    return path


@pytest.fixture
def label(cases: Path, model: Path, tmp_path: Path, run):
    """Labels a case: where it went, the summary, what was said on standard error."""
    tmp_path = tmp_path / "out"
    tmp_path.mkdir()

    def label(name: str, *options: object, ending: str | None = None, fails: bool = False):
        source = cases / name
        out = tmp_path / (source.stem + (ending or source.suffix))
        code, text, err = run(
            "label", source, "--model", model, "--out", out, "--jobs", 1, "--json", *options
        )
        assert code == ((1 if source.is_dir() else 2) if fails else 0), err
        return out, json.loads(text) if text else {}, err

    return label


def test_las_keeps_header_records_and_dimensions(cases, label):
    for name in ("fmt/pf3.las", "fmt/pf6.las", "las/degrees.las", "las/instance.las"):
        for ending in (".las", ".laz"):
            before, after = laspy.read(cases / name), laspy.read(label(name, "--force", ending=ending)[0])
            assert_las_kept(before, after, but=("classification",))
            dims = set(before.point_format.extra_dimension_names)
            assert set(after.point_format.extra_dimension_names) == dims | ADDED | {"truth"}
            assert np.array_equal(after["truth"], before.classification)
            assert np.array_equal(
                after.classification, after["label"]
            )  # the classes are those of the standard
            assert (after["label"] == after["truth"]).mean() > 0.8 or name == "las/degrees.las"


def test_las_headers_that_do_not_fit(label):
    for name, said in [
        ("scale0", "scale 0 and offset"),
        ("count_too_small", "announces 3,000 points, but holds 4,000"),
    ]:
        out, _, err = label(f"las/{name}.las", fails=True)
        assert said in err
        assert len(err.splitlines()) == 1
        assert not out.exists()


def test_e57_keeps_colour_where_there_is_some(cases, label):
    pye57 = pytest.importorskip("pye57")
    out, _, err = label("e57/one_without_colour.e57", ending=".laz")
    assert "scan 1 (counted from 0) has no colorRed, colorGreen, colorBlue" in err
    assert len(err.splitlines()) == 1
    after = laspy.read(out)
    with pye57.E57(str(cases / "e57" / "one_without_colour.e57")) as file:
        options = {"intensity": True, "transform": True, "ignore_missing_fields": True}
        scans = [file.read_scan(i, colors=i == 0, **options) for i in (0, 1)]
    rgb = np.stack([scans[0][f"color{c}"] for c in ("Red", "Green", "Blue")], axis=1).astype(np.int64) * 257
    found = np.stack([after.red, after.green, after.blue], axis=1)
    assert np.array_equal(found[after["scan"] == 0], rgb)
    assert not found[after["scan"] == 1].any()
    xyz = np.concatenate([np.stack([s[f"cartesian{a}"] for a in "XYZ"], axis=1) for s in scans])
    assert np.abs(after.xyz - xyz).max() < 1e-4
    assert np.array_equal(after["intensity_value"], np.concatenate([s["intensity"] for s in scans]))


def test_ply_of_cloudcompare_keeps_its_fields(cases, label):
    out, said, _ = label("other/alpha_cc.ply")
    assert said["compared"] == 3600  # the others are NaN there
    assert said["accuracy"] > 0.8
    head = out.read_bytes().split(b"end_header")[0].decode()
    before = (cases / "other" / "alpha_cc.ply").read_bytes().split(b"end_header")[0].decode()
    assert set(before.splitlines()) <= set(head.splitlines())
    ours = ["int scalar_label", "int scalar_segment", "float scalar_confidence", "int scalar_truth"]
    assert head.splitlines()[-4:] == [f"property {line}" for line in ours]


def test_ply_of_cloudcompare_read_by_open3d(cases, label):
    open3d = pytest.importorskip("open3d")
    out, _, _ = label("other/alpha_cc.ply")
    a, b = (open3d.t.io.read_point_cloud(str(path)).point for path in (cases / "other" / "alpha_cc.ply", out))
    for key in a:
        assert np.array_equal(a[key].numpy(), b[key].numpy(), equal_nan=True), key
    assert {f"scalar_{name}" for name in (*ADDED, "truth")} <= set(b)


def test_intensity_may_be_unknown(cases, label):
    out, said, _ = label("other/nan_intensity.ply", "--invalid", "drop")
    assert said["points"] == 4000
    before, after = read_cloud(cases / "other" / "nan_intensity.ply"), read_cloud(out)
    assert np.isnan(before.intensity).any()
    assert np.array_equal(before.intensity, after.intensity, equal_nan=True)


def test_points_without_a_place_are_dropped_if_asked(cases, label):
    _, _, err = label("other/nan.ply", fails=True)
    assert "2 of 4,000 points are not finite" in err
    assert "--invalid drop" in err
    out, said, _ = label("other/nan.ply", "--invalid", "drop")
    assert said["points"] == 3998
    places = read_cloud(cases / "other" / "nan.ply", invalid="drop").xyz
    assert np.array_equal(read_cloud(out).xyz, places)


def test_what_is_not_read_is_said_in_one_line(label):
    for name, said in [
        ("vertex_list", "has a list among the properties of a vertex"),
        ("faces_first", "has lists (face)"),
    ]:
        _, _, err = label(f"other/{name}.ply", fails=True)
        assert said in err
        assert len(err.splitlines()) == 1


def test_text_is_asked_for_its_columns(cases, label):
    _, _, err = label("other/rgb_label7.txt", fails=True)
    assert "7 numbers a line and no header" in err
    assert len(err.splitlines()) == 1
    out, said, _ = label("other/rgb_label7.txt", "--columns", "x,y,z,red,green,blue,label")
    assert said["compared"] == 4000
    before = (cases / "other" / "rgb_label7.txt").read_text().splitlines()
    first, header, *after = out.read_text().splitlines()
    assert first.startswith('# {"gapcut"')
    assert header == "# x y z red green blue label segment confidence truth"
    assert [line.split()[:6] for line in after] == [line.split()[:6] for line in before]
    assert [line.split()[-1] for line in after] == [line.split()[-1] for line in before]
    assert read_cloud(out).colour.shape == (4000, 3)


def test_a_byte_order_mark_is_no_part_of_a_name(cases, label):
    out, _, _ = label("other/bom.csv")
    before, after = (path.read_bytes() for path in (cases / "other" / "bom.csv", out))
    assert after.startswith(b"\xef\xbb\xbf# {")
    assert b"\nx,y,z,label,segment,confidence\n" in after
    assert [line.split(b",")[:3] for line in after.splitlines()[2:]] == [
        line.split(b",") for line in before.splitlines()[1:]
    ]


@pytest.mark.parametrize(
    ("folder", "labelled"),
    [
        ("folder_bom", ["bom.csv", "comma.csv"]),
        ("folder_same_stem", ["s.e57.laz", "s.laz"]),
        ("folder_one_bad", ["a.csv", "c.las"]),
    ],
)
def test_folders(label, folder, labelled):
    bad = folder == "folder_one_bad"
    out, said, err = label(folder, ending="", fails=bad)
    beside = (".run.json", ".reasons", ".gapcut-done.jsonl")
    assert sorted(path.name for path in out.iterdir() if not path.name.endswith(beside)) == labelled
    assert [Path(each["out"]).name for each in said["scans"]] == labelled
    if bad:
        assert [Path(each["file"]).name for each in said["failed"]] == ["b.ply"]
        assert "1 of 3 scans could not be labelled" in err
        assert "b.ply" in err.splitlines()[1]
        assert len(err.splitlines()) == 2


def test_ifc(cases, tmp_path, run):
    pytest.importorskip("ifcopenshell")
    options = ["--quick", "--jobs", 1, "--out", tmp_path, "--json"]
    code, _, err = run("bridges", "scan", "--ifc", cases / "ifc" / "trunc.ifc", *options)
    assert (code, len(err.splitlines())) == (2, 1)
    assert "trunc.ifc: is cut short" in err
    code, out, err = run("bridges", "scan", "--ifc", cases / "ifc" / "utm.ifc", *options)
    assert code == 0, err
    cloud = read_cloud(json.loads(out)["scans"][0]["file"])
    assert np.abs(cloud.xyz.mean(axis=0)[:2] - [500_000, 5_300_000]).max() < 1000

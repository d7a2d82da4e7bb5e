"""``gapcut scenes streets``: a public set's files checked, in the classes of a street model; and a model of them."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import numpy as np
import pytest

from gapcut.datasets.fetch import Source
from gapcut.scenes.clouds import read_cloud
from gapcut.scenes.datasets import STREET_CLASSES, streets
from gapcut.scenes.labelling import SceneModel
from street_samples import street

pytest.importorskip("cyclopts")
pytest.importorskip("rich")
pytest.importorskip("laspy")

FINE = {2: 1203, 5: 1400, 6: 1103, 9: 1102, 11: 1300, -1: 1001}
"""Label of a made-up street -> fine label: paved_road, facade, utility_pole, isolated_wire, foliage, undet."""
AS_FINE = {1203: 0, 1400: 2, 1103: 4, 1102: 3, 1300: 1, 1001: -1, 1111: -1}
"""Fine label -> place in ``STREET_CLASSES``. 1111 is a sign."""


def write_set(folder: Path, n_points: int | None = None) -> tuple[Source, ...]:
    """Three made-up scans as the set's files, the first 20 points of each a sign, with homes in the folder."""
    folder.mkdir()
    for i, name in enumerate(("part2_ac", "part2_ad", "part3_aj")):
        cloud = street(i)
        fine = np.array([FINE[label] for label in cloud.labels.tolist()])
        fine[:20] = 1111
        rows = zip(cloud.local.tolist(), fine.tolist(), strict=True)
        lines = [f"{x:.6f} {y:.6f} {z:.6f} {label} 2" for (x, y, z), label in rows][:n_points]
        path = folder / f"oakland_{name}.xyz_label_conf"
        path.write_text("#File format: x y z label_id confidence \n" + "\n".join(lines) + "\n")
    return tuple(
        Source(p.name, p.as_uri(), hashlib.sha256(p.read_bytes()).hexdigest(), p.stat().st_size)
        for p in sorted(folder.iterdir())
    )


@pytest.fixture
def made(tmp_path, monkeypatch):
    monkeypatch.setattr(streets, "STREETS", write_set(tmp_path / "set", 500))
    monkeypatch.setenv("GAPCUT_CACHE", str(tmp_path / "cache"))
    return tmp_path


def test_every_point_has_the_class_of_its_fine_label(made, run):
    code, out, err = run("scenes", "streets", made / "set", "--out", made / "out", "--json")
    assert code == 0, err
    said, counted = json.loads(out), np.zeros(len(STREET_CLASSES) + 1, dtype=np.int64)
    for path in sorted((made / "set").iterdir()):
        cloud = read_cloud(made / "out" / f"{path.stem}.laz")
        fine = np.loadtxt(path)
        assert np.abs(cloud.xyz - fine[:, :3]).max() < 1e-3
        assert cloud.labels.tolist() == [AS_FINE[int(label)] for label in fine[:, 3]]
        assert tuple(cloud.label_names.values()) == STREET_CLASSES
        counted += np.bincount(cloud.labels + 1, minlength=len(counted))
    assert [said["unlabelled"], *said["points"].values()] == counted.tolist()
    assert "licence" in said["licence"]


def test_what_is_none_of_the_six_may_be_a_class(made, run):
    assert run("scenes", "streets", made / "set", "--out", made / "out", "--others")[0] == 0
    cloud = read_cloud(made / "out" / "oakland_part2_ac.laz")
    assert cloud.label_names[6] == "others"
    assert (cloud.labels[:20] == 6).all()


def test_a_part_of_the_set(made, run):
    code, out, err = run("scenes", "streets", made / "set", "--out", made / "out", "--part", "3")
    assert code == 0, err
    assert "1 scan to" in out
    assert [p.name for p in (made / "out").iterdir()] == ["oakland_part3_aj.laz"]


def test_without_a_folder_the_scans_come_from_their_home(made, run):
    assert run("scenes", "streets", "--out", made / "out")[0] == 0
    first = {p.name: p.read_bytes() for p in (made / "out").iterdir()}
    assert len(first) == 3
    for path in (made / "set").iterdir():  # fetched ones are kept
        path.unlink()
    assert run("scenes", "streets", "--out", made / "out")[0] == 0
    assert {p.name: p.read_bytes() for p in (made / "out").iterdir()} == first


def test_missing_and_spoilt_scans_are_named_and_nothing_is_written(made, run):
    (made / "set" / "oakland_part2_ad.xyz_label_conf").unlink()
    code, out, err = run("scenes", "streets", made / "set", "--out", made / "out")
    assert (code, out, len(err.splitlines())) == (2, "", 1)
    assert "1 of 3 scans are not in it: oakland_part2_ad.xyz_label_conf" in err
    write_again = made / "set" / "oakland_part2_ad.xyz_label_conf"
    write_again.write_text("0 0 0 1203 2\n")
    code, out, err = run("scenes", "streets", made / "set", "--out", made / "out")
    assert (code, out, len(err.splitlines())) == (2, "", 1)
    assert f"{write_again}: its 13 bytes are not the" in err
    code, _, err = run("scenes", "streets", made, "--out", made / "out")
    assert code == 2
    assert "holds none of the 3 scans" in err
    assert not (made / "out").exists()


def test_a_model_of_them(tmp_path, monkeypatch, run):
    monkeypatch.setattr(streets, "STREETS", write_set(tmp_path / "set"))
    assert run("scenes", "streets", tmp_path / "set", "--out", tmp_path / "out", "--part", "2")[0] == 0
    options = ["--trees", 10, "--voxel", 0.2, "--gap", 0.05, "--jobs", 1]
    model = tmp_path / "street.gapcut"
    assert run("scenes", "train", tmp_path / "out", "--out", model, *options)[0] == 0
    known = SceneModel.load(model)
    assert known.class_names == ["ground", "vegetation", "building", "wire", "pole"]  # there is no vehicle
    assert run("scenes", "streets", tmp_path / "set", "--out", tmp_path / "test", "--part", "3")[0] == 0
    scan = read_cloud(tmp_path / "test" / "oakland_part3_aj.laz")
    found = known.label(scan)
    assert (found.labels == scan.labels)[scan.labelled].mean() > 0.95


def test_the_set_itself(shared, tmp_path, run):
    root = shared / "data" / "oakland"
    if not root.is_dir():
        pytest.skip(f"no {root}")
    code, out, err = run("scenes", "streets", root, "--out", tmp_path / "out", "--json")
    assert code == 0, err
    said = json.loads(out)
    assert [len(said["scans"]), sum(scan["points"] for scan in said["scans"])] == [12, 1_183_457]
    assert said["points"] == {
        "ground": 810_282,
        "vegetation": 209_400,
        "building": 93_029,
        "wire": 1_941,
        "pole": 5_231,
        "vehicle": 47_586,
    }

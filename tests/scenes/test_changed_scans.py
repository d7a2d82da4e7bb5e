"""Scans that change while they are labelled in tiles: said with the scan's name, and nothing of them is kept."""

from __future__ import annotations

import os

import numpy as np
import pytest

from gapcut.scenes.clouds import CloudFileError, read_cloud, write_cloud
from gapcut.scenes.labelling import SceneSettings, TrainingOptions, train_scenes
from gapcut.scenes.tiles import ScanFile, TileOptions, label, label_tiled, survey
from gapcut.scenes.tiles.plan import Scratch
from street_samples import street

pytest.importorskip("laspy")

ROOM = 768 * 2**20


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    path = tmp_path_factory.mktemp("changed") / "m.gapcut"
    options = TrainingOptions(n_trees=4, folds=2, gap=0.1, C=1.0)
    train_scenes([street(i) for i in range(2)], SceneSettings(voxel=0.3), options).model.save(path)
    return path


@pytest.mark.parametrize("room", [0, ROOM])  # the file is read twice, or once
@pytest.mark.parametrize("change", ["grown", "shrunk", "moved"])
def test_a_scan_that_changes_while_it_is_read(model, tmp_path, monkeypatch, room, change):
    path, target = tmp_path / "scan.laz", tmp_path / "out.laz"
    whole = street(5)
    half = whole.select(range(whole.n_points // 2))
    before, after = {
        "grown": (half, whole),
        "shrunk": (whole, half),
        "moved": (whole, whole.replace(xyz=whole.xyz[::-1].copy())),
    }[change]
    read_once = label.survey

    def changed(*given):
        found = read_once(*given)
        write_cloud(path, after)
        os.utime(path, ns=(1, 1))  # another time, however coarse the clock of the disk is
        return found

    write_cloud(path, before)
    monkeypatch.setattr(label, "_ROOM", room)
    monkeypatch.setattr(label, "survey", changed)
    with pytest.raises(CloudFileError, match=r"scan\.laz: was changed while it was labelled: label it again"):
        label_tiled(target, ScanFile(path), model, TileOptions(tile=10.0, halo=8.0))
    assert not target.exists()
    monkeypatch.setattr(label, "survey", read_once)
    label_tiled(target, ScanFile(path), model, TileOptions(tile=10.0, halo=8.0))
    fresh = tmp_path / "fresh.laz"
    label_tiled(fresh, ScanFile(path), model, TileOptions(tile=10.0, halo=8.0))
    assert read_cloud(target).labels.tolist() == read_cloud(fresh).labels.tolist()


@pytest.mark.parametrize(("room", "times"), [(None, 1), (ROOM, 1), (0.0, 2)])
def test_a_scan_is_read_again_where_there_is_no_room(model, tmp_path, monkeypatch, room, times):
    readings, read_parts = [], survey.read_parts

    def counted(*given):
        readings.append(given)
        return read_parts(*given)

    monkeypatch.setattr(survey, "read_parts", counted)
    write_cloud(tmp_path / "scan.laz", street(5))
    how = TileOptions(tile=10.0, halo=8.0, room=room)
    label_tiled(tmp_path / "out.laz", ScanFile(tmp_path / "scan.laz"), model, how)
    assert len(readings) == times


@pytest.mark.parametrize("how", ["half", "empty", "zeros"])
def test_a_damaged_file_of_what_was_found_is_named(tmp_path, how):
    scratch = Scratch(tmp_path)
    scratch.save("ground", one=np.arange(100.0), two=np.arange(3))
    path = tmp_path / "ground.arrays"
    content = path.read_bytes()
    path.write_bytes({"half": content[: len(content) // 2], "empty": b"", "zeros": bytes(len(content))}[how])
    with pytest.raises(
        ValueError, match=r"ground\.arrays is damaged .*: remove the folder .* and label the scan again"
    ):
        scratch.load("ground")

"""Which echo of its pulse a point is: known to forests where every training scan knows it, and asked for then."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from gapcut.scenes.clouds import PointCloud, read_cloud, write_cloud
from gapcut.scenes.labelling import SceneModel, SceneSettings, TrainingOptions, train_scenes
from gapcut.scenes.labelling.scene import CHANNELS, ECHOES, channel_values
from gapcut.scenes.labelling.surroundings import COLUMN_FEATURES
from gapcut.scenes.tiles import ScanFile, TileOptions, label_tiled
from street_samples import street

pytest.importorskip("laspy")

BUSH = 11
OPTIONS = TrainingOptions(n_trees=8, rows=3000, folds=2, gap=0.05, C_values=())


def with_echoes(cloud: PointCloud, seed: int) -> PointCloud:
    """Bushes give three echoes a pulse, wires two, all else one."""
    rng = np.random.default_rng(seed)
    count = np.where(cloud.labels == BUSH, 3, np.where(cloud.labels == 9, 2, 1)).astype(np.uint8)
    number = rng.integers(1, count + 1).astype(np.uint8)
    return cloud.replace(extra={"return_number": number, "number_of_returns": count})


@pytest.fixture(scope="module")
def model():
    scans = [with_echoes(street(i), i) for i in range(2)]
    return train_scenes(scans, SceneSettings(voxel=0.3), replace(OPTIONS, channels=("echoes",))).model


def test_echoes_are_shares():
    xyz = np.zeros((5, 3))
    extra = {"return_number": np.array([1, 1, 2, 4, 0]), "number_of_returns": np.array([1, 2, 2, 4, 0])}
    found = channel_values(PointCloud(xyz, extra=extra), ["echoes"])
    assert found.tolist() == [[1, 0], [0.5, 0.5], [1, 0.5], [1, 0.75], [0, 0]]
    assert found.shape[1] == len(CHANNELS["echoes"])


def test_echoes_that_are_no_numbers_are_unknown_ones():
    number, count = np.array([1.0, np.nan, 2.0, np.nan]), np.array([2.0, 2.0, np.nan, np.nan])
    extra = {"return_number": number, "number_of_returns": count}
    found = channel_values(PointCloud(np.zeros((4, 3)), extra=extra), ["echoes"])
    assert found.tolist() == [[0.5, 0.5], [0, 0.5], [1, 0], [0, 0]]


@pytest.mark.parametrize("value", [0.0, np.nan])
def test_a_table_of_unknown_echoes_has_none_whole_or_in_tiles(model, tmp_path, value):
    cloud, saved = street(6), tmp_path / "m.gapcut"
    unknown = {name: np.full(cloud.n_points, value, dtype=np.float32) for name in ECHOES}
    write_cloud(tmp_path / "scan.ply", cloud.replace(extra=unknown))
    model.save(saved)
    with pytest.raises(ValueError, match="scan has no echoes"):
        model.label(read_cloud(tmp_path / "scan.ply"))
    with pytest.raises(ValueError, match="scan has no echoes"):
        label_tiled(tmp_path / "out.ply", ScanFile(tmp_path / "scan.ply"), saved, TileOptions(tile=10.0))


def test_they_join_where_they_are_asked_for(model):
    assert model.channels == ("echoes",)
    scans = [with_echoes(street(i), i) for i in range(2)]
    unasked = train_scenes(scans, SceneSettings(voxel=0.3), OPTIONS).model
    without = train_scenes([street(i) for i in range(2)], SceneSettings(voxel=0.3), OPTIONS).model
    assert unasked.channels == without.channels == ()
    assert np.array_equal(unasked.forest.trees.threshold, without.forest.trees.threshold)
    assert np.array_equal(unasked.learner.pairwise_, without.learner.pairwise_)
    with pytest.raises(ValueError, match="street-1 has no echoes"):
        train_scenes([scans[0], street(1)], SceneSettings(voxel=0.3), replace(OPTIONS, channels=("echoes",)))


def test_the_forest_asks_for_them(model):
    places = [7 * len(model.settings.scales) + len(COLUMN_FEATURES) + i for i in range(2)]
    assert np.isin(places, model.forest.trees.feature).any()
    scan = with_echoes(street(4), 4)
    single = scan.replace(extra={name: np.ones(scan.n_points, dtype=np.uint8) for name in scan.extra})
    sure, unsure = (model.label(one).confidence[scan.labels == BUSH].mean() for one in (scan, single))
    assert sure > unsure


def test_a_scan_without_them_is_refused(model):
    with pytest.raises(ValueError, match="has no echoes, but the model was trained with it"):
        model.label(street(5))


def test_a_file_in_tiles_has_the_labels_of_the_whole(model, tmp_path):
    path, saved = tmp_path / "scan.laz", tmp_path / "m.gapcut"
    write_cloud(path, with_echoes(street(7), 7))
    model.save(saved)
    whole = SceneModel.load(saved).label(read_cloud(path))
    label_tiled(tmp_path / "out.laz", ScanFile(path), saved, TileOptions(tile=10.0, halo=8.0))
    found = read_cloud(tmp_path / "out.laz")
    assert (found.labels == whole.labels).mean() > 0.999
    assert "number_of_returns" in found.extra
    write_cloud(path, street(7))
    with pytest.raises(ValueError, match="has no echoes"):
        label_tiled(tmp_path / "again.laz", ScanFile(path), saved, TileOptions(tile=10.0))

"""Scans of bridges as one finds them: hidden parts, density, surroundings as nodes, coordinates on earth."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy.spatial import cKDTree

pytest.importorskip("embreex")

from test_scanner import COLUMN, EXACT, WALL, box, yard

from gapcut.scenes.bridges import CLASSES, LABELS, Bridge, make_bridge
from gapcut.scenes.clouds import read_cloud, write_cloud
from gapcut.scenes.experiment import ExperimentSettings, describe_bridges, run_experiment
from gapcut.scenes.experiment.per_bridge import bridge_rows, method_rows
from gapcut.scenes.experiment.scans import describe_scan, scan_cloud
from gapcut.scenes.scanner import Scan, ScannerSettings, scan_bridge, thin_scan

COARSE = ScannerSettings(
    angular_step=0.6, max_stations=3, points=15_000, spacing=20.0, terrain_margin=6.0, raw_points=60_000
)


@pytest.fixture(scope="module")
def bridge() -> Bridge:
    return make_bridge("girder", 0, difficulty="field")


@pytest.fixture(scope="module")
def scan(bridge: Bridge) -> Scan:
    return scan_bridge(bridge, 0, COARSE)


def test_what_soil_or_a_hedge_hides_is_unseen() -> None:
    buried = box(2, "footing", [-8, -1, -1], [-6, 1, -0.2])
    behind = box(3, "bearing", [8, -0.2, 0.2], [8.4, 0.2, 0.6])
    hedge = box(4, "vegetation", [7, -3, 0], [7.3, 3, 3])
    bridge = replace(
        yard(COLUMN, WALL, buried, behind, half=15.0), surroundings=(hedge,), origin=(5e5, 5e6, 100.0)
    )
    found = scan_bridge(bridge, 0, replace(EXACT, raw_points=50_000), stations=np.array([[-5.0, 0, 1.7]]))
    assert {2, 3, 4} <= set(found.unseen)  # the wall hides the bearing and the hedge
    assert found.unseen_by_class(bridge)["footing"] == (1, 1)
    assert not np.isin(found.part, found.unseen).any()
    found = scan_bridge(bridge, 0, replace(EXACT, raw_points=50_000), stations=np.array([[4.5, 0, 1.7]]))
    assert {2, 3} <= set(found.unseen)  # the hedge is seen, the bearing behind it is not
    assert (found.label[found.part == 4] == LABELS.index("vegetation")).all()
    assert (found.part == 4).sum() > 100


def test_points_are_dense_near_the_station_and_thin_out(scan: Scan) -> None:
    assert 30_000 < scan.n_points <= 60_000
    away = np.linalg.norm(scan.xyz - scan.stations[scan.station], axis=1)
    alone = scan.station == 0
    apart = cKDTree(scan.xyz[alone]).query(scan.xyz[alone], k=2)[0][:, 1]
    near, far = (np.median(apart[(away[alone] >= a) & (away[alone] < b)]) for a, b in ((1, 5), (15, 30)))
    assert far > 3 * near
    thin = thin_scan(scan, 0, COARSE)
    assert thin.n_points < 0.6 * scan.n_points
    cubes = np.floor(thin.xyz[thin.part >= 0] / scan.voxel)
    assert len(np.unique(cubes, axis=0)) == len(cubes)
    assert set(thin.unseen) >= set(scan.unseen)


def test_places_on_earth_are_kept_to_a_tenth_of_a_millimetre(bridge: Bridge, scan: Scan, tmp_path) -> None:
    cloud = scan_cloud(scan)
    assert cloud.xyz[:, 1].min() > 4_999_000
    np.testing.assert_allclose(cloud.xyz - bridge.origin, scan.xyz, atol=1e-8)
    pytest.importorskip("laspy")
    for ending in ("laz", "ply", "npz"):
        write_cloud(tmp_path / f"a.{ending}", cloud)
        again = read_cloud(tmp_path / f"a.{ending}")
        np.testing.assert_allclose(again.xyz - bridge.origin, scan.xyz, atol=6e-5)
        assert again.labels is not None
        np.testing.assert_array_equal(again.labels, scan.label)


def test_a_place_on_earth_changes_no_description() -> None:
    here = yard(COLUMN, WALL, half=8.0)
    there = replace(here, origin=(500_000.125, 5_000_000.25, 120.5))
    scans = [scan_bridge(b, 0, replace(EXACT, angular_step=1.0)) for b in (here, there)]
    np.testing.assert_array_equal(scans[0].xyz, scans[1].xyz)
    np.testing.assert_array_equal(scans[1].origin, there.origin)
    assert not scans[0].origin.any()
    one, other = (describe_scan(s, ExperimentSettings().scene_of(0.1)) for s in scans)
    assert len(one.values) == len(other.values) > 30
    np.testing.assert_array_equal(one.xyz, other.xyz)  # as the models that pictures show
    near = np.abs(one.values - other.values).max(axis=1) < 1e-3
    assert near.mean() > 0.95  # a last bit may move a neighbour to the next bin of a descriptor
    np.testing.assert_array_equal(one.contacts.edges, other.contacts.edges)
    np.testing.assert_allclose(one.contacts.lift, other.contacts.lift, atol=1e-6)


def test_surroundings_are_nodes_and_tables_tell_each_bridge() -> None:
    full = ExperimentSettings()
    settings = ExperimentSettings(
        replace(COARSE, angular_step=1.0),
        replace(full.scene, per_segment=8),
        replace(full.training, n_trees=8, rows=1100),
        n_bridges=3,
        train=2,
        difficulty="field",
    )
    bridges = describe_bridges(settings, 0)
    assert all((b.labels >= len(CLASSES)).sum() > 10 for b in bridges)
    assert all(b.measured > len(b.scan.xyz) for b in bridges)
    results = run_experiment(bridges, settings)
    assert results[0].certificate.status == "certified"
    assert results[0].nodes.labels == LABELS
    (row,) = bridge_rows(bridges, results)
    parts = (bridges[2].labels < len(CLASSES)).sum()
    assert row[:3] == ["arch-0", str(parts), str(bridges[2].unseen)]
    ours, alone, forest = method_rows(bridges, results)
    assert [r[0] for r in (ours, alone, forest)] == ["gapcut", "node-only", "forest only"]
    assert row[3:6] == [ours[1], alone[1], forest[1]]
    guess = np.concatenate([s.labels for s in results[0].solutions]).astype(str)
    truth = np.array(LABELS)[bridges[2].labels]
    right = (guess == truth)[bridges[2].labels < len(CLASSES)].mean()
    assert ours[1] == f"{100 * right:.2f} %"
    around = (guess == truth)[bridges[2].labels >= len(CLASSES)].mean()
    assert ours[5] == f"{100 * around:.2f} %"

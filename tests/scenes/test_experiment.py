"""The bridge experiment end to end on a few coarse scans."""

import json
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

pytest.importorskip("embreex")

from gapcut.scenes.experiment import ExperimentSettings, describe_bridges, markdown_report, run_experiment
from gapcut.scenes.experiment.settings import PAPER_EDGES
from gapcut.scenes.scanner import ScannerSettings

FULL = ExperimentSettings()
TINY = ExperimentSettings(
    ScannerSettings(angular_step=1.0, max_stations=3, points=8000, spacing=25.0),
    replace(FULL.scene, per_segment=8),
    replace(FULL.training, n_trees=8, rows=1100),
    n_bridges=3,
    train=2,
)


def test_two_bridges_train_and_one_is_labelled_with_a_certificate(tmp_path):
    bridges = describe_bridges(TINY, 0, tmp_path)
    files = sorted(tmp_path.iterdir())
    assert [f.name.split("-")[0] for f in files] == ["described"] * 3 + ["scan"] * 3
    (result,) = run_experiment(bridges, TINY)
    assert result.certificate.status == "certified"
    assert result.certificate.relative_gap <= 0.01
    assert result.nodes.nodes == bridges[2].scan.n_segments
    assert result.points.nodes == (bridges[2].scan.segment >= 0).sum()
    assert "other data" in markdown_report(bridges, [result])

    files[0].write_bytes(b"damaged")
    files[1].unlink()
    files[-1].write_bytes(files[-1].read_bytes()[:1000])
    again = describe_bridges(TINY, 0, tmp_path)
    for one, other in zip(bridges, again, strict=True):
        assert (one.name, one.key, one.unseen) == (other.name, other.key, other.unseen)
        np.testing.assert_array_equal(one.scan.values, other.scan.values)
        np.testing.assert_array_equal(one.scan.table.shapes.axes, other.scan.table.shapes.axes)
        np.testing.assert_array_equal(one.scan.contacts.edges, other.scan.contacts.edges)
    (repeated,) = run_experiment(again, TINY)
    np.testing.assert_array_equal(result.nodes.confusion, repeated.nodes.confusion)
    json.dumps(result.train)

    other = replace(TINY, scene=replace(TINY.scene, edges=PAPER_EDGES, nodes="segment"))
    before = {f.name: f.stat().st_mtime_ns for f in tmp_path.iterdir()}
    assert [b.key for b in describe_bridges(other, 0, tmp_path)] == [b.key for b in bridges]
    assert {f.name: f.stat().st_mtime_ns for f in tmp_path.iterdir()} == before


def test_no_bridge_is_in_training_and_test_and_every_bridge_is_tested_once():
    folds = ExperimentSettings().folds()
    assert len(folds) == 5
    assert sorted(i for _, test in folds for i in test) == list(range(25))
    assert all(not set(train) & set(test) and len(train) == 20 for train, test in folds)
    with pytest.raises(ValueError, match="no two folds"):
        replace(ExperimentSettings(), n_bridges=7).folds()


def test_bridges_tested_together_are_kept_from_a_forest_together():
    scans = [SimpleNamespace(n_segments=3)] * 20
    train, _ = FULL.folds()[1]
    folds = FULL.held_out(train, scans)
    assert [fold.tolist() for fold in folds[:6]] == [[0] * 3] * 5 + [[1] * 3]
    assert {int(fold[0]) for fold in folds} == {0, 1, 2, 3}
    few = replace(FULL, n_bridges=15, train=10).held_out(range(10), [SimpleNamespace(n_segments=100)] * 10)
    assert all(np.bincount(fold).tolist() == [25] * 4 for fold in few)

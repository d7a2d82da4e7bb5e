"""The bridge experiment end to end on a few coarse scans."""

import json
from dataclasses import replace

import numpy as np
import pytest

pytest.importorskip("embreex")

from gapcut.scenes.experiment import ExperimentSettings, describe_bridges, markdown_report, run_experiment
from gapcut.scenes.scanner import ScannerSettings

TINY = ExperimentSettings(
    ScannerSettings(angular_step=1.0, max_stations=3, points=8000, spacing=25.0),
    per_part=8,
    n_trees=8,
    per_class=100,
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
    assert result.nodes.nodes == len(bridges[2].part)
    assert result.points.nodes == bridges[2].weight.sum() == (bridges[2].point_node >= 0).sum()
    assert "other data" in markdown_report(bridges, [result])

    files[0].write_bytes(b"damaged")
    files[1].unlink()
    files[-1].write_bytes(files[-1].read_bytes()[:1000])
    again = describe_bridges(TINY, 0, tmp_path)
    for one, other in zip(bridges, again, strict=True):
        np.testing.assert_array_equal(one.shot, other.shot)
        np.testing.assert_array_equal(one.shape, other.shape)
        np.testing.assert_array_equal(one.edges, other.edges)
    (repeated,) = run_experiment(again, TINY)
    np.testing.assert_array_equal(result.nodes.confusion, repeated.nodes.confusion)
    json.dumps(result.train)


def test_no_bridge_is_in_training_and_test_and_every_bridge_is_tested_once():
    folds = ExperimentSettings().folds()
    assert len(folds) == 5
    assert sorted(i for _, test in folds for i in test) == list(range(25))
    assert all(not set(train) & set(test) and len(train) == 20 for train, test in folds)
    with pytest.raises(ValueError, match="no two folds"):
        replace(ExperimentSettings(), n_bridges=7).folds()

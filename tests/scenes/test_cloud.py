"""PointCloud: what it accepts, what it refuses, and the names of columns."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest
from cloud_samples import surveyed

from gapcut.scenes.clouds import ClassMap, CloudError, PointCloud
from gapcut.scenes.clouds.names import Said, canonical


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"xyz": np.empty((0, 3))}, "no points"),
        ({"xyz": [[0, 0]]}, r"must be \(N, 3\)"),
        ({"xyz": [[0, 0, 0], [1, np.nan, 0]]}, r"1 of 2 points are not finite, the first is point 1"),
        ({"labels": [0, 1]}, r"labels has shape \(2,\), but there are 3 points"),
        ({"labels": [0, 1, 0.5]}, "labels of point 2 is 0.5, but must be a whole number"),
        ({"labels": [0, -2, 1]}, "labels of point 1 is -2"),
        ({"segments": ["a", "b", "c"]}, "segments holds"),
        ({"colour": np.full((3, 3), 256)}, "0 to 255"),
        ({"colour": np.zeros((3, 4))}, "colour has shape"),
        ({"intensity": [0, np.inf, 0]}, "intensity of point 1 is inf"),
        ({"extra": {"class": [1, 2, 3]}}, "'class' would be read back as label"),
        ({"extra": {key: [1, 2, 3] for key in "rGb"}}, "'r' would be read back as a colour"),
        ({"extra": {"red": [1, 2, 3]}, "colour": np.zeros((3, 3), dtype=int)}, "'red' would be read back"),
        ({"added": ("truth", "colour")}, "added must be of label, segment, confidence, truth"),
        ({"extra": {"two words": [1, 2, 3]}}, "cannot name an attribute"),
        ({"extra": {"a": [1, 2]}}, "extra attribute 'a' has shape"),
        ({"label_names": {"x": "y"}}, "label_names must map"),
    ],
)
def test_refuses(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(CloudError, match=message) as caught:
        PointCloud(**({"xyz": np.zeros((3, 3))} | changes))
    assert "\n" not in str(caught.value)


def test_shift_keeps_local_coordinates_small() -> None:
    cloud = surveyed()
    assert cloud.shift.tolist() == [499_000, 5_999_000, 0]
    assert np.array_equal(cloud.local + cloud.shift, cloud.xyz)
    assert np.abs(cloud.local.astype(np.float32) + cloud.shift - cloud.xyz).max() < 1e-3
    assert PointCloud([[1, 2, 3]]).shift.tolist() == [0, 0, 0]


def test_is_immutable_and_does_not_alias() -> None:
    xyz = np.zeros((2, 3))
    cloud = PointCloud(xyz, labels=[0, -1])
    xyz[:] = 7
    assert not cloud.xyz.any()
    with pytest.raises(ValueError, match="read-only"):
        cloud.xyz[0] = 1
    assert cloud.labelled.tolist() == [True, False]
    assert PointCloud(xyz, labels=[-1, -1]).labels is None


def test_select_keeps_order_and_attributes() -> None:
    cloud = surveyed(20)
    order = np.arange(20)[::-1]
    back = cloud.select(order).select(order)
    assert np.array_equal(back.xyz, cloud.xyz)
    assert np.array_equal(back.extra["nx"], cloud.extra["nx"])
    assert cloud.select(cloud.labels == 3).labels.tolist() == [3] * int((cloud.labels == 3).sum())
    assert re.search("20 points, . labels", repr(cloud))
    assert cloud.name_of(3) == "column"
    assert cloud.name_of(99) == "99"


def test_canonical_names() -> None:
    columns = {"X": 0, "scalar_Classification": 1, "label": 2, "Original cloud index": 3, "R": 4, "red": 5}
    assert canonical(columns) == {
        "x": 0,
        "label": 2,
        "other_Classification": 1,
        "Original_cloud_index": 3,
        "R": 4,
        "red": 5,
    }
    rgb = {"B": 0, "g": 1, "diffuse_red": 2, "red": 3}
    assert canonical(rgb) == {"red": 3, "green": 1, "blue": 0, "diffuse_red": 2}
    added = {"label": "gapcut", "segment": "s", "confidence": "gapcut_confidence"}
    columns = {"label": 0, "gapcut": 1, "confidence": 2, "gapcut_confidence": 3, "scalar_s": 4, "segment": 5}
    assert canonical(columns, added) == {
        "label": 1,
        "confidence": 3,
        "segment": 5,
        "other_label": 0,
        "other_confidence": 2,
        "s": 4,
    }


def test_names_travel_as_one_line_of_ascii() -> None:
    names = {0: "Träger", 5: 'a "b" \n c'}
    line = Said(names, "WKT", {"label": "label_2"}).to_json()
    assert line.isascii()
    assert "\n" not in line
    assert Said.from_json(line) == Said(names, "WKT", {"label": "label_2"})
    assert Said.from_json('{"0": "ground"}') == Said({0: "ground"})
    assert Said().to_json() == ""
    with pytest.raises(ValueError):
        Said.from_json("[1]")


def test_classes_of_las_are_ours_by_number_or_by_name() -> None:
    classes = ClassMap({"plants": (5, 3, 4), "house": (6,), "ground": (2,)})
    xyz = np.eye(6, 3)
    las = PointCloud(xyz, labels=[3, 5, 6, 2, 9, -1], label_names={5: "high vegetation", 9: "water"})
    assert classes.ours(las).labels.tolist() == [0, 0, 1, 2, -1, -1]
    own = PointCloud(
        xyz, labels=[0, 1, 3, 3, 5, 5], label_names={0: "house", 1: "plants", 3: "sea", 5: "ground"}
    )
    assert classes.ours(own).labels.tolist() == [1, 0, -1, -1, 2, 2]
    assert dict(classes.ours(own).label_names) == {0: "plants", 1: "house", 2: "ground"}
    assert classes.las(np.array([0, -1, 7]), {0: "plants", 7: "ground"}).tolist() == [5, 0, 2]
    assert classes.ours(PointCloud(xyz)).labels is None

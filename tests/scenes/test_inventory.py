"""The segments of a scan as tables and drawings."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial import ConvexHull

from gapcut.scenes.clouds import PointCloud
from gapcut.scenes.labelling.inventory import COLUMNS, Inventory, Segment, hull_corners

SHAPES = {
    "solid": np.eye(3),
    "leaning plate": np.array([[1.0, 0, 0.5], [0, 1, 0.2], [0, 0, 0]]),
    "wall": np.array([[1.0, 0.3, 0], [0, 0, 0], [0, 0, 1]]),
    "line": np.array([[1.0, 2, 3], [0, 0, 0], [0, 0, 0]]),
    "place": np.zeros((3, 3)),
}


@pytest.mark.parametrize("kind", SHAPES)
def test_corners_of_parts_have_the_hull_of_the_whole(kind: str) -> None:
    rng = np.random.default_rng(0)
    xyz = rng.uniform(-1, 1, size=(400, 3)) @ SHAPES[kind] + [500_000.0, 6e6, 100.0]
    parts = np.concatenate([hull_corners(part) for part in np.split(xyz, [150, 153, 300])])
    assert len(parts) < len(xyz)
    whole, joined = (Segment.of(3, 1, "wall", 0.5, 400, some) for some in (xyz, parts))
    for name in COLUMNS[5:11]:
        assert joined[name] == whole[name]
    assert joined["hull_volume"] == pytest.approx(whole["hull_volume"], rel=1e-9, abs=1e-6)
    if kind == "solid":
        assert joined["hull_volume"] == pytest.approx(ConvexHull(xyz - xyz.mean(axis=0)).volume)


def test_names_that_layers_may_not_have_are_changed_and_told_apart(tmp_path) -> None:
    ezdxf = pytest.importorskip("ezdxf")
    names = {0: "road/kerb", 1: "road_kerb", 2: "Bäume", 3: "ROAD_KERB"}
    cloud = PointCloud(
        np.random.default_rng(0).normal(size=(40, 3)),
        labels=np.repeat(np.arange(4), 10),
        label_names=names,
        segments=np.repeat(np.arange(4), 10),
        extra={"confidence": np.full(40, 0.5)},
    )
    Inventory.of(cloud).write(tmp_path / "a.dxf", "dxf")
    shapes = ezdxf.readfile(tmp_path / "a.dxf").modelspace().query("LWPOLYLINE")
    assert [shape.dxf.layer for shape in shapes] == ["road_kerb", "road_kerb 2", "Bäume", "ROAD_KERB 3"]
    told = [[tag.value for tag in shape.get_xdata("GAPCUT")] for shape in shapes]
    assert [said[said.index("class") + 1] for said in told] == list(names.values())

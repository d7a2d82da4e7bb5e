"""Labelled scans of surveys, as ``benchmarks/streets.py`` leaves them out in turn."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from gapcut.scenes.clouds import PointCloud, read_cloud
from gapcut.scenes.clouds.class_map import ClassMap
from gapcut.scenes.datasets import OAKLAND_CLASSES, load_oakland

LOOKED_AT = tuple(
    f"oakland_{name}" for name in ["part2_ac", "part2_ae", "part2_ah", "part2_aj", "part2_al", "part3_aj"]
)
"""Streets on which the recipe was made, each held out from the other five; the others are fresh."""

TILE_CLASSES = {"ground": (2,), "vegetation": (5, 3, 4), "building": (6,)}
"""Class -> classes of LAS. Points of any other (unclassified, water, civil structures) have no label."""

AS_STREET = {"ground": "ground", "vegetation": "vegetation", "building": "facade"}
"""Class of a tile -> the class of a street that means the same: roofs are facades there."""


@dataclass(frozen=True)
class Survey:
    """Scans labelled by places in ``names``; ``what`` one of them is called; ``cuts``: slabs that one is cut into for
    inner folds, where there are few; ``channels`` that all have; ``looked_at``: names of those that are not fresh."""

    clouds: list[PointCloud]
    names: tuple[str, ...]
    what: str
    cuts: int = 1
    channels: tuple[str, ...] = ()
    looked_at: tuple[str, ...] = ()


def streets(data: Path) -> Survey:
    """The twelve scans of Oakland, from a car."""
    clouds = [cloud for part in load_oakland(data / "oakland") for cloud in part]
    return Survey(clouds, OAKLAND_CLASSES, "street", looked_at=LOOKED_AT)


def airborne(data: Path) -> Survey:
    """Two tiles of IGN's LiDAR HD (50 m, side by side) and one of AHN3, of whose classes only ground is one of ours."""
    known = ClassMap(TILE_CLASSES)
    clouds = [known.ours(read_cloud(path)) for path in sorted((data / "lidar").glob("*.laz"))]
    short = {c.name: c.name.removeprefix("test_data_").split("_LA93")[0] for c in clouds if c.name}
    named = [c.replace(name=short.get(c.name or "", c.name)) for c in clouds]
    return Survey(named, tuple(TILE_CLASSES), "tile", cuts=3, channels=("intensity",))


SURVEYS: Mapping[str, Callable[[Path], Survey]] = {"streets": streets, "airborne": airborne}


def as_street(labels: np.ndarray, names: tuple[str, ...]) -> np.ndarray:
    """(N,) places in ``OAKLAND_CLASSES`` of labels that are places in ``names``; -1 stays."""
    place = [OAKLAND_CLASSES.index(AS_STREET[name]) for name in names]
    return np.append(place, -1)[labels]

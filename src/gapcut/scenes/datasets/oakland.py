"""Oakland 3-D (Munoz, Bagnell, Vandapel, Hebert, CVPR 2009): outdoor laser scans from a car, 44 fine labels."""

from __future__ import annotations

from collections.abc import Mapping
from os import PathLike
from pathlib import Path

import numpy as np

from gapcut.scenes.clouds import NO_LABEL, PointCloud, read_cloud
from gapcut.typing import IntArray

OAKLAND_LABELS: Mapping[int, str] = {
    0: "error", 1000: "to_label", 1001: "undet", 1002: "linear_misc", 1003: "surf_misc",
    1004: "scatter_misc", 1005: "artifact", 1100: "default_wire", 1101: "wire_bundle",
    1102: "isolated_wire", 1103: "utility_pole", 1104: "crossarm", 1105: "support_wire",
    1106: "support_pole", 1107: "lamp_support", 1108: "transformer", 1109: "fire_hydrant", 1110: "post",
    1111: "sign", 1112: "pylon", 1113: "bench", 1114: "lamp", 1115: "traffic_lights",
    1116: "traffic_lights_support", 1117: "garbage", 1118: "crosswalk_light", 1119: "parking_meter",
    1200: "load_bearing", 1201: "cliff", 1202: "ground", 1203: "paved_road", 1204: "trail", 1205: "curb",
    1206: "walkway", 1207: "guardrail", 1300: "foliage", 1301: "grass", 1302: "small_trunk",
    1303: "large_trunk", 1304: "thin_branch", 1305: "thick_branch", 1306: "shrub", 1400: "facade",
    1401: "wall", 1402: "stairs", 1403: "door", 1404: "window", 1405: "chimney", 1406: "roof",
    1407: "chainlinkfence", 1408: "fence", 1409: "gate", 1410: "ceiling", 1411: "facade_ledge",
    1412: "column", 1413: "mailbox", 1414: "handrail", 1415: "stairs_landing", 1416: "awning",
    1417: "wall_parapet", 1500: "human", 1501: "vehicle", 1502: "sedan", 1503: "pickup",
    1504: "station_wagon", 1505: "suv", 1506: "trailer", 1600: "rock", 1601: "concertina_wire",
    1602: "depression", 1700: "porto_john", 1701: "canopy", 9999: "legacy",
}  # fmt: skip
"""Fine labels by number. The files spell some names differently from scan to scan; numbers are the same in all."""

OAKLAND_CLASSES = ("ground", "vegetation", "facade", "wire", "pole", "vehicle", "others")

OAKLAND_MAP: Mapping[str, tuple[str, ...]] = {
    group: tuple(names.split())
    for group, names in {
        "ground": "load_bearing cliff ground paved_road trail curb walkway grass depression",
        "vegetation": "foliage small_trunk large_trunk thin_branch thick_branch shrub",
        "facade": "facade wall door window chimney roof ceiling facade_ledge column stairs stairs_landing "
        "wall_parapet awning",
        "wire": "default_wire wire_bundle isolated_wire support_wire",
        "pole": "utility_pole crossarm support_pole lamp_support post pylon traffic_lights_support",
        "vehicle": "vehicle sedan pickup station_wagon suv trailer",
        "others": "transformer fire_hydrant sign bench lamp traffic_lights garbage crosswalk_light parking_meter "
        "guardrail chainlinkfence fence gate handrail mailbox human rock concertina_wire porto_john canopy "
        "linear_misc surf_misc scatter_misc artifact",
    }.items()
}
"""Class -> names of the fine labels. Grass is ground, not vegetation: it is a surface one stands on. Not in the
map and so unlabelled: error, to_label, undet, legacy (nobody decided what these points are)."""

_ENDING = ".xyz_label_conf"
_COLUMNS = ("x", "y", "z", "oakland_label", "label_confidence")
_TRAIN, _TEST = "oakland_part2_", "oakland_part3_"


def load_oakland(root: str | PathLike[str]) -> tuple[list[PointCloud], list[PointCloud]]:
    """The training scans (``oakland_part2_*``) and the test scans (``oakland_part3_*``) of the folder.

    Labels are indices into ``OAKLAND_CLASSES`` after ``OAKLAND_MAP``; -1 where the fine label is none of the map.
    ``extra`` keeps the number of the fine label (``oakland_label``) and ``label_confidence``. Raises
    FileNotFoundError if the folder has no scan of either part, CloudFileError.
    """
    return _load(root, _TRAIN), _load(root, _TEST)


def _load(root: str | PathLike[str], part: str) -> list[PointCloud]:
    paths = sorted(Path(root).glob(f"{part}*{_ENDING}"))
    if not paths:
        raise FileNotFoundError(f"{root}: no {part}*{_ENDING}; pass the folder that holds these scans")
    return [read_oakland(path) for path in paths]


def read_oakland(path: Path) -> PointCloud:
    """A scan, as :func:`load_oakland` says."""
    cloud = read_cloud(path, columns=_COLUMNS)
    fine: IntArray = cloud.extra["oakland_label"].astype(np.int64)
    class_of = {name: k for k, group in enumerate(OAKLAND_CLASSES) for name in OAKLAND_MAP[group]}
    values, place = np.unique(fine, return_inverse=True)
    classes = np.array(
        [class_of.get(OAKLAND_LABELS.get(int(v), ""), NO_LABEL) for v in values], dtype=np.int64
    )
    return cloud.replace(
        labels=classes[place],
        label_names=dict(enumerate(OAKLAND_CLASSES)),
        extra={
            "oakland_label": fine.astype(np.int32),
            "label_confidence": cloud.extra["label_confidence"].astype(np.float32),
        },
    )

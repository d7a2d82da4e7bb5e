"""Labelled streets for a model of streets: Oakland's scans, each file checked, in the classes such a model has."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from os import PathLike
from pathlib import Path

import numpy as np

from gapcut.datasets.fetch import Source, fetched
from gapcut.scenes.clouds import NO_LABEL, PointCloud
from gapcut.scenes.datasets.oakland import OAKLAND_CLASSES, read_oakland

STREET_CLASSES = ("ground", "vegetation", "building", "wire", "pole", "vehicle")
"""In this order of Oakland's: its facades are the buildings of a street, its ``others`` none of them."""

_COMMIT = "1234e124a787de6aa2f829e8849887019e51c006"
STREETS_HOME = "github.com/colegulino/Point-Cloud-Segmentation"
_PLACE = f"https://raw.githubusercontent.com/{STREETS_HOME[11:]}/{_COMMIT}/Data/cmu_oakland_data"
_ENDING = ".xyz_label_conf"

_FILES: Mapping[str, tuple[int, str]] = {
    "part2_ac": (2590298, "9f6ab868f1585f9d172ba18478ebd17925755c315594cce03942a33486f1c671"),
    "part2_ad": (2666466, "86a418a7cf452b7cb5634f20015847b1833825006ba3c7caf682057e05d4d36a"),
    "part2_ae": (2793353, "7ae82c5b5c5ddfe017829e8c853f711760b0d568258c55f8c91938eb19b3ed57"),
    "part2_ag": (2832187, "a6314df462256709acf5482e19daf10a056d66dd07b5b52289e6721acf91eabd"),
    "part2_ah": (2850657, "b1118b76f415c73414ad7634ea402bb9e1899b310c2d6109993a10440318cef3"),
    "part2_ai": (2942676, "0a976574e1ab892a85093b2f07e486f50562e86c169caa638db5ef2687ebe921"),
    "part2_aj": (2929599, "41ffb9a7504b848b5e403a243506f2313f16be6990ad1fa6013762dee82789b7"),
    "part2_ak": (2864395, "11385fb588178f02822c677b03bf87ca3defdd38fcb5ebe3565fae1fabe8c0d9"),
    "part2_al": (2912972, "606b21498e4c6ae32fd42d531d48b0b21674bc0d52dc743f2f65f90a08d3885e"),
    "part2_ao": (2838987, "0e72803291bad2007b0cd321d93a676e507d12fe00f4601a6e932fed83f43eec"),
    "part3_aj": (2262315, "695f88dcd360725818403555fbb098eba3dc69701c9004a72d2061a1feb890f0"),
    "part3_ak": (2582111, "30867d43f87051385a64aa7d90d661c7f3b25bd7c64aa29759f2c35bb4e26e43"),
}
"""Bytes and SHA-256 of the scans that accuracies were measured on; their home has five more."""

STREETS = tuple(
    Source(f"oakland_{name}{_ENDING}", f"{_PLACE}/oakland_{name}{_ENDING}", sha256, size)
    for name, (size, sha256) in _FILES.items()
)


def load_streets(
    root: str | PathLike[str] | None = None,
    *,
    others: bool = False,
    sources: tuple[Source, ...] = STREETS,
    say: Callable[[str], None] = lambda line: None,
) -> list[PointCloud]:
    """The scans ``sources`` in ``root``, or fetched from their home and kept, labelled by places in ``STREET_CLASSES``.

    ``others``: what is none of these (signs, fences, people) is a class of that name, and not unlabelled. Raises
    FileNotFoundError naming the scans that are not in ``root``, ValueError for one with other content, OSError where
    one cannot be fetched.
    """
    paths = [fetched(source, say) for source in sources] if root is None else _checked(Path(root), sources)
    return [_in_classes(read_oakland(path), others) for path in paths]


def _checked(root: Path, sources: tuple[Source, ...]) -> list[Path]:
    if not root.is_dir():
        raise FileNotFoundError(
            f"{root}: no such folder; name one that holds the scans, or none to fetch them"
        )
    paths = [root / source.name for source in sources]
    missing = [path.name for path in paths if not path.is_file()]
    if missing:
        what = f"{len(missing)} of {len(paths)} scans are not in it: {', '.join(missing)}"
        if len(missing) == len(paths):
            what = f"holds none of the {len(paths)} scans ({missing[0]} and so on)"
        raise FileNotFoundError(
            f"{root}: {what}; get them from {STREETS_HOME}, or name no folder to fetch them"
        )
    for path, source in zip(paths, sources, strict=True):
        if not source.is_at(path):
            raise ValueError(
                f"{path}: its {path.stat().st_size:,} bytes are not the {source.size:,} of the set: get it again from "
                f"{source.url}"
            )
    return paths


def _in_classes(cloud: PointCloud, others: bool) -> PointCloud:
    """The scan with names of a street's classes; they stand in the order of Oakland's."""
    assert cloud.labels is not None
    names = (*STREET_CLASSES, *OAKLAND_CLASSES[len(STREET_CLASSES) :]) if others else STREET_CLASSES
    labels = np.where(cloud.labels < len(names), cloud.labels, NO_LABEL)
    return cloud.replace(labels=labels, label_names=dict(enumerate(names)))

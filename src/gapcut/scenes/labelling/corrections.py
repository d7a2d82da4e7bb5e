"""What someone corrected in the page of a labelled scan, as labels to learn from."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from gapcut.scenes.clouds import NO_LABEL, CloudFileError, PointCloud
from gapcut.scenes.labelling.model import TRUTH, renumber_labels
from gapcut.typing import IntArray

KIND, FORMAT = "corrections", 1


def key_of(cloud: PointCloud) -> str | None:
    """:func:`segments_key`; None without segments."""
    return None if cloud.segments is None else segments_key(cloud.segments)


def segments_key(segments: IntArray) -> str:
    """What tells one segmentation of points (N,) from any other: the digest of the numbers, in order."""
    return hashlib.sha256(np.ascontiguousarray(segments, dtype="<i8").tobytes()).hexdigest()


@dataclass(frozen=True)
class Corrections:
    """Of one labelled scan: the ``file`` that says so, the scan's name and the key of its segments, and the class of
    each segment that was looked at, ``classes`` {segment: name}."""

    file: Path
    scan: str
    key: str
    classes: Mapping[int, str]

    def __add__(self, other: Corrections) -> Corrections:
        """Both of one scan. Raises CloudFileError where they do not agree."""
        for segment in sorted(set(self.classes) & set(other.classes)):
            mine, yours = self.classes[segment], other.classes[segment]
            if mine != yours:
                raise CloudFileError(
                    other.file, f"calls segment {segment} of {self.scan} {yours!r}, but {self.file} {mine!r}"
                )
        return Corrections(self.file, self.scan, self.key, {**self.classes, **other.classes})

    def fit(self, cloud: PointCloud) -> bool:
        """Whether this speaks of that scan's segments."""
        return key_of(cloud) == self.key

    def of(self, cloud: PointCloud) -> PointCloud:
        """A scan that was labelled, with labels to learn from: what was true before the labelling, and the classes that
        were chosen for whole segments. Other points have none: the model's own guesses teach nothing.

        Raises CloudFileError for a scan with other segments.
        """
        if cloud.segments is None or not self.fit(cloud):
            raise CloudFileError(
                self.file, f"speaks of {self.scan}, which has other segments: was it labelled again since?"
            )
        before = np.full(cloud.n_points, NO_LABEL)
        if TRUTH in cloud.added:
            given = np.asarray(cloud.extra[TRUTH])
            before = np.where(np.isfinite(given), given, NO_LABEL).astype(np.int64)
        names = dict(cloud.label_names)
        # numbers without a name, of a file that lost them, are in use too, and called as the page calls them
        used = sorted({*names, *np.unique(before).tolist(), *_present(cloud)} - {NO_LABEL})
        number_of = {cloud.name_of(number): number for number in used}
        for name in self.classes.values():
            if name not in number_of:
                number_of[name] = max(number_of.values(), default=-1) + 1
            names[number_of[name]] = name
        chosen = np.full(int(cloud.segments.max()) + 2, NO_LABEL)  # the last is that of segment -1
        for segment, name in self.classes.items():
            if segment >= len(chosen) - 1:
                raise CloudFileError(self.file, f"{self.scan} has no segment {segment}")
            chosen[segment] = number_of[name]
        now = chosen[cloud.segments]
        return cloud.replace(labels=np.where(now == NO_LABEL, before, now), label_names=names, added=())


def _present(cloud: PointCloud) -> list[int]:
    """Numbers of the labels that occur."""
    return [] if cloud.labels is None else np.unique(cloud.labels[cloud.labelled]).tolist()


def read_corrections(paths: Sequence[str | PathLike[str]]) -> list[Corrections]:
    """Of all scans in these files, one a scan. Raises OSError, CloudFileError: one line with the file."""
    found: dict[str, Corrections] = {}
    for path in paths:
        for one in _read(Path(path)):
            found[one.key] = found[one.key] + one if one.key in found else one
    return list(found.values())


def _read(path: Path) -> list[Corrections]:
    try:
        said = json.loads(path.read_text(encoding="utf-8"))
    except (ValueError, RecursionError):
        said = None
    if not isinstance(said, dict) or said.get("gapcut") != KIND:
        raise CloudFileError(path, "is no file of corrections: save one from the page of a labelled scan")
    if said.get("format") != FORMAT:
        raise CloudFileError(
            path, "is not in this version's format: save it again from a page of this version"
        )
    try:
        return [_of_scan(path, scan) for scan in said["scans"]]
    except (KeyError, TypeError, ValueError):
        raise CloudFileError(path, "is damaged: save it again from the page") from None


def _of_scan(path: Path, said: dict[str, Any]) -> Corrections:
    classes: dict[int, str] = {}
    for one in said["segments"]:
        segment, name = one["segment"], one["class"]
        if type(segment) is not int or segment < 0 or not isinstance(name, str) or not name:
            raise ValueError("a segment is a number, its class a name")
        if classes.setdefault(segment, name) != name:
            raise ValueError("two classes of a segment")
    return Corrections(path, str(said["scan"]), str(said["key"]), classes)


def apply_corrections(
    clouds: Sequence[PointCloud], given: Sequence[Corrections], new_classes: Sequence[str] = ()
) -> list[PointCloud]:
    """The scans, those that are spoken of with labels to learn from, called by the numbers that the others use.

    Raises CloudFileError where a scan that is spoken of is not among them, or has other segments, and where a class is
    neither one of the scans' nor among the ``new_classes``.
    """
    by_key = {one.key: one for one in given}
    about = [by_key.get(key_of(cloud) or "") if given else None for cloud in clouds]
    for missing in (said for said in given if said not in about):
        named = [cloud for cloud in clouds if cloud.name == missing.scan]
        if named:
            missing.of(named[0])  # tells what is wrong
        raise CloudFileError(
            missing.file,
            f"speaks of {missing.scan}, which is not there: put it beside this file, or into the folder of scans",
        )
    names: dict[int, str] = {}
    for cloud, one in zip(clouds, about, strict=True):
        if one is None and cloud.labels is not None:
            names |= {number: cloud.name_of(number) for number in _present(cloud)}
    _check_classes(clouds, about, {*names.values(), *new_classes})
    out = []
    for cloud, one in zip(clouds, about, strict=True):
        if one is None:
            out.append(cloud)
            continue
        taught = one.of(cloud)
        assert taught.labels is not None
        names = names or dict(taught.label_names)
        labels, more = renumber_labels(taught.labels, taught.label_names, names)
        names = {**names, **more}
        out.append(taught.replace(labels=labels, label_names=names))
    return out


def _check_classes(
    clouds: Sequence[PointCloud], about: Sequence[Corrections | None], known: set[str]
) -> None:
    """Every class that was chosen is ``known``, or one that the labelled scan could have been given."""
    for cloud, one in zip(clouds, about, strict=True):
        if one is not None:
            known = known | {cloud.name_of(number) for number in {*cloud.label_names, *_present(cloud)}}
    for one in (said for said in about if said is not None):
        for segment, name in one.classes.items():
            if name not in known:
                raise CloudFileError(
                    one.file,
                    f"calls segment {segment} of {one.scan} {name!r}, a class that no scan has (there are "
                    f"{', '.join(sorted(known))}): if it is a new one, say so with --new-classes {name}",
                )

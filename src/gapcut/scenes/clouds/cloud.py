"""A point cloud with what is known about each point."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any

import numpy as np
import numpy.typing as npt

from gapcut.scenes.clouds.errors import CloudError
from gapcut.scenes.clouds.names import ADDED, COLOURS, MEANING
from gapcut.typing import AnyArray, BoolArray, FloatArray, IntArray

NO_LABEL = -1
_SHIFT_FROM = 10_000.0
_SHIFT_STEP = 1000.0


@dataclass(frozen=True, eq=False, repr=False)
class PointCloud:
    """N points, immutable (its arrays are read-only).

    - ``xyz`` (N, 3) float64, metres, finite, as surveyed: nothing is lost at x = 500,000 or y = 6,000,000.
      Single-precision work (viewers, descriptors) takes ``local`` = ``xyz - shift``;
    - ``labels`` (N,) int64 >= 0, -1 where unlabelled; None if no point is labelled;
    - ``label_names`` label -> name, also of labels that do not occur;
    - ``segments`` (N,) int64 >= 0, -1 where a point belongs to none; None if there are none;
    - ``colour`` (N, 3) uint8 red, green, blue;
    - ``intensity`` (N,) float64, in the scanner's unit, NaN where unknown;
    - ``extra`` name -> (N,) numbers of any kind, NaN allowed (normals, return numbers, confidences);
    - ``crs`` the coordinate system as WKT, carried from file to file and not interpreted;
    - ``name`` what messages and reports call the cloud;
    - ``added`` which of label, segment, ``extra["confidence"]``, ``extra["truth"]`` and ``extra["original"]`` a
      labelling added.

    Raises CloudError: no points, lengths that differ, coordinates that are not finite, labels that are not
    whole numbers, extra attributes whose names a file would take for one of the above.
    """

    xyz: FloatArray
    labels: IntArray | None = None
    label_names: Mapping[int, str] = field(default_factory=dict)
    segments: IntArray | None = None
    colour: npt.NDArray[np.uint8] | None = None
    intensity: FloatArray | None = None
    extra: Mapping[str, AnyArray] = field(default_factory=dict)
    crs: str | None = None
    name: str | None = None
    added: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        xyz = _coordinates(self.xyz)
        n = len(xyz)
        values = {
            "xyz": xyz,
            "labels": _numbering(self.labels, n, "labels"),
            "label_names": _names(self.label_names),
            "segments": _numbering(self.segments, n, "segments"),
            "colour": _colour(self.colour, n),
            "intensity": _intensity(self.intensity, n),
            "extra": {key: _extra(key, value, n) for key, value in dict(self.extra).items()},
        }
        for key, value in values.items():
            object.__setattr__(self, key, value)
        _check_colour_names(self.extra, self.colour is not None)
        if not set(self.added) <= set(ADDED):
            raise CloudError(f"added must be of {', '.join(ADDED)}, not {', '.join(map(str, self.added))}")

    @property
    def n_points(self) -> int:
        return len(self.xyz)

    @property
    def labelled(self) -> BoolArray:
        """(N,) whether a point has a label."""
        if self.labels is None:
            return np.zeros(self.n_points, dtype=bool)
        return np.asarray(self.labels != NO_LABEL)

    @property
    def shift(self) -> FloatArray:
        """(3,) global shift: whole kilometres below the points on axes that reach beyond 10 km, else 0."""
        low, high = self.xyz.min(axis=0), self.xyz.max(axis=0)
        far = np.maximum(np.abs(low), np.abs(high)) >= _SHIFT_FROM
        return np.where(far, np.floor(low / _SHIFT_STEP) * _SHIFT_STEP, 0.0)

    @property
    def local(self) -> FloatArray:
        """(N, 3) ``xyz - shift``."""
        return self.xyz - self.shift

    def name_of(self, label: int) -> str:
        """The name of a label, its number where it has none."""
        return self.label_names.get(int(label), str(int(label)))

    def select(self, which: Any) -> PointCloud:
        """The points of a boolean mask (N,), or of indices, in that order."""
        rows = np.asarray(which)
        return self.replace(
            xyz=self.xyz[rows],
            extra={key: value[rows] for key, value in self.extra.items()},
            **{
                key: None if (value := getattr(self, key)) is None else value[rows]
                for key in ("labels", "segments", "colour", "intensity")
            },
        )

    def replace(self, **changes: Any) -> PointCloud:
        """A cloud with some of the attributes changed, checked like a new one."""
        return PointCloud(
            **{f.name: changes.pop(f.name, getattr(self, f.name)) for f in fields(self)}, **changes
        )

    def __repr__(self) -> str:
        parts = [f"{self.n_points:,} points"]
        if self.labels is not None:
            missing = self.n_points - int(self.labelled.sum())
            parts.append(f"{len(np.unique(self.labels[self.labelled]))} labels")
            parts += [f"{missing:,} unlabelled"] if missing else []
        if self.segments is not None:
            parts.append(f"{len(np.unique(self.segments[self.segments != NO_LABEL])):,} segments")
        parts += [word for word in ("colour", "intensity") if getattr(self, word) is not None]
        parts += list(self.extra)
        return f"PointCloud({'' if self.name is None else repr(self.name) + ': '}{', '.join(parts)})"


def _frozen(value: AnyArray, original: object) -> AnyArray:
    """Read-only; a copy if it would be a view of what the caller may write to."""
    if value.flags.writeable:
        value = value.copy() if isinstance(original, np.ndarray) else value
        value.flags.writeable = False
    return value


def _array(value: Any, what: str) -> AnyArray:
    try:
        return np.asarray(value)
    except ValueError:
        raise CloudError(f"{what} is ragged: every point needs the same number of entries") from None


def _coordinates(value: Any) -> FloatArray:
    raw = _array(value, "xyz")
    if raw.ndim != 2 or raw.shape[1] != 3 or raw.dtype.kind not in "biuf":
        raise CloudError(f"xyz has shape {raw.shape} of {raw.dtype}, but must be (N, 3) numbers")
    if not len(raw):
        raise CloudError("the cloud has no points")
    xyz: FloatArray = raw.astype(np.float64, order="C", copy=raw.dtype != np.float64)
    bad = ~np.isfinite(xyz).all(axis=1)
    if bad.any():
        at = int(np.argmax(bad))
        raise CloudError(
            f"{int(bad.sum()):,} of {len(xyz):,} points are not finite, the first is point {at} "
            f"{tuple(xyz[at].tolist())}: drop them (--invalid drop, or read_cloud(..., invalid='drop'))"
        )
    return _frozen(xyz, value)


def _one_a_point(value: Any, n: int, what: str) -> AnyArray:
    raw = _array(value, what)
    if raw.shape != (n,):
        raise CloudError(f"{what} has shape {raw.shape}, but there are {n:,} points: give one value a point")
    if raw.dtype.kind not in "biuf":
        raise CloudError(f"{what} holds {raw.dtype} values, but must hold numbers")
    return raw


def _numbering(value: Any, n: int, what: str) -> IntArray | None:
    if value is None:
        return None
    raw = _one_a_point(value, n, what)
    if raw.dtype.kind == "f" or raw.dtype == np.uint64:
        with np.errstate(invalid="ignore"):
            broken = (raw != np.floor(raw)) | ~np.isfinite(raw) | (np.abs(raw) >= 2.0**63)
        if broken.any():
            at = int(np.argmax(broken))
            raise CloudError(f"{what} of point {at} is {raw[at]}, but must be a whole number")
    numbers: IntArray = raw.astype(np.int64)
    if (numbers < NO_LABEL).any():
        at = int(np.argmax(numbers < NO_LABEL))
        raise CloudError(f"{what} of point {at} is {numbers[at]}: use numbers from 0, and -1 for none")
    return None if (numbers == NO_LABEL).all() else _frozen(numbers, None)


def _names(value: Any) -> dict[int, str]:
    try:
        pairs = value.items() if isinstance(value, Mapping) else enumerate(value)
        return {int(label): " ".join(str(text).split()) for label, text in pairs}
    except (TypeError, ValueError):
        raise CloudError("label_names must map label numbers to names") from None


def _colour(value: Any, n: int) -> AnyArray | None:
    if value is None:
        return None
    raw = _array(value, "colour")
    if raw.shape != (n, 3):
        raise CloudError(
            f"colour has shape {raw.shape}, but must be ({n}, 3): red, green, blue of each point"
        )
    if raw.dtype != np.uint8:
        if raw.dtype.kind not in "iu" or (len(raw) and (raw.min() < 0 or raw.max() > 255)):
            raise CloudError("colour must hold whole numbers from 0 to 255")
        raw = raw.astype(np.uint8)
    return _frozen(raw, value)


def _intensity(value: Any, n: int) -> FloatArray | None:
    if value is None:
        return None
    numbers: FloatArray = _one_a_point(value, n, "intensity").astype(np.float64)
    if np.isinf(numbers).any():
        at = int(np.argmax(np.isinf(numbers)))
        raise CloudError(f"intensity of point {at} is {numbers[at]}: use a finite number, or NaN for none")
    return _frozen(numbers, None)


def _check_colour_names(extra: Mapping[str, AnyArray], coloured: bool) -> None:
    """One or two channels alone are attributes like others; all three would be read back as colour."""
    channels = [key for key in extra if key.lower() in MEANING]
    clash = [key for key in channels if key in COLOURS] if coloured else []
    if clash or (not coloured and {MEANING[key.lower()] for key in channels} == set(COLOURS)):
        name = (clash or channels)[0]
        raise CloudError(f"extra attribute {name!r} would be read back as a colour: choose another name")


def _extra(key: Any, value: Any, n: int) -> AnyArray:
    if not isinstance(key, str) or not key.isprintable() or not key or any(c in " ,;" for c in key):
        raise CloudError(f"{key!r} cannot name an attribute: use printable text without blanks and commas")
    if MEANING.get(key.lower(), "red") not in COLOURS:
        raise CloudError(
            f"extra attribute {key!r} would be read back as {MEANING[key.lower()]}: choose another name"
        )
    raw = _one_a_point(value, n, f"extra attribute {key!r}")
    if raw.dtype.kind == "f" and raw.dtype.itemsize not in (4, 8):
        raw = raw.astype(np.float32 if raw.dtype.itemsize < 4 else np.float64)
    raw = raw.astype(raw.dtype.newbyteorder("="), copy=False)
    return _frozen(raw.astype(np.uint8) if raw.dtype.kind == "b" else raw, value)

"""A cloud as named columns: what every file format reads and writes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from gapcut.scenes.clouds.cloud import NO_LABEL, PointCloud
from gapcut.scenes.clouds.errors import CloudError
from gapcut.scenes.clouds.las_classes import class_names
from gapcut.scenes.clouds.names import COLOURS, COORDINATES, Said, canonical, meanings, one_word
from gapcut.typing import AnyArray, BoolArray, FloatArray, IntArray


@dataclass(frozen=True)
class Table:
    """Columns of equal length under the names and in the order of the file, and what its header says.

    ``las``: a column ``classification`` holds classes of the LAS standard, where 0 is "never classified".
    """

    columns: Mapping[str, AnyArray]
    said: Said = field(default_factory=Said)
    las: bool = False

    def __len__(self) -> int:
        return len(next(iter(self.columns.values()), ()))

    def places(self) -> FloatArray:
        """(N, 3) float64 coordinates. Raises CloudError where there are none."""
        chosen = meanings(self.columns)
        missing = [axis for axis in COORDINATES if axis not in chosen]
        if missing:
            have = ", ".join(self.columns) or "none"
            raise CloudError(f"no column {missing[0]!r} among its columns ({have})")
        return np.stack([self.columns[chosen[axis]].astype(np.float64) for axis in COORDINATES], axis=1)

    def valid(self) -> BoolArray:
        """(N,) whether a point has a place."""
        return np.asarray(np.isfinite(self.places()).all(axis=1))

    def select(self, rows: BoolArray) -> Table:
        """The rows of a mask (N,)."""
        return Table({name: values[rows] for name, values in self.columns.items()}, self.said, self.las)

    def to_write(self) -> Table:
        """For the file of another format: places, colours and intensity under their usual names, all others under
        their own, without blanks."""
        chosen = meanings(self.columns)
        usual = {chosen[name]: name for name in (*COORDINATES, *COLOURS, "intensity") if name in chosen}
        result: dict[str, AnyArray] = {name: self.columns[raw] for raw, name in usual.items()}
        result |= {axis: result[axis].astype(np.float64) for axis in COORDINATES}
        if "red" in result:
            rgb = whole_colours(np.stack([result[name] for name in COLOURS], axis=1))
            result |= {name: rgb[:, i] for i, name in enumerate(COLOURS)}
        for raw, values in self.columns.items():
            if raw not in usual:
                name = one_word(raw)
                while name in result:
                    name += "_"
                result[name] = values
        return Table(result, self.said, self.las)


def to_table(cloud: PointCloud) -> Table:
    """x, y, z (float64), red, green, blue, intensity, label, segment, extras: each of the smallest usual type that
    keeps every value."""
    columns: dict[str, AnyArray] = {axis: cloud.xyz[:, i] for i, axis in enumerate(COORDINATES)}
    if cloud.colour is not None:
        columns |= {name: cloud.colour[:, i] for i, name in enumerate(COLOURS)}
    if cloud.intensity is not None:
        columns["intensity"] = narrow_float(cloud.intensity)
    for name, numbers in (("label", cloud.labels), ("segment", cloud.segments)):
        if numbers is not None:
            columns[name] = narrow_integer(numbers)
    columns |= cloud.extra
    added = {role: role for role in cloud.added if role in columns}
    return Table(columns, Said(cloud.label_names, cloud.crs, added))


def from_table(table: Table, name: str | None, invalid: str = "error") -> PointCloud:
    """The cloud of a table. ``invalid="drop"`` leaves out points whose coordinates are not finite. Raises
    CloudError."""
    xyz = table.places()
    if invalid == "drop" and not np.isfinite(xyz).all():
        good = table.valid()
        table, xyz = table.select(good), xyz[good]
    said = table.said
    columns = canonical(table.columns, said.added)
    for axis in COORDINATES:
        columns.pop(axis)
    label, segment = columns.pop("label", None), columns.pop("segment", None)
    label_names = said.label_names
    if table.las and label is not None and meanings(table.columns, said.added)["label"] == "classification":
        label = np.where(label == 0, NO_LABEL, label.astype(np.int32))
        label_names = label_names or class_names(label)
    elif table.las:
        columns.pop("other_classification", None)
    intensity = columns.pop("intensity", None)
    return PointCloud(
        xyz,
        labels=None if label is None else _numbers(label, "label"),
        label_names=label_names,
        segments=None if segment is None else _numbers(segment, "segment"),
        colour=_colour(columns),
        intensity=None if intensity is None else _finite_or_nan(intensity),
        extra=columns,
        crs=said.crs,
        name=name,
        added=tuple(role for role in said.added if said.added[role] in table.columns),
    )


def packed_rows(columns: Mapping[str, AnyArray], order: str) -> AnyArray:
    """The columns as one array of records without padding, numbers in byte order ``order`` ("<" or ">")."""
    dtype = np.dtype([(name, order + values.dtype.str[1:]) for name, values in columns.items()])
    rows = np.empty(len(next(iter(columns.values()))), dtype=dtype)
    for name, values in columns.items():
        rows[name] = values
    return rows


def narrow_integer(values: AnyArray) -> AnyArray:
    """As int32 if that keeps every value, else as int64."""
    limits = np.iinfo(np.int32)
    return values.astype(np.int32 if limits.min <= values.min() and values.max() <= limits.max else np.int64)


def narrow_float(values: AnyArray) -> AnyArray:
    """As float32 if that keeps every value, else as float64."""
    with np.errstate(over="ignore"):
        single = values.astype(np.float32)
    return single if np.array_equal(single.astype(np.float64), values, equal_nan=True) else values


def without_64_bits(columns: Mapping[str, AnyArray]) -> dict[str, AnyArray]:
    """64-bit integers as 32-bit ones or float64. Raises CloudError where neither keeps every value."""
    return {name: _without_64_bits(name, values) for name, values in columns.items()}


def whole_colours(rgb: AnyArray) -> AnyArray:
    """(N, 3) colours as uint8, or as uint16 where they are: shares of 1 are scaled to 255. Raises CloudError."""
    if rgb.dtype in (np.uint8, np.uint16):
        return rgb
    if not np.isfinite(rgb).all() or rgb.min() < 0:
        raise CloudError("colours must be finite and at least 0")
    top = float(rgb.max())
    if rgb.dtype.kind == "f" and top <= 1.0 and ((rgb != np.floor(rgb)).any() or rgb.dtype.itemsize == 4):
        return np.rint(rgb * 255.0).astype(np.uint8)
    if top > 65535.0:
        raise CloudError(f"a colour is {top:g}: expected 0 to 1, 0 to 255 or 0 to 65535")
    return rgb.astype(np.uint16 if top > 255.0 else np.uint8)


def _without_64_bits(name: str, values: AnyArray) -> AnyArray:
    if values.dtype.kind not in "iu" or values.dtype.itemsize < 8 or not len(values):
        return values
    for small in (np.int32, np.uint32):
        if np.iinfo(small).min <= values.min() and values.max() <= np.iinfo(small).max:
            return values.astype(small)
    doubles = values.astype(np.float64)
    if np.abs(doubles).max() > 2.0**53:
        raise CloudError(
            f"attribute {name!r} has whole numbers beyond 2^53, which this format cannot keep: write .las or .npz"
        )
    return doubles


def _finite_or_nan(values: AnyArray) -> FloatArray:
    numbers: FloatArray = values.astype(np.float64)
    return np.where(np.isfinite(numbers), numbers, np.nan)


def _numbers(values: AnyArray, what: str) -> IntArray:
    """Whole numbers; NaN and everything negative means none."""
    if values.dtype.kind == "f":
        with np.errstate(invalid="ignore"):
            values = np.where(np.isnan(values) | (values < 0), NO_LABEL, values)
            broken = (values != np.floor(values)) | (values >= 2.0**63)
        if broken.any():
            at = int(np.argmax(broken))
            raise CloudError(f"the {what} of point {at} is {values[at]:g}, but must be a whole number")
    elif values.dtype == np.uint64 and (values > np.uint64(2**63 - 1)).any():
        raise CloudError(f"the {what} of point {int(np.argmax(values))} is beyond 2^63")
    numbers: IntArray = values.astype(np.int64)
    return np.maximum(numbers, NO_LABEL)


def _colour(columns: dict[str, AnyArray]) -> AnyArray | None:
    """(N, 3) uint8 of the colour columns, which are taken out; 16-bit colours lose their lower half."""
    if not all(name in columns for name in COLOURS):
        return None
    rgb = whole_colours(np.stack([columns.pop(name) for name in COLOURS], axis=1))
    return (rgb >> 8 if rgb.max(initial=0) > 255 else rgb).astype(np.uint8)

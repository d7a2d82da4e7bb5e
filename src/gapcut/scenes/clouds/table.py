"""A cloud as named columns: what every file format reads and writes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from gapcut.scenes.clouds.cloud import NO_LABEL, PointCloud
from gapcut.scenes.clouds.errors import CloudError
from gapcut.scenes.clouds.names import COLOURS, COORDINATES, canonical
from gapcut.typing import AnyArray, BoolArray, IntArray


@dataclass(frozen=True)
class Table:
    """Columns of equal length by name, in the order of the file, and what its header says."""

    columns: Mapping[str, AnyArray]
    label_names: Mapping[int, str] = field(default_factory=dict)
    crs: str | None = None


def to_columns(cloud: PointCloud, wide_integers: bool = True) -> dict[str, AnyArray]:
    """x, y, z (float64), red, green, blue, intensity, label, segment, extras: each of the smallest usual type
    that keeps every value. Without ``wide_integers`` 64-bit integers become 32-bit ones or float64."""
    columns: dict[str, AnyArray] = {axis: cloud.xyz[:, i] for i, axis in enumerate(COORDINATES)}
    if cloud.colour is not None:
        columns |= {name: cloud.colour[:, i] for i, name in enumerate(COLOURS)}
    if cloud.intensity is not None:
        columns["intensity"] = narrow_float(cloud.intensity)
    for name, numbers in (("label", cloud.labels), ("segment", cloud.segments)):
        if numbers is not None:
            columns[name] = narrow_integer(numbers)
    columns |= cloud.extra
    if not wide_integers:
        columns = {name: _without_64_bits(name, values) for name, values in columns.items()}
    return columns


def from_table(table: Table, name: str | None, invalid: str = "error") -> PointCloud:
    """The cloud of a table. ``invalid="drop"`` leaves out points whose coordinates or intensity are not
    finite. Raises CloudError."""
    columns = canonical(table.columns)
    missing = [axis for axis in COORDINATES if axis not in columns]
    if missing:
        have = ", ".join(table.columns) or "none"
        raise CloudError(f"no column {missing[0]!r} among its columns ({have})")
    if invalid == "drop":
        good = _valid(columns)
        if not good.all():
            columns = {key: values[good] for key, values in columns.items()}
    xyz = np.stack([columns.pop(axis).astype(np.float64) for axis in COORDINATES], axis=1)
    label, segment = columns.pop("label", None), columns.pop("segment", None)
    intensity = columns.pop("intensity", None)
    colour = _colour(columns)
    return PointCloud(
        xyz,
        labels=None if label is None else _numbers(label, "label"),
        label_names=table.label_names,
        segments=None if segment is None else _numbers(segment, "segment"),
        colour=colour,
        intensity=intensity,
        extra=columns,
        crs=table.crs,
        name=name,
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


def _without_64_bits(name: str, values: AnyArray) -> AnyArray:
    if values.dtype.kind not in "iu" or values.dtype.itemsize < 8:
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


def _valid(columns: Mapping[str, AnyArray]) -> BoolArray:
    good: BoolArray = np.ones(len(columns["x"]), dtype=bool)
    for name in (*COORDINATES, "intensity"):
        if name in columns:
            good &= np.isfinite(columns[name].astype(np.float64))
    return good


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
    """(N, 3) uint8 of the colour columns, which are taken out; 16-bit colours and shares of 1 are scaled."""
    given = [columns.pop(name, None) for name in COLOURS]
    if any(channel is None for channel in given):
        columns |= {f"other_{n}": c for n, c in zip(COLOURS, given, strict=True) if c is not None}
        return None
    rgb = np.stack([channel for channel in given if channel is not None], axis=1)
    if rgb.dtype == np.uint8:
        return rgb
    if not np.isfinite(rgb).all() or rgb.min() < 0:
        raise CloudError("colours must be finite and at least 0")
    top = float(rgb.max())
    if rgb.dtype.kind == "f" and top <= 1.0 and ((rgb != np.floor(rgb)).any() or rgb.dtype.itemsize == 4):
        return np.rint(rgb * 255.0).astype(np.uint8)
    if top > 65535.0:
        raise CloudError(f"a colour is {top:g}: expected 0 to 1, 0 to 255 or 0 to 65535")
    whole = rgb.astype(np.uint16)
    return (whole >> 8 if top > 255.0 else whole).astype(np.uint8)

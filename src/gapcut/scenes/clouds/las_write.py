"""LAS and LAZ (extra ``scenes``: laspy with lazrs), written.

A new file: LAS 1.4, point format 6 (7 with colour), coordinates to 0.1 mm (coarser, up to 1 mm, where the extent asks
for it) from an offset in whole kilometres; what is no standard dimension, or does not fit its own, is an extra one.
``classification`` holds the labels where their names are those of the LAS standard: a class number of ours means
something else in every other program. Names of labels in a header record (user ``gapcut``, record 1, JSON).

A labelled file is the source with more dimensions (:func:`add`).
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping, Set
from contextlib import contextmanager
from itertools import chain, count
from typing import IO, Any

import numpy as np

from gapcut.scenes.clouds.errors import CloudError
from gapcut.scenes.clouds.las import RECORD, USER, laspy
from gapcut.scenes.clouds.las_classes import are_standard
from gapcut.scenes.clouds.names import COLOURS, Said
from gapcut.scenes.clouds.table import Table
from gapcut.typing import AnyArray, FloatArray

ANGLE_STEP = 0.006
"""Degrees a step of ``scan_angle``; ``scan_angle_rank`` of formats below 6 is in degrees."""

_MOST = {
    "return_number": 15, "number_of_returns": 15, "scanner_channel": 3, "user_data": 255, "point_source_id": 65535,
    "scan_angle": 32767, "classification": 255, "intensity": 65535,
}  # fmt: skip
"""Largest values of standard dimensions, 1 for the others."""
_FINEST, _COARSEST = 1e-4, 1e-3
_LONGEST_NAME = 32
_WEEK = 604_800.0


def fit(table: Table) -> Table:
    """The table as a new file can keep it: names that are too long, or of a dimension that the values do not fit, are
    changed, and a warning says so. Raises CloudError for points that extend too far."""
    columns = dict(table.columns)
    grid(np.stack([columns[axis] for axis in "xyz"], axis=1))
    if "scan_angle_rank" in columns and "scan_angle" not in columns:
        columns["scan_angle"] = angles_of_ranks(columns.pop("scan_angle_rank"))
    if "intensity" in columns and not _fits("intensity", columns["intensity"]):
        columns["intensity_value"] = columns.pop("intensity")
    standard = set(laspy().PointFormat(7).standard_dimension_names) - set(COLOURS)
    result: dict[str, AnyArray] = {}
    for name, values in columns.items():
        new = f"other_{name}" if name in standard and not _fits(name, values) else name
        new = _short(new, (columns.keys() - {name}) | result.keys())
        if new != name:
            warnings.warn(
                f"attribute {name!r} is written as {new!r}: LAS has no place for it under its name",
                stacklevel=2,
            )
        result[new] = values
    return Table(result, table.said)


def write(file: IO[bytes], table: Table, compress: bool, classes: AnyArray | None = None) -> None:
    """A LAS (LAZ if ``compress``) file into a seekable binary stream; ``classes`` (N,) is its classification, else the
    labels where they are called as LAS calls them."""
    columns = fit(table).columns
    xyz = np.stack([columns[axis] for axis in "xyz"], axis=1)
    coloured = all(name in columns for name in COLOURS)
    header = laspy().LasHeader(version="1.4", point_format=7 if coloured else 6)
    header.offsets, header.scales = grid(xyz)
    standard = set(header.point_format.standard_dimension_names)
    add_dimensions(header, {n: v for n, v in columns.items() if n not in standard and n not in "xyz"})
    add_record(header, table.said)
    if table.said.crs and "[" in table.said.crs:
        from laspy.vlrs.known import WktCoordinateSystemVlr

        header.vlrs.append(WktCoordinateSystemVlr(table.said.crs))
        header.global_encoding.wkt = True
    if "gps_time" in columns and not (
        columns["gps_time"].min() >= 0.0 and columns["gps_time"].max() <= _WEEK
    ):
        header.global_encoding.gps_time_type = laspy().header.GpsTimeType.STANDARD
    points = laspy().ScaleAwarePointRecord.zeros(len(xyz), header=header)
    points["x"], points["y"], points["z"] = xyz.T
    for name, values in columns.items():
        if name in COLOURS and coloured and values.dtype == np.uint8:
            points[name] = values.astype(np.uint16) * 257
        elif name not in "xyz":
            points[name] = values
    label = columns.get(table.said.added.get("label", "label"))
    if classes is None and label is not None and are_standard(label, table.said.label_names):
        classes = np.maximum(label, 0)
    if classes is not None:
        points["classification"] = classes
    with written(file, header, compress) as writer:
        writer.write_points(points)


@contextmanager
def written(file: IO[bytes], header: Any, compress: bool) -> Iterator[Any]:
    """laspy's writer of a file that stays open; why a write failed is told by its OSError."""
    stream = _Stream(file)
    try:
        with laspy().open(stream, mode="w", header=header, do_compress=compress, closefd=False) as writer:
            yield writer
    except Exception as error:
        raise stream.failed or error from None


class _Stream:
    """A stream that keeps why a write failed: lazrs tells only that it did."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file
        self.failed: OSError | None = None

    def write(self, data: bytes) -> int:
        try:
            return self._file.write(data)
        except OSError as error:
            self.failed = error
            raise

    def __getattr__(self, name: str) -> Any:
        return getattr(self._file, name)


def add_dimensions(header: Any, columns: Mapping[str, AnyArray]) -> None:
    """Extra dimensions for columns."""
    header.add_extra_dims([laspy().ExtraBytesParams(name=n, type=v.dtype) for n, v in columns.items()])


def add_record(header: Any, said: Said) -> None:
    """Our header record, in place of an earlier one. Raises CloudError where the names do not fit into it."""
    crs = said.crs if said.crs and "[" not in said.crs else None
    text = Said(said.label_names, crs, said.added).to_json().encode("ascii")
    if len(text) > 65535:
        raise CloudError("the names of the labels are longer than a LAS header record (65535 bytes)")
    header.vlrs = [v for v in header.vlrs if (v.user_id, v.record_id) != (USER, RECORD)]
    if text:
        header.vlrs.append(laspy().VLR(USER, RECORD, "names of the labels (JSON)", text))


def angles_of_ranks(ranks: AnyArray) -> AnyArray:
    """Whole degrees as steps of ``scan_angle``."""
    return np.rint(ranks / ANGLE_STEP).astype(np.int16)


def grid(xyz: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Offsets in whole kilometres and steps so that 32-bit integers reach every point."""
    low, high = xyz.min(axis=0), xyz.max(axis=0)
    offsets = np.floor((low + high) / 2000.0) * 1000.0
    reach = np.maximum(np.abs(low - offsets), np.abs(high - offsets)) / (2.0**31 - 2)
    if reach.max() > _COARSEST:
        raise CloudError(
            f"the points extend over {float((high - low).max()):.3g} m, too far for LAS to keep 1 mm: write .ply"
        )
    return offsets, np.where(reach > _FINEST, _COARSEST, _FINEST)


def _fits(name: str, values: AnyArray) -> bool:
    """Whether a standard dimension of that name keeps the values."""
    if name == "gps_time":
        return True
    if name in ("X", "Y", "Z"):
        return False
    most = _MOST.get(name, 1)
    with np.errstate(invalid="ignore"):
        whole = bool((values == np.floor(values)).all())
    return whole and values.min() >= (-most if name == "scan_angle" else 0) and values.max() <= most


def _short(name: str, taken: Set[str]) -> str:
    """At most 32 bytes of a name, and none that is taken."""
    for tail in chain([""], (f"_{k}" for k in count(2))):
        room = _LONGEST_NAME - len(tail)
        short = name.encode("utf-8")[:room].decode("utf-8", errors="ignore") + tail
        if short not in taken:
            return short
    raise AssertionError

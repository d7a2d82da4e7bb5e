"""LAS and LAZ (extra ``scenes``: laspy with lazrs). Labels and segments are extra dimensions of the file.

Written: LAS 1.4, point format 6 (7 with colour), coordinates to 0.1 mm (coarser, up to 1 mm, where the extent asks
for it) from an offset in whole kilometres; extra dimensions ``label``, ``segment`` (-1: none), ``intensity_value`` if
the intensity is not a whole number from 0 to 65535, and every extra attribute that is no standard dimension. Names
of labels in a header record (user ``gapcut``, record 1, JSON). ``classification`` holds the labels where their names
are those of the LAS standard, else 0: a class number of ours means something else in every other program.

Read: labels from an extra dimension, else from ``classification``, where 0 ("never classified") is unlabelled.
"""

from __future__ import annotations

import struct
from pathlib import Path
from typing import IO, Any

import numpy as np

from gapcut.extras import needed
from gapcut.scenes.clouds.cloud import PointCloud
from gapcut.scenes.clouds.errors import CloudError
from gapcut.scenes.clouds.names import COLOURS, MEANING, from_json, plain_name, to_json
from gapcut.scenes.clouds.table import Table, to_columns
from gapcut.typing import AnyArray

STANDARD_NAMES = {
    0: "never classified", 1: "unclassified", 2: "ground", 3: "low vegetation", 4: "medium vegetation",
    5: "high vegetation", 6: "building", 7: "low noise", 8: "key point", 9: "water", 10: "rail", 11: "road surface",
    12: "overlap", 13: "guard wire", 14: "conductor wire", 15: "transmission tower", 16: "wire connector",
    17: "bridge deck", 18: "high noise",
}  # fmt: skip
"""Classes of the LAS 1.4 specification, table 17."""

_USER, _RECORD = "gapcut", 1
_POINTS_AT_ONCE = 200_000
_HEADER_HEAD = struct.Struct("<4s90sHII")
"""Signature, what is read by laspy, size of the header, where the points begin, number of header records."""
_RECORD_HEAD = 54
_CHANGED_NAMES = {"scan_angle_rank": "scan_angle"}
_NOT_KEPT = ("X", "Y", "Z", "intensity", "classification", *COLOURS)
_FINEST, _COARSEST = 1e-4, 1e-3
_LONGEST_NAME = 32


def _laspy() -> Any:
    return needed("laspy", "LAS and LAZ files need", "scenes")


def read(path: Path) -> Table:
    """Columns of a LAS or LAZ file. What laspy raises on a damaged one passes through."""
    _check_records(path)
    with _laspy().open(str(path)) as reader:
        header = reader.header
        _check_size(path, header)
        chunks = [_columns_of(points, header) for points in reader.chunk_iterator(_POINTS_AT_ONCE)]
        found = sum(len(chunk["x"]) for chunk in chunks)
        if found != header.point_count:
            raise CloudError(f"holds {found:,} of {header.point_count:,} points: the file was cut short")
        label_names, crs = _header_records(header)
    if not chunks:
        raise CloudError("holds no points")
    columns = {key: np.concatenate([chunk[key] for chunk in chunks]) for key in chunks[0]}
    if not _settle_labels(columns) and not label_names and "label" in columns:
        present = np.unique(columns["label"]).tolist()
        label_names = {k: STANDARD_NAMES.get(k, f"class {k}") for k in present if k >= 0}
    if "intensity_value" in columns:
        columns["intensity"] = columns.pop("intensity_value")
    return Table(_without_constants(columns), label_names, crs)


def _check_records(path: Path) -> None:
    """That the header records announced fit before the points: else laspy would read on for minutes."""
    with path.open("rb") as file:
        start = file.read(_HEADER_HEAD.size)
    if len(start) < _HEADER_HEAD.size or not start.startswith(b"LASF"):
        raise CloudError("is no LAS file, or cut short within its header")
    header_size, points_at, records = _HEADER_HEAD.unpack(start)[-3:]
    if points_at > path.stat().st_size or header_size + records * _RECORD_HEAD > points_at:
        raise CloudError("has a damaged header (its records do not fit before the points), or was cut short")


def _check_size(path: Path, header: Any) -> None:
    if header.are_points_compressed:
        _check_chunks(path, header)
        return
    room = (path.stat().st_size - header.offset_to_point_data) // max(1, header.point_format.size)
    if header.point_count > room:
        raise CloudError(f"holds {max(0, room):,} of {header.point_count:,} points: the file was cut short")


def _check_chunks(path: Path, header: Any) -> None:
    """That a LAZ file's table of chunks is inside it and has no more chunks than points: the LAZ library would
    reserve gigabytes for what a damaged one announces."""
    with path.open("rb") as file:
        file.seek(header.offset_to_point_data)
        (table,) = struct.unpack("<q", file.read(8).ljust(8, b"\xff"))
        if table == -1:  # written as a stream: the place is at the end
            file.seek(-8, 2)
            (table,) = struct.unpack("<q", file.read(8))
        if not header.offset_to_point_data < table <= path.stat().st_size - 8:
            raise CloudError("has no table of chunks where it should be: the file was cut short")
        file.seek(table)
        _, chunks = struct.unpack("<II", file.read(8))
    if chunks > max(1, header.point_count):
        raise CloudError(
            f"announces {chunks:,} chunks for {header.point_count:,} points: the file is damaged"
        )


def _columns_of(points: Any, header: Any) -> dict[str, AnyArray]:
    raw = {axis: np.asarray(points[axis.upper()], dtype=np.float64) for axis in "xyz"}
    with np.errstate(over="ignore", invalid="ignore"):  # a damaged scale: told as points that are not finite
        columns = {axis: raw[axis] * header.scales[i] + header.offsets[i] for i, axis in enumerate("xyz")}
    standard = list(points.point_format.standard_dimension_names)
    for name in (*standard, *points.point_format.extra_dimension_names):
        if name in ("X", "Y", "Z"):
            continue
        values = np.array(points[name])
        if values.ndim != 1:
            columns |= {f"{plain_name(name)}_{i}": part for i, part in enumerate(values.T)}
            continue
        columns[_CHANGED_NAMES.get(name, plain_name(name))] = values
    return columns


def _header_records(header: Any) -> tuple[dict[int, str], str | None]:
    label_names: dict[int, str] = {}
    crs = None
    for record in [*header.vlrs, *(header.evlrs or [])]:
        if record.user_id == _USER and record.record_id == _RECORD:
            label_names, _ = from_json(bytes(record.record_data).decode("utf-8"))
        elif type(record).__name__ == "WktCoordinateSystemVlr":
            crs = record.string.strip("\0") or None
    return label_names, crs


def _settle_labels(columns: dict[str, AnyArray]) -> bool:
    """Whether labels come from an extra dimension; else ``label`` is made of ``classification``."""
    classification = columns.pop("classification").astype(np.int32)
    own = any(MEANING.get(name.lower()) == "label" for name in columns)
    if not own:
        columns["label"] = np.where(classification == 0, -1, classification)
    return own


def _without_constants(columns: dict[str, AnyArray]) -> dict[str, AnyArray]:
    """Without standard dimensions that hold zeros only, colours and intensity among them."""
    standard = set(_laspy().PointFormat(8).standard_dimension_names) | set(
        _laspy().PointFormat(3).standard_dimension_names
    )
    has_colour = any(columns[name].any() for name in COLOURS if name in columns)
    kept = {}
    for name, values in columns.items():
        empty = name in standard and not (has_colour if name in COLOURS else values.any())
        if not empty:
            kept[name] = values
    return kept


def write(file: IO[bytes], cloud: PointCloud, compress: bool) -> None:
    """A LAS (LAZ if ``compress``) file into a seekable binary stream."""
    laspy = _laspy()
    columns = to_columns(cloud)
    if cloud.intensity is not None and not _fits(cloud.intensity, np.uint16):
        columns["intensity_value"] = columns.pop("intensity")
    header = laspy.LasHeader(version="1.4", point_format=7 if cloud.colour is not None else 6)
    header.offsets, header.scales = _grid(cloud)
    standard = set(header.point_format.standard_dimension_names) - set(_NOT_KEPT)
    custom = [n for n in columns if not _is_standard(n, columns[n], standard)]
    header.add_extra_dims([laspy.ExtraBytesParams(name=_checked(n), type=columns[n].dtype) for n in custom])
    _add_records(laspy, header, cloud)
    data = laspy.LasData(header)
    data.points = laspy.ScaleAwarePointRecord.zeros(cloud.n_points, header=header)
    data.x, data.y, data.z = cloud.xyz.T
    for name, values in columns.items():
        if name in COLOURS:
            data[name] = values.astype(np.uint16) * 257
        elif name not in ("x", "y", "z"):
            data[name] = values
    if cloud.labels is not None and _are_standard(cloud):
        data.classification = np.maximum(cloud.labels, 0).astype(np.uint8)
    stream = _Stream(file)
    try:
        with laspy.open(stream, mode="w", header=header, do_compress=compress, closefd=False) as writer:
            writer.write_points(data.points)
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


def _is_standard(name: str, values: AnyArray, standard: set[str]) -> bool:
    if name in ("x", "y", "z", "intensity", *COLOURS):
        return True
    if name not in standard:
        return False
    limits = {"gps_time": None, "scan_angle": np.int16, "point_source_id": np.uint16, "user_data": np.uint8}
    if name in limits:
        kind = limits[name]
        fits = kind is None or _fits(values, kind)
    else:
        fits = _fits(values, np.uint8) and values.max() < (
            16 if name in ("return_number", "number_of_returns") else 2
        )
    if not fits:
        raise CloudError(
            f"attribute {name!r} does not fit the LAS dimension of that name: rename it or write .ply"
        )
    return True


def _fits(values: AnyArray, kind: type[np.integer[Any]]) -> bool:
    limits = np.iinfo(kind)
    with np.errstate(invalid="ignore"):
        return bool(
            (values == np.floor(values)).all() and values.min() >= limits.min and values.max() <= limits.max
        )


def _grid(cloud: PointCloud) -> tuple[AnyArray, AnyArray]:
    """Offsets in whole kilometres and steps so that 32-bit integers reach every point."""
    low, high = cloud.xyz.min(axis=0), cloud.xyz.max(axis=0)
    offsets = np.floor((low + high) / 2000.0) * 1000.0
    reach = np.maximum(np.abs(low - offsets), np.abs(high - offsets)) / (2.0**31 - 2)
    if reach.max() > _COARSEST:
        raise CloudError(
            f"the points extend over {float((high - low).max()):.3g} m, too far for LAS to keep 1 mm: write .ply"
        )
    return offsets, np.where(reach > _FINEST, _COARSEST, _FINEST)


def _are_standard(cloud: PointCloud) -> bool:
    assert cloud.labels is not None
    present = [k for k in np.unique(cloud.labels).tolist() if k >= 0]
    return all(
        0 < k < 256 and cloud.label_names.get(k) in (STANDARD_NAMES.get(k), f"class {k}") for k in present
    )


def _checked(name: str) -> str:
    if len(name.encode("utf-8")) > _LONGEST_NAME:
        raise CloudError(f"attribute {name!r} has a name longer than the 32 bytes LAS allows: rename it")
    return name


def _add_records(laspy: Any, header: Any, cloud: PointCloud) -> None:
    text = to_json(cloud.label_names, None).encode("ascii")
    if len(text) > 65535:
        raise CloudError("the names of the labels are longer than a LAS header record (65535 bytes)")
    if text:
        header.vlrs.append(laspy.VLR(_USER, _RECORD, "names of the labels (JSON)", text))
    if cloud.crs:
        from laspy.vlrs.known import WktCoordinateSystemVlr

        header.vlrs.append(WktCoordinateSystemVlr(cloud.crs))
        header.global_encoding.wkt = True

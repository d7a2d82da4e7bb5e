"""LAS and LAZ (extra ``scenes``: laspy with lazrs), read.

Labels come from an extra dimension, else from ``classification``, where 0 ("never classified") is unlabelled. The
header is believed where it fits the file. Writing: :mod:`gapcut.scenes.clouds.las_write`.
"""

from __future__ import annotations

import struct
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from gapcut.extras import needed
from gapcut.scenes.clouds.errors import CloudError
from gapcut.scenes.clouds.lines import check_count
from gapcut.scenes.clouds.names import COLOURS, Said
from gapcut.scenes.clouds.table import Table
from gapcut.typing import AnyArray, FloatArray

USER, RECORD = "gapcut", 1
"""Of the header record that holds our JSON."""
POINTS_AT_ONCE = 200_000
_HEADER_HEAD = struct.Struct("<4s90sHII")
"""Signature, what is read by laspy, size of the header, where the points begin, number of header records."""
_RECORD_HEAD = 54
_ANY_SIZE = 0xFFFFFFFF
_PROJECTED, _GEOGRAPHIC, _USER_DEFINED = 3072, 2048, 32767
"""GeoTIFF keys of the coordinate system, and what is no EPSG number."""


def laspy() -> Any:
    return needed("laspy", "LAS and LAZ files need", "scenes")


def read(path: Path) -> Table:
    """Columns of a LAS or LAZ file. What laspy raises on a damaged one passes through."""
    parts = list(read_parts(path))
    if not parts:
        raise CloudError("holds no points")
    columns = {key: np.concatenate([part.columns[key] for part in parts]) for key in parts[0].columns}
    return Table(_without_constants(columns), parts[0].said, las=True)


def read_parts(path: Path) -> Iterator[Table]:
    """The columns, 200,000 points at a time, standard dimensions that hold zeros only among them."""
    check_records(path)
    with laspy().open(str(path)) as reader:
        header = reader.header
        check_header(path, header)
        said, found = header_says(header), 0
        low, high = np.full(3, np.inf), np.full(3, -np.inf)
        for points in reader.chunk_iterator(POINTS_AT_ONCE):
            columns = _columns_of(points, header)
            if "intensity_value" in columns:
                columns["intensity"] = columns.pop("intensity_value")
            found += len(columns["x"])
            low = np.minimum(low, [columns[axis].min() for axis in "xyz"])
            high = np.maximum(high, [columns[axis].max() for axis in "xyz"])
            yield Table(columns, said, las=True)
    if found != header.point_count:
        raise CloudError(f"holds {found:,} of {header.point_count:,} points: the file was cut short")
    if found:
        _check_box(path, header, low, high)


def announced_points(path: Path) -> int | None:
    """How many points the header of a LAS or LAZ file announces; None for other files and unreadable headers."""
    if path.suffix.lower() not in (".las", ".laz"):
        return None
    try:
        check_records(path)
        with laspy().open(str(path)) as reader:
            return int(reader.header.point_count)
    except Exception:  # reading the file will say what is wrong with it
        return None


def announced_extent(path: Path) -> tuple[FloatArray, FloatArray, int, str | None] | None:
    """Box, number of points and coordinate system that the header of a LAS or LAZ file announces, if its numbers can be
    those of a box of so many points; None for others. Whether they are those of the points, reading will say."""
    if path.suffix.lower() not in (".las", ".laz"):
        return None
    check_records(path)
    with laspy().open(str(path)) as reader:
        header = reader.header
        low, high = np.array(header.mins, dtype=np.float64), np.array(header.maxs, dtype=np.float64)
        if not (np.isfinite([low, high]).all() and (low <= high).all() and header.point_count):
            return None
        if header.point_count > 1 and (low == high)[:2].all():  # as of writers that fill in none
            return None
        return low, high, int(header.point_count), header_says(header).crs


def check_records(path: Path) -> None:
    """That the header records announced fit before the points: else laspy would read on for minutes."""
    with path.open("rb") as file:
        start = file.read(_HEADER_HEAD.size)
    if len(start) < _HEADER_HEAD.size or not start.startswith(b"LASF"):
        raise CloudError("is no LAS file, or cut short within its header")
    header_size, points_at, records = _HEADER_HEAD.unpack(start)[-3:]
    if points_at > path.stat().st_size or header_size + records * _RECORD_HEAD > points_at:
        raise CloudError("has a damaged header (its records do not fit before the points), or was cut short")


def check_header(path: Path, header: Any) -> None:
    """That steps and number of points can be those of the file. Raises CloudError."""
    for axis, scale, offset in zip("xyz", header.scales, header.offsets, strict=True):
        if not (np.isfinite([scale, offset]).all() and scale != 0.0):
            raise CloudError(
                f"has a header with scale {scale:g} and offset {offset:g} for {axis}: correct them"
            )
    if header.are_points_compressed:
        _check_chunks(path, header)
        return
    size, end = max(1, header.point_format.size), path.stat().st_size
    for later in (header.start_of_first_evlr, header.start_of_waveform_data_packet_record):
        end = min(end, later) if later > header.offset_to_point_data else end
    room, left = divmod(end - header.offset_to_point_data, size)
    if header.point_count > room:
        raise CloudError(f"holds {max(0, room):,} of {header.point_count:,} points: the file was cut short")
    if left == 0:
        check_count(header.point_count, room)
    elif room > header.point_count:
        warnings.warn(
            f"{path}: {end - header.offset_to_point_data - header.point_count * size:,} bytes after the points "
            "that the header announces were not read",
            stacklevel=2,
        )


def _check_chunks(path: Path, header: Any) -> None:
    """That a LAZ file's table of chunks is inside it and has as many chunks as the points take: the LAZ library would
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
    size = next(
        (struct.unpack_from("<I", v.record_data, 12)[0] for v in header.vlrs.get("LasZipVlr")), _ANY_SIZE
    )
    most = header.point_count if size == _ANY_SIZE else -(-header.point_count // max(1, size))
    if chunks > max(1, most):
        raise CloudError(
            f"announces {chunks:,} chunks for {header.point_count:,} points: its header is wrong or damaged"
        )


def _check_box(path: Path, header: Any, low: FloatArray, high: FloatArray) -> None:
    for i, axis in enumerate("xyz"):
        near = 10 * abs(header.scales[i])
        if not (header.mins[i] <= low[i] + near and header.maxs[i] >= high[i] - near):
            warnings.warn(
                f"{path}: the header says {header.mins[i]:g} to {header.maxs[i]:g} for {axis}, but the points are from "
                f"{low[i]:g} to {high[i]:g}: the header was not believed",
                stacklevel=2,
            )
            return


def _columns_of(points: Any, header: Any) -> dict[str, AnyArray]:
    raw = {axis: np.asarray(points[axis.upper()], dtype=np.float64) for axis in "xyz"}
    with np.errstate(over="ignore", invalid="ignore"):  # a damaged scale: told as points that are not finite
        columns = {axis: raw[axis] * header.scales[i] + header.offsets[i] for i, axis in enumerate("xyz")}
    standard = list(points.point_format.standard_dimension_names)
    for name in (*standard, *points.point_format.extra_dimension_names):
        if name in ("X", "Y", "Z"):
            continue
        values = np.array(points[name])
        parts = (
            {name: values} if values.ndim == 1 else {f"{name}_{i}": part for i, part in enumerate(values.T)}
        )
        for part, value in parts.items():
            while part in columns:
                part += "_"
            columns[part] = value
    return columns


def header_says(header: Any) -> Said:
    """Names of labels, coordinate system (WKT, else ``EPSG:<number>`` of the GeoTIFF keys), what was added."""
    said, wkt, epsg = Said(), None, None
    for record in [*header.vlrs, *(header.evlrs or [])]:
        kind = type(record).__name__
        if record.user_id == USER and record.record_id == RECORD:
            said = Said.from_json(bytes(record.record_data).decode("utf-8"))
        elif kind == "WktCoordinateSystemVlr":
            wkt = record.string.strip("\0") or None
        elif kind == "GeoKeyDirectoryVlr":
            keys = {key.id: key.value_offset for key in record.geo_keys if key.tiff_tag_location == 0}
            code = keys.get(_PROJECTED, keys.get(_GEOGRAPHIC, 0))
            epsg = f"EPSG:{code}" if 0 < code < _USER_DEFINED else None
    return Said(said.label_names, wkt or said.crs or epsg, said.added)


def _without_constants(columns: dict[str, AnyArray]) -> dict[str, AnyArray]:
    """Without standard dimensions that hold zeros only, colours and intensity among them."""
    formats = (laspy().PointFormat(8), laspy().PointFormat(3))
    standard = {name for form in formats for name in form.standard_dimension_names}
    has_colour = any(columns[name].any() for name in COLOURS if name in columns)
    kept = {}
    for name, values in columns.items():
        empty = name in standard and not (has_colour if name in COLOURS else values.any())
        if not empty:
            kept[name] = values
    return kept

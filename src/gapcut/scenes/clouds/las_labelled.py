"""A LAS or LAZ file with labels added: its header, its records and its points, and dimensions of ours.

Scale, offset, identifiers, flags, header records (also those after the points, byte for byte) and all dimensions of
the source stay. ``classification`` holds our classes where a map or their names say which of LAS they are, else what
it held; a format below 6 that cannot hold them (above 31) is raised to the one that can, and a warning says so.
"""

from __future__ import annotations

import struct
import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import IO, Any

import numpy as np

from gapcut.scenes.clouds.addition import Addition
from gapcut.scenes.clouds.errors import CloudError
from gapcut.scenes.clouds.las import POINTS_AT_ONCE, check_header, check_records, header_says, laspy
from gapcut.scenes.clouds.las_write import add_dimensions, add_record, angles_of_ranks, written
from gapcut.typing import AnyArray

_RAISED = {0: 6, 1: 6, 2: 7, 3: 7, 4: 9, 5: 10}
"""Point formats below 6 and the ones that hold the same and classes above 31."""
_LAST_OLD_CLASS = 31
_RECORD = struct.Struct("<H16sHH32s")
_LATE_RECORD = struct.Struct("<H16sHQ32s")
"""Reserved, user, number, length and description of a record before and after the points."""
_MADE = (("LASF_Spec", 4), ("laszip encoded", 22204))
_COPC = "copc"
_WAVEFORMS = ("LASF_Spec", 65535)
_DATE_AT, _HEADER_SIZE_AT = 90, 94


def add(source: Path, file: IO[bytes], addition: Addition, compress: bool) -> None:
    """The source with our dimensions, 200,000 points at a time."""
    check_records(source)
    with laspy().open(str(source)) as reader:
        old = reader.header
        check_header(source, old)
        addition.check(old.point_count)
        said = header_says(old)
        placed = addition.place(old.point_format.dimension_names, said)
        classes = addition.las
        header = old.copy()
        _restore_records(header, source)
        if header.global_encoding.waveform_data_packets_internal:
            header.global_encoding.waveform_data_packets_internal = False
            header.start_of_waveform_data_packet_record = 0
            warnings.warn(f"{source}: the waveforms inside the file were not written", stacklevel=2)
        described = _described(old)
        header.remove_extra_dims([name for name in placed.dropped if name in described])
        if (
            classes is not None
            and old.point_format.id in _RAISED
            and classes.max(initial=0) > _LAST_OLD_CLASS
        ):
            _raise_format(header, source)
        add_dimensions(header, placed.columns)
        add_record(header, placed.said)
        _restore_descriptions(header, {k: v for k, v in described.items() if k not in placed.dropped})
        with written(file, header, compress) as writer:
            start = 0
            for points in reader.chunk_iterator(POINTS_AT_ONCE):
                rows = slice(start, start + len(points))
                ours = {name: values[rows] for name, values in placed.columns.items()}
                if classes is not None:
                    ours["classification"] = classes[rows]
                writer.write_points(_longer(points, header, ours))
                start += len(points)
            if start != old.point_count:
                raise CloudError(f"holds {start:,} of {old.point_count:,} points: the file was cut short")
            late = _late_records(old, source)
            if late:
                writer.write_evlrs(late)
        if old.creation_date is None:  # laspy writes today's
            file.seek(_DATE_AT)
            file.write(b"\0\0\0\0")


def _longer(points: Any, header: Any, ours: Mapping[str, AnyArray]) -> Any:
    """The points with our dimensions, in the format of the new header."""
    result = laspy().ScaleAwarePointRecord.zeros(len(points), header=header)
    if points.point_format.id == header.point_format.id:
        for name in set(points.array.dtype.names) & set(result.array.dtype.names):
            result.array[name] = points.array[name]
    else:
        names = set(result.point_format.dimension_names)
        for name in points.point_format.dimension_names:
            if name == "scan_angle_rank":
                result["scan_angle"] = angles_of_ranks(np.asarray(points[name]))
            elif name in names:
                result[name] = points[name]
    for name, values in ours.items():
        result[name] = values
    return result


def _raise_format(header: Any, source: Path) -> None:
    old = header.point_format
    new = laspy().PointFormat(_RAISED[old.id])
    new.dimensions.extend(old.extra_dimensions)
    header.set_version_and_point_format(laspy().header.Version(1, 4), new)
    warnings.warn(
        f"{source}: written as LAS 1.4 with point format {new.id} for {old.id}, which has no classes above 31",
        stacklevel=2,
    )


def _described(header: Any) -> dict[str, bytes]:
    """Extra dimension -> the 192 bytes that describe it in the file."""
    found = [struct_ for record in header.vlrs.get("ExtraBytesVlr") for struct_ in record.extra_bytes_structs]
    names = list(header.point_format.extra_dimension_names)
    return {name: bytes(each) for name, each in zip(names, found, strict=False)}


def _restore_descriptions(header: Any, described: Mapping[str, bytes]) -> None:
    """Put back what laspy does not carry (the value that means no data, say)."""
    structs = header.vlrs.get("ExtraBytesVlr")[0].extra_bytes_structs
    for i, name in enumerate(header.point_format.extra_dimension_names):
        if name in described:
            structs[i] = type(structs[i]).from_buffer_copy(described[name])


def _restore_records(header: Any, source: Path) -> None:
    """Header records as they are in the file, byte for byte, where laspy would write its reading of them; it makes
    those of extra dimensions and of the compression itself."""
    with source.open("rb") as file:
        file.seek(_HEADER_SIZE_AT)
        size, _, number = struct.unpack("<HII", file.read(10))
        file.seek(size)
        records = [_record(file, _RECORD) for _ in range(number)]
    if any(record.user_id == _COPC for record in records):
        warnings.warn(f"{source}: written as plain LAZ, no longer a cloud-optimised one (COPC)", stacklevel=2)
    header.vlrs = [r for r in records if r.user_id != _COPC and (r.user_id, r.record_id) not in _MADE]


def _late_records(header: Any, source: Path) -> Any:
    """Records after the points, byte for byte."""
    from laspy.vlrs.vlrlist import VLRList

    if not (header.version.minor >= 4 and header.number_of_evlrs):
        return VLRList()
    with source.open("rb") as file:
        file.seek(header.start_of_first_evlr)
        records = [_record(file, _LATE_RECORD) for _ in range(header.number_of_evlrs)]
    return VLRList([r for r in records if r.user_id != _COPC and (r.user_id, r.record_id) != _WAVEFORMS])


def _record(file: IO[bytes], form: struct.Struct) -> Any:
    _, user, number, length, text = form.unpack(file.read(form.size))
    name, said = user.split(b"\0")[0].decode("ascii", errors="replace"), text.split(b"\0")[0]
    return laspy().VLR(name, number, said.decode() if said.isascii() else said, file.read(length))

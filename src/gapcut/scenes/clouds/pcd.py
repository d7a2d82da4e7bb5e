"""PCD 0.7 (Point Cloud Library): ascii, binary, binary_compressed; written as binary.

Written: coordinates as float32 if that keeps 0.1 mm, else as float64; colour packed in ``rgb``; names of labels in a
comment (JSON). The sensor pose of ``VIEWPOINT`` is not applied to the points, as in PCL.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass
from pathlib import Path
from typing import IO

import numpy as np

from gapcut.scenes.clouds import lzf
from gapcut.scenes.clouds.cloud import PointCloud
from gapcut.scenes.clouds.errors import CloudError
from gapcut.scenes.clouds.lines import binary_points, text_points
from gapcut.scenes.clouds.names import COLOURS, from_json, to_json
from gapcut.scenes.clouds.table import Table, packed_rows, to_columns
from gapcut.typing import AnyArray

_KINDS = {"F": "f", "I": "i", "U": "u"}
_MOST_FIELDS = 10_000
_LONGEST_HEADER = 1 << 20
_SINGLE_KEEPS = 1e-4


@dataclass(frozen=True)
class _Field:
    name: str
    kind: str
    count: int


@dataclass(frozen=True)
class _Header:
    fields: tuple[_Field, ...]
    points: int
    data: str
    said: str

    @property
    def dtype(self) -> np.dtype[np.void]:
        return np.dtype([(f"{i}", f.kind, (f.count,)) for i, f in enumerate(self.fields)])


def read(path: Path) -> Table:
    """Columns of a PCD file; padding (fields named ``_``) left out. Raises CloudError."""
    with path.open("rb") as file:
        header = _header(file)
        if header.data == "ascii":
            parts = _ascii(file, header)
        elif header.data == "binary":
            rows = binary_points(file, header.dtype, header.points)
            parts = [rows[f"{i}"] for i in range(len(header.fields))]
        elif header.data == "binary_compressed":
            parts = _compressed(file, header, path.stat().st_size - file.tell())
        else:
            raise CloudError(f"has PCD data {header.data!r}: expected ascii, binary or binary_compressed")
    columns: dict[str, AnyArray] = {}
    for part, values in zip(header.fields, parts, strict=True):
        if part.name == "_":
            continue
        if part.name in ("rgb", "rgba") and part.count == 1 and values.dtype.itemsize == 4:
            columns |= _unpacked(values[:, 0])
            continue
        for i in range(part.count):
            columns[part.name if part.count == 1 else f"{part.name}_{i}"] = values[:, i]
    return Table(columns, *from_json(header.said or "{}"))


def _header(file: IO[bytes]) -> _Header:
    entries: dict[str, list[str]] = {}
    said = ""
    while "DATA" not in entries:
        line = file.readline(_LONGEST_HEADER)
        if not line or file.tell() > _LONGEST_HEADER:
            raise CloudError("has a PCD header without a DATA line: the file was cut short or is no PCD file")
        text = line.decode("utf-8", errors="replace").strip()
        if text.startswith("#"):
            said = text[1:].strip() if text[1:].strip().startswith('{"gapcut"') else said
        elif text:
            key, *words = text.split()
            entries[key] = words
    names = entries.get("FIELDS", entries.get("COLUMNS", []))
    kinds, sizes = entries.get("TYPE", []), _whole(entries, "SIZE")
    counts = _whole(entries, "COUNT") if "COUNT" in entries else [1] * len(names)
    if not names or not len(names) == len(kinds) == len(sizes) == len(counts):
        raise CloudError("has a PCD header whose FIELDS, SIZE, TYPE and COUNT do not agree")
    fields = tuple(
        _Field(n, _kind(t, s), c) for n, t, s, c in zip(names, kinds, sizes, counts, strict=True) if c > 0
    )
    if sum(counts) > _MOST_FIELDS:
        raise CloudError(f"has {sum(counts)} values a point: more than {_MOST_FIELDS} are not read")
    points = _whole(entries, "POINTS") if "POINTS" in entries else _whole(entries, "WIDTH")
    if len(points) != 1:
        raise CloudError("has a PCD header that does not say how many points there are")
    return _Header(fields, points[0], " ".join(entries["DATA"]), said)


def _whole(entries: dict[str, list[str]], key: str) -> list[int]:
    words = entries.get(key, [])
    if not all(word.isascii() and word.isdigit() and len(word) < 16 for word in words):
        raise CloudError(f"has a PCD header line {key} that is not made of whole numbers")
    return [int(word) for word in words]


def _kind(letter: str, size: int) -> str:
    if letter not in _KINDS or size not in ((4, 8) if letter == "F" else (1, 2, 4, 8)):
        raise CloudError(f"has a PCD field of unknown type {letter} {size}")
    return f"<{_KINDS[letter]}{size}"


def _ascii(file: IO[bytes], header: _Header) -> list[AnyArray]:
    rows = text_points(file, header.points, sum(f.count for f in header.fields))
    parts, at = [], 0
    for f in header.fields:
        values = rows[:, at : at + f.count]
        keep = f.name in ("x", "y", "z")
        with np.errstate(over="ignore", invalid="ignore"):
            parts.append(values if keep else values.astype(f.kind))
        at += f.count
    return parts


def _compressed(file: IO[bytes], header: _Header, room: int) -> list[AnyArray]:
    size = header.points * header.dtype.itemsize
    sizes = file.read(8)
    if len(sizes) < 8:
        raise CloudError("has no compressed data: the file was cut short")
    packed, unpacked = struct.unpack("<II", sizes)
    if packed > room - 8:
        raise CloudError(f"holds {room - 8:,} of {packed:,} compressed bytes: the file was cut short")
    if unpacked != size or size > lzf.MOST_EXPANSION * packed:
        raise CloudError(
            f"announces {unpacked:,} bytes of points, but {header.points:,} points take {size:,}"
        )
    data = lzf.decompress(file.read(packed), size)
    parts, at = [], 0
    for f in header.fields:  # stored field after field, each for all points
        count = header.points * f.count
        parts.append(
            np.frombuffer(data, dtype=f.kind, count=count, offset=at).reshape(header.points, f.count)
        )
        at += count * np.dtype(f.kind).itemsize
    return parts


def _unpacked(packed: AnyArray) -> dict[str, AnyArray]:
    bits = np.ascontiguousarray(packed).view(np.uint32)
    return {
        name: (bits >> shift & 255).astype(np.uint8) for name, shift in zip(COLOURS, (16, 8, 0), strict=True)
    }


def write(file: IO[bytes], cloud: PointCloud) -> None:
    """A binary PCD file."""
    columns = to_columns(cloud)
    if np.abs(cloud.xyz.astype(np.float32) - cloud.xyz).max() <= _SINGLE_KEEPS:
        columns |= {axis: columns[axis].astype(np.float32) for axis in "xyz"}
    if cloud.colour is not None:
        red, green, blue = (columns.pop(name).astype(np.uint32) for name in COLOURS)
        columns["rgb"] = red << 16 | green << 8 | blue
    said = to_json(cloud.label_names, cloud.crs)
    kinds = [values.dtype for values in columns.values()]
    lines = [
        "# .PCD v0.7 - Point Cloud Data file format",
        *([f"# {said}"] if said else []),
        "VERSION 0.7",
        f"FIELDS {' '.join(columns)}",
        f"SIZE {' '.join(str(k.itemsize) for k in kinds)}",
        f"TYPE {' '.join(k.kind.upper() for k in kinds)}",
        f"COUNT {' '.join('1' for _ in kinds)}",
        f"WIDTH {cloud.n_points}",
        "HEIGHT 1",
        "VIEWPOINT 0 0 0 1 0 0 0",
        f"POINTS {cloud.n_points}",
        "DATA binary",
    ]
    file.write(("\n".join(lines) + "\n").encode("utf-8"))
    file.write(packed_rows(columns, "<").data)

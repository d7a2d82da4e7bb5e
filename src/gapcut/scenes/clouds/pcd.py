"""PCD 0.7 (Point Cloud Library): ascii, binary, binary_compressed; written as binary.

Written: coordinates as float32 if that keeps 0.1 mm, else as float64; colour packed in ``rgb``; names of labels in a
comment (JSON). The sensor pose of ``VIEWPOINT`` is not applied to the points, as in PCL.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import IO

import numpy as np

from gapcut.scenes.clouds import lzf
from gapcut.scenes.clouds.addition import Addition
from gapcut.scenes.clouds.errors import CloudError
from gapcut.scenes.clouds.lines import (
    binary_points,
    check_count,
    decoded,
    longer_lines,
    text_points,
    write_lines,
)
from gapcut.scenes.clouds.names import COLOURS, COORDINATES, Said, one_word
from gapcut.scenes.clouds.table import Table, packed_rows
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
    remarks: tuple[str, ...]
    shape: tuple[str, str]
    """Words after WIDTH and HEIGHT."""
    viewpoint: str

    @property
    def dtype(self) -> np.dtype[np.void]:
        return np.dtype([(f"{i}", f.kind, (f.count,)) for i, f in enumerate(self.fields)])


def read(path: Path) -> Table:
    """Columns of a PCD file; padding (fields named ``_``) left out. Raises CloudError."""
    with path.open("rb") as file:
        header = _header(file)
        parts = _parts(file, header, path.stat().st_size)
    columns: dict[str, AnyArray] = {}
    for part, values in zip(header.fields, parts, strict=True):
        if part.name == "_":
            continue
        if part.name in ("rgb", "rgba") and part.count == 1 and values.dtype.itemsize == 4:
            columns |= _unpacked(values[:, 0])
            continue
        for i in range(part.count):
            columns[part.name if part.count == 1 else f"{part.name}_{i}"] = values[:, i]
    return Table(columns, Said.from_json(header.said or "{}"))


def _parts(file: IO[bytes], header: _Header, size: int) -> list[AnyArray]:
    """(points, count) values of each field."""
    if header.data == "ascii":
        return _ascii(file, header)
    if header.data == "binary":
        rows = binary_points(file, header.dtype, header.points)
        return [rows[f"{i}"] for i in range(len(header.fields))]
    if header.data == "binary_compressed":
        return _compressed(file, header, size - file.tell())
    raise CloudError(f"has PCD data {header.data!r}: expected ascii, binary or binary_compressed")


def _header(file: IO[bytes]) -> _Header:
    entries: dict[str, list[str]] = {}
    remarks: list[str] = []
    said = ""
    while "DATA" not in entries:
        line = file.readline(_LONGEST_HEADER)
        if not line or file.tell() > _LONGEST_HEADER:
            raise CloudError("has a PCD header without a DATA line: the file was cut short or is no PCD file")
        text = line.decode("utf-8", errors="replace").strip()
        if text.startswith("#"):
            if text[1:].strip().startswith('{"gapcut"'):
                said = text[1:].strip()
            else:
                remarks.append(text)
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
    wide, high = _whole(entries, "WIDTH"), _whole(entries, "HEIGHT")
    if len(wide) == len(high) == 1 and wide[0] * high[0] != points[0]:
        raise CloudError(
            f"announces {points[0]:,} points, but {wide[0]:,} times {high[0]:,}: correct the header's POINTS"
        )
    shape = (str(wide[0]), str(high[0])) if len(wide) == len(high) == 1 else (str(points[0]), "1")
    data, view = (" ".join(entries.get(key, ["0 0 0 1 0 0 0"])) for key in ("DATA", "VIEWPOINT"))
    return _Header(fields, points[0], data, said, tuple(remarks), shape, view)


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
    check_count(header.points, header.points + sum(1 for line in file if line.strip()))
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


def write(file: IO[bytes], table: Table) -> None:
    """A binary PCD file."""
    columns = {one_word(name): values for name, values in table.columns.items()}
    xyz = np.stack([columns[axis] for axis in COORDINATES], axis=1).astype(np.float64)
    if np.abs(xyz.astype(np.float32) - xyz).max(initial=0.0) <= _SINGLE_KEEPS:
        columns |= {axis: columns[axis].astype(np.float32) for axis in COORDINATES}
    if all(name in columns and columns[name].dtype == np.uint8 for name in COLOURS):
        red, green, blue = (columns.pop(name).astype(np.uint32) for name in COLOURS)
        columns["rgb"] = red << 16 | green << 8 | blue
    fields = [_Field(name, values.dtype.str[1:], 1) for name, values in columns.items()]
    said = table.said.to_json()
    count = len(table)
    first = "# .PCD v0.7 - Point Cloud Data file format"
    header = _Header(tuple(fields), count, "binary", said, (first,), (str(count), "1"), "0 0 0 1 0 0 0")
    write_lines(file, _header_lines(header))
    file.write(packed_rows(columns, "<").data)


def _header_lines(header: _Header) -> list[str]:
    return [
        *header.remarks,
        *([f"# {header.said}"] if header.said else []),
        "VERSION 0.7",
        f"FIELDS {' '.join(f.name for f in header.fields)}",
        f"SIZE {' '.join(f.kind[-1] for f in header.fields)}",
        f"TYPE {' '.join(f.kind[-2].upper() for f in header.fields)}",
        f"COUNT {' '.join(str(f.count) for f in header.fields)}",
        f"WIDTH {header.shape[0]}",
        f"HEIGHT {header.shape[1]}",
        f"VIEWPOINT {header.viewpoint}",
        f"POINTS {header.points}",
        f"DATA {header.data}",
    ]


def add(source: Path, file: IO[bytes], addition: Addition) -> None:
    """The source with our fields after its own, all else as it is; what is compressed becomes binary. Where points go,
    the rows of an organised cloud become one."""
    with source.open("rb") as given:
        header = _header(given)
        addition.check(header.points)
        placed = addition.place(
            [f.name for f in header.fields if f.name != "_"], Said.from_json(header.said or "{}")
        )
        gone = [f for f in header.fields if f.name in placed.dropped]
        ours = [_Field(name, values.dtype.str[1:], 1) for name, values in placed.columns.items()]
        longer = replace(
            header,
            fields=tuple([f for f in header.fields if f not in gone] + ours),
            points=addition.n_points,
            data="ascii" if header.data == "ascii" else "binary",
            said=placed.said.to_json(),
            shape=header.shape if addition.rows is None else (str(addition.n_points), "1"),
        )
        write_lines(file, _header_lines(longer))
        if header.data == "ascii":
            starts = np.cumsum([0, *(f.count for f in header.fields)]).tolist()
            at = [starts[i] + k for i, f in enumerate(header.fields) if f in gone for k in range(f.count)]
            lines = islice((line for line in decoded(given) if line.strip()), header.points)
            write_lines(file, longer_lines(lines, placed.columns, addition.rows, at))
            return
        parts = _parts(given, header, source.stat().st_size)
        kept = [values for f, values in zip(header.fields, parts, strict=True) if f not in gone]
        rows = np.empty(addition.n_points, dtype=longer.dtype)
        which = slice(None) if addition.rows is None else addition.rows
        for i, values in enumerate(kept):
            rows[f"{i}"] = values[which]
        for i, values in enumerate(placed.columns.values(), start=len(kept)):
            rows[f"{i}"] = values[:, None]
        file.write(rows.data)

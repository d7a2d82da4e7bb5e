"""PLY (Turk 1994), ascii and binary of either byte order: the ``vertex`` element with any scalar properties.

Written: coordinates as ``double``, colours ``uchar``, labels and segments ``int``; names of labels in a comment
(JSON). Faces and other elements are skipped when read. What a labelling adds is called ``scalar_<name>``, which is
what CloudCompare loads without being asked.
"""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import IO

import numpy as np

from gapcut.scenes.clouds.addition import Addition, Placed
from gapcut.scenes.clouds.errors import CloudError
from gapcut.scenes.clouds.lines import (
    binary_points,
    check_count,
    decoded,
    longer_lines,
    row_lines,
    text_points,
    write_lines,
)
from gapcut.scenes.clouds.names import Said, one_word
from gapcut.scenes.clouds.table import Table, packed_rows, without_64_bits
from gapcut.typing import AnyArray

_TYPES = {
    "char": "i1", "uchar": "u1", "short": "i2", "ushort": "u2", "int": "i4", "uint": "u4", "float": "f4",
    "double": "f8", "int8": "i1", "uint8": "u1", "int16": "i2", "uint16": "u2", "int32": "i4", "uint32": "u4",
    "float32": "f4", "float64": "f8",
}  # fmt: skip
_NAMES = {code: name for name, code in reversed(_TYPES.items())}
_FORMATS = {"ascii": "", "binary_little_endian": "<", "binary_big_endian": ">"}
_LONGEST_HEADER = 1 << 20


@dataclass
class _Element:
    name: str
    count: int
    properties: list[tuple[str, str]] = field(default_factory=list)
    has_list: bool = False

    def dtype(self, order: str) -> np.dtype[np.void]:
        return np.dtype([(name, order + code) for name, code in self.properties])


@dataclass
class _Header:
    order: str = ""
    elements: list[_Element] = field(default_factory=list)
    said: str = ""
    lines: list[str] = field(default_factory=list)
    """As they are in the file, but for the comment that is ours."""

    @property
    def before(self) -> list[_Element]:
        """What comes before the vertices."""
        return self.elements[: self._place]

    @property
    def vertex(self) -> _Element:
        return self.elements[self._place]

    @property
    def after(self) -> list[_Element]:
        return self.elements[self._place + 1 :]

    @property
    def _place(self) -> int:
        return [element.name for element in self.elements].index("vertex")


def read(path: Path) -> Table:
    """Columns of the vertices. Raises CloudError."""
    with path.open("rb") as file:
        header = _header(file)
        columns = _ascii(file, header) if header.order == "" else _binary(file, header)
    return Table(columns, Said.from_json(header.said or "{}"))


def _header(file: IO[bytes]) -> _Header:
    if file.readline(16).strip() != b"ply":
        raise CloudError("is no PLY file: it does not begin with 'ply'")
    header = _Header()
    known_format = False
    while True:
        line = file.readline(_LONGEST_HEADER)
        if not line or file.tell() > _LONGEST_HEADER:
            raise CloudError("has a PLY header without 'end_header': the file was cut short")
        text = line.decode("utf-8", errors="surrogateescape").strip("\r\n")
        words = text.split()
        match words:
            case ["end_header"]:
                break
            case ["format", form, _] if form in _FORMATS:
                header.order, known_format = _FORMATS[form], True
            case ["element", name, count] if count.isascii() and count.isdigit():
                header.elements.append(_Element(name, int(count)))
            case ["property", "list", _, _, _] if header.elements:
                header.elements[-1].has_list = True
            case ["property", kind, name] if kind in _TYPES and header.elements:
                _add_property(header.elements[-1], name, _TYPES[kind])
            case ["comment", *rest]:
                if rest and rest[0].startswith('{"gapcut"'):
                    header.said = text.split(maxsplit=1)[1]
                    continue
            case [] | ["obj_info", *_]:
                pass
            case _:
                raise CloudError(f"has a PLY header line that cannot be read: {' '.join(words)[:60]!r}")
        header.lines.append(text)
    _check_header(header, known_format)
    return header


def _check_header(header: _Header, known_format: bool) -> None:
    if not known_format:
        raise CloudError("has a PLY header without a format line")
    if not any(element.name == "vertex" for element in header.elements):
        raise CloudError("has no vertex element: not a point cloud")
    if header.vertex.has_list:
        raise CloudError("has a list among the properties of a vertex: only scalar properties are read")
    if header.order != "":
        for element in header.before:
            if element.has_list and element.count:
                raise CloudError(
                    f"has lists ({element.name}) before the vertices: only files with vertices first are read"
                )
        if not header.vertex.properties:
            raise CloudError("has vertices without properties")


def _add_property(element: _Element, name: str, code: str) -> None:
    if any(name == known for known, _ in element.properties):
        raise CloudError(f"has two properties {name!r} in its PLY header")
    element.properties.append((name, code))


def _ascii(file: IO[bytes], header: _Header) -> dict[str, AnyArray]:
    for _ in islice(file, sum(element.count for element in header.before)):
        pass
    vertex = header.vertex
    values = text_points(file, vertex.count, len(vertex.properties))
    check_count(vertex.count, vertex.count + _rest(file, header))
    return {
        name: _typed(values[:, i], code, name)
        for i, (name, code) in enumerate(vertex.properties)
        if len(values)
    }


def _rest(file: IO[bytes], header: _Header) -> int:
    """Lines that follow the vertices where nothing should."""
    return 0 if header.after else sum(1 for line in file if line.strip())


def _typed(values: AnyArray, code: str, name: str) -> AnyArray:
    kind = np.dtype(code)
    if kind.kind == "f":
        return values if name in ("x", "y", "z") else values.astype(kind)
    limits = np.iinfo(kind)
    if not np.isfinite(values).all() or values.min() < limits.min or values.max() > limits.max:
        raise CloudError(f"has a value of property {name!r} that does not fit its type")
    return values.astype(kind)


def _binary(file: IO[bytes], header: _Header) -> dict[str, AnyArray]:
    for element in header.before:
        file.seek(element.count * element.dtype(header.order).itemsize, 1)
    vertex = header.vertex
    rows = binary_points(file, vertex.dtype(header.order), vertex.count, last=not header.after)
    return {name: rows[name].astype(rows[name].dtype.newbyteorder("=")) for name, _ in vertex.properties}


def fit(table: Table) -> Table:
    """The table as this format can keep it. Raises CloudError."""
    columns = {one_word(name): values for name, values in table.columns.items()}
    return Table(without_64_bits(columns), table.said)


def write(file: IO[bytes], table: Table, form: str = "binary_little_endian") -> None:
    """``form``: ascii, binary_little_endian or binary_big_endian."""
    if form not in _FORMATS:
        raise CloudError(f"PLY has no format {form!r}: use {', '.join(_FORMATS)}")
    table = fit(table)
    said = table.said.to_json()
    lines = [
        "ply",
        f"format {form} 1.0",
        *([f"comment {said}"] if said else []),
        f"element vertex {len(table)}",
        *_properties(table.columns),
        "end_header",
    ]
    write_lines(file, lines)
    if form == "ascii":
        write_lines(file, row_lines(table.columns))
    else:
        file.write(packed_rows(table.columns, _FORMATS[form]).data)


def _properties(columns: Mapping[str, AnyArray]) -> list[str]:
    return [f"property {_NAMES[values.dtype.str[1:]]} {name}" for name, values in columns.items()]


def add(source: Path, file: IO[bytes], addition: Addition) -> None:
    """The source with our properties after those of its vertices, all else as it is. Where points go, so do faces and
    other elements after the vertices, which count them."""
    with source.open("rb") as given:
        header = _header(given)
        vertex = header.vertex
        addition.check(vertex.count)
        names = [name for name, _ in vertex.properties]
        placed = addition.place(names, Said.from_json(header.said or "{}"), "scalar_")
        columns = without_64_bits(placed.columns)
        head = _longer_header(header, placed, columns, addition)
        file.write(("\n".join(head) + "\n").encode("utf-8", errors="surrogateescape"))
        if header.order == "":
            file.writelines(islice(given, sum(element.count for element in header.before)))
            lines = islice((line for line in decoded(given) if line.strip()), vertex.count)
            gone = [i for i, name in enumerate(names) if name in placed.dropped]
            write_lines(file, longer_lines(lines, columns, addition.rows, gone))
        else:
            size = sum(element.count * element.dtype(header.order).itemsize for element in header.before)
            file.write(given.read(size))
            rows = binary_points(given, vertex.dtype(header.order), vertex.count, last=not header.after)
            rows = rows if addition.rows is None else rows[addition.rows]
            kept = {name: rows[name] for name in names if name not in placed.dropped}
            file.write(packed_rows({**kept, **columns}, header.order).data)
        if addition.rows is None:
            shutil.copyfileobj(given, file)


def _longer_header(
    header: _Header, placed: Placed, columns: Mapping[str, AnyArray], addition: Addition
) -> list[str]:
    said = placed.said.to_json()
    result, inside = ["ply"], ""
    for line in [*header.lines, "element"]:
        words = line.split()
        kind = words[0] if words else ""
        if kind == "element":
            if inside == "vertex":
                result += _properties(columns)
                if addition.rows is not None:
                    break
            inside = " ".join(words[1:2])
            line = f"element vertex {addition.n_points}" if inside == "vertex" else line
        if not (kind == "property" and inside == "vertex" and words[-1] in placed.dropped):
            result.append(line)
        if kind == "format" and said:
            result.append(f"comment {said}")
    return [line for line in result if line != "element"] + ["end_header"]

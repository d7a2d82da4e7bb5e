"""PLY (Turk 1994), ascii and binary of either byte order: the ``vertex`` element with any scalar properties.

Written: coordinates as ``double``, colours ``uchar``, labels and segments ``int``; names of labels in a comment
(JSON). Faces and other elements are skipped when read.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import IO

import numpy as np

from gapcut.scenes.clouds.cloud import PointCloud
from gapcut.scenes.clouds.errors import CloudError
from gapcut.scenes.clouds.lines import binary_points, number_format, text_points, write_rows
from gapcut.scenes.clouds.names import from_json, to_json
from gapcut.scenes.clouds.table import Table, packed_rows, to_columns
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


def read(path: Path) -> Table:
    """Columns of the vertices. Raises CloudError."""
    with path.open("rb") as file:
        header = _header(file)
        before: list[_Element] = []
        for element in header.elements:
            if element.name == "vertex":
                break
            before.append(element)
        else:
            raise CloudError("has no vertex element: not a point cloud")
        if element.has_list:
            raise CloudError("has a list among the properties of a vertex: only scalar properties are read")
        binary = header.order != ""
        columns = _binary(file, header, before, element) if binary else _ascii(file, before, element)
    return Table(columns, *from_json(header.said or "{}"))


def _header(file: IO[bytes]) -> _Header:
    if file.readline(16).strip() != b"ply":
        raise CloudError("is no PLY file: it does not begin with 'ply'")
    header = _Header()
    known_format = False
    while True:
        line = file.readline(_LONGEST_HEADER)
        if not line or file.tell() > _LONGEST_HEADER:
            raise CloudError("has a PLY header without 'end_header': the file was cut short")
        words = line.decode("utf-8", errors="replace").split()
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
                text = " ".join(rest)
                header.said = text if text.startswith('{"gapcut"') else header.said
            case [] | ["obj_info", *_]:
                pass
            case _:
                raise CloudError(f"has a PLY header line that cannot be read: {' '.join(words)[:60]!r}")
    if not known_format:
        raise CloudError("has a PLY header without a format line")
    return header


def _add_property(element: _Element, name: str, code: str) -> None:
    if any(name == known for known, _ in element.properties):
        raise CloudError(f"has two properties {name!r} in its PLY header")
    element.properties.append((name, code))


def _ascii(file: IO[bytes], before: list[_Element], vertex: _Element) -> dict[str, AnyArray]:
    for _ in islice(file, sum(element.count for element in before)):
        pass
    values = text_points(file, vertex.count, len(vertex.properties))
    return {
        name: _typed(values[:, i], code, name)
        for i, (name, code) in enumerate(vertex.properties)
        if len(values)
    }


def _typed(values: AnyArray, code: str, name: str) -> AnyArray:
    kind = np.dtype(code)
    if kind.kind == "f":
        return values if name in ("x", "y", "z") else values.astype(kind)
    limits = np.iinfo(kind)
    if not np.isfinite(values).all() or values.min() < limits.min or values.max() > limits.max:
        raise CloudError(f"has a value of property {name!r} that does not fit its type")
    return values.astype(kind)


def _binary(
    file: IO[bytes], header: _Header, before: list[_Element], vertex: _Element
) -> dict[str, AnyArray]:
    for element in before:
        if element.has_list and element.count:
            raise CloudError(
                f"has lists ({element.name}) before the vertices: only files with vertices first are read"
            )
        file.seek(element.count * element.dtype(header.order).itemsize, 1)
    if not vertex.properties:
        raise CloudError("has vertices without properties")
    rows = binary_points(file, vertex.dtype(header.order), vertex.count)
    return {name: rows[name].astype(rows[name].dtype.newbyteorder("=")) for name, _ in vertex.properties}


def write(file: IO[bytes], cloud: PointCloud, form: str = "binary_little_endian") -> None:
    """``form``: ascii, binary_little_endian or binary_big_endian."""
    if form not in _FORMATS:
        raise CloudError(f"PLY has no format {form!r}: use {', '.join(_FORMATS)}")
    columns = to_columns(cloud, wide_integers=False)
    said = to_json(cloud.label_names, cloud.crs)
    lines = [
        "ply",
        f"format {form} 1.0",
        *([f"comment {said}"] if said else []),
        f"element vertex {cloud.n_points}",
    ]
    lines += [f"property {_NAMES[values.dtype.str[1:]]} {name}" for name, values in columns.items()]
    file.write(("\n".join([*lines, "end_header"]) + "\n").encode("utf-8"))
    if form == "ascii":
        write_rows(file, list(columns.values()), [number_format(n, v) for n, v in columns.items()])
    else:
        file.write(packed_rows(columns, _FORMATS[form]).data)

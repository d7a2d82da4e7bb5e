"""XYZ text: one line per point, numbers between blanks, tabs, commas or semicolons.

The header names the columns: ``# x y z label``, ``//X Y Z`` (CloudCompare) or ``x,y,z,label``. Without a header 3
columns are x y z, 4 add intensity, 6 red green blue (0 to 255, else nx ny nz), 7 intensity and colour. A line with
the number of points before the data (PTS) is skipped; other lines that begin with ``#`` or ``//`` are comments, one
of which may carry the names of labels (JSON).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain
from pathlib import Path
from typing import IO

import numpy as np

from gapcut.scenes.clouds.cloud import PointCloud
from gapcut.scenes.clouds.errors import CloudError
from gapcut.scenes.clouds.lines import number_format, read_rows, write_rows
from gapcut.scenes.clouds.names import from_json, plain_name, to_json
from gapcut.scenes.clouds.table import Table, narrow_integer, to_columns
from gapcut.typing import AnyArray, FloatArray

_MOST_HEADER_LINES = 1000
_LONGEST_LINE = 1 << 20


def read(path: Path, columns: Sequence[str] | None = None) -> Table:
    """Columns of a text file; ``columns`` names them where the header does not. Raises CloudError."""
    with path.open(encoding="utf-8", errors="replace") as file:
        header, said, first = _header(file)
        if not first:
            raise CloudError("holds no points")
        delimiter = next((mark for mark in ",;" if mark in first), None)
        rows = read_rows(chain([first], _with_content(file)), delimiter)
    width = rows.shape[1]
    names = list(columns) if columns is not None else _names(header, rows)
    if len(names) != width:
        raise CloudError(
            f"names {len(names)} columns ({' '.join(names)}), but its lines hold {width} numbers"
        )
    columns_read = {name: _whole_if_all_are(rows[:, i]) for i, name in enumerate(names)}
    return Table(columns_read, *from_json(said or "{}"))


def is_prose(path: Path) -> bool:
    """Whether the first line that says something is neither numbers nor the header of a cloud, as in notes that lie
    beside scans."""
    try:
        with path.open(encoding="utf-8", errors="replace") as file:
            _header(file)
    except CloudError:
        return True
    return False


def _whole_if_all_are(values: FloatArray) -> AnyArray:
    """As integers where that keeps every value."""
    whole = bool((values == np.floor(values)).all()) and bool(np.abs(values).max(initial=0.0) < 2.0**53)
    return narrow_integer(values.astype(np.int64)) if whole else values


def _with_content(lines: Iterator[str]) -> Iterator[str]:
    return (line for line in lines if line.strip() and not line.startswith(("#", "//")))


def _header(file: Iterator[str]) -> tuple[list[str], str, str]:
    """Names of the columns ([] if not said), the JSON comment, the first line of numbers."""
    names: list[str] = []
    said = ""
    lines = iter(file.readline, "") if hasattr(file, "readline") else file
    for _, line in zip(range(_MOST_HEADER_LINES), lines, strict=False):
        text = line.strip()
        bare = text.lstrip("#/").strip()
        if bare.startswith('{"gapcut"'):
            said = bare
            continue
        words = _words(bare)
        if {"x", "y", "z"} <= {plain_name(word).lower() for word in words}:
            names = words
        elif text and not text.startswith(("#", "//")):
            if len(words) == 1 and words[0].isdigit():
                continue
            if not _are_numbers(words):
                raise CloudError(
                    f"has a line that is neither numbers nor a header naming x y z: {text[:60]!r}"
                )
            return names, said, line
    return names, said, ""


def _words(text: str) -> list[str]:
    for mark in ",;":
        if mark in text:
            return [word.strip().strip('"') for word in text.split(mark)]
    return text.split()


def _are_numbers(words: list[str]) -> bool:
    try:
        return bool([float(word) for word in words])
    except ValueError:
        return False


def _names(header: list[str], rows: FloatArray) -> list[str]:
    if header:
        return _distinct(header)
    width = rows.shape[1]
    colours = ["red", "green", "blue"]
    tail = rows[:, -3:]
    coloured = width in (6, 7) and bool(((tail >= 0) & (tail <= 255) & (tail == np.floor(tail))).all())
    extra = {0: [], 1: ["intensity"], 3: colours if coloured else ["nx", "ny", "nz"]}.get(width - 3)
    if width == 7 and coloured:
        extra = ["intensity", *colours]
    if extra is None:
        extra = [f"column_{i}" for i in range(4, width + 1)]
    return ["x", "y", "z", *extra][:width] if width >= 3 else [f"column_{i}" for i in range(1, width + 1)]


def _distinct(names: list[str]) -> list[str]:
    result: list[str] = []
    for name in names:
        while name in result:
            name += "_"
        result.append(name)
    return result


def write(file: IO[bytes], cloud: PointCloud, separator: str = " ") -> None:
    """A header line ``# x y z ...`` (without ``#`` between commas), then one line per point, coordinates to 1e-6."""
    columns = to_columns(cloud)
    said = to_json(cloud.label_names, cloud.crs)
    names = separator.join(columns)
    head = [*([f"# {said}"] if said else []), names if separator == "," else f"# {names}"]
    file.write(("\n".join(head) + "\n").encode("utf-8"))
    write_rows(file, list(columns.values()), [number_format(n, v) for n, v in columns.items()], separator)

"""Tables of numbers as lines of text, and rows of points that a header announces."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from itertools import chain
from typing import IO

import numpy as np

from gapcut.scenes.clouds.errors import CloudError
from gapcut.typing import AnyArray, FloatArray

_ROWS_AT_ONCE = 100_000
_NO_COMMENT = None


def read_rows(lines: Iterator[str], delimiter: str | None = None, most: int | None = None) -> FloatArray:
    """(rows, columns) numbers of the next ``most`` lines, blank ones left out. Raises ValueError naming the row."""
    if most == 0:
        return np.empty((0, 0))
    first = next((line for line in lines if line.strip()), None)
    if first is None:
        return np.empty((0, 0))
    rows: FloatArray = np.loadtxt(
        chain([first], lines),
        dtype=np.float64,
        comments=_NO_COMMENT,
        delimiter=delimiter,
        ndmin=2,
        max_rows=most,
    )
    return rows


def text_points(file: IO[bytes], count: int, width: int) -> FloatArray:
    """(count, width) numbers, a line per point. Raises CloudError where there are others."""
    rows = read_rows((line.decode("utf-8", errors="replace") for line in file), most=count)
    if len(rows) != count:
        raise CloudError(f"holds {len(rows):,} of {count:,} points: the file was cut short")
    if count and rows.shape[1] != width:
        raise CloudError(f"has {rows.shape[1]} numbers a point, but names {width}")
    return rows.reshape(count, width)


def binary_points(file: IO[bytes], dtype: np.dtype[np.void], count: int) -> AnyArray:
    """(count,) records from here on. Raises CloudError where the file ends before."""
    room = max(0, os.fstat(file.fileno()).st_size - file.tell()) // dtype.itemsize
    if room < count:
        raise CloudError(f"holds {room:,} of {count:,} points: the file was cut short")
    return np.fromfile(file, dtype=dtype, count=count)


def write_rows(
    file: IO[bytes], columns: Sequence[AnyArray], formats: Sequence[str], separator: str = " "
) -> None:
    """One line per point; ``formats`` are printf formats, one per column."""
    line = separator.join(formats)
    for start in range(0, len(columns[0]), _ROWS_AT_ONCE):
        rows = zip(*(column[start : start + _ROWS_AT_ONCE].tolist() for column in columns), strict=True)
        file.write(("\n".join(line % row for row in rows) + "\n").encode("ascii"))


def number_format(name: str, values: AnyArray) -> str:
    """Coordinates to a micrometre, floats so that they read back the same, integers as they are."""
    if values.dtype.kind in "iu":
        return "%d"
    if name in ("x", "y", "z"):
        return "%.6f"
    return "%.9g" if values.dtype.itemsize <= 4 else "%.17g"

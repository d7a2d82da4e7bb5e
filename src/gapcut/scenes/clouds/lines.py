"""Tables of numbers as lines of text, and rows of points that a header announces."""

from __future__ import annotations

import os
from codecs import getincrementalencoder
from collections.abc import Collection, Iterable, Iterator, Mapping
from itertools import chain, islice, repeat
from typing import IO

import numpy as np

from gapcut.scenes.clouds.errors import CloudError
from gapcut.typing import AnyArray, BoolArray, FloatArray

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
    rows = read_rows(decoded(file), most=count)
    if len(rows) != count:
        raise CloudError(f"holds {len(rows):,} of {count:,} points: the file was cut short")
    if count and rows.shape[1] != width:
        raise CloudError(f"has {rows.shape[1]} numbers a point, but names {width}")
    return rows.reshape(count, width)


def decoded(file: IO[bytes]) -> Iterator[str]:
    """The lines of a file of bytes from here on."""
    return (line.decode("utf-8", errors="surrogateescape") for line in file)


def check_count(count: int, found: int) -> None:
    """Raises CloudError where a file holds more points than its header announces."""
    if found > count:
        raise CloudError(
            f"announces {count:,} points, but holds {found:,}: its header is wrong, correct the number in it"
        )


def binary_points(file: IO[bytes], dtype: np.dtype[np.void], count: int, last: bool = True) -> AnyArray:
    """(count,) records from here on. Raises CloudError where the file ends before or, if they are the ``last`` in it,
    goes on."""
    room = max(0, os.fstat(file.fileno()).st_size - file.tell()) // dtype.itemsize
    if room < count:
        raise CloudError(f"holds {room:,} of {count:,} points: the file was cut short")
    if last:
        check_count(count, room)
    return np.fromfile(file, dtype=dtype, count=count)


def row_lines(columns: Mapping[str, AnyArray], separator: str = " ") -> Iterator[str]:
    """One line per point, without its end."""
    form = separator.join(number_format(name, values) for name, values in columns.items())
    for start in range(0, len(next(iter(columns.values()))), _ROWS_AT_ONCE):
        parts = (values[start : start + _ROWS_AT_ONCE].tolist() for values in columns.values())
        yield from (form % row for row in zip(*parts, strict=True))


def write_lines(file: IO[bytes], lines: Iterable[str], encoding: str = "utf-8") -> None:
    """Lines without their ends, many at once; bytes that were no text when read come back."""
    rest, encoder = iter(lines), getincrementalencoder(encoding)("surrogateescape")
    while block := list(islice(rest, _ROWS_AT_ONCE)):
        file.write(encoder.encode("\n".join(block) + "\n"))


def longer_lines(
    lines: Iterable[str],
    columns: Mapping[str, AnyArray],
    rows: BoolArray | None = None,
    dropped: Collection[int] = (),
    delimiter: str | None = None,
    decimal: str = ".",
) -> Iterator[str]:
    """Lines of points, of the mask ``rows``, without the columns ``dropped`` and with the values of ``columns``; all
    other characters of a line stay. Raises CloudError where there are not as many."""
    separator = delimiter or " "
    ours = row_lines(columns, separator)
    keep = repeat(True) if rows is None else iter(rows.tolist())
    for line in lines:
        kept = next(keep, None)
        if not kept:
            continue
        text = line.strip("\r\n") if delimiter == "\t" else line.strip()
        if dropped:
            parts = text.split(delimiter)
            text = separator.join(part for i, part in enumerate(parts) if i not in dropped)
        more = next(ours)
        yield f"{text}{separator}{more if decimal == '.' else more.replace('.', decimal)}"


def number_format(name: str, values: AnyArray) -> str:
    """Coordinates to a micrometre (a thousandth of it below 1000, for degrees), floats so that they read back the same,
    integers as they are."""
    if values.dtype.kind in "iu":
        return "%d"
    if name in ("x", "y", "z"):
        return "%.9f" if np.abs(values).max(initial=0.0) < 1000.0 else "%.6f"
    return "%.9g" if values.dtype.itemsize <= 4 else "%.17g"

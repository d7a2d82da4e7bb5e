"""XYZ text: one line per point, numbers between blanks, tabs, commas or semicolons.

The header names the columns: ``# x y z label``, ``//X Y Z`` (CloudCompare), ``x,y,z,label`` or
``Easting,Northing,Height``. :mod:`gapcut.scenes.clouds.text_layout` says what is read without one. A line with the
number of points before the data (PTS) must be right; other lines that begin with ``#`` or ``//`` are comments, one of
which may carry the names of labels (JSON).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from pathlib import Path
from typing import IO

import numpy as np

from gapcut.scenes.clouds.addition import Addition, Placed
from gapcut.scenes.clouds.errors import CloudError
from gapcut.scenes.clouds.lines import check_count, longer_lines, read_rows, row_lines, write_lines
from gapcut.scenes.clouds.names import Said, one_word
from gapcut.scenes.clouds.table import Table, narrow_integer
from gapcut.scenes.clouds.text_layout import (
    Layout,
    ProseError,
    delimiter_of,
    find_layout,
    plain_names,
    recognised,
    split,
)
from gapcut.typing import AnyArray, FloatArray


def read(path: Path, columns: Sequence[str] | None = None) -> Table:
    """Columns of a text file; ``columns`` names them, whatever the header says. Raises CloudError."""
    layout, _ = find_layout(path, columns)
    rows = _numbers(path, layout)
    names = _names(layout, rows, columns, path)
    if len(names) != rows.shape[1]:
        raise CloudError(
            f"names {len(names)} columns ({' '.join(names)}), but its lines hold {rows.shape[1]} numbers"
        )
    columns_read = {name: _whole_if_all_are(rows[:, i]) for i, name in enumerate(names)}
    return Table(columns_read, Said.from_json(layout.said or "{}"))


def is_prose(path: Path) -> bool:
    """Whether the first line that says something is neither numbers nor the header of a cloud, as in notes that lie
    beside scans."""
    try:
        find_layout(path)
    except ProseError:
        return True
    except (CloudError, UnicodeError):  # told when the file is read, in its turn
        return False
    return False


def write(file: IO[bytes], table: Table, separator: str = " ", counted: bool = False) -> None:
    """The number of points where they are ``counted`` (PTS), a header line ``# x y z ...`` (without ``#`` between
    commas), then one line per point, coordinates to 1e-6 (1e-9 below 1000)."""
    columns = {one_word(name): values for name, values in table.columns.items()}
    said = table.said.to_json()
    head = [f"# {said}"] if said else []
    head = [*([str(len(table))] if counted else []), *head, _header_line(list(columns), separator)]
    write_lines(file, chain(head, row_lines(columns, separator)))


def add(source: Path, file: IO[bytes], addition: Addition, columns: Sequence[str] | None = None) -> None:
    """Every line of the source as it is, with our values at its end; a header where there was none. Comments between
    points come after them."""
    layout, _ = find_layout(source, columns)
    rows = _numbers(source, layout)
    addition.check(len(rows))
    names = _names(layout, rows, columns, source)
    placed = addition.place(names, Said.from_json(layout.said or "{}"))
    gone = [i for i, name in enumerate(names) if name in placed.dropped]
    remarks: list[str] = []
    with source.open(encoding=layout.encoding, errors="surrogateescape") as given:
        lines = _points(given, layout, remarks)
        longer = longer_lines(lines, placed.columns, addition.rows, gone, layout.delimiter, layout.decimal)
        head = _longer_head(layout, placed, names, gone, addition, columns is not None)
        write_lines(file, chain(head, longer, remarks), layout.encoding)


def _numbers(path: Path, layout: Layout) -> FloatArray:
    with path.open(encoding=layout.encoding, errors="surrogateescape") as file:
        lines = _points(file, layout)
        if layout.decimal == ",":
            lines = (line.replace(",", ".") for line in lines)
        rows = read_rows(lines, layout.delimiter)
    if layout.count is not None:
        if len(rows) < layout.count:
            raise CloudError(f"holds {len(rows):,} of {layout.count:,} points: the file was cut short")
        check_count(layout.count, len(rows))
    return rows


def _names(layout: Layout, rows: FloatArray, columns: Sequence[str] | None, path: Path) -> list[str]:
    given = layout.names if columns is None else list(columns)
    return plain_names(given) if given else recognised(rows, layout.counted >= 0, path)


def _points(file: Iterable[str], layout: Layout, remarks: list[str] | None = None) -> Iterator[str]:
    """The lines after those of the head that hold numbers; comments among them go to ``remarks``."""
    left = len(layout.head)
    for line in file:
        text = line.strip()
        if left and not text.lstrip("#/").strip().startswith('{"gapcut"'):
            left -= 1
        elif text.startswith(("#", "//")):
            if remarks is not None and '{"gapcut"' not in text:
                remarks.append(text)
        elif text and not left:
            yield line


def _longer_head(
    layout: Layout, placed: Placed, names: list[str], gone: list[int], addition: Addition, named: bool
) -> Iterator[str]:
    ours = list(placed.columns)
    kept = [name for i, name in enumerate(names) if i not in gone]
    if layout.counted == 0:  # readers of PTS take the first line for it
        yield str(addition.n_points)
    yield f"# {placed.said.to_json()}"
    for i, line in enumerate(layout.head):
        if i == layout.counted:
            if i:
                yield str(addition.n_points)
        elif i != layout.header:
            yield line
        elif named:
            yield f"# {line.lstrip('#/ ')}"
        else:
            mark = delimiter_of(line)
            bare = line.lstrip("#/").strip()
            words = split(bare, mark) if gone else [bare]
            words = [word for k, word in enumerate(words) if k not in gone]
            yield line[: len(line) - len(bare)] + (mark or " ").join([*words, *ours])
    if layout.header < 0 or named:
        yield _header_line([*kept, *ours], layout.delimiter or " ")


def _header_line(names: list[str], separator: str) -> str:
    line = separator.join(names)
    return line if separator in ",;" else f"# {line}"


def _whole_if_all_are(values: FloatArray) -> AnyArray:
    """As integers where that keeps every value."""
    whole = bool((values == np.floor(values)).all()) and bool(np.abs(values).max(initial=0.0) < 2.0**53)
    return narrow_integer(values.astype(np.int64)) if whole else values

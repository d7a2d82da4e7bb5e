"""How a text file of points is laid out: its encoding, what separates numbers, decimal commas, names of the columns.

Nothing is guessed in silence: columns without names are recognised where their values leave one reading, which is
then said in a warning; else the file is refused, and the message asks for their names.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from gapcut.scenes.clouds.errors import CloudError
from gapcut.scenes.clouds.names import COLOURS, COORDINATES, meanings
from gapcut.typing import FloatArray

_MOST_HEADER_LINES = 1000
_SAMPLE = 1 << 16
_PLACES = {
    "x": ("easting", "east"),
    "y": ("northing", "north"),
    "z": ("height", "elevation", "altitude", "z"),
}
_UNIT = re.compile(r"\s*[\[(][^\])]*[\])]$")
_DECIMAL_COMMA = re.compile(r"[-+]?\d+(,\d+)?([eE][-+]?\d+)?")
_UNIT_LENGTH = 0.01
ASK = "name them with --columns (read_cloud(..., columns=...)), such as x,y,z,red,green,blue,label"


class ProseError(CloudError):
    """A file begins with words that are no header of a cloud."""


@dataclass(frozen=True)
class Layout:
    """``head``: the lines before the points. ``names`` of the columns in the words of the header, [] where none says
    them; ``header`` and ``counted``: places in ``head`` of the line with the names and of the one with the number of
    points (-1: none); ``said``: our JSON. ``delimiter`` None: blanks."""

    encoding: str
    head: list[str]
    names: list[str]
    header: int
    counted: int
    said: str
    delimiter: str | None
    decimal: str

    @property
    def count(self) -> int | None:
        """Points that are announced."""
        return None if self.counted < 0 else int(self.head[self.counted])


def encoding_of(path: Path) -> str:
    """By byte order mark, or by the zeros of UTF-16 without one; else UTF-8."""
    with path.open("rb") as file:
        start = file.read(_SAMPLE)
    if start.startswith(b"\xef\xbb\xbf"):
        return "utf-8-sig"
    if start.startswith((b"\xff\xfe", b"\xfe\xff")):
        return "utf-16"
    if b"\0" in start:
        return "utf-16-le" if start[1::2].count(0) > start[::2].count(0) else "utf-16-be"
    return "utf-8"


def find_layout(path: Path, columns: Sequence[str] | None = None) -> tuple[Layout, str]:
    """The layout, and the first line of numbers. A line of words before it is taken for a header where ``columns``
    are given. Raises CloudError for a file that does not begin like a cloud or holds no points."""
    encoding = encoding_of(path)
    head: list[str] = []
    names: list[str] = []
    header, counted, said = -1, -1, ""
    with path.open(encoding=encoding, errors="surrogateescape") as file:
        for _, line in zip(range(_MOST_HEADER_LINES), iter(file.readline, ""), strict=False):
            text = line.strip()
            bare = text.lstrip("#/").strip()
            if bare.startswith('{"gapcut"'):
                said = bare
                continue
            words = split(bare, delimiter_of(bare))
            if _are_places(words):
                names, header = words, len(head)
            elif text and not text.startswith(("#", "//")):
                if len(words) == 1 and words[0].isdigit():
                    counted = len(head)
                elif _are_numbers(words, text):
                    delimiter = delimiter_of(text)
                    decimal = (
                        "," if delimiter != "," and _has_comma([text, *file.readlines(_SAMPLE)]) else "."
                    )
                    layout = Layout(encoding, head, names, header, counted, said, delimiter, decimal)
                    return layout, line
                elif columns is not None and header < 0:
                    header = len(head)
                else:
                    raise ProseError(
                        f"has a line that is neither numbers nor a header naming x y z: {_shown(text)}: if it names "
                        f"the columns, {ASK}"
                    )
            head.append(text)
    raise CloudError("holds no points")


def delimiter_of(text: str) -> str | None:
    """What separates the numbers of a line: ";" or "," or a tab, else blanks (None)."""
    if ";" in text:
        return ";"
    fields = [field.split() for field in text.split("\t")]
    if len(fields) > 1 and not any(len(words) > 1 and _is_number(words[0]) for words in fields):
        return "\t"
    words = text.split()
    if "," in text and not (len(words) >= 3 and all(_DECIMAL_COMMA.fullmatch(word) for word in words)):
        return ","
    return None


def split(text: str, delimiter: str | None) -> list[str]:
    """The words of a line, without quotes."""
    return [word.strip().strip('"') for word in text.split(delimiter)]


def plain_names(names: Sequence[str]) -> list[str]:
    """Names of columns with places called x y z, each different."""
    words = [_UNIT.sub("", name) for name in names]
    places = _places(words)
    result: list[str] = []
    for i, name in enumerate(names):
        name = places.get(i, name)
        while name in result:
            name += "_"
        result.append(name)
    return result


def recognised(rows: FloatArray, counted: bool, path: Path) -> list[str]:
    """Names of columns without a header, by their values (a file ``counted`` by its first line is PTS: x y z,
    intensity, red green blue). Warns of what was recognised; raises CloudError where there is no or more than one
    reading."""
    width = rows.shape[1]
    if width <= 3:
        return [*COORDINATES][:width] if width == 3 else [f"column_{i + 1}" for i in range(width)]
    if counted and width in (4, 6, 7):
        return [*COORDINATES, *{4: ["intensity"], 6: COLOURS, 7: ["intensity", *COLOURS]}[width]]
    found = [reading for reading in _readings(width) if _may_be(rows, reading)]
    if len(found) != 1:
        raise CloudError(
            f"has {width} numbers a line and no header, and more than one reading or none: {ASK}"
        )
    names = [*COORDINATES, *found[0]]
    warnings.warn(f"{path}: no header; read as {' '.join(names)}; where that is wrong, {ASK}", stacklevel=2)
    return names


def _readings(width: int) -> list[list[str]]:
    """What usually follows x y z in that many columns."""
    normals = ["nx", "ny", "nz"]
    parts = [["intensity"], ["label"]]
    usual = [
        *parts,
        [*COLOURS],
        normals,
        *([*COLOURS, *part] for part in parts),
        *([*part, *COLOURS] for part in parts),
        [*COLOURS, *normals],
        [*normals, *COLOURS],
    ]
    return [reading for reading in usual if len(reading) == width - 3]


def _may_be(rows: FloatArray, reading: list[str]) -> bool:
    """Whether the values after x y z fit: whole numbers from 0 to 255 as colours, from -1 to 255 as labels, vectors of
    length 1 as normals; anything as intensity."""
    values = {name: rows[:, 3 + i] for i, name in enumerate(reading)}
    normal = [values[name] for name in ("nx", "ny", "nz") if name in values]
    units = (
        np.abs(np.linalg.norm(rows[:, 3:6], axis=1) - 1.0).max() < _UNIT_LENGTH
        if len(reading) >= 3
        else False
    )
    if normal and np.abs(np.linalg.norm(np.stack(normal, axis=1), axis=1) - 1.0).max() >= _UNIT_LENGTH:
        return False
    for name, column in values.items():
        whole = bool((column == np.floor(column)).all())
        if name in COLOURS and not (whole and column.min() >= 0 and column.max() <= 255):
            return False
        if name == "label" and not (whole and column.min() >= -1 and column.max() <= 255):
            return False
    return not (reading[0] == "red" and units)


def _are_places(words: list[str]) -> bool:
    found = set(_places([_UNIT.sub("", word) for word in words]).values())
    return found >= set(COORDINATES)


def _places(words: list[str]) -> dict[int, str]:
    """Place among the words -> x, y or z; {} where they do not name all three."""
    lower = [word.lower() for word in words]
    found = {
        axis: words.index(raw) for axis, raw in meanings(dict.fromkeys(words)).items() if axis in COORDINATES
    }
    for axis, usual in _PLACES.items():
        place = next((lower.index(name) for name in usual if name in lower), None)
        if axis not in found and place is not None:
            found[axis] = place
    return {place: axis for axis, place in found.items()} if len(found) == len(COORDINATES) else {}


def _are_numbers(words: list[str], text: str) -> bool:
    comma = delimiter_of(text) != ","
    return bool(words) and all(_is_number(word.replace(",", ".") if comma else word) for word in words)


def _is_number(word: str) -> bool:
    try:
        float(word)
    except ValueError:
        return False
    return True


def _has_comma(lines: Sequence[str]) -> bool:
    return any("," in line for line in lines if not line.startswith(("#", "//")))


def _shown(text: str) -> str:
    return repr(text.encode("utf-8", errors="replace").decode("utf-8")[:60])

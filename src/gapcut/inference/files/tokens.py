"""Words of a text file, read one after the other; complaints carry the line."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np

from gapcut.inference.files.errors import BadFactor, EnergyFileError
from gapcut.typing import FloatArray, IntArray

_LARGEST_INTEGER = 2**62
_BEYOND = re.compile(r"[+-]?[0-9]+\.?[0-9]*[eE]\+?[0-9]+")


_COMMENT = re.compile(r"#.*")


class Tokens:
    """A place in the white-space separated words of ``text``; ``comments``: what follows # in a line is none."""

    def __init__(self, text: str, path: Path, comments: bool = False) -> None:
        self._text = text = _COMMENT.sub("", text) if comments and "#" in text else text
        self._path = path
        self._words = text.split()
        self._at = 0

    def word(self, what: str) -> str:
        """The next word."""
        self._need(1, what)
        self._at += 1
        return self._words[self._at - 1]

    def words(self, count: int, what: str) -> list[str]:
        """The next ``count`` words."""
        self._need(count, what)
        self._at += count
        return self._words[self._at - count : self._at]

    def integer(self, what: str, least: int | None = 0) -> int:
        """The next word as an integer, at least ``least``."""
        word = self.word(what)
        value = as_integer(word)
        if value is None:
            raise self.fail(f"expected {what}, an integer, found {shorten(word)}")
        if least is not None and value < least:
            raise self.fail(f"{what} is {value}, expected at least {least}")
        return value

    def integers(self, count: int, what: str, least: int = 0) -> list[int]:
        """The next ``count`` words as integers."""
        self._need(count, what)
        return [self.integer(what, least) for _ in range(count)]

    def integer_rows(self, rows: int, columns: int, what: str) -> IntArray:
        """(rows, columns) of the next words as integers."""
        words = self.words(rows * columns, what)
        start = self._at - len(words)
        try:
            return np.array(list(map(int, words)), dtype=np.int64).reshape(rows, columns)
        except (ValueError, OverflowError):
            pass
        for i, word in enumerate(words):
            if as_integer(word) is None:
                raise self.fail(f"expected {what}, an integer, found {shorten(word)}", start + i)
        raise self.fail(f"{what} does not fit 64 bits", start)

    def numbers(self, count: int, what: str, beyond: bool = False) -> FloatArray:
        """The next ``count`` words as finite numbers; with ``beyond`` those too large for float64 are inf."""
        words = self.words(count, what)
        start = self._at - count
        try:
            values = np.fromiter(map(float, words), dtype=np.float64, count=count)
        except ValueError:
            values = np.full(count, np.nan)
        if np.isfinite(values).all() and not any("_" in word for word in words):
            return values
        for i, word in enumerate(words):
            if as_number(word) is None and not (beyond and _BEYOND.fullmatch(word)):
                raise self.fail(f"expected {what}, a finite number, found {shorten(word)}", start + i)
        return values

    def rest_as_integers(self) -> IntArray | None:
        """All words not read yet, or None if one is no integer; nothing counts as read."""
        words = self._words[self._at :]
        try:
            values = np.fromiter(map(int, words), dtype=np.int64, count=len(words))
        except (ValueError, OverflowError):
            return None
        plain = "_" not in self._text and self._text.isascii()
        return values if plain and np.abs(values).max(initial=0) < _LARGEST_INTEGER else None

    def rest_as_numbers(self) -> FloatArray | None:
        """All words not read yet as float64, or None if one is no number; nothing counts as read."""
        words = self._words[self._at :]
        try:
            values = np.fromiter(map(float, words), dtype=np.float64, count=len(words))
        except ValueError:
            return None
        return values if "_" not in self._text and self._text.isascii() else None

    def are_digits(self, places: IntArray) -> bool:
        """Whether the words in these places, counted from the next one, are digits only."""
        ahead = self._words
        return not len(places) or "".join([ahead[i] for i in (places + self._at).tolist()]).isdigit()

    def end(self, after: str) -> None:
        """Refuse words after the last one expected."""
        if self._at < len(self._words):
            self._at += 1
            raise self.fail(f"unexpected {shorten(self._words[self._at - 1])} after {after}")

    def text(self, at: int) -> str:
        """Word number ``at``."""
        return self._words[at]

    @property
    def left(self) -> int:
        """Words not read yet."""
        return len(self._words) - self._at

    @property
    def at(self) -> int:
        """Number of the last word read."""
        return self._at - 1

    def fail(self, detail: str, at: int | None = None) -> EnergyFileError:
        """A complaint about word ``at``, by default the last one read; to be raised."""
        return EnergyFileError(self._path, detail, self._line(self.at if at is None else at))

    @contextmanager
    def blame(self) -> Iterator[None]:
        """Say where it was if a factor turns out to be bad."""
        try:
            yield
        except BadFactor as error:
            raise self.fail(str(error)) from None

    def _need(self, count: int, what: str) -> None:
        if self.left < count:
            line = self._text.count("\n") + (0 if self._text.endswith("\n") else 1)
            raise EnergyFileError(
                self._path,
                f"the file ends where {what} should follow ({self.left} of {count} words there)",
                max(line, 1),
            )

    def _line(self, word: int) -> int:
        seen = 0
        for number, line in enumerate(self._text.split("\n"), 1):
            seen += len(line.split())
            if seen > word:
                return number
        return max(1, self._text.count("\n"))


def as_integer(word: str) -> int | None:
    """Value of an integer of moderate size, or None."""
    digits = word[1:] if word[:1] in "+-" else word
    if not (digits.isascii() and digits.isdigit() and len(digits) < 20):
        return None
    value = int(word)
    return value if abs(value) < _LARGEST_INTEGER else None


def as_number(word: str) -> float | None:
    """Value of a finite number, or None."""
    if "_" in word or not word.isascii():
        return None
    try:
        value = float(word)
    except ValueError:
        return None
    return value if math.isfinite(value) else None


def shorten(word: str) -> str:
    """A word as messages quote it."""
    return repr(word if len(word) <= 30 else word[:27] + "...")

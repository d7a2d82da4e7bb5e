"""JSON with the freedom of toulbar2's CFN files: quotes, commas and colons may be left out."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeAlias

import numpy as np

from gapcut.inference.files.errors import BadFactor, EnergyFileError
from gapcut.inference.files.tokens import as_integer, as_number, shorten
from gapcut.typing import FloatArray

_TOKEN = re.compile(r'"[^"]*"|[{}\[\]]|[^\s,:{}\[\]"]+')
_COMMENT = re.compile(r"^#.*$", re.MULTILINE)


@dataclass
class Group:
    """What stands between two brackets of any kind; ``at`` is the token number of the first."""

    at: int
    items: list[Item] = field(default_factory=list)


Item: TypeAlias = "int | Group"
"""An atom by its token number, or a group."""


class Document:
    """The tokens of a text and the groups they form."""

    def __init__(self, text: str, path: Path) -> None:
        self._text = _COMMENT.sub("", text)
        self._path = path
        self._tokens = _TOKEN.findall(self._text)
        if self._text.count('"') % 2:
            last = self._text.rindex('"')
            raise EnergyFileError(path, "a quote is never closed", self._text.count("\n", 0, last) + 1)
        self.root = self._group()

    def _group(self) -> Group:
        root = Group(0)
        open_groups, done = [root], 0
        for i, token in enumerate(self._tokens):
            if token not in ("{", "}", "[", "]"):
                continue
            open_groups[-1].items.extend(range(done, i))
            done = i + 1
            if token in "{[":
                open_groups.append(Group(i))
                open_groups[-2].items.append(open_groups[-1])
            elif len(open_groups) == 1:
                raise self.fail(f"{token!r} closes nothing", i)
            else:
                open_groups.pop()
        if len(open_groups) > 1:
            raise self.fail("this bracket is never closed", open_groups[-1])
        root.items.extend(range(done, len(self._tokens)))
        return root

    def text(self, atom: int) -> str:
        """An atom without its quotes."""
        token: str = self._tokens[atom]
        return token[1:-1] if token.startswith('"') else token

    def number(self, item: Item, what: str) -> float:
        """A finite number."""
        value = as_number(self.text(item)) if isinstance(item, int) else None
        if value is None:
            raise self.fail(f"expected {what}, a number, found {self.quote(item)}", item)
        return value

    def integer(self, item: Item, what: str) -> int:
        """An integer."""
        value = as_integer(self.text(item)) if isinstance(item, int) else None
        if value is None:
            raise self.fail(f"expected {what}, an integer, found {self.quote(item)}", item)
        return value

    def numbers(self, atoms: list[int], what: str) -> FloatArray:
        """Finite numbers, all atoms."""
        words = [self._tokens[i] for i in atoms]
        try:
            values = np.fromiter(map(float, words), dtype=np.float64, count=len(words))
            if np.isfinite(values).all() and not any("_" in word for word in words):
                return values
        except ValueError:
            pass
        return np.array([self.number(i, what) for i in atoms], dtype=np.float64)

    def flat(self, group: Group) -> list[int]:
        """All atoms in a group, inner brackets ignored."""
        atoms: list[int] = []
        stack: list[Item] = list(reversed(group.items))
        while stack:
            item = stack.pop()
            if isinstance(item, int):
                atoms.append(item)
            else:
                stack.extend(reversed(item.items))
        return atoms

    def quote(self, item: Item) -> str:
        """How messages call an item."""
        return shorten(self.text(item)) if isinstance(item, int) else "a bracket"

    def fail(self, detail: str, where: Item | None) -> EnergyFileError:
        """A complaint about an item, or about the end of the file; to be raised."""
        at = len(self._tokens) - 1 if where is None else where.at if isinstance(where, Group) else where
        position = 0
        for i, match in enumerate(_TOKEN.finditer(self._text)):
            position = match.start()
            if i == at:
                break
        return EnergyFileError(self._path, detail, self._text.count("\n", 0, position) + 1)

    @contextmanager
    def blame(self, where: Item | None) -> Iterator[None]:
        """Say where it was if a factor turns out to be bad."""
        try:
            yield
        except BadFactor as error:
            raise self.fail(str(error), where) from None

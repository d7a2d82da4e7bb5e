"""What a declaration of parameters gives: their checks and their documentation.

A declared class is a dataclass: annotations say which values are allowed (``Literal`` for names, ``Annotated`` with a
:class:`Range` for numbers, unions of these and of classes), its docstring has an entry about each field.
"""

from __future__ import annotations

import numbers
import os
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from inspect import cleandoc
from textwrap import indent
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin, get_type_hints

import numpy as np

_WORDS: dict[Any, str] = {
    **{str: "a path", os.PathLike: "a path", Callable: "a function", NoneType: "None"},
    **{np.ndarray: "an array", list: "a list", Iterable: "a sequence", Mapping: "a mapping"},
}


@dataclass(frozen=True)
class Range:
    """The numbers that are allowed: in words, and their test."""

    words: str
    holds: Callable[[float], bool]


@cache
def texts(declared: type) -> dict[str, str]:
    """What the docstring says about each parameter, in entries ``name: text``; their first lines stand alone."""
    entries = re.findall(r"^(\w+): (.*(?:\n    .*)*)", cleandoc(declared.__doc__ or ""), re.MULTILINE)
    return {name: cleandoc(text) for name, text in entries}


def summary(declared: type, name: str) -> str:
    """The first line about a parameter, as plain text."""
    return texts(declared).get(name, "").partition("\n")[0].replace("``", "")


def parameters_section(declared: type) -> str:
    """All parameters in the manner of numpydoc, to stand in a docstring that is not indented."""
    return "\n".join(
        f"{name} : {allowed(declared, name)}\n{indent(text, '    ')}"
        for name, text in texts(declared).items()
    )


def allowed(declared: type, name: str) -> str:
    """The values that a parameter takes, in words."""
    found: list[str] = []
    for kind, within in _kinds(declared)[name]:
        span = f" {within.words}" if within else ""
        words = {float: [f"a number{span}"], int: [f"a whole number{span}"], bool: ["True", "False"]}
        word = repr(kind) if isinstance(kind, str) else _WORDS.get(kind, f"a {kind.__name__}")
        if kind is str and os.PathLike not in dict(_kinds(declared)[name]):
            word = "text"
        found += words.get(kind, [word])
    *first, last = dict.fromkeys(found)
    return f"{', '.join(first)} or {last}" if first else last


def accepted(declared: type, name: str, value: Any) -> Any:
    """The value, as float, int or bool where one of these is due.

    Raises ValueError (TypeError for a value of a wrong type) that names the parameter, the value and what is allowed.
    """
    kinds = _kinds(declared)[name]
    names = [kind for kind, _ in kinds if isinstance(kind, str)]
    error = ValueError if names else TypeError
    for kind, within in kinds:
        if kind in (int, float):
            if _is_number(value, kind):
                if within is None or within.holds(value):
                    return kind(value)
                error = ValueError
        elif kind is bool:
            if isinstance(value, bool | np.bool_):
                return bool(value)
        elif isinstance(value, str) and names:  # a string is one of the names, or misspelt
            if value == kind:
                return value
        elif not isinstance(kind, str) and isinstance(value, kind) and not isinstance(value, type):
            return value
    raise error(f"{name}={_shown(value)} must be {allowed(declared, name)}")


@cache
def _kinds(declared: type) -> dict[str, list[tuple[Any, Range | None]]]:
    """What the annotation of each field allows: strings of literals, and classes; None last."""
    hints = get_type_hints(declared, include_extras=True)
    return {
        name: sorted(_members(hint), key=lambda kind: kind[0] is NoneType) for name, hint in hints.items()
    }


def _members(hint: Any, within: Range | None = None) -> list[tuple[Any, Range | None]]:
    origin = get_origin(hint)
    alias = hint if origin is None else origin
    if hasattr(alias, "__value__"):  # of a ``type`` statement, as NumPy's from 2.5 on
        return _members(alias.__value__, within)
    if origin is Annotated:
        return _members(hint.__origin__, hint.__metadata__[0])
    if origin in (Union, UnionType):
        return [member for arm in get_args(hint) for member in _members(arm)]
    return [(kind, within) for kind in (get_args(hint) if origin is Literal else [origin or hint])]


def _is_number(value: Any, kind: type) -> bool:
    wanted = numbers.Integral if kind is int else numbers.Real
    return isinstance(value, wanted) and not isinstance(value, bool | np.bool_)


def _shown(value: Any) -> str:
    try:
        text = " ".join(repr(value).split())
    except ValueError:  # an int of thousands of digits
        text = "a huge number"
    return text if len(text) <= 60 else f"{text[:57]}..."

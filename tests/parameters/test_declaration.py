"""Annotations of every kind say which values are allowed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeVar

import numpy as np
import pytest

from gapcut.parameters import accepted, allowed

TypeAliasType = pytest.importorskip("typing_extensions").TypeAliasType
T = TypeVar("T")
Rows = TypeAliasType("Rows", np.ndarray[tuple[int, ...], np.dtype[T]], type_params=(T,))
Plain = TypeAliasType("Plain", list[int])


@dataclass
class Declared:
    """rows: Those of a table."""

    rows: Rows[np.float64] | Plain | None = None


def test_aliases_of_type_statements_stand_for_their_values():
    """As those of NumPy 2.5 and later are, in Python 3.12 and later."""
    assert allowed(Declared, "rows") == "an array, a list or None"
    for value in (None, np.zeros(3), [1]):
        assert accepted(Declared, "rows", value) is value
    with pytest.raises(TypeError, match=r"^rows=1 must be an array, a list or None"):
        accepted(Declared, "rows", 1)

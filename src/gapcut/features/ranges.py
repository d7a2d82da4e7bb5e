"""Column statistics over many graphs, safe for huge, tiny and denormal numbers."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from gapcut.late import is_sparse
from gapcut.typing import BoolArray, FloatArray

_FLAT = 8 * float(np.finfo(np.float64).eps)


@dataclass(frozen=True)
class ColumnRanges:
    """(D,) smallest and largest value of each column over all rows seen; both 0 if there was no row."""

    low: FloatArray
    high: FloatArray

    @classmethod
    def of(cls, tables: Iterable[Any], columns: int) -> ColumnRanges:
        """``tables``: (rows, columns) dense arrays or CSR matrices, in which absent entries are zeros."""
        low, high = np.full(columns, np.inf), np.full(columns, -np.inf)
        for table in tables:
            if not table.shape[0]:
                continue
            low, high = np.minimum(low, _reduce(table, "min")), np.maximum(high, _reduce(table, "max"))
        unseen = low > high
        return cls(np.where(unseen, 0.0, low), np.where(unseen, 0.0, high))

    @property
    def peak(self) -> FloatArray:
        """Largest absolute value."""
        return np.maximum(np.abs(self.low), np.abs(self.high))

    @property
    def constant(self) -> BoolArray:
        """Columns that vary by no more than rounding."""
        scale = np.where(self.zero, 1.0, self.peak)  # dividing first keeps the spread from overflowing
        return np.asarray(self.high / scale - self.low / scale <= _FLAT)

    @property
    def zero(self) -> BoolArray:
        return np.asarray(self.peak == 0.0)


def _reduce(table: Any, how: str) -> FloatArray:
    reduced = getattr(table, how)(axis=0)
    return np.asarray(reduced.toarray() if is_sparse(table) else reduced).ravel()

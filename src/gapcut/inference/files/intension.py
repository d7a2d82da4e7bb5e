"""Cost functions given by a formula, written out as tables (toulbar2's WCSP and CFN formats)."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from gapcut.inference.files.errors import BadFactor
from gapcut.typing import FloatArray

COMPARATORS = (">=", ">", "<=", "<", "=", "==")


def comparison(operator: str, shape: tuple[int, ...], constant: float, delta: float) -> FloatArray:
    """Violation of ``x operator y + constant`` where it is at most ``delta``, +inf beyond; x and y are the
    label indices of the two nodes."""
    if len(shape) != 2:
        raise BadFactor(f"{operator} compares two nodes, its scope has {len(shape)}")
    x, y = np.arange(shape[0], dtype=np.float64)[:, None], np.arange(shape[1], dtype=np.float64)[None, :]
    above = y + constant - x  # how far x stays below y + constant
    violation = {
        ">=": above,
        ">": above + 1.0,
        "<=": -above,
        "<": 1.0 - above,
        "=": np.abs(above),
        "==": np.abs(above),
    }[operator]
    return np.where(violation <= delta, np.maximum(violation, 0.0), np.inf)


def maximum(shape: tuple[int, ...], default: float, costs: Iterable[tuple[int, int, float]]) -> FloatArray:
    """``max_i cost_i[x_i]``, from triples (axis, label, cost); what is not given costs ``default``."""
    rows = [np.full(count, default) for count in shape]
    for axis, label, cost in costs:
        if not 0 <= label < shape[axis]:
            raise BadFactor(f"label {label} does not exist, the node has {shape[axis]}")
        rows[axis][label] = cost
    table = np.full(shape, -np.inf)
    for axis, row in enumerate(rows):
        table = np.maximum(table, row.reshape([-1 if i == axis else 1 for i in range(len(shape))]))
    return table


def unsupported(kind: str) -> BadFactor:
    """The refusal of a global cost function."""
    return BadFactor(
        f"global cost function {kind!r} is not supported: only tables, "
        f"{', '.join(COMPARATORS[:5])} and max; write it as tables"
    )

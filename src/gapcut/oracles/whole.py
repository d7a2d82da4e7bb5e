"""Shares, labels and tables in whole numbers, for proof files (docs/proofs.md).

Whatever is rounded here stays feasible: it costs tightness, never truth.
"""

from __future__ import annotations

import math
from typing import Final

import numpy as np
from numpy.typing import NDArray

from gapcut.typing import AnyArray, IntArray

WHOLE: Final = 1 << 15
"""Units of 1: shares, labels and table entries are multiples of 1/WHOLE, which float32 holds exactly."""

UInt16Array = NDArray[np.uint16]
UInt8Array = NDArray[np.uint8]

_MESSAGE: Final = 1 << 23
"""Steps that a message has less than, in either direction: with an offset three bytes each."""

_LEAST_STEP: Final = -149
"""Power of two below which float32 has no numbers."""


def whole_labels(labels: AnyArray) -> UInt16Array:
    """(N, K) in [0, 1], to the nearest unit."""
    return np.asarray(np.rint(np.asarray(labels, dtype=np.float32) * np.float32(WHOLE)), dtype=np.uint16)


def whole_simplex(labels: AnyArray) -> UInt16Array:
    """(N, K) in units that add up to ``WHOLE`` in each row: rounded down, and one more where most was lost."""
    shares = np.asarray(labels, dtype=np.float64)
    exact = WHOLE * (shares / shares.sum(axis=1, keepdims=True))
    units = np.floor(exact).astype(np.int64)
    rank = np.argsort(np.argsort(units - exact, axis=1, kind="stable"), axis=1, kind="stable")
    units += rank < (WHOLE - units.sum(axis=1))[:, None]
    return np.asarray(units, dtype=np.uint16)


def whole_tables(tables: AnyArray, tail: IntArray, head: IntArray) -> IntArray:
    """(K, K, M) near ``tables``, rows adding up to ``tail`` (K, M), columns to ``head`` (K, M), all in units."""
    units = np.minimum(tail[:, None], head[None, :])  # right where one end has a single label
    free = ((tail > 0).sum(axis=0) > 1) & ((head > 0).sum(axis=0) > 1)
    units[:, :, free] = _fitted(tables[:, :, free], tail[:, free], head[:, free])
    return np.asarray(units)


def _fitted(tables: AnyArray, tail: IntArray, head: IntArray) -> IntArray:
    """Rows, then columns that are too large are scaled down, entries rounded down; what is missing then goes where
    there is something, as far as both sums allow, and the rest anywhere."""
    exact = WHOLE * np.asarray(tables, dtype=np.float64)
    for sums, axis in ((tail, 1), (head, 0)):
        found = exact.sum(axis=axis)
        factor = np.minimum(1.0, sums / np.maximum(found, 1e-300))
        exact *= np.expand_dims(factor, axis)
    units = np.floor(exact).astype(np.int64)
    rows, columns = tail - units.sum(axis=1), head - units.sum(axis=0)
    for where in (units > 0, np.ones_like(units, dtype=bool)):
        for k in range(len(rows)):
            for m in range(len(columns)):
                more = np.where(where[k, m], np.minimum(rows[k], columns[m]), 0)
                units[k, m] += more
                rows[k] -= more
                columns[m] -= more
    return units


def given_entries(tables: IntArray, tail: IntArray, head: IntArray) -> UInt16Array:
    """What of such tables a proof file holds, edge by edge and row by row: entries of labels that both have a part in
    their node and are not the first largest there. The sums give the others."""
    inner = []
    for labels in (tail, head):
        found = labels > 0
        found[labels.argmax(axis=0), np.arange(labels.shape[1])] = False
        inner.append(found)
    given = inner[0][:, None] & inner[1][None, :]
    return np.asarray(tables.transpose(2, 0, 1)[given.transpose(2, 0, 1)], dtype=np.uint16)


def whole_messages(messages: NDArray[np.float32]) -> tuple[NDArray[np.float32], UInt8Array, float]:
    """Near ``messages``, in float32, which holds them exactly; the same as a proof file has them, three bytes each; and
    the step that these count, a power of two."""
    largest = float(np.abs(messages).max(initial=0.0))
    power = max(_LEAST_STEP, math.frexp(largest)[1] - 23)
    steps = np.clip(np.rint(np.ldexp(messages, -power, dtype=np.float64)), 1 - _MESSAGE, _MESSAGE - 1)
    counts = (steps + _MESSAGE).astype("<u4")
    low_bytes = counts.view(np.uint8).reshape(*messages.shape, 4)[..., :3]
    return np.asarray(np.ldexp(steps, power), dtype=np.float32), low_bytes, math.ldexp(1.0, power)

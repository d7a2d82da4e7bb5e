"""Sparse matrices are checked before any routine of scipy follows their indices into memory."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from gapcut.data.errors import GraphError
from gapcut.late import sparse as sp
from gapcut.typing import AnyArray

MOST_COLUMNS = 2**31 - 1
"""Of a feature table: the core counts columns in 32 bits."""

DENSE_LIMIT = 2 << 30
"""Bytes that a sparse matrix may become where a dense array is needed."""


def sound_csr(value: Any, what: str, row: str) -> sp.csr_array:
    """Any scipy.sparse matrix as CSR with finite-sized, in-range indices; arrays may be shared with ``value``.

    Raises GraphError naming the argument and, where an index is out of range, the ``row`` (node, edge, clique).
    """
    try:
        return _as_csr(value, what, row)
    except GraphError:
        raise
    except (ValueError, TypeError, IndexError, AttributeError, OverflowError, MemoryError) as error:
        reason = " ".join(str(error).split()) or type(error).__name__
        raise GraphError(f"{what} is not a valid sparse matrix: {reason}") from None


def dense(value: Any, what: str, row: str) -> AnyArray:
    """A checked sparse matrix (or vector) as an ndarray, of at most ``DENSE_LIMIT`` bytes."""
    if 8 * math.prod(int(n) for n in value.shape) > DENSE_LIMIT:
        raise GraphError(f"{what} of shape {value.shape} is too large to be made dense")
    if value.ndim == 2:
        return np.asarray(sound_csr(value, what, row).toarray())
    if value.ndim != 1:
        raise GraphError(f"{what} has {value.ndim} dimensions: give a dense array or a table")
    return np.asarray(sound_csr(value.reshape(1, -1), what, row).toarray()[0])


def _as_csr(value: Any, what: str, row: str) -> sp.csr_array:
    if value.ndim != 2:
        raise GraphError(f"{what} has shape {value.shape}, but must be a table, one row a {row}")
    rows, columns = (int(n) for n in value.shape)
    if columns > MOST_COLUMNS:
        raise GraphError(f"{what} has {columns} columns, more than {MOST_COLUMNS}")
    if value.format in ("csr", "csc"):
        major, minor = (rows, columns) if value.format == "csr" else (columns, rows)
        _check_compressed(value, major, minor, what, row if value.format == "csr" else "column")
        kind = sp.csr_array if value.format == "csr" else sp.csc_array
        # built anew: flags such as "sorted" are not believed
        return sp.csr_array(kind((value.data, value.indices, value.indptr), shape=(rows, columns)))
    if value.format == "bsr":
        height, width = value.blocksize
        if value.data.shape != (len(value.indices), height, width) or rows % height or columns % width:
            raise ValueError("its blocks do not fit its shape")
        _check_compressed(value, rows // height, columns // width, what, "block row")
    if value.format == "lil" and any(len(i) != len(x) for i, x in zip(value.rows, value.data, strict=True)):
        raise ValueError("a row has more indices than values")
    if value.format == "lil":
        counts = np.array([len(i) for i in value.rows], dtype=np.int64)
        found = np.fromiter(
            (i for row_indices in value.rows for i in row_indices), np.int64, int(counts.sum())
        )
        _check_range(found, columns, what, row, np.repeat(np.arange(len(counts)), counts))
    if value.format == "dia":
        if value.offsets.ndim != 1 or value.data.ndim != 2 or len(value.offsets) != len(value.data):
            raise ValueError("its diagonals and offsets differ in number")
        _check_range(value.offsets.astype(np.int64) + rows, rows + columns, what, row)
    entries = value.tocoo() if value.format == "dok" else value
    if entries.format == "coo":
        at, to = (np.asarray(c) for c in entries.coords)
        if not at.shape == to.shape == entries.data.shape:
            raise ValueError("its indices and values differ in number")
        _check_range(at, rows, what, row)
        _check_range(to, columns, what, row, at)
    return sp.csr_array(entries)


def _check_compressed(value: Any, major: int, minor: int, what: str, row: str) -> None:
    indptr, indices = value.indptr, value.indices
    for part in (indptr, indices):
        if not isinstance(part, np.ndarray) or part.ndim != 1 or part.dtype.kind != "i":
            raise ValueError("its indices are no row of integers")
    if len(indptr) != major + 1 or indptr[0] != 0 or (indptr[1:] < indptr[:-1]).any():
        raise ValueError("its row starts do not ascend from 0, one a row")
    if int(indptr[-1]) > min(len(indices), len(value.data)):
        raise ValueError(
            f"its rows end at entry {int(indptr[-1])}, but it holds {min(len(indices), len(value.data))}"
        )
    used = indices[: indptr[-1]]
    outside = (used < 0) | (used >= minor)
    if outside.any():
        at = int(np.argmax(outside))
        _refuse(int(used[at]), minor, what, row, int(np.searchsorted(indptr, at, side="right")) - 1)


def _check_range(index: AnyArray, size: int, what: str, row: str, owner: AnyArray | None = None) -> None:
    outside = (index < 0) | (index >= size)
    if outside.any():
        at = int(np.argmax(outside))
        _refuse(int(index[at]), size, what, row, None if owner is None else int(owner[at]))


def _refuse(index: int, size: int, what: str, row: str, owner: int | None) -> None:
    where = "" if owner is None else f" of {row} {owner}"
    raise GraphError(f"{what}{where} is not a valid sparse matrix: index {index} is outside 0 to {size - 1}")

"""Unaries, edges and tables as users give them, checked and flattened for the core."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from gapcut import _core
from gapcut.typing import FloatArray, Int32Array, IntArray


@dataclass(frozen=True)
class Pairs:
    """(E, 2) edges, (E,) where each one's table starts in ``tables``, row-major; edges may share them."""

    edges: IntArray
    table_at: IntArray
    tables: FloatArray


def finite_sum(x: FloatArray) -> float:
    """Sum of magnitudes, infinite entries left out; without a copy of the whole."""
    total = 0.0
    for start in range(0, len(x), 1 << 20):
        part = np.abs(x[start : start + (1 << 20)])
        total += float(part.sum(where=part < np.inf))
    return total


def exact_sum(values: FloatArray) -> float:
    """The exact sum of the entries, rounded once; +inf where one is."""
    return _core.exact_sum(values)


def lower_sum(values: Sequence[float] | FloatArray) -> float:
    """The largest float that is at most the exact sum."""
    return _core.lower_sum(np.asarray(values, dtype=np.float64))


def spans(starts: IntArray, sizes: IntArray) -> IntArray:
    """``starts[i], starts[i] + 1, ...``, ``sizes[i]`` of them, one after the other."""
    ends = np.cumsum(sizes)
    return np.repeat(starts - ends + sizes, sizes) + np.arange(ends[-1] if len(ends) else 0)


def as_floats(values: Any, what: str) -> FloatArray:
    """``values`` as float64, row-major; ``ValueError`` names ``what``."""
    try:
        array = np.asarray(values)
        if array.dtype.kind == "c":
            raise TypeError("complex numbers")
        return np.asarray(array, dtype=np.float64, order="C")
    except (TypeError, ValueError) as error:
        raise ValueError(f"{what} must be an array of numbers: {error}") from None


def _forbid(bad: NDArray[np.bool_] | np.bool_) -> int | None:
    """Flat index of the first True."""
    return int(np.argmax(bad)) if np.any(bad) else None


def first_bad_entry(x: FloatArray) -> int | None:
    """Flat index of the first NaN or -inf; the common case reads the array once and allocates little."""
    flat = x.ravel()
    for start in range(0, len(flat), 1 << 20):
        part = flat[start : start + (1 << 20)]
        where = _forbid(~(part > -np.inf))
        if where is not None:
            return start + where
    return None


def pack_unaries(unaries: Any) -> tuple[Int32Array, IntArray, FloatArray]:
    """(V,) label counts, (V + 1,) where each node's entries start, all entries."""
    if isinstance(unaries, np.ndarray) and unaries.dtype != object:
        if unaries.ndim != 2:
            raise ValueError(
                f"unaries have shape {unaries.shape}, expected (nodes, labels) or a list of 1-D arrays"
            )
        rows: list[FloatArray] = []
        packed = as_floats(unaries, "unaries").ravel()
        counts = np.full(unaries.shape[0], unaries.shape[1], dtype=np.int64)
    else:
        rows = [as_floats(row, f"unaries of node {u}") for u, row in enumerate(unaries)]
        for u, row in enumerate(rows):
            if row.ndim != 1:
                raise ValueError(
                    f"unaries of node {u} have shape {row.shape}, expected (labels of the node,)"
                )
        packed = np.concatenate(rows) if rows else np.zeros(0)
        counts = np.array([len(row) for row in rows], dtype=np.int64)
    empty = _forbid(counts == 0)
    if empty is not None:
        raise ValueError(f"node {empty} has no label: give every node at least one unary entry")
    starts = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
    bad = first_bad_entry(packed)
    if bad is not None:
        u = int(np.searchsorted(starts, bad, side="right")) - 1
        raise ValueError(
            f"unary of node {u}, label {bad - starts[u]} is {packed[bad]}: "
            "entries must be finite, or +inf to forbid"
        )
    return counts.astype(np.int32), starts, packed


def check_edges(edges: Any, n_nodes: int) -> IntArray:
    """(E, 2) int64, every edge between two different nodes."""
    if edges is None:
        return np.zeros((0, 2), dtype=np.int64)
    try:
        array = np.asarray(edges)
    except ValueError as error:
        raise ValueError(f"edges must be an (edges, 2) array of node numbers: {error}") from None
    if array.size == 0 and array.ndim in (1, 2):
        return np.zeros((0, 2), dtype=np.int64)
    if array.ndim != 2 or array.shape[1] != 2:
        raise ValueError(f"edges have shape {array.shape}, expected (edges, 2)")
    if array.dtype.kind not in "iu":
        raise ValueError(f"edges must be integers, got {array.dtype}")
    array = np.ascontiguousarray(array, dtype=np.int64)
    outside = _forbid(((array < 0) | (array >= n_nodes)).any(axis=1))
    if outside is not None:
        u, v = array[outside]
        raise ValueError(f"edge {outside} joins nodes {u} and {v}, but the nodes are 0..{n_nodes - 1}")
    loop = _forbid(array[:, 0] == array[:, 1])
    if loop is not None:
        raise ValueError(
            f"edge {loop} is a self loop at node {array[loop, 0]}: add its diagonal to the unary instead"
        )
    return array


def pack_tables(tables: Any, edges: IntArray, labels: Int32Array) -> tuple[IntArray, FloatArray]:
    """Where each edge's table starts, and all entries in one row."""
    rows, columns = labels[edges[:, 0]].astype(np.int64), labels[edges[:, 1]].astype(np.int64)
    if tables is None:
        if len(edges):
            raise ValueError(f"there are {len(edges)} edges but no tables")
        return np.zeros(0, dtype=np.int64), np.zeros(0)
    stacked = isinstance(tables, np.ndarray) and tables.dtype != object
    if stacked and tables.ndim == 2:
        packed = as_floats(tables, "tables")
        _match_shapes(rows, columns, packed.shape, edges)
        starts = np.zeros(len(edges), dtype=np.int64)
    elif stacked and (tables.ndim == 3 or tables.size == 0):
        if len(tables) != len(edges):
            raise ValueError(f"tables hold {len(tables)} edges, edges {len(edges)}: give one table per edge")
        packed = as_floats(tables, "tables")
        if len(edges):
            _match_shapes(rows, columns, packed.shape[1:3], edges)
        starts = np.arange(len(edges), dtype=np.int64) * (
            packed.shape[1] * packed.shape[2] if packed.ndim == 3 else 0
        )
    elif stacked:
        raise ValueError(
            f"tables have shape {tables.shape}, expected (edges, labels, labels) or (labels, labels)"
        )
    else:
        return _pack_table_list(list(tables), rows, columns, edges)
    flat = packed.ravel()
    _check_entries(flat, starts, columns, edges)
    return starts, flat


def _pack_table_list(
    tables: list[Any], rows: IntArray, columns: IntArray, edges: IntArray
) -> tuple[IntArray, FloatArray]:
    """A table that stands in the list many times is stored once."""
    if len(tables) != len(edges):
        raise ValueError(f"tables hold {len(tables)} edges, edges {len(edges)}: give one table per edge")
    _, first, which = np.unique([id(t) for t in tables], return_index=True, return_inverse=True)
    order = np.argsort(first)  # stored in the order of their first edges
    first, which = first[order], np.argsort(order)[which]
    arrays = [as_floats(tables[e], f"table of edge {e}") for e in first.tolist()]
    for e, table in zip(first.tolist(), arrays, strict=True):
        if table.ndim != 2:
            raise ValueError(
                f"table of edge {e} has shape {table.shape}, expected 2-D: {rows[e]} x {columns[e]}"
            )
    shape = np.array([t.shape for t in arrays], dtype=np.int64).reshape(-1, 2)
    _match_shapes(rows, columns, shape[which], edges)
    sizes = shape.prod(axis=1)
    starts = (np.cumsum(sizes) - sizes)[which]
    flat = np.concatenate([t.ravel() for t in arrays]) if arrays else np.zeros(0)
    _check_entries(flat, starts, columns, edges)
    return starts, flat


def _match_shapes(rows: IntArray, columns: IntArray, shapes: ArrayLike, edges: IntArray) -> None:
    """``shapes``: (E, 2), or (2,) where all tables have one shape."""
    got = np.broadcast_to(shapes, (len(edges), 2))
    bad = _forbid((rows != got[:, 0]) | (columns != got[:, 1]))
    if bad is not None:
        u, v = edges[bad]
        raise ValueError(
            f"table of edge {bad} is {got[bad, 0]} x {got[bad, 1]}, but node {u} has {rows[bad]} "
            f"labels and node {v} has {columns[bad]}"
        )


def _check_entries(flat: FloatArray, starts: IntArray, columns: IntArray, edges: IntArray) -> None:
    bad = first_bad_entry(flat)
    if bad is None:
        return
    e = int(np.argmax(starts == starts[starts <= bad].max())) if len(starts) else 0
    where = ""
    if len(edges):
        k, label = divmod(bad - int(starts[e]), int(columns[e]))
        where = f" of edge {e} ({edges[e, 0]}, {edges[e, 1]}), labels ({k}, {label})"
    raise ValueError(f"table entry{where} is {flat[bad]}: entries must be finite, or +inf to forbid")

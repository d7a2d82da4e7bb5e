"""Points by group: order, means, samples, squares, cubes. Counting, not sorting: time grows as the number of rows."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from scipy.spatial import cKDTree

from gapcut import _core
from gapcut.typing import AnyArray, FloatArray, Int32Array, IntArray

_FEW_CELLS = 1 << 20
_BLOCK = 1 << 16
_CHUNK = 500_000


def group_order(groups: AnyArray, n_groups: int, values: AnyArray | None = None) -> IntArray:
    """(N,) rows by ascending group in [0, n_groups), within a group by ascending value (not NaN), then by row.

    The time is N log M, with M rows in the largest group. Raises ValueError for a group out of range.
    """
    ids = np.ascontiguousarray(groups, dtype=np.int64)
    keys = None if values is None else np.ascontiguousarray(values, dtype=np.float64)
    order: IntArray = _core.group_order(ids, keys, n_groups)
    return order


def spread_sample(groups: IntArray, n_groups: int, most: int, rng: np.random.Generator) -> IntArray:
    """Rows, ascending: all of a group of no more than ``most``, else ``most`` of it, one at random out of each of as
    many equal runs of its rows."""
    order = group_order(groups, n_groups)
    count = np.bincount(groups, minlength=n_groups)
    start = np.cumsum(count) - count
    taken = np.zeros(len(order), dtype=bool)
    taken[order[np.repeat(count <= most, count)]] = True
    large = np.flatnonzero(count > most)
    ends = np.arange(most + 1) * count[large, None] // most
    place = rng.integers(ends[:, :-1], ends[:, 1:]) if len(large) else np.empty((0, most), dtype=np.int64)
    taken[order[start[large, None] + place]] = True
    return np.flatnonzero(taken)


def blocks(count: IntArray) -> Iterator[tuple[slice, slice]]:
    """The groups in runs of about 65,000 rows, so that work on one stays in the cache: slices of the groups, and of
    the rows in the order of the groups. ``count`` (G,) rows of each group; a larger group is a run of its own."""
    ends = np.cumsum(count)
    first = 0
    while first < len(count):
        before = int(ends[first] - count[first])
        last = max(first + 1, int(np.searchsorted(ends, before + _BLOCK, side="right")))
        yield slice(first, last), slice(before, int(ends[last - 1]))
        first = last


def squares(xyz: FloatArray, size: float) -> tuple[IntArray, int]:
    """(N,) the square of ``size`` metres that each point lies in, numbered from 0 along the grid without gaps, and
    the number of squares that hold points."""
    low = xyz[:, :2].min(axis=0)
    across, along = (np.floor((xyz[:, k] - low[k]) / size).astype(np.int64) for k in (0, 1))
    n_along = int(along.max()) + 1
    n_cells = (int(across.max()) + 1) * n_along
    cell = across * n_along + along
    if n_cells > max(_FEW_CELLS, 4 * len(xyz)):  # too many to count: sort those that occur
        present, place = np.unique(cell, return_inverse=True)
        return np.asarray(place, dtype=np.int64), len(present)
    filled = np.zeros(n_cells, dtype=bool)
    filled[cell] = True
    number = np.cumsum(filled, dtype=np.int64)
    return number[cell] - 1, int(number[-1])


def segment_means(values: AnyArray, segments: AnyArray, n_segments: int) -> FloatArray:
    """(n_segments, F) mean of the rows of ``values`` (M, F) by segment (M,), negative segments left out.

    Raises ValueError for a segment without rows.
    """
    ids = np.asarray(segments, dtype=np.int64)
    if ids.size and ids.max() >= n_segments:
        raise ValueError(f"segment {ids.max()} is beyond the {n_segments} segments announced")
    inside = np.flatnonzero(ids >= 0)
    counts = np.bincount(ids[inside], minlength=n_segments)
    if not counts.all():
        raise ValueError(f"segment {int(np.argmin(counts))} has no points: leave it out of the graph")
    columns = [
        np.bincount(ids[inside], weights=column[inside], minlength=n_segments)
        for column in np.asarray(values).T
    ]
    return np.asarray(np.stack(columns, axis=1) / counts[:, None])


@dataclass(frozen=True, eq=False)
class Thinned:
    """``rows`` (M,) the points kept, ascending; ``keeper`` (N,) for every point the place in ``rows`` of the nearest
    kept one."""

    rows: IntArray
    keeper: Int32Array


def thin(xyz: FloatArray, size: float, n_threads: int = 1) -> Thinned:
    """One random point (always the same) of each cube of ``size`` metres."""
    points = np.ascontiguousarray(xyz)
    rows = np.sort(_core.voxel_sample(points, size, 0))
    keeper = np.empty(len(points), dtype=np.int32)
    tree = cKDTree(points[rows])
    for i in range(0, len(points), _CHUNK):
        keeper[i : i + _CHUNK] = tree.query(points[i : i + _CHUNK], k=1, workers=n_threads)[1]
    return Thinned(rows, keeper)

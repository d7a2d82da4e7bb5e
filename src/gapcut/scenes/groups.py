"""Points by group: order, means, samples, squares, cubes. Groups are counted, not sorted."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from gapcut import _core
from gapcut.typing import AnyArray, FloatArray, Int32Array, IntArray

_FEW_CELLS = 1 << 20
_BLOCK = 1 << 16
_CHUNK = 500_000


def group_order(groups: AnyArray, n_groups: int, values: AnyArray | None = None) -> IntArray:
    """(N,) rows by ascending group in [0, n_groups), within a group by ascending value (not NaN), then by row.

    Raises ValueError for a group out of range.
    """
    ids, n = np.asarray(groups, dtype=np.int64), len(groups)
    if values is not None and len(values) != n:
        raise ValueError("there must be one value for each row, or none at all")
    wrong = np.flatnonzero((ids < 0) | (ids >= n_groups))
    if len(wrong):
        raise ValueError(f"row {wrong[0]} is of group {ids[wrong[0]]}, but there are {n_groups} groups")
    if values is not None and np.isnan(values).any():
        raise ValueError(f"the value of row {int(np.argmax(np.isnan(values)))} is NaN")
    rows = np.arange(n) if values is None else np.argsort(values, kind="stable")
    # what becomes the rows of a sparse matrix is counted, not sorted
    counted = sp.csr_array((np.ones(n, dtype=np.int8), (ids[rows], np.arange(n))), shape=(n_groups, n))
    return np.asarray(rows[counted.indices], dtype=np.int64)


def key_order(keys: IntArray) -> IntArray:
    """(N,) rows by ascending key, which is not negative, then by row: a radix sort."""
    return np.asarray(_core.sort_keys(np.ascontiguousarray(keys).astype(np.uint64)), dtype=np.int64)


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
    the number of squares that hold points. Squares begin at multiples of their size."""
    across, along = (np.floor(xyz[:, k] / size).astype(np.int64) for k in (0, 1))
    across, along = across - across.min(), along - along.min()
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


def voxel_sample(xyz: FloatArray, size: float, seed: int, numbers: IntArray | None = None) -> IntArray:
    """One row per cube of ``size`` metres that holds points, ascending: the one whose number's hash is least.

    ``numbers`` (N,) of the points, default their rows. The same for any order of the points' cubes. Raises ValueError
    for points that are not finite or too far away.
    """
    named = None if numbers is None else np.ascontiguousarray(numbers, dtype=np.int64)
    return np.asarray(_core.voxel_sample(np.ascontiguousarray(xyz, dtype=np.float64), size, seed, named))


def thin(xyz: FloatArray, size: float, n_threads: int = 1) -> Thinned:
    """One random point (always the same) of each cube of ``size`` metres."""
    rows = voxel_sample(xyz, size, 0)
    keeper = np.empty(len(xyz), dtype=np.int32)
    grid = kept_grid(xyz[rows], size)
    for i in range(0, len(xyz), _CHUNK):
        keeper[i : i + _CHUNK] = grid.nearest(xyz[i : i + _CHUNK], 1, n_threads)[0][:, 0]
    return Thinned(rows, keeper)


def kept_grid(xyz: FloatArray, size: float) -> _core.NearGrid:
    """To search for the nearest of the points that are kept of cubes of ``size`` metres."""
    return _core.NearGrid(xyz, 1.5 * size, 1.0)

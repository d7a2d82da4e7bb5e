"""Which segments touch, found cube by cube: linear in the number of points, tolerant of gaps."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gapcut.scenes.groups import group_order, squares
from gapcut.typing import AnyArray, FloatArray, IntArray

_REACH = 1.5
_OFFSETS = [
    (i, j, k)
    for i in (0, 1)
    for j in (-1, 0, 1)
    for k in (-1, 0, 1)
    if (i, j, k) > (0, 0, 0) or (i, j, k) == (0, 0, 0)
]


@dataclass(frozen=True, eq=False)
class Contacts:
    """Directed edges between segments that touch: both directions of each pair, sorted by first, then second node.

    ``edges`` (E, 2); ``size`` (E,) places in contact; ``above`` and ``below`` (E,) share of them where the first
    segment lies over, or under, the second; ``distance`` (E,) mean distance in metres; ``cell`` in metres.
    """

    edges: IntArray
    size: FloatArray
    above: FloatArray
    below: FloatArray
    distance: FloatArray
    cell: float


@dataclass(frozen=True, eq=False)
class _Patches:
    """Points of one segment in one cube, sorted by cube: ``key`` of the cube, ``segment``, ``mean`` (P, 3)."""

    key: IntArray
    segment: IntArray
    mean: FloatArray


def find_contacts(xyz: FloatArray, segments: IntArray, cell: float) -> Contacts:
    """Contacts of all segments (N,) of the points (N, 3).

    The points of a segment in one cube of ``cell`` metres are a patch. Two patches of different segments in the same
    or in touching cubes, whose means are no farther apart than 1.5 cells, are one place in contact. There the first
    segment is above if the line between the means is steeper than 45 degrees and rises towards it.
    """
    patches, strides = _patches(xyz, segments, cell)
    n = int(segments.max()) + 1 if len(segments) else 0
    found = [_places(patches, strides, offset, cell) for offset in _OFFSETS]
    u, v, rise, distance = (np.concatenate(parts) for parts in zip(*found, strict=True))
    swap = u > v
    u, v = np.where(swap, v, u), np.where(swap, u, v)
    rise = np.where(swap, -rise, rise)
    order = group_order(u, n, v)
    u, v = u[order], v[order]
    new = np.ones(len(u), dtype=bool)
    new[1:] = (np.diff(u) != 0) | (np.diff(v) != 0)
    start = np.flatnonzero(new)
    size = np.diff(start, append=len(u)).astype(np.float64)
    above, below, mean = (
        np.add.reduceat(values[order], start) / size if len(start) else size
        for values in ((rise > 0).astype(np.float64), (rise < 0).astype(np.float64), distance)
    )
    first, second = u[start], v[start]
    edges = np.concatenate([np.column_stack([first, second]), np.column_stack([second, first])])
    order = group_order(edges[:, 0], n, edges[:, 1])
    return Contacts(
        edges=edges[order],
        size=np.tile(size, 2)[order],
        above=np.concatenate([above, below])[order],
        below=np.concatenate([below, above])[order],
        distance=np.tile(mean, 2)[order],
        cell=cell,
    )


def _patches(xyz: FloatArray, segments: IntArray, cell: float) -> tuple[_Patches, IntArray]:
    at = np.floor((xyz - xyz.min(axis=0)) / cell).astype(np.int64) + 1
    shape = at.max(axis=0) + 2
    if float(shape[0]) * float(shape[1]) * float(shape[2]) > 2.0**53:
        raise ValueError(f"the points reach too far for cubes of {cell:g} m: remove stray points")
    strides = np.array([shape[1] * shape[2], shape[2], 1], dtype=np.int64)
    key = at @ strides
    column, n_columns = squares(xyz, cell)
    n = int(segments.max(initial=-1)) + 1
    order = group_order(column, n_columns, at[:, 2] * np.float64(n) + segments)  # by cube, then segment
    key, segment = key[order], segments[order]
    new = np.ones(len(key), dtype=bool)
    new[1:] = (np.diff(key) != 0) | (np.diff(segment) != 0)
    start = np.flatnonzero(new)
    mean = np.add.reduceat(xyz[order], start, axis=0) / np.diff(start, append=len(key))[:, None]
    return _Patches(key[start], segment[start], mean), strides


def _places(
    patches: _Patches, strides: IntArray, offset: tuple[int, int, int], cell: float
) -> tuple[IntArray, IntArray, FloatArray, FloatArray]:
    """Segments (u, v) of all places in contact at one offset, +1 / 0 / -1 for u above, beside, below v, distance."""
    wanted = patches.key + int(np.dot(strides, offset))
    first, last = (np.searchsorted(patches.key, wanted, side) for side in ("left", "right"))
    if offset == (0, 0, 0):
        first = np.arange(len(wanted)) + 1  # each pair of one cube once
    count = last - first
    i = np.repeat(np.arange(len(wanted)), count)
    j = np.arange(len(i)) - np.repeat(np.cumsum(count) - count, count) + np.repeat(first, count)
    line = patches.mean[i] - patches.mean[j]
    distance = np.linalg.norm(line, axis=1)
    touch = (patches.segment[i] != patches.segment[j]) & (distance <= _REACH * cell)
    i, j, line, distance = i[touch], j[touch], line[touch], distance[touch]
    steep = np.abs(line[:, 2]) > np.hypot(line[:, 0], line[:, 1])
    rise = np.where(steep, np.sign(line[:, 2]), 0.0)
    return patches.segment[i], patches.segment[j], rise, distance


def total_by_node(values: AnyArray, nodes: IntArray, n_nodes: int) -> FloatArray:
    """(n_nodes,) sums of the values of the edges that start at each node."""
    return np.asarray(np.bincount(nodes, np.asarray(values, dtype=np.float64), n_nodes))

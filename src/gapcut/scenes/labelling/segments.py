"""Segments of a scan: their shapes and features, and which of them touch.

Contacts are found cube by cube: linear in the number of points, tolerant of gaps (parts of a contact may be hidden).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gapcut.scenes.groups import blocks, group_order, segment_means, squares
from gapcut.typing import BoolArray, FloatArray, IntArray

SEGMENT_FEATURES = (
    *("length", "width", "thickness", "linearity", "planarity", "scattering", "verticality", "uprightness"),
    *("height low", "height middle", "height high", "rise", "points"),
)

_REACH = 1.5
_OFFSETS = [
    (i, j, k)
    for i in (0, 1)
    for j in (-1, 0, 1)
    for k in (-1, 0, 1)
    if (i, j, k) > (0, 0, 0) or (i, j, k) == (0, 0, 0)
]


@dataclass(frozen=True, eq=False)
class SegmentShapes:
    """Shape of every segment: ``centre`` (S, 3), ``axes`` (S, 3, 3) principal directions as rows, the longest first,
    ``spread`` (S, 3) standard deviations along them in metres, ``count`` (S,) points."""

    centre: FloatArray
    axes: FloatArray
    spread: FloatArray
    count: IntArray


@dataclass(frozen=True, eq=False)
class SegmentTable:
    """What is known of each segment: ``shapes``; ``values`` (S, 13) of ``SEGMENT_FEATURES``; ``mean_height`` (S,) m."""

    shapes: SegmentShapes
    values: FloatArray
    mean_height: FloatArray


def describe_segments(
    xyz: FloatArray, height: FloatArray, segments: IntArray, n_segments: int, voxel: float
) -> SegmentTable:
    """Features of segments (N,) of the points (N, 3) whose heights above ground (N,) are known."""
    shapes = segment_shapes(xyz, segments, n_segments)
    spread = shapes.spread
    longest = np.maximum(spread[:, :1], 1e-9)
    extents = np.sqrt(12.0) * spread
    order = group_order(segments, n_segments, height)
    count = np.bincount(segments, minlength=n_segments)
    start = np.cumsum(count) - count
    ordered = height[order]
    low, high = (ordered[start + np.floor(share * (count - 1)).astype(np.int64)] for share in (0.05, 0.95))
    middle = segment_means(height[:, None], segments, n_segments)[:, 0]
    values = np.column_stack(
        [
            np.log2(1.0 + extents / voxel),
            (spread[:, 0] - spread[:, 1]) / longest[:, 0],
            (spread[:, 1] - spread[:, 2]) / longest[:, 0],
            spread[:, 2] / longest[:, 0],
            1.0 - np.abs(shapes.axes[:, 2, 2]),
            np.abs(shapes.axes[:, 0, 2]),
            np.log2(1.0 + np.column_stack([low, middle, high]) / voxel),
            np.log2(1.0 + (high - low) / voxel),
            np.log2(np.maximum(count, 1)),
        ]
    )
    return SegmentTable(shapes, values, middle)


def segment_shapes(points: FloatArray, segments: IntArray, n: int) -> SegmentShapes:
    """Principal directions of segments 0 .. n - 1 (zeros and unit axes where a segment has no points)."""
    count = np.bincount(segments, minlength=n)
    order = group_order(segments, n)
    centre, second = np.zeros((n, 3)), np.zeros((n, 3, 3))
    for some, rows in blocks(count):
        owner, size = segments[order[rows]] - some.start, some.stop - some.start
        weight = np.maximum(count[some], 1)
        local = [np.ascontiguousarray(column) for column in points[order[rows]].T]
        for k in range(3):
            centre[some, k] = np.bincount(owner, local[k], size) / weight
            local[k] -= centre[some, k][owner]
        for i in range(3):
            for j in range(i, 3):
                second[some, i, j] = second[some, j, i] = (
                    np.bincount(owner, local[i] * local[j], size) / weight
                )
    values, vectors = np.linalg.eigh(second)
    spread = np.sqrt(np.maximum(values[:, ::-1], 0.0))
    return SegmentShapes(centre, np.swapaxes(vectors, 1, 2)[:, ::-1].copy(), spread, count.astype(np.int64))


@dataclass(frozen=True, eq=False)
class Contacts:
    """Directed edges between segments that touch: both directions of each pair, sorted by first, then second node.

    ``edges`` (E, 2); ``size`` (E,) places in contact; ``above`` and ``below`` (E,) share of them where the first
    segment lies over, or under, the second; ``lift`` (E,) in [-1, 1] how surely the first is the higher one: the sum of
    the differences in height over all places, over the sum of their sizes; ``distance`` (E,) mean distance in metres;
    ``cell`` in metres.
    """

    edges: IntArray
    size: FloatArray
    above: FloatArray
    below: FloatArray
    lift: FloatArray
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
    u, v, rise, steep, distance = (np.concatenate(parts) for parts in zip(*found, strict=True))
    swap = u > v
    u, v = np.where(swap, v, u), np.where(swap, u, v)
    rise = np.where(swap, -rise, rise)
    order = group_order(u, n, v)
    u, v = u[order], v[order]
    new = np.ones(len(u), dtype=bool)
    new[1:] = (np.diff(u) != 0) | (np.diff(v) != 0)
    start = np.flatnonzero(new)
    size = np.diff(start, append=len(u)).astype(np.float64)
    above, below, up, far, mean = (
        np.add.reduceat(values[order].astype(np.float64), start) / size if len(start) else size
        for values in (steep & (rise > 0), steep & (rise < 0), rise, np.abs(rise), distance)
    )
    lift = up / np.maximum(far, 1e-9)
    first, second = u[start], v[start]
    edges = np.concatenate([np.column_stack([first, second]), np.column_stack([second, first])])
    order = group_order(edges[:, 0], n, edges[:, 1])
    return Contacts(
        edges=edges[order],
        size=np.tile(size, 2)[order],
        above=np.concatenate([above, below])[order],
        below=np.concatenate([below, above])[order],
        lift=np.concatenate([lift, -lift])[order],
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
) -> tuple[IntArray, IntArray, FloatArray, BoolArray, FloatArray]:
    """Segments (u, v) of all places in contact at one offset, how much higher u is (m), whether the line between them
    is steep, and its length (m)."""
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
    return patches.segment[i], patches.segment[j], line[:, 2], steep, distance

"""Segments of a scan: their shapes and features, and which of them touch.

Contacts are found cube by cube: linear in the number of points, tolerant of gaps (parts of a contact may be hidden).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gapcut.scenes.groups import blocks, group_order, key_order, segment_means
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
    low, high = height_ends(height, segments, n_segments)
    middle = segment_means(height[:, None], segments, n_segments)[:, 0]
    return table_of(shapes, low, middle, high, voxel)


def height_ends(height: FloatArray, segments: IntArray, n_segments: int) -> tuple[FloatArray, FloatArray]:
    """(S,) heights that 5 % and 95 % of a segment's points reach."""
    ordered = height[group_order(segments, n_segments, height)]
    count = np.bincount(segments, minlength=n_segments)
    start = np.cumsum(count) - count
    low, high = (ordered[start + np.floor(share * (count - 1)).astype(np.int64)] for share in (0.05, 0.95))
    return low, high


def table_of(
    shapes: SegmentShapes, low: FloatArray, middle: FloatArray, high: FloatArray, voxel: float
) -> SegmentTable:
    """From shapes, :func:`height_ends` and mean heights of the segments."""
    spread, count = shapes.spread, shapes.count
    longest = np.maximum(spread[:, :1], 1e-9)
    extents = np.sqrt(12.0) * spread
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
    return shapes_of(*segment_moments(points, segments, n))


def segment_moments(
    points: FloatArray, segments: IntArray, n: int
) -> tuple[IntArray, FloatArray, FloatArray]:
    """Number of points (S,), their mean (S, 3) and covariance (S, 3, 3), zeros where a segment has none."""
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
    return count.astype(np.int64), centre, second


def shapes_of(count: IntArray, centre: FloatArray, second: FloatArray) -> SegmentShapes:
    """From moments."""
    values, vectors = np.linalg.eigh(second)
    spread = np.sqrt(np.maximum(values[:, ::-1], 0.0))
    return SegmentShapes(centre, np.swapaxes(vectors, 1, 2)[:, ::-1].copy(), spread, count)


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
    """Points of one segment in one cube, sorted by cube: ``cubes`` (C,) keys of those with points, ``begins`` (C + 1,)
    the first patch of each, and the end; of a patch its place in these, ``cube``, ``segment``, ``mean`` (P, 3), and
    ``first`` of the points."""

    cubes: IntArray
    begins: IntArray
    cube: IntArray
    segment: IntArray
    mean: FloatArray
    first: IntArray


def find_contacts(xyz: FloatArray, segments: IntArray, cell: float) -> Contacts:
    """Contacts of all segments (N,) of the points (N, 3).

    The points of a segment in one cube of ``cell`` metres are a patch. Two patches of different segments in the same
    or in touching cubes, whose means are no farther apart than 1.5 cells, are one place in contact. There the first
    segment is above if the line between the means is steeper than 45 degrees and rises towards it. Cubes begin at
    multiples of their size.
    """
    return contacts_of(*summed_by_pair(*contact_places(xyz, segments, cell)), cell)


def contact_places(
    xyz: FloatArray,
    segments: IntArray,
    cell: float,
    mine: BoolArray | None = None,
) -> tuple[IntArray, FloatArray]:
    """Pairs of segments (P, 2) in contact, the lower number first, a row each place, and what is summed of them (P, 6):
    1, above, below, rise of the first one, its size, distance. ``mine`` (N,): whether places count that begin at a
    patch whose first point it is."""
    patches, strides = _patches(xyz, segments, cell)
    starts = None if mine is None else mine[patches.first]
    found = [_places(patches, strides, offset, cell, starts) for offset in _OFFSETS]
    u, v, rise, steep, distance = (np.concatenate(parts) for parts in zip(*found, strict=True))
    rise = np.where(u > v, -rise, rise)
    pairs = np.column_stack([np.minimum(u, v), np.maximum(u, v)])
    each = (np.ones(len(u)), steep & (rise > 0), steep & (rise < 0), rise, np.abs(rise), distance)
    return pairs, np.column_stack(each)


def summed_by_pair(pairs: IntArray, values: FloatArray) -> tuple[IntArray, FloatArray]:
    """Each pair of segments once, ascending, and the sums of its rows."""
    order = group_order(pairs[:, 0], int(pairs.max(initial=-1)) + 1, pairs[:, 1])
    pairs = pairs[order]
    new = np.ones(len(pairs), dtype=bool)
    new[1:] = (np.diff(pairs, axis=0) != 0).any(axis=1)
    start = np.flatnonzero(new)
    return pairs[start], np.add.reduceat(values[order], start, axis=0) if len(start) else values


def contacts_of(pairs: IntArray, sums: FloatArray, cell: float) -> Contacts:
    """From :func:`summed_by_pair`."""
    first, second = pairs.T
    n, size = int(second.max(initial=-1)) + 1, sums[:, 0]
    above, below, up, far, mean = sums[:, 1:].T / size
    lift = up / np.maximum(far, 1e-9)
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
    at = np.floor(xyz / cell).astype(np.int64)
    at += 1 - at.min(axis=0)
    shape = at.max(axis=0) + 2
    if float(shape[0]) * float(shape[1]) * float(shape[2]) > 2.0**53:
        raise ValueError(f"the points reach too far for cubes of {cell:g} m: remove stray points")
    strides = np.array([shape[1] * shape[2], shape[2], 1], dtype=np.int64)
    key = at @ strides
    order = key_order(segments)
    order = order[key_order(key[order])]  # by cube, then segment
    key, segment = key[order], segments[order]
    new = np.ones(len(key), dtype=bool)
    new[1:] = (np.diff(key) != 0) | (np.diff(segment) != 0)
    start = np.flatnonzero(new)
    mean = np.add.reduceat(xyz[order], start, axis=0) / np.diff(start, append=len(key))[:, None]
    key = key[start]
    begins = np.flatnonzero(np.diff(key, prepend=-1, append=-1))
    cube = np.repeat(np.arange(len(begins) - 1), np.diff(begins))
    return _Patches(key[begins[:-1]], begins, cube, segment[start], mean, order[start]), strides


def _places(
    patches: _Patches, strides: IntArray, offset: tuple[int, int, int], cell: float, starts: BoolArray | None
) -> tuple[IntArray, IntArray, FloatArray, BoolArray, FloatArray]:
    """Segments (u, v) of all places in contact at one offset, how much higher u is (m), whether the line between them
    is steep, and its length (m); of all first patches, or those where ``starts``."""
    wanted = patches.cubes + int(np.dot(strides, offset))
    found = np.minimum(np.searchsorted(patches.cubes, wanted), len(wanted) - 1)
    there = patches.cubes[found] == wanted
    first = patches.begins[found][patches.cube]
    last = np.where(there, patches.begins[found + 1], patches.begins[found])[patches.cube]
    if offset == (0, 0, 0):
        first = np.arange(len(first)) + 1  # each pair of one cube once
    count = last - first if starts is None else np.where(starts, last - first, 0)
    i = np.repeat(np.arange(len(first)), count)
    j = np.arange(len(i)) - np.repeat(np.cumsum(count) - count, count) + np.repeat(first, count)
    line = patches.mean[i] - patches.mean[j]
    distance = np.linalg.norm(line, axis=1)
    touch = (patches.segment[i] != patches.segment[j]) & (distance <= _REACH * cell)
    i, j, line, distance = i[touch], j[touch], line[touch], distance[touch]
    steep = np.abs(line[:, 2]) > np.hypot(line[:, 0], line[:, 1])
    return patches.segment[i], patches.segment[j], line[:, 2], steep, distance

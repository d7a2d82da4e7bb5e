"""Features of segments and of pairs of segments that touch: what docs/scene-features.md lists, in that order."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gapcut.scenes.adjacency import SegmentShapes, segment_shapes
from gapcut.scenes.forest import segment_means
from gapcut.scenes.groups import group_order
from gapcut.scenes.labelling.contacts import Contacts, total_by_node
from gapcut.typing import AnyArray, FloatArray, IntArray

SEGMENT_FEATURES = (
    *("length", "width", "thickness", "linearity", "planarity", "scattering", "verticality", "uprightness"),
    *("height low", "height middle", "height high", "rise", "points"),
)

EDGE_FEATURES = (
    *("contact length", "contact share", "on top of", "below", "beside", "gap"),
    *("parallel", "perpendicular", "coplanar", "higher", "lower", "size ratio", "similarity"),
)


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


def relate(
    contacts: Contacts, table: SegmentTable, distribution: FloatArray, voxel: float, extra: FloatArray
) -> tuple[FloatArray, tuple[str, ...]]:
    """(E, 13 or more) features of the edges, all >= 0, and their names.

    ``distribution`` (S, K) class distribution of each segment; ``extra`` (S, F) colour and intensity in [0, 1], one
    more edge feature where F > 0.
    """
    u, v = contacts.edges.T
    shapes, n = table.shapes, len(table.values)
    linear, planar = table.values[:, 3], table.values[:, 4]
    flat = np.sqrt(planar[u] * planar[v])
    cosine = _cosine(shapes.axes[u, 2], shapes.axes[v, 2])
    total = np.maximum(total_by_node(contacts.size, u, n), 1.0)
    rise = (table.mean_height[u] - table.mean_height[v]) / voxel
    count = np.maximum(shapes.count, 1).astype(np.float64)
    features = [
        np.log2(1.0 + contacts.size),
        contacts.size / total[u],
        contacts.above,
        contacts.below,
        1.0 - contacts.above - contacts.below,
        contacts.distance / contacts.cell,
        _cosine(shapes.axes[u, 0], shapes.axes[v, 0]) * np.sqrt(linear[u] * linear[v]),
        np.sqrt(np.maximum(1.0 - cosine**2, 0.0)) * flat,
        cosine * flat * np.maximum(1.0 - _offset(shapes, u, v) / contacts.cell, 0.0),
        np.log2(1.0 + np.maximum(rise, 0.0)),
        np.log2(1.0 + np.maximum(-rise, 0.0)),
        count[u] / (count[u] + count[v]),
        np.minimum(distribution[u], distribution[v]).sum(axis=1),
    ]
    names: tuple[str, ...] = EDGE_FEATURES
    if extra.shape[1]:
        features.append(np.maximum(1.0 - np.abs(extra[u] - extra[v]).mean(axis=1), 0.0))
        names = (*names, "likeness")
    return np.maximum(np.stack(features, axis=1), 0.0), names


def _offset(shapes: SegmentShapes, u: IntArray, v: IntArray) -> FloatArray:
    """Larger distance of one segment's centre from the other's plane, metres."""
    between = shapes.centre[v] - shapes.centre[u]
    off = [np.abs(np.einsum("ij,ij->i", between, shapes.axes[s, 2])) for s in (u, v)]
    return np.asarray(np.maximum(*off))


def _cosine(a: AnyArray, b: AnyArray) -> FloatArray:
    return np.asarray(np.minimum(np.abs(np.einsum("ij,ij->i", a, b)), 1.0))

"""Segments without ground truth: smooth regions of a point cloud, every point in one."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace

import numpy as np

from gapcut import _core
from gapcut.scenes.points import local_shape, nearest, point_spacing
from gapcut.typing import AnyArray, FloatArray, IntArray


@dataclass(frozen=True)
class RegionSettings:
    """What counts as one smooth region. Lengths in metres, angles in degrees; None is derived from the point spacing.

    - ``angle`` largest angle between the normals (on wires: the axes) of joined points;
    - ``offset`` largest distance of joined points from each other's tangent plane (on wires: line), default 0.2
      spacings; not below the noise;
    - ``curvature`` a point is smooth below this share of the least variance in the sum (0 on planes, 1/3 in a ball);
    - ``linearity`` a point is on a wire from this (l1 - l2) / l1 on;
    - ``reach`` rough points within this path length of a region join it, default 4 spacings;
    - ``extent`` edge of the cubes that rough parts (foliage, railings) are cut into, default 15 spacings;
    - ``least`` points: smaller pieces are merged with what is nearest;
    - ``neighbours`` joined with each point, ``shape_neighbours`` that normals are taken from.
    """

    angle: float = 8.0
    offset: float | None = None
    curvature: float = 0.06
    linearity: float = 0.9
    reach: float | None = None
    extent: float | None = None
    least: int = 30
    neighbours: int = 8
    shape_neighbours: int = 10

    def __post_init__(self) -> None:
        for f in fields(self):
            value = getattr(self, f.name)
            if value is not None and not value >= 0:
                raise ValueError(f"region setting {f.name}={value} must not be negative")
        if self.neighbours < 1 or self.shape_neighbours < 3:
            raise ValueError("regions need at least 1 neighbour to join and 3 to take normals from")

    def scaled(self, spacing: float) -> RegionSettings:
        """With every length set."""
        return replace(
            self,
            offset=0.2 * spacing if self.offset is None else self.offset,
            reach=4.0 * spacing if self.reach is None else self.reach,
            extent=15.0 * spacing if self.extent is None else self.extent,
        )


@dataclass(frozen=True, eq=False)
class Regions:
    """``segments`` (N,) int64 from 0 on, in order of first points; ``n_segments``; ``settings`` as used, every length
    set; ``step`` (N,) what made a point part of its segment: 1 smooth component, 3 rough one of a cube, 0 joined."""

    segments: IntArray
    n_segments: int
    settings: RegionSettings
    step: AnyArray


def grow_regions(
    xyz: AnyArray,
    settings: RegionSettings | None = None,
    *,
    n_threads: int = 1,
    margin: FloatArray | None = None,
) -> Regions:
    """Split a cloud (N, 3), metres, into smooth regions.

    Over the graph of nearest neighbours: smooth points (and points on wires) that agree are joined; rough points join
    the region near them, first in its own plane; what is left becomes segments by connection within cubes; pieces of
    fewer than ``least`` points are merged, over the graph or, for islands, with the nearest segmented point. A cloud
    without any segment that large is one segment. Faces rather than members come out: over-segmentation, see
    :func:`segment_quality`.

    ``margin`` (N,): metres from each point to where a larger cloud was cut. Points with neighbours farther off, whose
    neighbours in the larger cloud may be others, join nothing: components are parts of those of the larger cloud.

    Raises ValueError for points that are not (N, 3) or not finite.
    """
    points = np.ascontiguousarray(xyz, dtype=np.float64)
    if points.ndim != 2 or points.shape[1] != 3:
        raise ValueError(f"points have shape {points.shape}, need (N, 3)")
    if not np.isfinite(points).all():
        row = int(np.flatnonzero(~np.isfinite(points).all(axis=1))[0])
        raise ValueError(f"point {row} has a coordinate that is not finite")
    wanted = settings or RegionSettings()
    if len(points) <= wanted.least:
        none = np.zeros(len(points), dtype=np.int64)
        return Regions(none, min(1, len(points)), wanted, none.astype(np.int8))
    if None in (wanted.offset, wanted.reach, wanted.extent):
        wanted = wanted.scaled(point_spacing(points))
    assert wanted.offset is not None
    assert wanted.reach is not None
    assert wanted.extent is not None
    around = max(wanted.neighbours + 1, wanted.shape_neighbours)
    ids = nearest(points, around, n_threads, wanted.reach)
    shape = local_shape(points, neighbours=ids[:, : wanted.shape_neighbours], n_threads=n_threads)
    arcs = np.ascontiguousarray(ids[:, : wanted.neighbours + 1])
    if margin is not None:
        farthest = np.linalg.norm(points - points[ids[:, -1]], axis=1)
        known = (ids[:, -1] >= 0) & (farthest <= margin)
        arcs = np.where(known[:, None] & known[arcs], arcs, -1).astype(np.int32)
    found, step = _core.grow_regions(
        points,
        shape.normals,
        shape.axes,
        shape.variances,
        arcs,
        np.radians(wanted.angle),
        wanted.offset,
        wanted.curvature,
        wanted.linearity,
        wanted.reach,
        wanted.extent,
        wanted.least,
    )
    segments = _islands_joined(points, found.astype(np.int64), wanted.reach)
    return Regions(segments, int(segments.max()) + 1, wanted, step)


def _islands_joined(points: FloatArray, segments: IntArray, size: float) -> IntArray:
    alone = segments < 0
    if alone.all():
        return np.zeros_like(segments)
    if not alone.any():
        return segments
    near = _core.NearGrid(points[~alone], size, 1.0).nearest(points[alone], 1, 1)[0][:, 0]
    joined = segments.copy()
    joined[alone] = segments[~alone][near]
    return _renumbered(joined)


def _renumbered(segments: IntArray) -> IntArray:
    """Numbers from 0 on in order of first points."""
    _, first, inverse = np.unique(segments, return_index=True, return_inverse=True)
    return np.asarray(np.argsort(np.argsort(first))[inverse], dtype=np.int64)


@dataclass(frozen=True)
class SegmentQuality:
    """How segments agree with true parts.

    - ``purity``: share of points that belong to the part (class) most frequent in their segment: what a perfect
      labelling of segments could reach;
    - ``coverage``: mean over parts of the largest share of a part's points that one segment holds;
    - ``over_segmentation``: segments a part, each segment counted for its most frequent part;
    - ``n_segments``, ``n_parts``: non-empty ones among the points counted.
    """

    purity: float
    coverage: float
    over_segmentation: float
    n_segments: int
    n_parts: int


def segment_quality(segments: AnyArray, parts: AnyArray) -> SegmentQuality:
    """Compare segments (N,) with true parts or classes (N,); points where either is negative are left out.

    Raises ValueError for lengths that differ and where nothing is left.
    """
    s, p = np.asarray(segments, dtype=np.int64), np.asarray(parts, dtype=np.int64)
    if s.shape != p.shape or s.ndim != 1:
        raise ValueError(
            f"segments have shape {s.shape} and parts {p.shape}: need one of each for every point"
        )
    both = (s >= 0) & (p >= 0)
    if not both.any():
        raise ValueError("no point has both a segment and a part")
    _, s = np.unique(s[both], return_inverse=True)
    _, p = np.unique(p[both], return_inverse=True)
    n_parts, n_segments = int(p.max()) + 1, int(s.max()) + 1
    pairs, counts = np.unique(s * n_parts + p, return_counts=True)
    of_segment = np.zeros(n_segments, dtype=np.int64)
    np.maximum.at(of_segment, pairs // n_parts, counts)
    of_part = np.zeros(n_parts, dtype=np.int64)
    np.maximum.at(of_part, pairs % n_parts, counts)
    return SegmentQuality(
        purity=float(of_segment.sum() / len(s)),
        coverage=float(np.mean(of_part / np.bincount(p))),
        over_segmentation=n_segments / n_parts,
        n_segments=n_segments,
        n_parts=n_parts,
    )

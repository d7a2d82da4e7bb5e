"""Which segments of a point cloud touch, and how: the edges of a scene's graph and their features.

Input are points (N, 3) in metres, z up, and a segment id for each. Points of a laser scan, so contacts may be hidden:
two segments are adjacent if some points of theirs are no farther apart than a gap tolerance.

Direction of edges: every adjacent pair {u, v} gives the two edges (u, v) and (v, u), sorted by u, then v. A directed
feature of (u, v) speaks of its first node: *on top of* is 1 at (u, v) if u lies on v, and then 0 at (v, u). The other
features are equal at both, except the relative size, which adds up to 1.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.spatial import cKDTree

from gapcut.scenes.groups import blocks, group_order
from gapcut.typing import AnyArray, FloatArray, IntArray

PAPER_FEATURES = ("on top of", "direction consistency", "perpendicularity")
"""The three edge features of Li and Huber (2017), section 5."""

EXTRA_FEATURES = ("higher", "lower", "closeness", "relative size", "alignment", "normal consistency")
"""Further edge features, all in [0, 1]."""

_SAMPLES = 16
_LEVEL = 0.03
_ON_TOP = 0.6


@dataclass(frozen=True, eq=False)
class Adjacency:
    """Directed edges between touching segments.

    ``edges`` (E, 2) int64, ``distance`` (E,) smallest distance between points in metres, ``contact`` (E, 3) middle of
    the contact, ``lift`` (E,) in [-1, 1]: how surely u lies above v at the contact: (h - l) / (h + l) with the
    numbers h, l of pairs of their points within ``radius`` metres of the contact where u's is the higher or the lower
    one by more than 3 cm (antisymmetric). ``tolerance`` and ``radius`` are what they were found with.
    """

    edges: IntArray
    distance: FloatArray
    contact: FloatArray
    lift: FloatArray
    tolerance: float
    radius: float

    @property
    def n_pairs(self) -> int:
        """Number of adjacent pairs: half the edges."""
        return len(self.edges) // 2


@dataclass(frozen=True, eq=False)
class SegmentShapes:
    """Shape of every segment: ``centre`` (S, 3), ``axes`` (S, 3, 3) principal directions as rows, the longest first,
    ``spread`` (S, 3) standard deviations along them in metres, ``count`` (S,) points."""

    centre: FloatArray
    axes: FloatArray
    spread: FloatArray
    count: IntArray


def adjacency(
    points: AnyArray,
    segments: AnyArray,
    tolerance: float = 0.2,
    radius: float = 0.5,
    n_segments: int | None = None,
) -> Adjacency:
    """All pairs of segments with points no more than ``tolerance`` metres apart.

    ``segments`` (N,) holds ids 0..S-1 (negative: no segment, such as ground); segments without points have no edges.
    ``radius`` is the size of the neighbourhood in which heights at a contact are compared. Raises ValueError if the
    shapes do not fit, or for a tolerance or radius that is not positive.
    """
    points, segments = _checked(points, segments)
    if not (tolerance > 0 and radius > 0):
        raise ValueError(f"tolerance {tolerance} and radius {radius} must be positive lengths in metres")
    groups = _Groups(points, segments, n_segments)
    found = []
    for u, v in _candidates(groups, tolerance):
        touch = _touch(groups, u, v, tolerance, radius)
        if touch is not None:
            found.append((u, v, *touch))
    return _assemble(found, tolerance, radius)


def segment_shapes(points: AnyArray, segments: AnyArray, n_segments: int | None = None) -> SegmentShapes:
    """Principal directions of every segment (zeros and unit axes where a segment has no points)."""
    points, segments = _checked(points, segments)
    n = _n_segments(segments, n_segments)
    keep = segments >= 0
    points, segments = points[keep], segments[keep]
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


def edge_features(
    found: Adjacency, shapes: SegmentShapes, extra: bool = False
) -> tuple[FloatArray, tuple[str, ...]]:
    """Features of the edges, (E, 3) or with ``extra`` (E, 9), all in [0, 1], and their names.

    With first principal directions d of length 1:

    - on top of: 1 where u lies on v (``lift`` above 0.6: higher in four of five pairs), else 0;
    - direction consistency: abs(d_u . d_v); perpendicularity: the sine of the angle between them;
    - higher and lower: positive and negative part of ``lift``;
    - closeness: 1 - distance / tolerance; relative size: share of u in the lengths (norms of spreads) of u and v;
    - alignment: how far the line between both centres runs along both directions (the smaller cosine), high for
      members in one line;
    - normal consistency: as direction consistency with the last principal directions (normals of plates).
    """
    u, v = found.edges.T
    cosine = _cosine(shapes.axes[u, 0], shapes.axes[v, 0])
    columns = [(found.lift > _ON_TOP).astype(np.float64), cosine, np.sqrt(np.maximum(1.0 - cosine**2, 0.0))]
    if not extra:
        return np.stack(columns, axis=1), PAPER_FEATURES
    size = np.linalg.norm(shapes.spread, axis=1) + 1e-9
    between = shapes.centre[v] - shapes.centre[u]
    between /= np.maximum(np.linalg.norm(between, axis=1, keepdims=True), 1e-9)
    columns += [
        np.maximum(found.lift, 0.0),
        np.maximum(-found.lift, 0.0),
        np.clip(1.0 - found.distance / found.tolerance, 0.0, 1.0),
        size[u] / (size[u] + size[v]),
        np.minimum(_cosine(between, shapes.axes[u, 0]), _cosine(between, shapes.axes[v, 0])),
        _cosine(shapes.axes[u, 2], shapes.axes[v, 2]),
    ]
    return np.stack(columns, axis=1), PAPER_FEATURES + EXTRA_FEATURES


def _cosine(a: FloatArray, b: FloatArray) -> FloatArray:
    return np.asarray(np.minimum(np.abs(np.einsum("ij,ij->i", a, b)), 1.0))


def _checked(points: AnyArray, segments: AnyArray) -> tuple[FloatArray, IntArray]:
    points = np.asarray(points, dtype=np.float64)
    segments = np.asarray(segments)
    if points.ndim != 2 or points.shape[1] != 3:
        raise ValueError(f"points have shape {points.shape}, not (N, 3)")
    if segments.shape != (len(points),) or not (np.issubdtype(segments.dtype, np.integer) or not len(points)):
        raise ValueError(
            f"segments must be one integer a point: {segments.shape} {segments.dtype} for {len(points)}"
        )
    if not np.isfinite(points).all():
        raise ValueError("points hold nan or infinite coordinates: drop those points first")
    return points, segments.astype(np.int64)


def _n_segments(segments: IntArray, n: int | None) -> int:
    least = int(segments.max()) + 1 if len(segments) and segments.max() >= 0 else 0
    if n is not None and n < least:
        raise ValueError(f"segment {least - 1} does not fit n_segments = {n}")
    return least if n is None else n


class _Groups:
    """Points sorted by segment, the box of each, and search trees made when first asked for."""

    def __init__(self, points: FloatArray, segments: IntArray, n: int | None) -> None:
        keep = segments >= 0
        points, segments = points[keep], segments[keep]
        self.n = _n_segments(segments, n)
        order = np.argsort(segments, kind="stable")
        ends = np.cumsum(np.bincount(segments, minlength=self.n))
        self.points = np.split(points[order], ends[:-1]) if self.n else []
        self.low = np.array([p.min(axis=0) if len(p) else [np.inf] * 3 for p in self.points]).reshape(-1, 3)
        self.high = np.array([p.max(axis=0) if len(p) else [-np.inf] * 3 for p in self.points]).reshape(-1, 3)
        self._trees: dict[int, cKDTree] = {}

    def tree(self, i: int) -> cKDTree:
        """Search tree of segment i."""
        if i not in self._trees:
            self._trees[i] = cKDTree(self.points[i])
        return self._trees[i]

    def inside(self, i: int, low: FloatArray, high: FloatArray) -> FloatArray:
        """Points of segment i in a box."""
        p = self.points[i]
        return p[((p >= low) & (p <= high)).all(axis=1)]


def _candidates(groups: _Groups, tolerance: float) -> list[tuple[int, int]]:
    """Pairs u < v whose boxes are no more than the tolerance apart on every axis."""
    pairs = []
    for u in range(groups.n - 1):
        near = (groups.low[u + 1 :] <= groups.high[u] + tolerance) & (
            groups.high[u + 1 :] >= groups.low[u] - tolerance
        )
        pairs += [(u, u + 1 + int(k)) for k in np.flatnonzero(near.all(axis=1))]
    return pairs


def _touch(
    groups: _Groups, u: int, v: int, tolerance: float, radius: float
) -> tuple[float, FloatArray, float] | None:
    """Smallest distance, middle of the contact and lift of u over v; None if they do not touch."""
    low = np.maximum(groups.low[u], groups.low[v]) - tolerance
    high = np.minimum(groups.high[u], groups.high[v]) + tolerance
    mine, theirs = groups.inside(u, low, high), groups.inside(v, low, high)
    if not len(mine) or not len(theirs):
        return None
    swap = len(mine) > len(theirs)
    few, other = (theirs, u) if swap else (mine, v)
    distance, nearest = (np.asarray(a) for a in groups.tree(other).query(few, distance_upper_bound=tolerance))
    hit = np.flatnonzero(np.isfinite(distance))
    if not len(hit):
        return None
    middle = (few[hit] + groups.points[other][nearest[hit]]) / 2
    smallest = float(distance[hit].min())
    return smallest, middle.mean(axis=0), _lift(groups, u, v, middle, distance[hit], radius)


def _lift(groups: _Groups, u: int, v: int, middle: FloatArray, distance: FloatArray, radius: float) -> float:
    """(higher - lower) / (higher + lower) over pairs of points around contact points spread over the contact."""
    close = np.flatnonzero(distance <= np.quantile(distance, 0.5))
    picked = close[np.linspace(0, len(close) - 1, min(_SAMPLES, len(close))).round().astype(np.int64)]
    near = [_near_heights(groups, i, middle[picked], radius) for i in (u, v)]
    higher, lower = np.sum([_order(mine, theirs) for mine, theirs in zip(*near, strict=True)], axis=0)
    return float((higher - lower) / (higher + lower)) if higher + lower > 0 else 0.0


def _near_heights(groups: _Groups, i: int, at: FloatArray, radius: float) -> list[FloatArray]:
    """Heights of a segment's points within the radius of every place (k, 3)."""
    z = groups.points[i][:, 2]
    return [z[np.asarray(found, dtype=np.int64)] for found in groups.tree(i).query_ball_point(at, radius)]


def _order(mine: FloatArray, theirs: FloatArray) -> tuple[float, float]:
    """Shares of all pairs where mine is the higher, and where it is the lower one, by more than ``_LEVEL``.

    Faces that lie on each other are level and do not count: what counts is what rises and hangs around them.
    """
    if not len(mine) or not len(theirs):
        return 0.0, 0.0
    theirs = np.sort(theirs)
    below = np.searchsorted(theirs, mine - _LEVEL, "left")
    above = len(theirs) - np.searchsorted(theirs, mine + _LEVEL, "right")
    return float(below.mean() / len(theirs)), float(above.mean() / len(theirs))


def _assemble(
    found: list[tuple[int, int, float, FloatArray, float]], tolerance: float, radius: float
) -> Adjacency:
    if not found:
        none = np.empty(0)
        return Adjacency(np.empty((0, 2), np.int64), none, np.empty((0, 3)), none, tolerance, radius)
    pairs = np.array([(u, v) for u, v, *_ in found], dtype=np.int64)
    distance = np.array([f[2] for f in found])
    contact = np.stack([f[3] for f in found])
    lift = np.array([f[4] for f in found])
    edges = np.concatenate([pairs, pairs[:, ::-1]])
    order = np.lexsort((edges[:, 1], edges[:, 0]))
    return Adjacency(
        edges[order],
        np.tile(distance, 2)[order],
        np.tile(contact, (2, 1))[order],
        np.concatenate([lift, -lift])[order],
        tolerance,
        radius,
    )

"""Closed solids by lofting polygons: beams, tapered columns, stacked blocks, and the profiles to loft.

Profiles are (k, 2) polygons, counter-clockwise, in metres: first coordinate to the left of the direction of travel,
second upwards. Every solid returned is closed and wound outwards.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from gapcut.scenes.bridges.model import Mesh
from gapcut.typing import FloatArray, IntArray

UP = np.array([0.0, 0.0, 1.0])


def loft(rings: Any) -> Mesh:
    """Solid between m >= 2 rings of k points each, (m, k, 3); the first and the last ring become flat ends.

    The ends are cut into triangles as the first ring projected along its own normal.
    """
    rings = np.asarray(rings, dtype=np.float64)
    m, k, _ = rings.shape
    here = (np.arange(m - 1)[:, None] * k + np.arange(k)).ravel()
    next_ = (np.arange(m - 1)[:, None] * k + (np.arange(k) + 1) % k).ravel()
    sides = np.concatenate(
        [np.stack([here, next_, next_ + k], axis=1), np.stack([here, next_ + k, here + k], axis=1)]
    )
    start = ear_clip(_flatten(rings[0]))
    end = ear_clip(_flatten(rings[-1])) if m > 1 and not np.allclose(rings[0], rings[-1]) else start
    faces = np.concatenate([sides, start[:, ::-1], end + (m - 1) * k])
    mesh = Mesh(rings.reshape(-1, 3).copy(), faces.astype(np.int64))
    return mesh if mesh.volume >= 0 else Mesh(mesh.vertices, mesh.faces[:, ::-1].copy())


def _flatten(ring: FloatArray) -> FloatArray:
    """A ring in its own plane, counter-clockwise: (k, 2)."""
    centred = ring - ring.mean(axis=0)
    normal = np.cross(centred, np.roll(centred, -1, axis=0)).sum(axis=0)
    normal /= np.linalg.norm(normal)
    u = centred[np.argmax(np.einsum("ij,ij->i", centred, centred))]
    u = u - normal * (u @ normal)
    u /= np.linalg.norm(u)
    return np.stack([centred @ u, centred @ np.cross(normal, u)], axis=1)


def ear_clip(polygon: FloatArray) -> IntArray:
    """Triangles (k - 2, 3) of a simple counter-clockwise polygon (k, 2), by cutting off ears."""
    left = list(range(len(polygon)))
    triangles = []
    while len(left) > 3:
        i = _best_ear(polygon, left)
        triangles.append((left[i - 1], left[i], left[(i + 1) % len(left)]))
        del left[i]
    return np.array([*triangles, tuple(left)], dtype=np.int64)


def _best_ear(polygon: FloatArray, left: list[int]) -> int:
    """Position in ``left`` of the convex corner, free of other corners, that cuts off the roundest triangle."""
    points = polygon[left]
    before, after = np.roll(points, 1, axis=0), np.roll(points, -1, axis=0)
    doubled = _turn(before, points, after)
    quality = doubled / ((after - before) ** 2).sum(axis=1)
    for i in np.argsort(-quality):
        a, b, c = before[i], points[i], after[i]
        if doubled[i] <= 0:
            break
        inside = (_turn(a, b, points) >= 0) & (_turn(b, c, points) >= 0) & (_turn(c, a, points) >= 0)
        inside[[i - 1, i, (i + 1) % len(left)]] = False
        if not inside.any():
            return int(i)
    return int(np.argmax(doubled))


def _turn(a: FloatArray, b: FloatArray, c: FloatArray) -> FloatArray:
    """Twice the signed area of the triangles a, b, c."""
    ab, ac = b - a, c - a
    return np.asarray(ab[..., 0] * ac[..., 1] - ab[..., 1] * ac[..., 0])


def unit(vector: Any) -> FloatArray:
    """The vector(s) (..., 3) scaled to length 1."""
    vector = np.asarray(vector, dtype=np.float64)
    return np.asarray(vector / np.linalg.norm(vector, axis=-1, keepdims=True))


def _axes(direction: FloatArray, up: Any) -> tuple[FloatArray, FloatArray]:
    """Left and upward axis of a member that runs along ``direction``; vertical members have their left along y."""
    left = np.cross(np.asarray(up, dtype=np.float64), direction)
    if np.linalg.norm(left) < 1e-6:
        left = np.cross([1.0, 0.0, 0.0], direction)
    left = unit(left)
    return left, np.cross(direction, left)


def beam(
    start: Any, end: Any, profile: FloatArray, end_profile: FloatArray | None = None, up: Any = UP
) -> Mesh:
    """A straight member from ``start`` to ``end``: a prism, or a frustum if ``end_profile`` differs.

    ``up`` is the direction that the second coordinate of the profile turns towards.
    """
    start, end = np.asarray(start, dtype=np.float64), np.asarray(end, dtype=np.float64)
    left, above = _axes(unit(end - start), up)
    final = profile if end_profile is None else end_profile
    basis = np.stack([left, above])
    return loft(np.stack([start + profile @ basis, end + final @ basis]))


def stack(centre: Any, layers: list[tuple[float, float, float]], heading: float = 0.0) -> Mesh:
    """Blocks on top of each other as one solid: ``layers`` of (length, width, height) from the bottom.

    ``centre`` (3,) is the middle of the underside, ``heading`` the direction of the length in radians.
    """
    outlines, levels, z = [], [], 0.0
    for length, width, height in layers:
        outlines += [rectangle(length, width)] * 2
        levels += [z, z + height]
        z += height
    return tower(centre, outlines, levels, heading)


def tower(centre: Any, outlines: list[FloatArray], levels: Any, heading: float = 0.0) -> Mesh:
    """A solid of horizontal outlines (k, 2) at heights ``levels`` above ``centre``, turned by ``heading``."""
    cos, sin = np.cos(heading), np.sin(heading)
    turn = np.array([[cos, sin], [-sin, cos]])
    rings = [
        np.column_stack([xy @ turn, np.full(len(xy), z)]) for xy, z in zip(outlines, levels, strict=True)
    ]
    return loft(np.stack(rings) + np.asarray(centre, dtype=np.float64))


def shifted(profile: FloatArray, left: float, up: float) -> FloatArray:
    """The profile moved to the left and up."""
    return np.asarray(profile + np.array([left, up]), dtype=np.float64)


def rectangle(width: float, height: float, top: bool = False) -> FloatArray:
    """A rectangle around the origin, or hanging below it if ``top``: (4, 2)."""
    w, h = width / 2, height / 2
    shift = -h if top else 0.0
    return np.array([[-w, -h + shift], [w, -h + shift], [w, h + shift], [-w, h + shift]])


def circle(radius: float, n: int = 16) -> FloatArray:
    """A regular polygon with the area of the circle: (n, 2)."""
    angle = (np.arange(n) + 0.5) * 2 * np.pi / n
    radius = radius * np.sqrt(2 * np.pi / n / np.sin(2 * np.pi / n))
    return radius * np.column_stack([np.cos(angle), np.sin(angle)])


def rounded(length: float, width: float, n: int = 6) -> FloatArray:
    """A rectangle with half-round short sides across the first coordinate: (2 n, 2)."""
    radius, shift = width / 2, (length - width) / 2
    angle = np.linspace(-np.pi / 2, np.pi / 2, n)
    cap = np.column_stack([shift + radius * np.cos(angle), radius * np.sin(angle)])
    return np.concatenate([cap, -cap])


def chamfered(length: float, width: float, cut: float) -> FloatArray:
    """A rectangle with cut corners: (8, 2)."""
    a, b = length / 2, width / 2
    quarter = [[a, b - cut], [a - cut, b]]
    right = [[a - cut, -b], [a, -b + cut]]
    return np.array([*right, *quarter, *[[-x, -y] for x, y in right], *[[-x, -y] for x, y in quarter]])


def i_section(
    depth: float, width: float, flange: float, web: float, bottom: float | None = None
) -> FloatArray:
    """An I-section that hangs below the origin: flanges ``width`` (and ``bottom``) wide, ``flange`` thick: (12, 2)."""
    top, low, w = width / 2, (width if bottom is None else bottom) / 2, web / 2
    half = [
        [low, -depth],
        [low, flange - depth],
        [w, flange - depth],
        [w, -flange],
        [top, -flange],
        [top, 0.0],
    ]
    return np.array(half + [[-x, z] for x, z in half[::-1]])

"""The floor of bridges with two main planes: floor beams across, stringers along, slabs on top, arch ribs."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise

import numpy as np

from gapcut.scenes.bridges import kit
from gapcut.scenes.bridges.model import Mesh
from gapcut.scenes.bridges.solids import beam as straight
from gapcut.scenes.bridges.solids import circle, i_section, loft, shifted
from gapcut.typing import FloatArray

MAIN = 0.55
"""Distance of the main planes (ties, trusses, edge girders) from the edge of the structure."""

INNER = 1.2
"""Distance of the slab's edge from the edge of the structure."""


def floor_beam(
    site: kit.Site, s: float, reach: float, depth: float, width: float = 0.4, drop: float = 0.22
) -> None:
    """A beam across from -reach to reach, its top ``drop`` below the road, its underside level."""
    line = site.line
    y = np.array([-reach, reach, reach, 0.0, -reach])
    low = float(line.surface(s, 0.0)) - drop - depth
    tops = line.surface(s, y) - drop
    z = np.where(np.arange(5) < 2, low, tops)
    rings = [line.point(s + d, y, z) for d in (-width / 2, width / 2)]
    site.add("cross beam", loft(np.stack(rings)), "floor beam")


def stringers(site: kit.Site, s0: float, s1: float, ys: FloatArray, depth: float, drop: float = 0.22) -> None:
    """Rolled beams from s0 to s1 with their tops ``drop`` below the road."""
    profile = i_section(depth, 0.26, 0.03, 0.025)
    for y in ys:
        mesh = site.line.extrude(s0, s1, shifted(profile, float(y), -drop), datum=float(y))
        site.add("girder", mesh, "stringer")


def floor(site: kit.Site, stations: FloatArray, reach: float, depth: float, n: int, pours: int = 1) -> None:
    """Floor beams at the stations, n stringers and slabs between them, all inside ``reach``."""
    edge = site.half - INNER
    ys = np.linspace(-edge + 0.9, edge - 0.9, n)
    for s in stations:
        floor_beam(site, float(s), reach, depth)
    for a, b in pairwise(stations):
        stringers(site, float(a) + 0.2, float(b) - 0.2, ys, 0.55 * depth)
    edges = np.linspace(stations[0] - kit.SEAT + 0.02, stations[-1] + kit.SEAT - 0.02, pours + 1)
    for a, b in pairwise(edges):
        kit.deck(site, float(a), float(b), half=edge)


def main_girder(
    site: kit.Site, s0: float, s1: float, y: float, width: float, depth: float, above: float
) -> None:
    """A solid-looking box along the road, its top ``above`` the road's middle."""
    line = site.line
    side = np.array([-1, 1, 1, -1]) * width / 2 + y
    drop = np.array([-depth, -depth, 0.0, 0.0]) + above
    rings = [line.point(s, side, line.surface(s, 0.0) + drop) for s in np.linspace(s0, s1, 4)]
    site.add("girder", loft(np.stack(rings)), "main girder")


def rib(
    site: kit.Site, s0: float, s1: float, y: float, width: float, depth: float, axis: Callable[[float], float]
) -> Mesh:
    """A piece of an arch rib with vertical joints; ``axis(s)`` is the height of its axis, ``depth`` normal to it."""
    rings = []
    for s in np.linspace(s0, s1, 5):
        slope = (axis(s + 0.01) - axis(s - 0.01)) / 0.02
        h = depth / 2 * np.hypot(1.0, slope)
        side = y + np.array([-1, 1, 1, -1]) * width / 2
        rings.append(site.line.point(s, side, axis(s) + h * np.array([-1, -1, 1, 1])))
    return loft(np.stack(rings))


def cable(site: kit.Site, low: FloatArray, high: FloatArray, radius: float, name: str) -> None:
    """A stay or hanger between two points, with a thicker socket at its lower end."""
    length = float(np.linalg.norm(high - low))
    socket = min(1.2, 0.15 * length)
    direction = (high - low) / length
    fine, thick = circle(radius, 8), circle(1.6 * radius, 8)
    rings = []
    body = straight(low, high, fine).vertices.reshape(2, 8, 3)
    wide = straight(low, low + direction * socket, thick).vertices.reshape(2, 8, 3)
    rings = [wide[0], wide[1], body[0] + direction * (socket + 0.02), body[1]]
    site.add("cable", loft(np.stack(rings)), name)


def cross_bracing(
    site: kit.Site, corners: tuple[FloatArray, FloatArray, FloatArray, FloatArray], size: float, name: str
) -> None:
    """Two diagonals of a panel given by its corners (start left, start right, end left, end right), one above
    the other so that they pass."""
    a, b, c, d = corners
    lift = np.array([0.0, 0.0, 0.5 * size])
    profile = np.array([[-0.5, -0.5], [0.5, -0.5], [0.5, 0.5], [-0.5, 0.5]]) * size
    site.add("cross beam", straight(a + lift, d + lift, profile), name)
    site.add("cross beam", straight(b - lift, c - lift, profile), name)


def end_bearings(site: kit.Site, s: float, seat: float, ys: tuple[float, float], under: float) -> None:
    """Large bearings below both main planes, whose undersides are at height ``under``."""
    for y in ys:
        kit.bearing(site, s, y, seat, under, 0.8)

"""The road line of a bridge and the ground below it: where everything else is placed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy.interpolate import PchipInterpolator

from gapcut.scenes.bridges.model import Mesh
from gapcut.scenes.bridges.solids import loft
from gapcut.typing import FloatArray

CROSSFALL = 0.02
"""Slope of the road to both sides (2 %, the common minimum for drainage)."""

_BELOW_ROAD = 0.6  # m that mounds end below the road


@dataclass(frozen=True)
class Line:
    """Coordinates along a road: station s, offset y to the left, height z.

    Stations are skewed: (s, y) lies at distance ``s + y * tan(skew)`` along the line, so that supports are lines of
    equal s. ``radius`` is the plan radius (inf: straight), ``grade`` the slope at s = 0, ``crest`` how much the middle
    lies above the chord, all in metres. The line starts at s = 0 with height ``level`` and is ``length`` long.
    """

    length: float
    level: float = 0.0
    radius: float = np.inf
    skew: float = 0.0
    grade: float = 0.0
    crest: float = 0.0

    def along(self, s: Any, y: Any) -> FloatArray:
        """Distance along the line of a skewed station."""
        return np.asarray(np.asarray(s) + np.asarray(y) * np.tan(np.radians(self.skew)), dtype=np.float64)

    def heading(self, s: Any, y: Any = 0.0) -> FloatArray:
        """Direction of the road in radians."""
        return np.asarray(self.along(s, y) / self.radius)

    def surface(self, s: Any, y: Any = 0.0) -> FloatArray:
        """Height of the road surface, crossfall included."""
        a = self.along(s, y)
        t = np.clip(a / self.length, -0.2, 1.2)
        arch = 4 * self.crest * t * (1 - t)
        return np.asarray(self.level + self.grade * a + arch - CROSSFALL * np.abs(y))

    def point(self, s: Any, y: Any, z: Any) -> FloatArray:
        """Points (..., 3) at absolute height z."""
        a, y, z = np.broadcast_arrays(self.along(s, y), y, z)
        if np.isinf(self.radius):
            return np.stack([a, y, z], axis=-1).astype(np.float64)
        t = a / self.radius
        x = self.radius * np.sin(t) - y * np.sin(t)
        lateral = self.radius * (1 - np.cos(t)) + y * np.cos(t)
        return np.stack([x, lateral, z], axis=-1)

    def on(self, s: Any, y: Any, above: Any = 0.0) -> FloatArray:
        """Points (..., 3) that many metres above the road surface."""
        return self.point(s, y, self.surface(s, y) + above)

    def extrude(
        self, s0: float, s1: float, profile: Any, datum: float | None = None, step: float = 6.0
    ) -> Mesh:
        """A solid along the road: ``profile`` (k, 2) of (offset, height above the surface) or a function of s.

        ``datum`` (an offset) keeps the section upright: heights count from the surface there. Without it every
        point follows the crossfall.
        """
        n = 2 if np.isinf(self.radius) and self.crest == 0 and not callable(profile) else 0
        stations = np.linspace(s0, s1, n or max(2, int(np.ceil(abs(s1 - s0) / step)) + 1))
        return self.extrude_at(stations, profile, datum)

    def extrude_at(
        self,
        stations: FloatArray,
        profile: FloatArray | Callable[[float], FloatArray],
        datum: float | None = None,
    ) -> Mesh:
        """:meth:`extrude` with a ring at each of the stations."""
        rings = []
        for s in stations:
            yz = profile(float(s)) if callable(profile) else np.asarray(profile)
            reference = yz[:, 0] if datum is None else np.full(len(yz), datum)
            rings.append(self.point(s, yz[:, 0], self.surface(s, reference) + yz[:, 1]))
        return loft(np.stack(rings))

    def wall(self, profile: Any, y0: float, y1: float) -> Mesh:
        """A solid across the road from offset y0 to y1: ``profile`` (k, 2) of (station, absolute height)."""
        sz = np.asarray(profile, dtype=np.float64)
        return loft(np.stack([self.point(sz[:, 0], y, sz[:, 1]) for y in (y0, y1)]))

    def block(self, s: float, y: float, low: float, high: float, length: float, width: float) -> Mesh:
        """A block around (s, y) from height ``low`` to ``high``, its sides along the road and along the skew."""
        ends = np.array([-length / 2, length / 2, length / 2, -length / 2])
        sides = np.array([-width / 2, -width / 2, width / 2, width / 2])
        return loft(np.stack([self.point(s + ends, y + sides, z) for z in (low, high)]))


@dataclass(frozen=True)
class Ground:
    """The terrain: natural ground through control points along the line, waves, and the fill behind both abutments.

    ``stations`` and ``heights`` (n,) are control points of the natural ground (monotone cubic between them), ``waves``
    (n, 4) rows of (wave number x, wave number y, phase, amplitude), ``half`` half the width of the road, ``wing`` the
    length of the wing walls. Fill slopes are 1 : 1.75, steeper where they would run far down a valley. ``mounds``
    (n, 4) rows of (station, reach along the road, height, half width): soil that came later, never up to the road.
    """

    line: Line
    stations: FloatArray
    heights: FloatArray
    waves: FloatArray
    half: float
    wing: float
    mounds: FloatArray = field(default_factory=lambda: np.empty((0, 4)))

    def height(self, s: Any, y: Any) -> FloatArray:
        """Height of the ground at skewed stations and offsets (broadcast)."""
        s, y = np.broadcast_arrays(np.asarray(s, dtype=np.float64), np.asarray(y, dtype=np.float64))
        built = np.maximum(self.natural(s, y), self._fill(s, y))
        return self._covered(built, s, y) if len(self.mounds) else built

    def _covered(self, built: FloatArray, s: FloatArray, y: FloatArray) -> FloatArray:
        """Heights with the mounds on them."""
        soil = np.zeros_like(built)
        for station, reach, height, half in self.mounds:
            aside = np.maximum(np.abs(y) - half, 0.0)
            soil = np.maximum(soil, height * np.exp(-(((s - station) / reach) ** 2) - (aside / 3.0) ** 2))
        most = self.line.surface(np.clip(s, 0.0, self.line.length), y) - _BELOW_ROAD
        return np.maximum(built, np.minimum(built + soil, most))

    def natural(self, s: FloatArray, y: FloatArray) -> FloatArray:
        """The ground without fill."""
        curve = PchipInterpolator(self.stations, self.heights)
        base = curve(np.clip(s, self.stations[0], self.stations[-1]))
        waves = np.zeros_like(base)
        for kx, ky, phase, amplitude in self.waves:
            waves = waves + amplitude * np.sin(kx * s + ky * y + phase)
        return np.asarray(base + waves)

    def _fill(self, s: FloatArray, y: FloatArray) -> FloatArray:
        """Embankments: between the wing walls up to the road, elsewhere sloping away from the wings' ends."""
        outside = np.maximum(-s, s - self.line.length)
        inside = (outside > 0.3) & (np.abs(y) < self.half - 0.2)
        aside = np.maximum(np.abs(y) - self.half - 0.6, 0.0)
        ahead = np.maximum(self.wing - outside, 0.0)
        end = self.line.surface(np.where(s < 0.5 * self.line.length, 0.0, self.line.length))
        away = np.hypot(aside, ahead)
        sloped = end - 0.35 - away / 1.75 - 1.5 * np.maximum(away - self.wing - 4.0, 0.0)
        return np.where(inside, end - 0.3, sloped)

    def mesh(self, margin: float = 14.0, step: float = 2.0) -> Mesh:
        """The surface as triangles, up to ``margin`` metres beyond the structure on all sides."""
        length, reach = self.line.length, self.half + margin
        ends = [self.wing, 0.35, 0.1]
        s = _with_lines(-margin, length + margin, step, [-e for e in ends] + [length + e for e in ends])
        walls = [self.half - 0.3, self.half - 0.1]
        y = _with_lines(-reach, reach, step, [-w for w in walls] + walls)
        ss, yy = np.meshgrid(s, y, indexing="ij")
        vertices = self.line.point(ss, yy, self.height(ss, yy)).reshape(-1, 3)
        n, m = len(s), len(y)
        corner = (np.arange(n - 1)[:, None] * m + np.arange(m - 1)).ravel()
        lower = np.stack([corner, corner + m, corner + m + 1], axis=1)
        upper = np.stack([corner, corner + m + 1, corner + 1], axis=1)
        return Mesh(vertices, np.concatenate([lower, upper]).astype(np.int64))


def _with_lines(low: float, high: float, step: float, lines: list[float]) -> FloatArray:
    """About equal steps from low to high, with the given values among them and none closer than half a step."""
    fixed = np.unique(np.round(lines, 6))
    regular = np.linspace(low, high, int(np.ceil((high - low) / step)) + 1)
    far = np.abs(regular[:, None] - fixed[None]).min(axis=1) > 0.5 * step
    return np.unique(np.concatenate([regular[far], fixed, [low, high]]))


def make_ground(
    line: Line, controls: list[tuple[float, float]], half: float, wing: float, rng: np.random.Generator
) -> Ground:
    """Ground through ``controls`` (station, height), with random waves of 0.1 to 0.25 metres."""
    stations, heights = np.array(sorted(controls), dtype=np.float64).T
    angle = rng.uniform(0, 2 * np.pi, 4)
    number = 2 * np.pi / rng.uniform(9, 35, 4)
    waves = np.column_stack(
        [number * np.cos(angle), number * np.sin(angle), rng.uniform(0, 6.28, 4), rng.uniform(0.04, 0.16, 4)]
    )
    return Ground(line, stations, heights, waves, half, wing)


def ground_height(terrain: Mesh, xy: Any) -> FloatArray:
    """Heights of a terrain mesh at points (n, 2); nan beside it. Highest where surfaces overlap."""
    xy = np.atleast_2d(np.asarray(xy, dtype=np.float64))
    a, b, c = np.moveaxis(terrain.triangles, 1, 0)
    e1, e2 = b - a, c - a
    area = e1[:, 0] * e2[:, 1] - e1[:, 1] * e2[:, 0]
    found = np.full(len(xy), np.nan)
    for i, (x, y) in enumerate(xy):
        dx, dy = x - a[:, 0], y - a[:, 1]
        with np.errstate(divide="ignore", invalid="ignore"):
            u = (dx * e2[:, 1] - dy * e2[:, 0]) / area
            v = (dy * e1[:, 0] - dx * e1[:, 1]) / area
        hit = (u >= -1e-9) & (v >= -1e-9) & (u + v <= 1 + 1e-9)
        if hit.any():
            found[i] = (a[hit, 2] + u[hit] * e1[hit, 2] + v[hit] * e2[hit, 2]).max()
    return found

"""Parts that all types of bridges share: abutments, piers, bearings, girder spans.

Dimensions follow common practice. AASHTO LRFD Bridge Design Specifications (9th ed.): span-to-depth ratios of table
2.5.2.6.3-1 (deck slabs of 0.2 m and more, steel I-girders 0.033 L to 0.04 L, prestressed I-beams 0.045 L), cross frames
at most 7.6 m (25 ft) apart as in the Standard Specifications, supports skewed by less than 20 degrees with bracing
along the skew (6.7.4.2).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import numpy as np

from gapcut.scenes.bridges.line import Ground, Line, make_ground
from gapcut.scenes.bridges.model import Bridge, Mesh, Part
from gapcut.scenes.bridges.plan import Plan
from gapcut.scenes.bridges.solids import (
    beam,
    circle,
    i_section,
    loft,
    rectangle,
    rounded,
    shifted,
    stack,
    tower,
)
from gapcut.typing import FloatArray

SEAT = 0.5
"""Distance from the end of a span to the middle of its bearing."""


@dataclass
class Site:
    """A bridge in the making: the line, the ground, random numbers, and the parts so far.

    For what comes around it: ``feet`` (station, offset) of footings, ``decks`` (start, end, half width) of slabs.
    """

    line: Line
    ground: Ground
    rng: np.random.Generator
    width: float
    parts: list[Part] = field(default_factory=list)
    feet: list[tuple[float, float]] = field(default_factory=list)
    decks: list[tuple[float, float, float]] = field(default_factory=list)

    def add(self, label: str, mesh: Mesh, name: str = "") -> None:
        """Append a part."""
        self.parts.append(Part(mesh, label, len(self.parts), name or label))

    def bridge(self, plan: Plan, type_: str, parameters: dict[str, Any]) -> Bridge:
        """The finished bridge, with what the plan puts around it."""
        facts = {
            "length": round(self.line.length, 2),
            "width": round(self.width, 2),
            "skew": round(self.line.skew, 1),
            "radius": None if np.isinf(self.line.radius) else round(self.line.radius, 1),
            "grade": round(self.line.grade, 4),
        }
        bare = Bridge(plan.name, type_, tuple(self.parts), self.ground.mesh(), facts | parameters)
        return bare if plan.dress is None else plan.dress(self, bare)

    @property
    def half(self) -> float:
        """Half the width of the deck."""
        return self.width / 2


def valley(
    rng: np.random.Generator,
    line: Line,
    width: float,
    height: float,
    depth: float,
    banks: list[tuple[float, float]] | None = None,
) -> Site:
    """A site whose abutment ground lies 2.6 to 4 m below the seats (``depth`` below the road) and whose valley floor
    lies ``height`` below the road. ``banks``: control points (station, height) instead of the usual valley.
    """
    length = line.length
    start, end = (float(line.surface(s)) - depth - rng.uniform(2.6, 4.0) for s in (0.0, length))
    bottom = min(float(line.surface(s)) for s in (0.3 * length, 0.7 * length)) - height
    bank = rng.uniform(0.12, 0.2)
    if banks is None:
        banks = [(bank * length, bottom + 1.0), (0.35 * length, bottom), (0.5 * length, bottom - 0.8)]
        banks += [(0.68 * length, bottom + 0.2), ((1 - bank) * length, bottom + 1.2)]
    controls = [(-25.0, start + 0.3), (3.0, start), *banks, (length - 3.0, end), (length + 25.0, end + 0.3)]
    wing = max(4.0, 1.4 * (depth + 2.2))
    return Site(line, make_ground(line, controls, width / 2, wing, rng), rng, width)


def offsets(width: float, n: int, overhang: float) -> FloatArray:
    """Offsets of n girders, the outer ones ``overhang`` from the edge."""
    return np.linspace(-width / 2 + overhang, width / 2 - overhang, n)


def deck_profile(half: float, thickness: float = 0.22) -> FloatArray:
    """A deck slab as (offset, height above the surface): 7 points, following the crossfall."""
    return np.array(
        [
            [-half, -thickness],
            [0.0, -thickness],
            [half, -thickness],
            [half, 0.0],
            [0.0, 0.0],
            [-half, 0.0],
        ]
    )


def deck(site: Site, s0: float, s1: float, n: int = 1, half: float | None = None) -> None:
    """Deck slabs from s0 to s1 in n pours, ``half`` to both sides (default: the whole width)."""
    edges = np.linspace(s0, s1, n + 1)
    wide = site.half if half is None else half
    site.decks.append((s0, s1, wide))
    profile = deck_profile(wide)
    for a, b in pairwise(edges):
        site.add("deck", site.line.extrude(a, b, profile))


def bearing(site: Site, s: float, y: float, low: float, high: float, size: float = 0.5) -> None:
    """A bearing between two heights: a concrete plinth, an elastomeric block, and a steel sole plate."""
    gap = high - low
    pad = min(0.12, 0.5 * gap)
    plinth = gap - pad - 0.04
    along = min(size, 0.5)  # clear of the back wall, or of the neighbour on the same cap
    layers = [
        (along + 0.12, size + 0.25, plinth),
        (along, size + 0.1, pad),
        (along + 0.06, size + 0.16, 0.04),
    ]
    site.add("bearing", stack(site.line.point(s, y, low), layers, float(site.line.heading(s, y))))


def abutment(site: Site, end: int, seat: float) -> None:
    """The abutment at the start (end = 0) or the end (1): stem with seat and back wall, wing walls, footing.

    ``seat`` is the absolute height of the seat below the bearings.
    """
    line, ground = site.line, site.ground
    at, out = (0.0, -1.0) if end == 0 else (line.length, 1.0)
    half = site.half
    y = np.linspace(-half, half, 7)
    toe = ground.height(at - out * 2.3, y)
    top = min(float(toe.max()) + 0.35, seat - 0.6)
    road = float(line.surface(at, half)) - 0.02
    stem = np.array([[-1.1, top], [-1.1, seat], [0.05, seat], [0.05, road], [0.4, road], [0.4, top]])
    stem[:, 0] = at + out * stem[:, 0]
    site.add("abutment", line.wall(stem, -half, half), "abutment stem")
    wing = ground.wing
    side = np.array([[0.4, top], [0.4, road], [wing, road], [wing, road - 1.2], [1.8, top]])
    side[:, 0] = at + out * side[:, 0]
    for y0, y1 in ((half - 0.42, half), (-half, -half + 0.42)):
        site.add("abutment", line.wall(side, y0, y1), "wing wall")
    base = np.array([[-2.3, top - 1.0], [-2.3, top], [1.8, top], [1.8, top - 1.0]])
    base[:, 0] = at + out * base[:, 0]
    site.add("footing", line.wall(base, -half - 0.5, half + 0.5), "abutment footing")


def pier(site: Site, s: float, cap: float, kind: str, length: float = 1.7) -> None:
    """A pier whose cap ends at height ``cap``: ``columns``, ``hammerhead`` or ``wall``; footings stand on the ground.

    Columns of multi-column bents are 1.0 to 1.4 m thick and at most 7 m apart; the cap is about 1.3 m deep.
    """
    {"columns": _bent, "hammerhead": _hammerhead, "wall": _wall_pier}[kind](site, s, cap, length)


def _bent(site: Site, s: float, cap: float, length: float) -> None:
    depth = 1.3
    reach = site.half - 0.35
    n = max(2, int(np.ceil(2 * reach / 5.0)))
    profile = shifted(rectangle(length, depth, top=True), s, cap)
    site.add("pier cap", site.line.wall(profile, -reach, reach))
    diameter = min(1.4, length - 0.25)
    for y in np.linspace(-reach + 1.1, reach - 1.1, n):
        top = footing(site, s, float(y), 2.6, 2.6)
        column(site, s, float(y), top, cap - depth, circle(diameter / 2, 20))
    _tie_tall_columns(site, s, cap - depth, np.linspace(-reach + 1.1, reach - 1.1, n))


def _tie_tall_columns(site: Site, s: float, top: float, ys: FloatArray) -> None:
    """Struts at mid-height between columns taller than 11 m."""
    low = float(site.ground.height(s, ys).max())
    if top - low < 11.0:
        return
    z = (top + low) / 2
    for a, b in pairwise(ys):
        ends = site.line.point(s, np.array([a + 0.5, b - 0.5]), z)
        site.add("cross beam", beam(ends[0], ends[1], rectangle(0.8, 1.0)), "column strut")


def _hammerhead(site: Site, s: float, cap: float, length: float) -> None:
    line, reach = site.line, site.half - 0.35
    width = max(3.0, 0.42 * site.width)
    deep, shallow = 1.9, 0.8
    lower = [
        [-reach, cap - shallow],
        [-width / 2, cap - deep],
        [width / 2, cap - deep],
        [reach, cap - shallow],
    ]
    yz = np.array([*lower, [reach, cap], [-reach, cap]])
    rings = [line.point(s + d, yz[:, 0], yz[:, 1]) for d in (-length / 2, length / 2)]
    site.add("pier cap", loft(np.stack(rings)), "hammerhead")
    top = footing(site, s, 0.0, 4.2, width + 2.2)
    column(site, s, 0.0, top, cap - deep, rounded(width, length - 0.35)[:, ::-1][::-1])


def _wall_pier(site: Site, s: float, cap: float, length: float) -> None:
    line, reach = site.line, site.half - 0.4
    profile = shifted(rectangle(length, 0.9, top=True), s, cap)
    site.add("pier cap", line.wall(profile, -reach, reach))
    top = footing(site, s, 0.0, 3.8, 2 * reach + 0.8)
    outline = rounded(2 * reach - 0.9, length - 0.5)[:, ::-1][::-1]
    column(site, s, 0.0, top, cap - 0.9, outline, turn=-np.radians(line.skew))


def column(
    site: Site, s: float, y: float, low: float, high: float, outline: FloatArray, turn: float = 0.0
) -> None:
    """A vertical column from ``low`` to ``high``, turned by ``turn`` from the road's heading."""
    heading = float(site.line.heading(s, y)) + turn
    mesh = tower(site.line.point(s, y, low), [outline, outline], [0.0, high - low], heading)
    site.add("column", mesh)


def footing(site: Site, s: float, y: float, length: float, width: float, depth: float = 1.2) -> float:
    """A footing or pile cap around (s, y), a little above the ground; returns the height of its top."""
    ds, dy = np.meshgrid(np.linspace(-length / 2, length / 2, 5), np.linspace(-width / 2, width / 2, 5))
    around = site.ground.height(s + ds, y + dy)
    top = float(around.max()) + 0.25
    low = min(float(around.min()) - 0.3, top - depth)
    site.feet.append((s, y))
    site.add("footing", site.line.block(s, y, low, top, length, width))
    return top


@dataclass(frozen=True)
class GirderSpan:
    """How the girders of a span look: ``kind`` (steel, concrete, box), ``depth`` in metres, ``ys`` their offsets,
    ``bracing`` (x-frame, k-frame, diaphragm), at most ``spacing`` metres apart, ``slab`` the thickness above."""

    kind: str
    depth: float
    ys: FloatArray
    bracing: str
    spacing: float
    slab: float = 0.22

    def profile(self, depth: float | None = None) -> FloatArray:
        """Section of a girder, hanging below the origin."""
        d = self.depth if depth is None else depth
        if self.kind == "steel":
            return i_section(d, 0.42, 0.045, 0.03, 0.5)
        if self.kind == "box":
            return np.array([[-0.75, -d], [0.75, -d], [1.1, 0.0], [-1.1, 0.0]])
        k = d / 1.83
        half = [[0.33, -1.83], [0.33, -1.66], [0.1, -1.5], [0.1, -0.3], [0.45, -0.14], [0.45, 0.0]]
        scaled = [[x * max(k, 0.75), z * k] for x, z in half]
        return np.array(scaled + [[-x, z] for x, z in scaled[::-1]])

    def half_web(self) -> float:
        """Distance from a girder's axis to where bracing meets it."""
        return {"steel": 0.015, "concrete": 0.1, "box": 0.93}[self.kind]


def girder_span(site: Site, s0: float, s1: float, span: GirderSpan, gap: float = 0.04) -> None:
    """Girders from s0 to s1 (each ends ``gap`` before) with their bracing."""
    for y in span.ys:
        profile = shifted(span.profile(), float(y), -span.slab)
        site.add("girder", site.line.extrude(s0 + gap, s1 - gap, profile, datum=float(y)))
    inner = s1 - s0 - 2 * SEAT
    n = max(1, int(np.ceil(inner / span.spacing)))
    for s in np.linspace(s0 + SEAT, s1 - SEAT, n + 1):
        bracing_line(site, float(s), span)


def bracing_line(site: Site, s: float, span: GirderSpan) -> None:
    """Bracing between all neighbouring girders at one station."""
    for a, b in zip(span.ys[:-1], span.ys[1:], strict=True):
        panel = {"x-frame": _x_frame, "k-frame": _k_frame, "diaphragm": _diaphragm}[span.bracing]
        panel(site, s, float(a) + span.half_web(), float(b) - span.half_web(), span)


def _corner_levels(
    site: Site, s: float, a: float, b: float, span: GirderSpan
) -> tuple[FloatArray, FloatArray]:
    """Heights (2,) of upper and lower chord of a bracing panel at its two ends."""
    surface = site.line.surface(s, np.array([a, b])) - span.slab
    return surface - 0.12 * span.depth - 0.08, surface - 0.86 * span.depth


def _x_frame(site: Site, s: float, a: float, b: float, span: GirderSpan) -> None:
    """Two crossing diagonals, back to back, and a bottom strut."""
    high, low = _corner_levels(site, s, a, b, span)
    section = rectangle(0.1, 0.1)
    ends = site.line.point(np.array([s - 0.05, s - 0.05, s + 0.05, s + 0.05]), [a, b, a, b], [*high, *low])
    site.add("cross beam", beam(ends[0], _lower(ends[1], high[1] - low[1]), section), "diagonal")
    site.add("cross beam", beam(ends[2], _lower(ends[3], low[1] - high[1]), section), "diagonal")
    strut = site.line.point(np.array([s, s]), [a, b], low - 0.1)
    site.add("cross beam", beam(strut[0], strut[1], rectangle(0.12, 0.1)), "bottom strut")


def _lower(point: FloatArray, by: float) -> FloatArray:
    return np.asarray(point - [0.0, 0.0, by])


def _k_frame(site: Site, s: float, a: float, b: float, span: GirderSpan) -> None:
    """Bottom strut, and two diagonals from its middle to the upper corners."""
    high, low = _corner_levels(site, s, a, b, span)
    middle = (a + b) / 2
    foot = site.line.point(s, middle, low.mean() + 0.05)
    for y, z in ((a, high[0]), (b, high[1])):
        site.add("cross beam", beam(site.line.point(s, y, z), foot, rectangle(0.1, 0.1)), "diagonal")
    strut = site.line.point(np.array([s, s]), [a, b], low)
    site.add("cross beam", beam(strut[0], strut[1], rectangle(0.14, 0.1)), "bottom strut")


def _diaphragm(site: Site, s: float, a: float, b: float, span: GirderSpan) -> None:
    """A solid diaphragm: cast in place between concrete girders, a rolled beam between steel ones."""
    surface = site.line.surface(s, np.array([a, b])) - span.slab
    ends = site.line.point(
        np.array([s, s]), [a, b], surface - (0.0 if span.kind != "steel" else 0.25 * span.depth)
    )
    if span.kind == "steel":
        profile = i_section(0.5 * span.depth, 0.2, 0.025, 0.025)
    else:
        profile = rectangle(0.25, 0.75 * span.depth, top=True)
    site.add("cross beam", beam(ends[0], ends[1], profile), "diaphragm")


def bearings(site: Site, s: float, seat: float, span: GirderSpan, size: float = 0.5) -> None:
    """One bearing under every girder at station s, from the seat to the girder."""
    for y in span.ys:
        high = float(site.line.surface(s, y)) - span.slab - span.depth
        bearing(site, s, float(y), seat, high, size)


def end_support(site: Site, end: int, span: GirderSpan) -> None:
    """The abutment at the start (end = 0) or the end (1) of a girder span, and the bearings on its seat."""
    s = SEAT if end == 0 else site.line.length - SEAT
    seat = seat_height(site, s, span)
    abutment(site, end, seat)
    bearings(site, s, seat, span)


def seat_height(site: Site, s: float, span: GirderSpan, least: float = 0.24) -> float:
    """Height of the seat such that the lowest bearing on it is ``least`` high."""
    ys = span.ys
    return float(site.line.surface(s, ys).min()) - span.slab - span.depth - least

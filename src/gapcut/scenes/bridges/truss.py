"""Truss bridges: through trusses (Pratt, Warren, Parker) and deck trusses.

Height L/8.5 to L/8, and for through trusses at least 7.6 m, which leaves 5 m of clear height below the portals;
AASHTO LRFD table 2.5.2.6.3-1 (8th ed.) asks for 0.100 L. Panels of 6 to 8 m, chords of 0.45 to 0.55 m boxes, web
members of 0.3 to 0.4 m I-sections with gusset plates at the nodes, floor beams at every node, five stringers 1.5
to 2.5 m apart, lateral bracing at both chords: typical, by eye.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gapcut.scenes.bridges import floor, kit
from gapcut.scenes.bridges.line import Line
from gapcut.scenes.bridges.model import Bridge, concatenate
from gapcut.scenes.bridges.plan import Plan
from gapcut.scenes.bridges.railings import road_railings
from gapcut.scenes.bridges.solids import beam, i_section, rectangle, shifted
from gapcut.typing import FloatArray

KINDS = ("pratt", "warren", "deck-warren", "parker", "deck-pratt")


@dataclass(frozen=True)
class _Truss:
    """Geometry of one span: node stations, heights of both chords' axes (n,), offset of the planes, web pattern."""

    stations: FloatArray
    low: FloatArray
    high: FloatArray
    reach: float
    warren: bool
    deck: bool

    def nodes(self, site: kit.Site, y: float) -> tuple[FloatArray, FloatArray]:
        """Nodes of the lower and the upper chord (n, 3) in the plane at offset y."""
        return site.line.point(self.stations, y, self.low), site.line.point(self.stations, y, self.high)


def build(plan: Plan) -> Bridge:
    """A truss bridge of one of ``KINDS``."""
    rng, kind = plan.rng, plan.kind(KINDS)
    deck = kind.startswith("deck")
    panels = int(rng.choice([8, 10])) if not deck else int(rng.choice([6, 8]))
    panel = float(np.round(rng.uniform(6.2, 7.6), 2))
    n_spans = 3 if panels == 6 or (panels == 8 and rng.random() < 0.5) else 2
    span = panels * panel + 2 * kit.SEAT
    width = float(rng.uniform(10.5, 12.5))
    line = Line(n_spans * span, grade=float(rng.uniform(-0.008, 0.008)))
    site, trusses, under = _layout(plan, line, width, panels, panel, n_spans, kind)
    for i, truss in enumerate(trusses):
        _span(site, truss, i * span, (i + 1) * span)
    _supports(site, trusses, n_spans, span, under)
    railing = plan.railing(("posts", "mesh"))
    edge = site.half if deck else site.half - floor.INNER
    road_railings(
        site, 3.6, railing, [(i * span + 0.02, (i + 1) * span - 0.02, edge) for i in range(n_spans)]
    )
    height = float(np.ptp([trusses[0].low.min(), trusses[0].high.max()]))
    facts = {
        "kind": kind,
        "spans": [round(span, 1)] * n_spans,
        "panels": panels,
        "truss height": round(height, 1),
    }
    return site.bridge(plan, "truss", facts | {"railing": railing})


def _layout(
    plan: Plan, line: Line, width: float, panels: int, panel: float, n_spans: int, kind: str
) -> tuple[kit.Site, list[_Truss], float]:
    """The site, the trusses of all spans, and how far below the road the lower side of the bearing chord lies."""
    rng = plan.rng
    deck = kind.startswith("deck")
    floor_depth = 1.25 if deck else 1.05
    span = panels * panel + 2 * kit.SEAT
    height = max(span / 8.5, 5.5) if deck else max(span / 8.0, 7.6)
    reach = width / 2 - floor.MAIN - (1.6 if deck else 0.0)
    axis = -floor_depth - 0.3 if deck else -0.9
    under = -axis + 0.28
    drop = under + (height if deck else 0.0) + float(rng.uniform(6.0, 9.0))
    banks = _steep_banks(line, under + height + 1.6, panel, drop) if deck else None
    site = kit.valley(rng, line, width, drop, under, banks)
    trusses = []
    for i in range(n_spans):
        stations = np.asarray(i * span + kit.SEAT + np.arange(panels + 1) * panel, dtype=np.float64)
        road = line.surface(stations, 0.0)
        t = (stations - stations[0]) / (stations[-1] - stations[0])
        if deck:
            low, high = road + axis - height, road + axis
        else:
            bow = 0.35 * height * (4 * t * (1 - t) - 0.35) if kind == "parker" else 0.0 * t
            low, high = road + axis, road + axis + height + bow
        trusses.append(_Truss(stations, low, high, reach, "warren" in kind, deck))
    return site, trusses, under


def _steep_banks(line: Line, clear: float, panel: float, drop: float) -> list[tuple[float, float]]:
    """Control points of a valley that falls ``clear`` metres below the road before the first node of a deck truss."""
    near, far = 0.85 * panel, line.length - 0.85 * panel
    low, high = float(line.surface(near)) - clear, float(line.surface(far)) - clear
    bottom = min(low, high, float(line.surface(0.5 * line.length)) - drop)
    return [(near, low), (0.3 * line.length, bottom - 0.3), (0.55 * line.length, bottom - 1.0), (far, high)]


def _span(site: kit.Site, truss: _Truss, start: float, end: float) -> None:
    for y in (-truss.reach, truss.reach):
        _plane(site, truss, y)
    _lateral(site, truss)
    if truss.deck:
        _deck_floor(site, truss, start, end)
    else:
        floor.floor(site, truss.stations, truss.reach - 0.26, 0.95, 5, max(2, len(truss.stations) // 2))


def _plane(site: kit.Site, truss: _Truss, y: float) -> None:
    """Chords, posts and diagonals of one plane. The chord without supports is one panel shorter at both ends."""
    low, high = truss.nodes(site, y)
    n = len(low) - 1
    long, short = (high, low) if truss.deck else (low, high)
    for i in range(n):
        _chord(site, long[i], long[i + 1], gusset=i > 0)
        if 0 < i < n - 1:
            _chord(site, short[i], short[i + 1], gusset=True, last=i == n - 2)
    _end_posts(site, long, short, n)
    post = shifted(i_section(0.34, 0.34, 0.04, 0.04), 0.0, 0.17)
    for i in range(1, n):
        site.add("chord", beam(low[i], high[i], post, up=[1, 0, 0]), "post")
    for i in range(1, n - 1):
        site.add("chord", beam(*_diagonal(low, high, i, n, truss), post * 1.05, up=[0, 1, 0]), "diagonal")


def _end_posts(site: kit.Site, long: FloatArray, short: FloatArray, n: int) -> None:
    """Inclined end posts from the bearings to the first nodes of the shorter chord."""
    for a, b in ((long[0], short[1]), (long[n], short[n - 1])):
        site.add("chord", beam(a, b, rectangle(0.5, 0.5)), "end post")


def _diagonal(
    low: FloatArray, high: FloatArray, i: int, n: int, truss: _Truss
) -> tuple[FloatArray, FloatArray]:
    """Ends of the diagonal in panel i: towards midspan at the bottom (Pratt), or in turns (Warren)."""
    falls = (i % 2 == 1) if truss.warren else i < n / 2
    if truss.deck and truss.warren:
        falls = not falls
    return (high[i], low[i + 1]) if falls else (low[i], high[i + 1])


def _chord(site: kit.Site, a: FloatArray, b: FloatArray, gusset: bool, last: bool = False) -> None:
    """A chord member with a pair of gusset plates around its first node, and around the second if ``last``."""
    pieces = [beam(a, b, rectangle(0.46, 0.5))]
    along = (b - a) / np.linalg.norm(b - a)
    for node in [a] * gusset + [b] * last:
        for side in (-0.255, 0.255):
            middle = node + np.array([0.0, side, 0.0])
            pieces.append(beam(middle - 0.75 * along, middle + 0.75 * along, rectangle(0.04, 1.15)))
    site.add("chord", concatenate(pieces), "chord")


def _lateral(site: kit.Site, truss: _Truss) -> None:
    """Struts between the shorter chords, diagonals in both chords' planes, portals at the ends of through trusses."""
    left, right = truss.nodes(site, truss.reach - 0.26), truss.nodes(site, -truss.reach + 0.26)
    n = len(truss.stations) - 1
    upper = 0 if truss.deck else 1
    strut = shifted(i_section(0.4, 0.3, 0.03, 0.03), 0.0, 0.2)
    for i in range(1, n):
        site.add("cross beam", beam(left[upper][i], right[upper][i], strut), "lateral strut")
        if not truss.deck and i in (1, n - 1):
            _portal(site, left[1][i], right[1][i])
    for i in range(1, n - 1):
        corners = left[upper][i], right[upper][i], left[upper][i + 1], right[upper][i + 1]
        floor.cross_bracing(site, corners, 0.2, "lateral diagonal")
    if truss.deck:
        _sway(site, left, right, n)
        return
    drop = np.array([0.0, 0.0, -0.3])
    for i in range(n):
        corners = tuple(p + drop for p in (left[0][i], right[0][i], left[0][i + 1], right[0][i + 1]))
        floor.cross_bracing(site, corners, 0.16, "lateral diagonal")


def _portal(site: kit.Site, left: FloatArray, right: FloatArray) -> None:
    """Knee braces between an end post's head and the portal strut."""
    reach = np.array([0.0, 1.6, 0.0])
    down = np.array([0.0, 0.0, -1.5])
    for corner, inward in ((left, -reach), (right, reach)):
        site.add("cross beam", beam(corner + down, corner + inward, rectangle(0.2, 0.2)), "knee brace")


def _sway(site: kit.Site, left: tuple[FloatArray, ...], right: tuple[FloatArray, ...], n: int) -> None:
    """Crossing diagonals across the bridge at every second node of a deck truss."""
    shift = np.array([0.09, 0.0, 0.0])
    for i in range(1, n, 2):
        rising = left[0][i] + shift, right[1][i] + shift
        falling = right[0][i] - shift, left[1][i] - shift
        for ends in (rising, falling):
            site.add("cross beam", beam(*ends, rectangle(0.16, 0.16)), "sway diagonal")


def _deck_floor(site: kit.Site, truss: _Truss, start: float, end: float) -> None:
    """Floor beams on the upper chords, stringers between them, slab over the full width."""
    edge = site.half - 0.4
    for s in truss.stations:
        floor.floor_beam(site, float(s), edge, 1.06)
    ys = np.linspace(-edge + 0.5, edge - 0.5, 6)
    for a, b in zip(truss.stations[:-1], truss.stations[1:], strict=True):
        floor.stringers(site, float(a) + 0.2, float(b) - 0.2, ys, 0.55)
    kit.deck(site, start + 0.02, end - 0.02, max(2, len(truss.stations) // 2))


def _supports(site: kit.Site, trusses: list[_Truss], n_spans: int, span: float, under: float) -> None:
    line = site.line
    ys = (-trusses[0].reach, trusses[0].reach)
    for end, s in ((0, kit.SEAT), (1, line.length - kit.SEAT)):
        chord = float(line.surface(s, 0.0)) - under
        kit.abutment(site, end, chord - 0.45)
        floor.end_bearings(site, s, chord - 0.45, ys, chord)
    for i in range(1, n_spans):
        s = i * span
        cap = float(line.surface(s, 0.0)) - under - 0.45
        kit.pier(site, s, cap, str(site.rng.choice(["columns", "wall", "hammerhead"])), 2.2)
        for d in (-kit.SEAT, kit.SEAT):
            floor.end_bearings(site, s + d, cap, ys, float(line.surface(s + d, 0.0)) - under)

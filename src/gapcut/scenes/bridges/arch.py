"""Arch bridges: open-spandrel deck arches and tied arches with hangers.

Rise to span about 1 : 4.4 to 1 : 5.3 on deck arches and ribs about L/58 deep; the built steel arches listed in
Brockenbrough and Merritt, Structural Steel Designer's Handbook, section 14, have 1 : 4.7 to 1 : 6.3 and 1/58 to
1/79 (the deepest for short spans, as ours are). Spandrel columns 6 to 8 m apart on deck arches, hangers 5 to 7 m
apart on tied arches, ties about L/60 deep: typical, by eye.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise

import numpy as np

from gapcut.scenes.bridges import floor, kit
from gapcut.scenes.bridges.line import Line
from gapcut.scenes.bridges.model import Bridge
from gapcut.scenes.bridges.plan import Plan
from gapcut.scenes.bridges.railings import road_railings
from gapcut.scenes.bridges.solids import beam, chamfered, rectangle, shifted
from gapcut.typing import FloatArray

KINDS = ("deck", "tied", "deck-three", "tied-network", "deck-steel")


def build(plan: Plan) -> Bridge:
    """An arch bridge of one of ``KINDS``."""
    kind = plan.kind(KINDS)
    return _tied(plan, kind) if kind.startswith("tied") else _deck_arch(plan, kind)


def _parabola(middle: float, span: float, crown: float, rise: float) -> Callable[[float], float]:
    def axis(s: float) -> float:
        return crown - rise * (2 * (s - middle) / span) ** 2

    return axis


def _deck_arch(plan: Plan, kind: str) -> Bridge:
    rng = plan.rng
    panels, sides = int(rng.choice([10, 12])), int(rng.integers(2, 4))
    panel = float(np.round(rng.uniform(6.4, 7.8), 2))
    span = panels * panel
    width = float(rng.uniform(9.5, 12.5))
    line = Line(span + 2 * sides * panel, grade=float(rng.uniform(-0.01, 0.01)))
    rise = span * float(rng.uniform(0.19, 0.23))
    depth, rib_depth = round(panel / 13, 2), span / 58
    start, middle = sides * panel, line.length / 2
    stringers = kit.GirderSpan(
        "steel" if kind == "deck-steel" else "concrete", depth, kit.offsets(width, 5, 1.0), "diaphragm", 20.0
    )
    cap_depth = 0.85
    crown = float(line.surface(middle, width / 2)) - 0.22 - depth - 0.24 - cap_depth - 0.5 - rib_depth / 2
    axis = _parabola(middle, span, crown, rise)
    spring = crown - rise
    banks = [
        (0.35 * start, line.level - depth - 4.2),
        (start - 2.5, spring - 0.5),
        (start + 4.0, spring - 2.2),
    ]
    floor_level = spring - rng.uniform(5.0, 8.0)
    banks += [
        (middle - 0.2 * span, floor_level),
        (middle, floor_level - 0.7),
        (middle + 0.2 * span, floor_level),
    ]
    end = line.length - start
    banks += [(end - 4.0, spring - 2.2), (end + 2.5, spring - 0.5)]
    banks += [(line.length - 0.35 * start, float(line.surface(line.length)) - depth - 4.2)]
    site = kit.valley(rng, line, width, rise, depth, banks)
    ribs = kit.offsets(width, 3 if kind == "deck-three" else 2, 2.0)
    stations = np.asarray(np.arange(panels + 2 * sides + 1) * panel, dtype=np.float64)
    on_arch = (stations >= start - 0.1) & (stations <= end + 0.1)
    _ribs(site, ribs, stations[on_arch], rib_depth, axis, kind == "deck-steel")
    block = _springings(site, ribs, (start, end), spring, rib_depth)
    for s in stations[1:-1]:
        inside = start + 0.1 < s < end - 0.1
        foot = axis(float(s)) + 0.3 * rib_depth if inside else None
        if abs(s - start) < 0.1 or abs(s - end) < 0.1:
            foot = block
        _bent(site, float(s), ribs, stringers, cap_depth, foot)
    _deck_on_caps(site, stations, stringers)
    railing = plan.railing(("parapet", "posts", "mesh"))
    road_railings(site, 3.6, railing)
    facts = {
        "kind": kind,
        "span": round(span, 1),
        "rise": round(rise, 2),
        "panels": panels,
        "ribs": len(ribs),
    }
    return site.bridge(plan, "arch", facts | {"railing": railing})


def _ribs(
    site: kit.Site,
    ys: FloatArray,
    stations: FloatArray,
    depth: float,
    axis: Callable[[float], float],
    steel: bool,
) -> None:
    width = 0.8 if steel else 1.1
    for y in ys:
        for a, b in pairwise(stations):
            site.add("chord", floor.rib(site, float(a), float(b), float(y), width, depth, axis), "arch rib")
    inset = width / 2
    for left, right in pairwise(ys):
        corners = [
            [site.line.point(s, y, axis(float(s))) for y in (left + inset, right - inset)] for s in stations
        ]
        size = rectangle(0.5, 0.5) if steel else rectangle(0.6, 0.8)
        for pair in corners[1:-1]:
            site.add("cross beam", beam(pair[0], pair[1], size), "rib strut")
        if steel:
            for here, next_ in pairwise(corners):
                floor.cross_bracing(site, (here[0], here[1], next_[0], next_[1]), 0.25, "rib diagonal")


def _springings(
    site: kit.Site, ribs: FloatArray, stations: tuple[float, float], spring: float, rib_depth: float
) -> float:
    """A thrust block at both ends of the arch, the ribs' feet let into its inclined face; returns its top's height."""
    line = site.line
    reach = float(np.abs(ribs).max()) + 1.3
    for s, out in zip(stations, (-1.0, 1.0), strict=True):
        profile = np.array(
            [
                [-1.8, spring - 3.0],
                [-1.8, spring - 0.6 * rib_depth - 0.4],
                [-0.5, spring + 0.75 * rib_depth],
                [1.3, spring + 0.75 * rib_depth],
                [3.0, spring - 0.5],
                [3.0, spring - 3.0],
            ]
        )
        profile[:, 0] = s + out * profile[:, 0]
        site.feet.append((s, 0.0))
        site.add("footing", line.wall(profile, -reach, reach), "thrust block")
    return spring + 0.75 * rib_depth


def _bent(
    site: kit.Site,
    s: float,
    ys: FloatArray,
    span: kit.GirderSpan,
    cap_depth: float,
    foot: float | None,
) -> None:
    """A cap on columns that stand on the ribs or thrust blocks at height ``foot``, or on footings; bearings on top."""
    seat = kit.seat_height(site, s, span)
    reach = float(np.abs(span.ys).max()) + 0.55
    profile = shifted(rectangle(0.9, cap_depth, top=True), s, seat)
    site.add("pier cap", site.line.wall(profile, -reach, reach), "spandrel cap")
    outline = chamfered(0.75, 0.8, 0.08)
    for y in ys:
        low = kit.footing(site, s, float(y), 2.4, 2.4) if foot is None else foot
        kit.column(site, s, float(y), low, seat - cap_depth, outline)
    kit.bearings(site, s, seat, span, 0.45)


def _deck_on_caps(site: kit.Site, stations: FloatArray, span: kit.GirderSpan) -> None:
    for end in (0, 1):
        kit.end_support(site, end, span)
    for i, (a, b) in enumerate(pairwise(stations)):
        for y in span.ys:
            profile = shifted(span.profile(), float(y), -span.slab)
            low, high = a + (0.04 if i == 0 else 0.01), b - (0.04 if i == len(stations) - 2 else 0.01)
            site.add("girder", site.line.extrude(float(low), float(high), profile, datum=float(y)))
        kit.bracing_line(site, float(a + b) / 2, span)
        kit.deck(site, float(a) + 0.01, float(b) - 0.01)


def _tied(plan: Plan, kind: str) -> Bridge:
    """Two ribs above the road, tied by girders that hang from them; simple girder spans may lead to them."""
    rng = plan.rng
    panels = int(rng.choice([12, 14, 16]))
    panel = float(np.round(rng.uniform(5.4, 6.6), 2))
    span = panels * panel + 2 * kit.SEAT
    approach = float(np.round(rng.uniform(20, 26), 1)) if rng.random() < 0.85 else 0.0
    width = float(rng.uniform(12.0, 14.5))
    line = Line(span + 2 * approach)
    tie_depth = round(max(1.3, span / 60), 2)
    under = 1.15
    rise = span * float(rng.uniform(0.17, 0.2))
    depth = approach / 22 if approach else under
    site = kit.valley(rng, line, width, float(rng.uniform(8.0, 12.0)), max(depth, under))
    start = approach
    stations = np.asarray(start + kit.SEAT + np.arange(panels + 1) * panel, dtype=np.float64)
    reach = site.half - floor.MAIN
    tie_top = tie_depth - under
    axis = _parabola(line.length / 2, panels * panel, tie_top - tie_depth / 2 + rise, rise)
    for a, b in pairwise(stations):
        low = float(a) - (0.4 if a == stations[0] else 0.0)
        high = float(b) + (0.4 if b == stations[-1] else 0.0)
        for y in (-reach, reach):
            floor.main_girder(site, low, high, y, 0.6, tie_depth, tie_top)
            site.add(
                "chord", floor.rib(site, float(a), float(b), y, 0.7, max(1.1, span / 65), axis), "arch rib"
            )
    floor.floor(site, stations, reach - 0.3, under - 0.3, 5, panels)
    _hangers(site, stations, reach, tie_top, axis, kind == "tied-network")
    _wind_bracing(site, stations, reach - 0.35, axis)
    _tied_supports(site, (start, start + span), reach, under, approach, depth)
    inner = [(start + 0.02, start + span - 0.02, site.half - floor.INNER)]
    if approach:
        ends = [(0.02, approach - 0.02, site.half), (start + span + 0.02, line.length - 0.02, site.half)]
        inner += ends
    railing = plan.railing(("posts", "mesh"))
    road_railings(site, 3.6, railing, inner)
    facts = {
        "kind": kind,
        "span": round(span, 1),
        "rise": round(rise, 2),
        "panels": panels,
        "approach": approach,
    }
    return site.bridge(plan, "arch", facts | {"railing": railing})


def _hangers(
    site: kit.Site,
    stations: FloatArray,
    reach: float,
    low: float,
    axis: Callable[[float], float],
    network: bool,
) -> None:
    for y in (-reach, reach):
        for i, s in enumerate(stations[1:-1], 1):
            foot = site.line.point(float(s), y, low)
            if not network:
                floor.cable(site, foot, site.line.point(float(s), y, axis(float(s)) - 0.4), 0.07, "hanger")
                continue
            for shift in (-1, 1):
                top = float(s) + shift * 0.9 * (stations[1] - stations[0])
                if not stations[0] + 2.0 < top < stations[-1] - 2.0 or not 0 < i < len(stations) - 1:
                    continue
                aside = np.array([0.0, 0.09 * shift, 0.0])
                head = site.line.point(top, y, axis(top) - 0.4)
                floor.cable(site, foot + aside, head + aside, 0.06, "hanger")


def _wind_bracing(
    site: kit.Site, stations: FloatArray, reach: float, axis: Callable[[float], float], clear: float = 5.6
) -> None:
    """Struts between the ribs where traffic passes below, and diagonals between the struts."""
    high = [float(s) for s in stations if axis(float(s)) - float(site.line.surface(s)) > clear + 0.6]
    pairs = [[site.line.point(s, y, axis(s)) for y in (-reach, reach)] for s in high]
    for i, pair in enumerate(pairs):
        portal = i in (0, len(pairs) - 1)
        site.add("cross beam", beam(pair[0], pair[1], rectangle(0.5, 0.9 if portal else 0.5)), "wind strut")
    for here, next_ in pairwise(pairs):
        floor.cross_bracing(site, (here[0], here[1], next_[0], next_[1]), 0.22, "wind diagonal")


def _tied_supports(
    site: kit.Site, ends: tuple[float, float], reach: float, under: float, approach: float, depth: float
) -> None:
    """Bearings of the ties on abutments, or on piers that also carry the approach spans."""
    line = site.line
    below = float(line.surface(0.0)) - under
    if not approach:
        for end, s in ((0, kit.SEAT), (1, line.length - kit.SEAT)):
            kit.abutment(site, end, below - 0.4)
            floor.end_bearings(site, s, below - 0.4, (-reach, reach), below)
        return
    ys = kit.offsets(site.width, 5, 1.2)
    span = kit.GirderSpan("steel", round(depth, 2), ys, "k-frame", 7.0)
    for i, s in enumerate(ends):
        out = -1.0 if i == 0 else 1.0
        cap = min(kit.seat_height(site, s, span), below - 0.35)
        kit.pier(site, s, cap, "columns", 2.0)
        floor.end_bearings(site, s - out * kit.SEAT, cap, (-reach, reach), below)
        kit.bearings(site, s + out * kit.SEAT, cap, span)
        a, b = (0.0, s) if i == 0 else (s, line.length)
        kit.girder_span(site, a, b, span)
        kit.deck(site, a + 0.02, b - 0.02, 2)
        kit.end_support(site, i, span)

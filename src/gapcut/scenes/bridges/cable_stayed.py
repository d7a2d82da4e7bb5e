"""Cable-stayed bridges: one or two pylons (H, A, inverted Y), two planes of stays in a semi-fan or harp.

Side spans around 0.4 of the main span, where symmetric bridges are most economical (Svensson, Cable-Stayed
Bridges, 2012); pylons above the road 0.2 to 0.25 of the main span (two pylons) or 0.45 of the longer span (one),
stays 7 to 9 m apart at the deck, edge girders L/120 to L/90 and at least 1.6 m deep, floor beams at most 5 m
apart, stays of 0.2 m pipes: typical, by eye.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from gapcut.scenes.bridges import floor, kit
from gapcut.scenes.bridges.line import Line
from gapcut.scenes.bridges.model import Bridge
from gapcut.scenes.bridges.plan import Plan
from gapcut.scenes.bridges.railings import road_railings
from gapcut.scenes.bridges.solids import beam, rectangle
from gapcut.typing import FloatArray

KINDS = ("H", "A-single", "Y", "H-single", "A")


@dataclass(frozen=True)
class _Pylon:
    """A pylon at station s: heights of its top, road and foot; ``kind`` H, A or Y; ``merge`` where Y legs meet."""

    s: float
    kind: str
    top: float
    road: float
    foot: float
    spread: float

    @property
    def merge(self) -> float:
        """Height where the legs of an inverted Y become one."""
        return self.road + 0.55 * (self.top - self.road)

    def offset(self, z: float) -> float:
        """Distance of a leg's axis from the middle of the road at height z."""
        if self.kind == "H":
            return self.spread
        peak = self.merge if self.kind == "Y" else self.top
        tip = 0.55 if self.kind == "Y" else 0.75
        above = (peak - z) / (peak - self.road)
        return max(tip, tip + (self.spread - tip) * above)


def build(plan: Plan) -> Bridge:
    """A cable-stayed bridge of one of ``KINDS``."""
    rng, kind = plan.rng, plan.kind(KINDS)
    single = kind.endswith("single")
    pitch = float(np.round(rng.uniform(7.2, 8.8), 2))
    stays = int(rng.integers(9, 12)) if single else int(rng.integers(6, 8))
    near = 2.0 * pitch if single else 1.5 * pitch
    half_main = near + (stays - 1) * pitch + (0.5 * pitch if not single else 1.5 * pitch)
    side = near + (stays - 1) * pitch + 1.5 * pitch
    width = float(rng.uniform(13.0, 15.5))
    pylons = [side] if single else [side, side + 2 * half_main]
    line = Line(side + (half_main if single else 2 * half_main + side), crest=float(rng.uniform(0.3, 1.2)))
    depth = 1.7
    site = kit.valley(rng, line, width, float(rng.uniform(13.0, 18.0)), depth, None)
    reach = site.half - floor.MAIN
    rise = (0.42 if single else 0.24) * 2 * half_main * (0.62 if single else 1.0)
    towers = [_pylon(site, s, kind[0], rise) for s in pylons]
    _superstructure(site, pitch, reach, depth)
    harp = rng.random() < 0.35 and kind.startswith("H")
    for tower in towers:
        _build_pylon(site, tower, reach, depth)
        _stays(site, tower, near, pitch, stays, reach, harp)
    pier = str(rng.choice(["columns", "wall"]))
    _ends(site, reach, depth)
    for s in (0.42 * side, line.length - 0.42 * side):
        _side_pier(site, s, reach, depth, pier)
    railing = plan.railing(("posts", "mesh"))
    road_railings(site, 0.5 * pitch, railing, [(0.02, line.length - 0.02, site.half - floor.INNER)])
    facts = {
        "kind": kind,
        "main span": round(2 * half_main if not single else half_main, 1),
        "side span": side,
    }
    facts |= {"stays": 4 * stays * len(towers), "pylon": round(rise, 1), "harp": harp, "railing": railing}
    return site.bridge(plan, "cable-stayed", facts)


def _pylon(site: kit.Site, s: float, kind: str, rise: float) -> _Pylon:
    road = float(site.line.surface(s, 0.0))
    spread = site.half + 1.3
    ys = np.linspace(-spread - 3.0, spread + 3.0, 9)
    ground = float(site.ground.height(s + np.array([[-3.5], [0.0], [3.5]]), ys).max())
    return _Pylon(s, kind, road + rise, road, ground + 0.4, spread)


def _superstructure(site: kit.Site, pitch: float, reach: float, depth: float) -> None:
    """Edge girders, floor beams twice a pitch, three stringers and slabs."""
    length = site.line.length
    n = round((length - 2 * kit.SEAT) / pitch)
    stations = np.linspace(kit.SEAT, length - kit.SEAT, n + 1)
    for i, (a, b) in enumerate(pairwise(stations)):
        low = float(a) - (0.4 if i == 0 else 0.0)
        high = float(b) + (0.4 if i == n - 1 else 0.0)
        for y in (-reach, reach):
            floor.main_girder(site, low, high, y, 0.7, depth, 0.1)
    floor.floor(site, np.linspace(stations[0], stations[-1], 2 * n + 1), reach - 0.35, 1.1, 2, n)


def _build_pylon(site: kit.Site, p: _Pylon, reach: float, depth: float) -> None:
    """Pile cap, legs in pieces, the beam below the deck with its bearings, and beams above."""
    line = site.line
    below = p.road - depth - 0.6
    foot_spread = p.offset(p.foot)
    site.add("footing", line.block(p.s, 0.0, p.foot - 2.8, p.foot, 7.0, 2 * foot_spread + 5.0), "pile cap")
    ends = [p.foot, below - 0.9, p.top]
    if p.kind == "H":
        ends = [p.foot, below - 0.9, p.road + 0.55 * (p.top - p.road), p.top]
    if p.kind == "Y":
        ends[-1] = p.merge
    for side in (-1.0, 1.0):
        for low, high in pairwise(ends):
            _leg(site, p, side, low, high)
    if p.kind == "Y":
        mast = beam(
            line.point(p.s, 0, p.merge - 0.5), line.point(p.s, 0, p.top), rectangle(1.8, 2.8), up=[1, 0, 0]
        )
        site.add("column", mast, "mast")
    if p.kind == "A":
        head = line.block(p.s, 0.0, p.top - 0.2, p.top + 1.6, 2.6, 3.2)
        site.add("column", head, "pylon head")
    inner = p.offset(below) - 0.6
    axis = line.point(np.array([p.s, p.s]), [-inner, inner], below - 0.9)
    site.add("pier cap", beam(axis[0], axis[1], rectangle(2.2, 1.8)), "pylon beam")
    for y in (-reach, reach):
        kit.bearing(site, p.s, y, below, p.road + 0.1 - depth, 0.9)
    _upper_beams(site, p)


def _leg(site: kit.Site, p: _Pylon, side: float, low: float, high: float) -> None:
    """A piece of a leg, thinner towards the top."""

    def section(z: float) -> FloatArray:
        t = (z - p.foot) / (p.top - p.foot)
        return rectangle(1.7 - 0.3 * t, 3.4 - 1.0 * t)

    a = site.line.point(p.s, side * p.offset(low), low)
    b = site.line.point(p.s, side * p.offset(high), high)
    site.add("column", beam(a, b, section(low), section(high), up=[1, 0, 0]), "pylon leg")


def _upper_beams(site: kit.Site, p: _Pylon) -> None:
    """Beams between the legs above the traffic."""
    levels = [0.55, 0.97] if p.kind == "H" else [0.62] if p.kind == "A" else []
    for t in levels:
        z = p.road + t * (p.top - p.road)
        inner = p.offset(z) - 0.6
        ends = site.line.point(np.array([p.s, p.s]), [-inner, inner], z)
        site.add("cross beam", beam(ends[0], ends[1], rectangle(1.6, 1.6)), "pylon beam")


def _stays(site: kit.Site, p: _Pylon, near: float, pitch: float, n: int, reach: float, harp: bool) -> None:
    """Stays from the edge girders to the upper part of the pylon, the outermost to the highest anchor."""
    line = site.line
    low_share = 0.3 if harp else 0.62
    heights = p.road + (p.top - p.road) * np.linspace(low_share, 0.94, n)
    for out in (-1.0, 1.0):
        for i in range(n):
            s = p.s + out * (near + i * pitch)
            for side in (-1.0, 1.0):
                foot = line.point(s, side * reach, float(line.surface(s, 0.0)) + 0.1)
                y = side * (p.offset(float(heights[i])) if p.kind != "Y" else 0.5)
                if p.kind == "H":
                    y -= side * 0.4
                head = line.point(p.s + out * 0.9, y, float(heights[i]))
                floor.cable(site, foot, head, 0.11, "stay")


def _ends(site: kit.Site, reach: float, depth: float) -> None:
    line = site.line
    for end, s in ((0, kit.SEAT), (1, line.length - kit.SEAT)):
        under = float(line.surface(s, 0.0)) + 0.1 - depth
        kit.abutment(site, end, under - 0.45)
        floor.end_bearings(site, s, under - 0.45, (-reach, reach), under)


def _side_pier(site: kit.Site, s: float, reach: float, depth: float, kind: str) -> None:
    """An intermediate pier in a side span."""
    under = float(site.line.surface(s, 0.0)) + 0.1 - depth
    kit.pier(site, s, under - 0.45, kind, 1.7)
    floor.end_bearings(site, s, under - 0.45, (-reach, reach), under)

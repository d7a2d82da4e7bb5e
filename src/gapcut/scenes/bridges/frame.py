"""Rigid frame bridges: slant-leg frames over a valley, and viaducts of concrete beam-and-column frames.

Slant legs: girders L/32 deep in the span, haunched at the legs; AASHTO LRFD table 2.5.2.6.3-1 (8th ed.) asks for
0.027 L of continuous steel I-beams, and says that depths may follow the stiffness where they vary. Legs inclined
50 to 60 degrees, side spans of 0.58 to 0.66 of the main span: typical, by eye. Viaducts: after the look of
Japanese railway viaducts, frames of 3 or 4 spans of 8 to 11 m, columns of 0.8 to 1.1 m, beams about L/9 deep, tie
beams at mid-height where columns exceed 8 m, and short hung spans between the frames; all by eye.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise

import numpy as np

from gapcut.scenes.bridges import kit
from gapcut.scenes.bridges.line import Line
from gapcut.scenes.bridges.model import Bridge
from gapcut.scenes.bridges.plan import Plan
from gapcut.scenes.bridges.railings import road_railings
from gapcut.scenes.bridges.solids import beam, i_section, rectangle, shifted, stack
from gapcut.typing import FloatArray

KINDS = ("slant", "viaduct", "slant-concrete", "viaduct-wide", "slant-x")


def build(plan: Plan) -> Bridge:
    """A rigid frame bridge of one of ``KINDS``."""
    kind = plan.kind(KINDS)
    return _viaduct(plan, kind) if kind.startswith("viaduct") else _slant(plan, kind)


def _slant(plan: Plan, kind: str) -> Bridge:
    """Two rows of inclined legs that carry continuous girders without bearings at the knees."""
    rng = plan.rng
    concrete = kind == "slant-concrete"
    main = float(np.round(rng.uniform(34, 46), 1))
    side = float(np.round(main * rng.uniform(0.58, 0.66), 1))
    width = float(rng.uniform(10.5, 13.5))
    line = Line(main + 2 * side, grade=float(rng.uniform(-0.015, 0.015)), crest=float(rng.uniform(0.2, 0.9)))
    depth = main / 32.0
    drop = float(rng.uniform(10.0, 13.0))
    run = drop * float(rng.uniform(0.62, 0.8))
    knees = (side, side + main)
    feet = (side - run, side + main + run)
    floor = line.level - drop - depth
    banks = [(feet[0], floor), (0.5 * line.length, floor - rng.uniform(2.0, 4.0)), (feet[1], floor)]
    site = kit.valley(rng, line, width, drop, depth, banks)
    ys = kit.offsets(width, 6 if concrete else int(rng.integers(5, 7)), 1.1)
    bracing = "diaphragm" if concrete else "x-frame" if kind == "slant-x" else "k-frame"
    span = kit.GirderSpan("concrete" if concrete else "steel", depth, ys, bracing, 4.8 if concrete else 6.5)
    for end in (0, 1):
        kit.end_support(site, end, span)
    _haunched_girders(site, span, knees, depth * 1.55, concrete)
    for knee, foot in zip(knees, feet, strict=True):
        _legs(site, span, knee, foot, depth * 1.55, concrete)
    kit.deck(site, 0.02, line.length - 0.02, 10)
    railing = plan.railing(("parapet", "posts", "mesh"))
    road_railings(site, 3.0, railing)
    facts = {"kind": kind, "spans": [side, main, side], "girders": len(ys), "drop": round(drop, 1)}
    return site.bridge(plan, "frame", facts | {"railing": railing})


def _haunched_girders(
    site: kit.Site, span: kit.GirderSpan, knees: tuple[float, float], deep: float, concrete: bool
) -> None:
    """Girders in four pieces a line (side, two halves, side), deepest at the knees; bracing between them."""
    line = site.line
    middle = line.length / 2
    joints = [0.04, knees[0] + 3.0, middle, knees[1] - 3.0, line.length - 0.04]
    reach = 0.32 * (knees[1] - knees[0])

    def depth_at(s: float) -> float:
        t = max(0.0, 1.0 - min(abs(s - k) for k in knees) / reach)
        return span.depth + (deep - span.depth) * t**2

    def section(y: float) -> Callable[[float], FloatArray]:
        return lambda s: shifted(span.profile(depth_at(s)), y, -span.slab)

    for y in span.ys:
        for a, b in pairwise(joints):
            stations = np.linspace(a, b, int(np.ceil((b - a) / 2.0)) + 1)
            site.add("girder", line.extrude_at(stations, section(float(y)), datum=float(y)))
    inner = np.linspace(kit.SEAT, line.length - kit.SEAT, int(np.ceil(line.length / span.spacing)) + 1)
    near = np.abs(inner[:, None] - np.array(knees)).min(axis=1) < 2.0
    for s in [*inner[~near], *knees]:
        kit.bracing_line(site, float(s), span)


def _legs(
    site: kit.Site, span: kit.GirderSpan, knee: float, foot: float, deep: float, concrete: bool
) -> None:
    """A row of legs from hinges on a common footing up to the girders, with struts and diagonals between them."""
    line, ys = site.line, span.ys
    top = kit.footing(site, foot, 0.0, 3.4, float(np.ptp(ys)) + 2.4, 1.8)
    lean = knee - foot
    thick = 0.9 if concrete else 0.7
    heads, feet = [], []
    for y in ys:
        under = float(line.surface(knee, y)) - span.slab - 0.86 * deep
        head = line.point(knee, float(y), under)
        base = line.point(foot, float(y), top + 0.35)
        site.add(
            "bearing", stack(line.point(foot, float(y), top), [(1.3, 1.2, 0.15), (0.7, 0.9, 0.2)]), "hinge"
        )
        base_profile, head_profile = rectangle(thick, 0.8), rectangle(thick, 1.5)
        shift = np.array([np.sign(lean) * 0.25, 0.0, 0.0])
        site.add("column", beam(base - shift, head, base_profile, head_profile, up=[1, 0, 0]), "leg")
        heads.append(head)
        feet.append(base)
    _brace_legs(site, np.array(heads), np.array(feet), thick, concrete)


def _brace_legs(site: kit.Site, heads: FloatArray, feet: FloatArray, thick: float, concrete: bool) -> None:
    inset = np.array([0.0, thick / 2, 0.0])
    levels = (0.3, 0.58, 0.86) if concrete else (0.12, 0.5, 0.88)
    at = [feet + (heads - feet) * t for t in levels]
    section = rectangle(0.5, 0.7) if concrete else shifted(i_section(0.35, 0.3, 0.03, 0.03), 0.0, 0.17)
    for i in range(len(heads) - 1):
        for row in at:
            site.add("cross beam", beam(row[i] + inset, row[i + 1] - inset, section), "leg strut")
        if concrete or i % 2:
            continue
        for low, high in pairwise(at):
            back = np.array([0.1, 0.0, 0.0])
            site.add(
                "cross beam", beam(low[i] + inset, high[i + 1] - inset, rectangle(0.16, 0.16)), "diagonal"
            )
            ends = low[i + 1] - inset + 2 * back, high[i] + inset + 2 * back
            site.add("cross beam", beam(*ends, rectangle(0.16, 0.16)), "diagonal")


def _viaduct(plan: Plan, kind: str) -> Bridge:
    """Blocks of concrete frames, tied by beams along and across, with hung spans between the blocks."""
    rng = plan.rng
    bay = float(np.round(rng.uniform(8.5, 10.5), 2))
    blocks, bays = (4, 3) if rng.random() < 0.5 else (3, 4)
    hung = float(np.round(rng.uniform(7.0, 9.0), 2))
    width = float(rng.uniform(11.5, 13.5) if kind == "viaduct-wide" else rng.uniform(9.5, 11.0))
    rows = 3 if width > 10.2 else 2
    height = float(rng.uniform(8.0, 11.5))
    pitch = bays * bay + hung
    line = Line(
        blocks * pitch + hung,
        radius=float(rng.choice([-1, 1]) * rng.uniform(350, 700)) if rng.random() < 0.5 else np.inf,
        grade=float(rng.uniform(-0.012, 0.012)),
    )
    depth = round(bay / 8.5, 2)
    site = kit.valley(rng, line, width, height, depth)
    ys = kit.offsets(width, rows, 1.9)
    inner = kit.offsets(float(np.ptp(ys)) + 1.6, rows + 2, 0.8)
    hung_span = kit.GirderSpan("concrete", round(0.8 * depth, 2), inner, "diaphragm", 4.0)
    for block in range(blocks):
        _frame_block(site, hung + block * pitch, bay, bays, ys, depth, hung_span)
    for end in (0, 1):
        kit.end_support(site, end, hung_span)
    for block in range(blocks + 1):
        start = block * pitch
        kit.girder_span(site, start, start + hung, hung_span)
        kit.deck(site, start + 0.02, start + hung - 0.02)
    railing = plan.railing(("parapet", "mesh"))
    road_railings(site, 3.2, railing)
    facts = {
        "kind": kind,
        "bay": bay,
        "blocks": blocks,
        "bays": bays,
        "rows": rows,
        "height": round(height, 1),
    }
    return site.bridge(plan, "frame", facts | {"railing": railing})


def _frame_block(
    site: kit.Site, start: float, bay: float, bays: int, ys: FloatArray, depth: float, hung: kit.GirderSpan
) -> None:
    """One block of frames from ``start``; the ends carry corbels on which the hung spans rest."""
    line, size = site.line, 0.9
    stations = start + np.arange(bays + 1) * bay
    for s in stations:
        _frame_row(site, float(s), ys, depth, size)
    for a, b in pairwise(stations):
        for y in ys:
            profile = shifted(rectangle(0.7, depth, top=True), float(y), -0.22)
            site.add("girder", line.extrude(a + size / 2, b - size / 2, profile, datum=float(y), step=3.0))
            _tie(site, (float(a), float(b)), float(y), size, depth)
        kit.deck(
            site, float(a) if a > start else float(a) - 0.4, float(b) if b < stations[-1] else float(b) + 0.4
        )
    for s, out in ((float(stations[0]), -1.0), (float(stations[-1]), 1.0)):
        at = s + out * (size / 2 + 0.45)
        seat = kit.seat_height(site, at, hung)
        profile = np.array([[0.45, seat - 0.8], [1.4, seat - 0.5], [1.4, seat], [0.45, seat]])
        profile[:, 0] = s + out * profile[:, 0]
        reach = float(np.abs(hung.ys).max()) + 0.5
        site.add("pier cap", line.wall(profile, -reach, reach), "corbel")
        kit.bearings(site, at, seat, hung, 0.4)


def _frame_row(site: kit.Site, s: float, ys: FloatArray, depth: float, size: float) -> None:
    """Columns on footings at one station, the beam that joins their heads, and ties at mid-height if tall."""
    line = site.line
    tops = line.surface(s, ys) - 0.22
    for y, top in zip(ys, tops, strict=True):
        foot = kit.footing(site, s, float(y), 2.4, 2.4)
        site.add("column", line.block(s, float(y), foot, float(top), size, size), "frame column")
    for i in range(len(ys) - 1):
        ends = line.point(np.array([s, s]), [ys[i] + size / 2, ys[i + 1] - size / 2], tops[i : i + 2])
        site.add("cross beam", beam(ends[0], ends[1], rectangle(0.75, depth, top=True)), "frame beam")
        middle = _tie_level(site, s, float(ys[i]))
        if middle is not None:
            ends[:, 2] = middle
            site.add("cross beam", beam(ends[0], ends[1], rectangle(0.6, 0.8)), "tie beam")


def _tie_level(site: kit.Site, s: float, y: float) -> float | None:
    """Height of tie beams at a column, None where columns are shorter than 8 m."""
    low, high = float(site.ground.height(s, y)), float(site.line.surface(s, y))
    return high - 0.5 * (high - low) if high - low > 8.0 else None


def _tie(site: kit.Site, stations: tuple[float, float], y: float, size: float, depth: float) -> None:
    """A tie along the road between two columns that both have ties across."""
    levels = [_tie_level(site, s, y) for s in stations]
    if levels[0] is None or levels[1] is None:
        return
    a = site.line.point(stations[0] + size / 2, y, levels[0])
    b = site.line.point(stations[1] - size / 2, y, levels[1])
    site.add("cross beam", beam(a, b, rectangle(0.6, 0.8)), "tie beam")

"""Railings, a panel each: along the edges of decks and over the wing walls.

At least 0.69 m high for cars and 1.07 m for people (AASHTO LRFD Bridge Design Specifications, 9th ed., section 13).
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise

import numpy as np

from gapcut.scenes.bridges.kit import Site
from gapcut.scenes.bridges.line import Line
from gapcut.scenes.bridges.model import Mesh, concatenate
from gapcut.scenes.bridges.solids import beam, rectangle, shifted, stack

Piece = Callable[[Line, float, float, float, float], Mesh]
"""A panel from a station to another, on a side (1 left, -1 right) of a deck of some half width."""


def road_railings(
    site: Site, panel: float, kind: str, inner: list[tuple[float, float, float]] | None = None
) -> None:
    """Railings over the bridge and both pairs of wing walls, with a joint at the ends of the deck.

    ``kind``: one of ``RAILINGS``; ``inner``: stretches (start, end, edge) that replace the ones over the bridge, where
    decks are narrower.
    """
    length, wing = site.line.length, site.ground.wing
    stretches = [(0.02, length - 0.02, site.half)] if inner is None else inner
    for a, b, edge in [(-wing, -0.02, site.half), *stretches, (length + 0.02, length + wing, site.half)]:
        _panels(site, a, b, panel, kind, edge)


def _panels(site: Site, s0: float, s1: float, panel: float, kind: str, edge: float) -> None:
    """Panels of about ``panel`` metres on both sides."""
    make, gap = RAILINGS[kind]
    n = max(1, round((s1 - s0) / panel))
    stations = np.linspace(s0, s1, n + 1)
    for side in (1.0, -1.0):
        for a, b in pairwise(stations):
            site.add("railing", make(site.line, float(a + gap), float(b - gap), side, edge))


def _barrier(line: Line, a: float, b: float, side: float, half: float, high: float = 1.07) -> Mesh:
    """A concrete safety-shape barrier, sloped towards the road (AASHTO/FHWA F-shape)."""
    shape = np.array([[0.02, 0.0], [0.45, 0.0], [0.45, 0.08], [0.32, 0.3], [0.24, high], [0.02, high]])
    profile = np.column_stack([side * (half - shape[:, 0]), shape[:, 1]])
    return line.extrude(a, b, profile, datum=side * half)


def _posts(line: Line, a: float, b: float, y: float, height: float = 1.03) -> list[Mesh]:
    """Steel posts on foot plates, at most 2 m apart."""
    n = max(2, int(np.ceil((b - a) / 2.0)) + 1)
    layers = [(0.2, 0.16, 0.02), (0.08, 0.08, height)]
    return [
        stack(line.on(s, y), layers, float(line.heading(s, y))) for s in np.linspace(a + 0.05, b - 0.05, n)
    ]


def _tube(
    line: Line, a: float, b: float, y: float, height: float, datum: float, size: tuple[float, float]
) -> Mesh:
    return line.extrude(a, b, shifted(rectangle(*size), y, height), datum=datum)


def _fence(
    line: Line, a: float, b: float, side: float, half: float, heights: tuple[float, ...], pickets: bool
) -> Mesh:
    """Posts on the edge with tube rails in front, and pickets between them."""
    y = side * (half - 0.15)
    front = y - side * 0.08
    pieces = _posts(line, a, b, y)
    pieces += [_tube(line, a, b, front, h, y, (0.08, 0.09)) for h in heights]
    if pickets:
        for s in np.arange(a + 0.2, b - 0.1, 0.3):
            pieces.append(stack(line.on(s, front, 0.165), [(0.03, 0.05, 0.79)], float(line.heading(s, y))))
    return concatenate(pieces)


def _tubes(line: Line, a: float, b: float, side: float, half: float) -> Mesh:
    return _fence(line, a, b, side, half, (0.4, 0.7, 1.0), pickets=False)


def _pickets(line: Line, a: float, b: float, side: float, half: float) -> Mesh:
    return _fence(line, a, b, side, half, (0.12, 1.0), pickets=True)


def guard_rail(line: Line, a: float, b: float, y: float, low: float = 0.0, upper: bool = False) -> Mesh:
    """A steel beam of 0.31 m on posts, its middle 0.6 m above ``low`` (over the road), with a tube 1.05 m high."""
    pieces = [
        stack(line.on(s, y, low), [(0.12, 0.1, 1.0 if upper else 0.78)], float(line.heading(s, y)))
        for s in np.linspace(a + 0.06, b - 0.06, max(2, int(np.ceil((b - a) / 2.0)) + 1))
    ]
    front = y - np.sign(y) * 0.09
    wave = np.array(
        [[0, -0.155], [0.04, -0.155], [0.07, -0.08], [0.04, 0.0], [0.07, 0.08], [0.04, 0.155], [0, 0.155]]
    )
    pieces.append(line.extrude(a, b, shifted(wave * [-np.sign(y), 1.0], front, 0.6 + low), datum=y))
    if upper:
        pieces.append(_tube(line, a, b, y, 1.05 + low, y, (0.09, 0.09)))
    return concatenate(pieces)


def _w_beam(line: Line, a: float, b: float, side: float, half: float) -> Mesh:
    return guard_rail(line, a, b, side * (half - 0.2), upper=True)


def _low_barrier(line: Line, a: float, b: float, side: float, half: float) -> Mesh:
    """A barrier of 0.7 m with a tube rail on short posts."""
    y = side * (half - 0.15)
    pieces = [_barrier(line, a, b, side, half, 0.7), _tube(line, a, b, y, 1.05, y, (0.1, 0.1))]
    for s in np.linspace(a + 0.2, b - 0.2, max(2, round((b - a) / 1.5))):
        pieces.append(stack(line.on(s, y, 0.7), [(0.06, 0.06, 0.32)], float(line.heading(s, y))))
    return concatenate(pieces)


def _lattice(line: Line, a: float, b: float, side: float, half: float) -> Mesh:
    """Crossing flat bars between two rails."""
    y = side * (half - 0.15)
    pieces = _posts(line, a, b, y)
    pieces += [_tube(line, a, b, y - side * 0.08, h, y, (0.06, 0.06)) for h in (0.15, 1.0)]
    ends = np.linspace(a + 0.05, b - 0.05, max(2, round((b - a) / 0.9)) + 1)
    bar = rectangle(0.02, 0.05)
    for s, t in pairwise(ends):
        for low, high in ((0.15, 1.0), (1.0, 0.15)):
            pieces.append(beam(line.on(s, y, low), line.on(t, y, high), bar))
    return concatenate(pieces)


def _ropes(line: Line, a: float, b: float, side: float, half: float) -> Mesh:
    """Five wire ropes below a hand rail."""
    y = side * (half - 0.15)
    pieces = [*_posts(line, a, b, y), _tube(line, a, b, y, 1.05, y, (0.1, 0.05))]
    pieces += [_tube(line, a, b, y, float(h), y, (0.02, 0.02)) for h in np.linspace(0.15, 0.9, 5)]
    return concatenate(pieces)


def _plates(line: Line, a: float, b: float, side: float, half: float) -> Mesh:
    """Closed plates between posts: a noise barrier of 2 m."""
    y = side * (half - 0.15)
    return concatenate([*_posts(line, a, b, y, 2.0), _tube(line, a, b, y, 1.02, y, (0.05, 1.96))])


RAILINGS: dict[str, tuple[Piece, float]] = {
    "parapet": (_barrier, 0.01),
    "posts": (_tubes, 0.02),
    "mesh": (_pickets, 0.02),
    "w-beam": (_w_beam, 0.02),
    "low parapet": (_low_barrier, 0.01),
    "lattice": (_lattice, 0.02),
    "ropes": (_ropes, 0.02),
    "plates": (_plates, 0.02),
}
"""Kinds of railing: what makes a panel, and how far it ends before the next one begins (m, on either side)."""

"""What is on and around a bridge as one finds it: soil, surfacing, road furniture, plants, and its place on earth."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from itertools import pairwise

import numpy as np

from gapcut.scenes.bridges import furniture, plants
from gapcut.scenes.bridges.difficulty import Difficulty, Range
from gapcut.scenes.bridges.kit import Site
from gapcut.scenes.bridges.line import Ground
from gapcut.scenes.bridges.model import Bridge, Mesh, Part
from gapcut.scenes.bridges.railings import guard_rail
from gapcut.typing import FloatArray

_POUR = 30.0  # m of surfacing laid at once
_RAIL, _BARRIER = 12.0, 5.0  # m of a guard rail and of a barrier in one piece
_KERB = 0.5  # m of a deck's edge left bare


def surround(site: Site, bridge: Bridge, how: Difficulty, rng: np.random.Generator) -> Bridge:
    """The bridge with its surroundings, on ground with mounds, somewhere on earth."""
    ground = replace(site.ground, mounds=_mounds(site, how, rng))
    place = _Place(site, ground, how, rng, bridge.n_parts)
    road = float(rng.uniform(*how.surfacing))
    place.surface(road)
    place.light(road)
    place.guard(road)
    place.signs(road)
    place.plant()
    place.climb(bridge)
    origin = tuple(round(float(rng.uniform(*r)), 3) for r in (how.east, how.north, how.height))
    return replace(
        bridge,
        terrain=ground.mesh(),
        surroundings=tuple(place.things),
        origin=(origin[0], origin[1], origin[2]),
    )


def _mounds(site: Site, how: Difficulty, rng: np.random.Generator) -> FloatArray:
    """Rows of ``Ground.mounds``: at both abutments, and over some of the other footings."""
    half, rows = site.half + 2.0, []
    for s in (0.0, site.line.length):
        height: Range = how.slip if rng.random() < how.slipped else how.slope
        rows.append([s, rng.uniform(5.0, 9.0), rng.uniform(*height), half])
    for s in sorted({s for s, _ in site.feet}):
        wanted, row = rng.random() < how.buried, [s, rng.uniform(4.0, 7.0), rng.uniform(*how.soil), half]
        rows += [row] if wanted else []
    return np.array(rows)


@dataclass
class _Place:
    """The surroundings in the making: ``things`` so far, numbered from ``first``."""

    site: Site
    ground: Ground
    how: Difficulty
    rng: np.random.Generator
    first: int
    things: list[Part] = field(default_factory=list)

    def add(self, label: str, mesh: Mesh, name: str) -> None:
        self.things.append(Part(mesh, label, self.first + len(self.things), name))

    def surface(self, thick: float) -> None:
        """Surfacing on all decks, but for their edges."""
        for a, b, half in _stretches(self.site.decks):
            wide = half - _KERB
            layer = [[-wide, 0.0], [0.0, 0.0], [wide, 0.0], [wide, thick], [0.0, thick], [-wide, thick]]
            for s, t in _pieces(a + 0.02, b - 0.02, _POUR):
                self.add("surfacing", self.site.line.extrude(s, t, np.array(layer)), "surfacing")

    def light(self, road: float) -> None:
        """Lamp posts along one edge of the decks."""
        line, rng = self.site.line, self.rng
        apart, side = float(rng.uniform(*self.how.lamps)), float(rng.choice([-1, 1]))
        height, arm = float(rng.uniform(5.0, 9.0)), float(rng.uniform(0.8, 2.0))
        for s in np.arange(0.5 * apart, line.length, apart):
            y = side * (self._edge(s) - _KERB - 0.35)
            turn = float(line.heading(s, y))
            over = -side * np.array([-np.sin(turn), np.cos(turn), 0.0])
            self.add("furniture", furniture.lamp(line.on(s, y, road), over, height, arm), "lamp post")

    def guard(self, road: float) -> None:
        """Guard rails on the approaches, perhaps along the road too; perhaps barriers of a site of works."""
        line, rng, wing = self.site.line, self.rng, self.ground.wing
        for a, b in ((-13.5, -wing - 0.3), (line.length + wing + 0.3, line.length + 13.5)):
            if b - a > 2.0:
                for side in (-1.0, 1.0):
                    rail = guard_rail(line, a, b, side * (self.site.half - 0.5), -0.3)
                    self.add("furniture", rail, "guard rail")
        edge, works = min(half for *_, half in self.site.decks), rng.random() < self.how.works
        if rng.random() < self.how.guarded:
            for side in (-1.0, 1.0):
                for a, b in _pieces(1.0, line.length - 1.0, _RAIL):
                    self.add("furniture", guard_rail(line, a, b, side * (edge - 1.6), road), "guard rail")
        at, y = rng.uniform(0.1, 0.7) * line.length, float(rng.uniform(-0.4, 0.4) * edge)
        for i in range(int(rng.integers(3, 7)) if works else 0):
            a = at + i * (_BARRIER + 0.1)
            if a + _BARRIER < line.length:
                self.add("furniture", furniture.barrier(line, a, a + _BARRIER, y, road), "barrier")

    def signs(self, road: float) -> None:
        """Traffic signs beside the road, on the bridge and before it."""
        line, rng = self.site.line, self.rng
        for _ in range(int(rng.integers(*self.how.signs))):
            s, side = float(rng.uniform(-10.0, line.length + 10.0)), float(rng.choice([-1, 1]))
            outside = not 0.0 < s < line.length
            y = side * (self.site.half - 0.9 if outside else self._edge(s) - _KERB - 0.2)
            foot = line.point(s, y, self.ground.height(s, y)) if outside else line.on(s, y, road)
            size, high, round_ = rng.uniform(0.6, 0.9), rng.uniform(2.2, 3.2), rng.random() < 0.5
            heading = float(line.heading(s, y)) + (0.0 if side < 0 else np.pi)
            self.add("furniture", furniture.sign(foot, heading, high, size, bool(round_)), "sign")

    def plant(self) -> None:
        """Trees beside the bridge, shrubs beside and below it."""
        line, rng, half = self.site.line, self.rng, self.site.half
        for _ in range(round(self.how.trees * line.length)):
            height, s = rng.uniform(4.0, 11.0), rng.uniform(-8.0, line.length + 8.0)
            y = rng.choice([-1, 1]) * rng.uniform(half + 0.2 * height + 0.5, half + 11.0)
            self.add("vegetation", plants.tree(rng, self._foot(s, y), height), "tree")
        for _ in range(round(self.how.shrubs * line.length)):
            s, y = rng.uniform(-8.0, line.length + 8.0), rng.uniform(-half - 8.0, half + 8.0)
            radius, height = rng.uniform(0.5, 1.6), rng.uniform(0.6, 2.6)
            under = abs(y) < half + radius
            room = float(line.surface(np.clip(s, 0.0, line.length), y) - self.ground.height(s, y)) - 2.0
            if not under or (0.0 < s < line.length and room > height):
                self.add("vegetation", plants.shrub(rng, self._foot(s, y), radius, height), "shrub")

    def climb(self, bridge: Bridge) -> None:
        """Climbers around columns."""
        rng = self.rng
        for part in bridge.parts:
            if part.label != "column":
                continue
            low, high = part.mesh.bounds
            wanted, height = rng.random() < self.how.climbers, rng.uniform(1.5, 5.0)
            wide = max(high[:2] - low[:2]) / 2
            if wanted and wide < 1.5 and part.name != "pylon leg":
                foot = np.array([*(low[:2] + high[:2]) / 2, low[2]])
                self.add(
                    "vegetation", plants.climber(rng, foot, wide, min(height, high[2] - low[2])), "climber"
                )

    def _edge(self, s: float) -> float:
        """Half the width of the deck at a station; of the narrowest where there is none."""
        here = [half for a, b, half in self.site.decks if a <= s <= b]
        return min(here or [half for *_, half in self.site.decks])

    def _foot(self, s: float, y: float) -> FloatArray:
        return self.site.line.point(s, y, self.ground.height(s, y))


def _stretches(decks: list[tuple[float, float, float]]) -> list[tuple[float, float, float]]:
    """Decks in order, neighbours of the same width joined."""
    out: list[tuple[float, float, float]] = []
    for a, b, half in sorted(decks):
        if out and a - out[-1][1] < 0.1 and abs(half - out[-1][2]) < 1e-6:
            out[-1] = (out[-1][0], max(b, out[-1][1]), half)
        else:
            out.append((a, b, half))
    return out


def _pieces(a: float, b: float, length: float) -> Iterator[tuple[float, float]]:
    """Equal pieces of at most ``length`` with joints of 2 cm."""
    ends = np.linspace(a, b, max(1, int(np.ceil((b - a) / length))) + 1)
    for low, high in pairwise(ends):
        yield float(low) + 0.01, float(high) - 0.01

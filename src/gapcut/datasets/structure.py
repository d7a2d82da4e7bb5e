"""Made-up bridges as parts with names, positions and contacts."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

ON_TOP, BESIDE = 0, 1
_SPAN = 10.0
_LINES = (-2.0, 2.0)
"""Where the two girder lines run, across the bridge."""
_LEVEL = {
    "footing": 0.0,
    "column": 2.0,
    "abutment": 2.2,
    "pier cap": 4.0,
    "connection": 4.6,
    "girder": 5.2,
    "connecting beam": 5.2,
    "deck": 6.0,
    "railing": 6.8,
    "cable": 8.0,
    "arch": 10.0,
}


@dataclass
class Structure:
    """Parts put together one by one until there are ``limit``; only parts of ``classes`` are built."""

    classes: tuple[str, ...]
    limit: int
    names: list[str] = field(default_factory=list)
    positions: list[tuple[float, float, float]] = field(default_factory=list)
    contacts: dict[tuple[int, int], int] = field(default_factory=dict)
    """ON_TOP or BESIDE for each pair (upper or later part, lower or earlier part)."""

    def add(
        self,
        name: str,
        x: float,
        y: float,
        below: list[int] | None = None,
        beside: list[int] | None = None,
        lift: float = 0.0,
    ) -> list[int]:
        """The new part (as a list); what is below if its class is left out or the structure complete."""
        under = list(dict.fromkeys(below or []))
        if name not in self.classes or len(self.names) >= self.limit:
            return under
        part = len(self.names)
        self.names.append(name)
        self.positions.append((x, y, _LEVEL[name] + lift))
        self.contacts |= {(part, other): BESIDE for other in beside or []}
        self.contacts |= {(part, other): ON_TOP for other in under}
        return [part]

    def pile(self, name: str, x: float, y: float, below: list[int], pieces: int) -> list[int]:
        """The topmost of so many segments of one part, each on the one before."""
        for piece in range(pieces):
            below = self.add(name, x, y, below, lift=piece / pieces)
        return below

    def only(self, name: str, parts: list[int]) -> list[int]:
        return [part for part in parts if self.names[part] == name]


def build_bridge(classes: tuple[str, ...], n_parts: int, rng: np.random.Generator) -> Structure:
    """Abutments and piers in a row, each with what it carries; "deck" must be among the classes."""
    bridge = Structure(classes, n_parts)
    last: dict[str, list[int]] = {"girder": [], "deck": [], "arch": []}
    station = 0
    while len(bridge.names) < n_parts:
        pier = station > 0 and rng.random() < 0.75
        x, pieces = station * _SPAN, int(rng.integers(2, 5))
        base = _pier(bridge, x, pieces) if pier else bridge.pile("abutment", x, 0.0, [], pieces)
        seats = [bridge.add("connection", x, y, base) for y in _LINES]
        beams = [
            bridge.add("girder", x, y, seat, [g for g in last["girder"] if bridge.positions[g][1] == y])
            for y, seat in zip(_LINES, seats, strict=True)
        ]
        girders = [g for beam in beams for g in beam]
        last["girder"] = bridge.only("girder", girders)
        if last["girder"]:
            bridge.add("connecting beam", x, 0.0, beside=last["girder"])
        last["deck"] = bridge.only("deck", bridge.add("deck", x, 0.0, girders, last["deck"]))
        for y in _LINES:
            bridge.add("railing", x, y, last["deck"])
        last["arch"] = _arch(bridge, x, last, int(rng.integers(1, 4))) if pier and rng.random() < 0.6 else []
        station += 1
    return bridge


def _pier(bridge: Structure, x: float, pieces: int) -> list[int]:
    footing = bridge.add("footing", x, 0.0)
    return bridge.add("pier cap", x, 0.0, bridge.pile("column", x, 0.0, footing, pieces))


def _arch(bridge: Structure, x: float, last: dict[str, list[int]], pieces: int) -> list[int]:
    hangers = [part for y in _LINES for part in bridge.pile("cable", x, y, last["deck"], pieces)]
    return bridge.only("arch", bridge.add("arch", x, 0.0, hangers, last["arch"]))

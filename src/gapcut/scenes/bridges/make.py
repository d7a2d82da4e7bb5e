"""Bridges by type and seed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from gapcut.scenes.bridges import arch, cable_stayed, frame, girder, truss
from gapcut.scenes.bridges.difficulty import Difficulty
from gapcut.scenes.bridges.difficulty import difficulty as named
from gapcut.scenes.bridges.model import TYPES, Bridge
from gapcut.scenes.bridges.plan import Plan
from gapcut.scenes.bridges.railings import RAILINGS
from gapcut.scenes.bridges.surroundings import surround

_BUILDERS: dict[str, Callable[[Plan], Bridge]] = {
    "girder": girder.build,
    "frame": frame.build,
    "arch": arch.build,
    "truss": truss.build,
    "cable-stayed": cable_stayed.build,
}


def make_bridge(
    type: str,
    seed: int = 0,
    variant: int | None = None,
    name: str | None = None,
    difficulty: str = "plain",
) -> Bridge:
    """One bridge of a type (see ``TYPES``). Equal arguments give equal bridges, vertex for vertex.

    ``variant`` (>= 0; default: the seed) picks the kind of construction, in turns of five a type; all other
    figures (spans, width, skew, curvature, piers, railings, terrain) are drawn with (type, seed, variant).
    ``difficulty`` (see ``DIFFICULTIES``): ``field`` gives the bridge other railings, surroundings, soil on its feet and
    a place on earth; its other parts stay as they are. Raises ValueError for an unknown type or a negative number.
    """
    if type not in _BUILDERS:
        raise ValueError(f"no bridge type {type!r}: choose one of {', '.join(TYPES)}")
    variant = seed if variant is None else variant
    if seed < 0 or variant < 0:
        raise ValueError(f"seed {seed} and variant {variant} must not be negative")
    numbers = [TYPES.index(type), seed, variant]
    plan = Plan(name or f"{type}-{variant}", np.random.default_rng(numbers), variant)
    how = named(difficulty)
    return _BUILDERS[type](plan if how is None else _dressed(plan, how, np.random.default_rng([*numbers, 1])))


def _dressed(plan: Plan, how: Difficulty, rng: np.random.Generator) -> Plan:
    """The plan of a bridge that has surroundings."""
    railing = str(rng.choice(list(RAILINGS)))
    return replace(plan, other_railing=railing, dress=lambda site, bare: surround(site, bare, how, rng))


def bridge_specs(n: int = 25) -> list[tuple[str, int]]:
    """Type and variant of n bridges: types in turn, so that every five in a row are one of each."""
    return [(TYPES[i % len(TYPES)], i // len(TYPES)) for i in range(n)]


def make_bridges(n: int = 25, seed: int = 0, difficulty: str = "plain") -> list[Bridge]:
    """The first n bridges of a seed: bridge i has type ``TYPES[i % 5]`` and variant ``i // 5``.

    Bridges of a smaller n are the first ones of a larger n; bridges 5 f to 5 f + 4 make fold f.
    """
    return [numbered_bridge(i, seed, difficulty) for i in range(n)]


def numbered_bridge(number: int, seed: int = 0, difficulty: str = "plain") -> Bridge:
    """Bridge ``number`` of a seed, counted from 0: see :func:`make_bridges`."""
    kind, variant = bridge_specs(number + 1)[number]
    return make_bridge(kind, seed, variant, difficulty=difficulty)

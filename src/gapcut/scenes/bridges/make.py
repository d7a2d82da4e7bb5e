"""Bridges by type and seed."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from gapcut.scenes.bridges import arch, cable_stayed, frame, girder, truss
from gapcut.scenes.bridges.model import TYPES, Bridge
from gapcut.scenes.bridges.plan import Plan

_BUILDERS: dict[str, Callable[[Plan], Bridge]] = {
    "girder": girder.build,
    "frame": frame.build,
    "arch": arch.build,
    "truss": truss.build,
    "cable-stayed": cable_stayed.build,
}


def make_bridge(type: str, seed: int = 0, variant: int | None = None, name: str | None = None) -> Bridge:
    """One bridge of a type (see ``TYPES``). Equal arguments give equal bridges, vertex for vertex.

    ``variant`` (>= 0; default: the seed) picks the kind of construction, in turns of five a type; all other
    figures (spans, width, skew, curvature, piers, railings, terrain) are drawn with (type, seed, variant).
    Raises ValueError for an unknown type or a negative number.
    """
    if type not in _BUILDERS:
        raise ValueError(f"no bridge type {type!r}: choose one of {', '.join(TYPES)}")
    variant = seed if variant is None else variant
    if seed < 0 or variant < 0:
        raise ValueError(f"seed {seed} and variant {variant} must not be negative")
    rng = np.random.default_rng([TYPES.index(type), seed, variant])
    return _BUILDERS[type](Plan(name or f"{type}-{variant}", rng, variant))


def bridge_specs(n: int = 25) -> list[tuple[str, int]]:
    """Type and variant of n bridges: types in turn, so that every five in a row are one of each."""
    return [(TYPES[i % len(TYPES)], i // len(TYPES)) for i in range(n)]


def make_bridges(n: int = 25, seed: int = 0) -> list[Bridge]:
    """The first n bridges of a seed: bridge i has type ``TYPES[i % 5]`` and variant ``i // 5``.

    Bridges of a smaller n are the first ones of a larger n; bridges 5 f to 5 f + 4 make fold f.
    """
    return [numbered_bridge(i, seed) for i in range(n)]


def numbered_bridge(number: int, seed: int = 0) -> Bridge:
    """Bridge ``number`` of a seed, counted from 0: see :func:`make_bridges`."""
    kind, variant = bridge_specs(number + 1)[number]
    return make_bridge(kind, seed, variant)

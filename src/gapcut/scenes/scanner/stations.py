"""Where to put the instrument: free places around, under and on the structure from which most of it is seen."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gapcut.scenes.bridges.model import Bridge
from gapcut.scenes.scanner.rays import GROUND, NOTHING, RayScene
from gapcut.scenes.scanner.settings import ScannerSettings
from gapcut.typing import BoolArray, FloatArray, IntArray

_TARGETS = 16  # points looked for on every part


@dataclass(frozen=True, eq=False)
class Targets:
    """Points on surfaces that should be seen: ``points`` (n, 3), outward ``normals`` (n, 3), ``parts`` (n,)
    index of the part in the bridge's list."""

    points: FloatArray
    normals: FloatArray
    parts: IntArray


def targets(bridge: Bridge, rng: np.random.Generator, n: int = _TARGETS) -> Targets:
    """``n`` random points on the surface of every part, by area."""
    points, normals, parts = [], [], []
    for i, part in enumerate(bridge.parts):
        a, b, c = np.moveaxis(part.mesh.triangles, 1, 0)
        cross = np.cross(b - a, c - a)
        twice = np.linalg.norm(cross, axis=1)
        face = rng.choice(len(a), size=n, p=twice / twice.sum())
        u, v = rng.random((2, n, 1))
        u, v = np.where(u + v > 1, 1 - u, u), np.where(u + v > 1, 1 - v, v)
        points.append(a[face] + u * (b - a)[face] + v * (c - a)[face])
        normals.append(cross[face] / twice[face, None])
        parts.append(np.full(n, i, dtype=np.int64))
    return Targets(np.concatenate(points), np.concatenate(normals), np.concatenate(parts))


def place_stations(
    bridge: Bridge, scene: RayScene, settings: ScannerSettings, rng: np.random.Generator
) -> FloatArray:
    """Instrument centres (s, 3), best first: each next one sees the most surface that no earlier one saw, every part
    counting the same, however small. Raises ValueError where there is no free place."""
    aims = targets(bridge, rng)
    places = candidates(bridge, scene, settings, rng)
    if not len(places):
        raise ValueError(
            f"bridge {bridge.name}: no free place for a scanner on its terrain or decks; make the terrain larger"
        )
    seen = np.stack([visible(place, aims, scene, settings) for place in places])
    return np.asarray(places[_greedy(seen, settings)])


def visible(place: FloatArray, aims: Targets, scene: RayScene, settings: ScannerSettings) -> BoolArray:
    """(n,) whether a target is seen from a place: in range and view, not at a grazing angle, nothing between."""
    offset = aims.points - place
    distance = np.linalg.norm(offset, axis=1)
    direction = offset / np.maximum(distance, 1e-9)[:, None]
    cosine = -np.einsum("ij,ij->i", direction, aims.normals)
    able = (cosine > np.cos(np.radians(settings.full_incidence))) & (distance > settings.min_range)
    # Density falls with the square of the range: half the range is what a surveyor would plan with.
    able &= (distance < settings.max_range / 2) & (direction[:, 2] > np.sin(np.radians(settings.lowest)))
    rows = np.flatnonzero(able)
    hits = scene.cast(place, direction[rows])
    able[rows] = np.abs(hits.distance - distance[rows]) < 0.01
    return np.asarray(able)


def _greedy(seen: BoolArray, settings: ScannerSettings) -> IntArray:
    chosen: list[int] = []
    open_ = np.ones(seen.shape[1], dtype=bool)
    while len(chosen) < settings.max_stations:
        gain = seen[:, open_].sum(axis=1)
        best = int(np.argmax(gain))
        if chosen and gain[best] < max(1.0, settings.least_gain * seen.shape[1]):
            break
        chosen.append(best)
        open_ &= ~seen[best]
    return np.array(chosen, dtype=np.int64)


def candidates(
    bridge: Bridge, scene: RayScene, settings: ScannerSettings, rng: np.random.Generator
) -> FloatArray:
    """Free instrument centres (c, 3) about ``spacing`` apart, on the terrain and on top of decks."""
    feet = [_ground_feet(bridge, settings, rng)]
    if settings.on_deck:
        feet.append(_deck_feet(bridge, settings, rng))
    places = np.concatenate(feet) + np.array([0.0, 0.0, settings.instrument_height])
    free = np.array([_is_free(place, scene, settings) for place in places], dtype=bool)
    return np.asarray(places[free])


def _ground_feet(bridge: Bridge, settings: ScannerSettings, rng: np.random.Generator) -> FloatArray:
    low, high = bridge.terrain.bounds
    axes = [np.arange(low[a] + 1.0, high[a] - 1.0, settings.spacing) for a in (0, 1)]
    xy = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, 2)
    xy = xy + rng.uniform(0.0, 0.5 * settings.spacing, size=xy.shape)
    starts = np.column_stack([xy, np.full(len(xy), high[2] + 1.0)])
    hits = RayScene(bridge, terrain_only=True).cast(starts, np.tile([0.0, 0.0, -1.0], (len(xy), 1)))
    met = hits.part == GROUND
    starts[:, 2] -= np.where(met, hits.distance, 0.0)
    return np.asarray(starts[met])


def _deck_feet(bridge: Bridge, settings: ScannerSettings, rng: np.random.Generator) -> FloatArray:
    """One random point of the upper side of decks in every square of ``spacing``."""
    decks = [part for part in bridge.parts if part.label == "deck"]
    if not decks:
        return np.empty((0, 3))
    some = targets(Bridge(bridge.name, bridge.type, tuple(decks), bridge.terrain), rng, 64)
    tops = some.points[some.normals[:, 2] > 0.9]
    _, first = np.unique(np.floor(tops[:, :2] / settings.spacing), axis=0, return_index=True)
    return np.asarray(tops[np.sort(first)])


def _is_free(place: FloatArray, scene: RayScene, settings: ScannerSettings) -> bool:
    """Nothing within ``clearance`` around the instrument and 0.4 m over it, and not inside a solid."""
    turn = np.radians(np.arange(0, 360, 15))
    level = np.column_stack([np.cos(turn), np.sin(turn), np.zeros(len(turn))])
    down = np.column_stack([level[:, :2] * 0.8, np.full(len(turn), -0.6)])
    around = scene.cast(place, np.concatenate([level, down, [[0.0, 0.0, 1.0]]]))
    inside = ((around.part >= 0) & ~around.front).any()
    far = np.append(np.full(2 * len(turn), settings.clearance), 0.4)
    buried = around.part[-1] == GROUND
    return bool(
        not inside and not buried and (around.distance > far).all() and (around.part != NOTHING).any()
    )

"""What one station measures: a grid of rays, beams with a width, noise and drop-outs."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from gapcut.scenes.scanner.rays import GROUND, NOTHING, RayScene
from gapcut.scenes.scanner.settings import ScannerSettings
from gapcut.typing import BoolArray, FloatArray, IntArray

_RING = 6
_CHUNK = 600_000  # rays
_TARGET = 0.1  # reflectance that max_range is stated for
_SPECKLE = 0.2  # standard deviation of the logarithm of the signal


@dataclass(frozen=True, eq=False)
class Returns:
    """Measured points ``xyz`` (n, 3) m, true ``part`` (n,) and ``intensity`` (n,): reflectance times cosine of
    incidence with speckle, range taken out, 1 for a white target head-on."""

    xyz: FloatArray
    part: IntArray
    intensity: FloatArray

    def __getitem__(self, rows: IntArray | BoolArray) -> Returns:
        return Returns(self.xyz[rows], self.part[rows], self.intensity[rows])


@dataclass(frozen=True, eq=False)
class _Echo:
    """Range, signal (reflectance times cosine), incidence and part of beams, before noise."""

    distance: FloatArray
    signal: FloatArray
    cosine: FloatArray
    part: IntArray


def scan_station(
    scene: RayScene,
    place: FloatArray,
    reflectance: FloatArray,
    settings: ScannerSettings,
    rng: np.random.Generator,
) -> Iterator[Returns]:
    """Sweeps once around and yields the returns piece by piece.

    ``reflectance`` (parts + 1,) by part id, the terrain's last.
    """
    step = np.radians(settings.angular_step)
    elevation = np.arange(np.radians(settings.lowest), np.pi / 2, step)
    azimuth = np.arange(0.0, 2 * np.pi, step) + rng.uniform(0.0, 2 * np.pi)
    columns = max(1, _CHUNK // len(elevation))
    for start in range(0, len(azimuth), columns):
        turn = azimuth[start : start + columns, None]
        flat = np.cos(elevation)
        grid = np.stack(
            [
                np.cos(turn) * flat,
                np.sin(turn) * flat,
                np.broadcast_to(np.sin(elevation), (len(turn), len(flat))),
            ],
            axis=-1,
        )
        yield _measure(scene, place, grid, reflectance, settings, rng)


def _measure(
    scene: RayScene,
    place: FloatArray,
    grid: FloatArray,
    reflectance: FloatArray,
    settings: ScannerSettings,
    rng: np.random.Generator,
) -> Returns:
    """Returns of a grid of rays (columns, rows, 3)."""
    rays = grid.reshape(-1, 3)
    hits = scene.cast(place, rays)
    edge = _edges(hits.part.reshape(grid.shape[:2])).ravel()
    plain = np.flatnonzero((hits.part != NOTHING) & ~edge)
    mixed = np.flatnonzero(edge)
    straight = _Echo(
        hits.distance[plain],
        reflectance[hits.part[plain]] * hits.cosine[plain],
        hits.cosine[plain],
        hits.part[plain],
    )
    wide, kept = _wide_beams(scene, place, rays[mixed], reflectance, settings)
    echo = _Echo(
        *(np.concatenate([getattr(straight, f), getattr(wide, f)]) for f in _Echo.__dataclass_fields__)
    )
    direction = rays[np.concatenate([plain, mixed[kept]])]
    return _received(echo, place, direction, settings, rng)


def _edges(part: IntArray) -> BoolArray:
    """(columns, rows) whether one of the four neighbouring rays meets another part: there the beam's width matters."""
    edge = np.zeros(part.shape, dtype=bool)
    across, along = part[1:] != part[:-1], part[:, 1:] != part[:, :-1]
    edge[1:] |= across
    edge[:-1] |= across
    edge[:, 1:] |= along
    edge[:, :-1] |= along
    return edge


def _wide_beams(
    scene: RayScene, place: FloatArray, rays: FloatArray, reflectance: FloatArray, settings: ScannerSettings
) -> tuple[_Echo, BoolArray]:
    """Echoes of beams followed as a middle ray and a ring, and which of the ``rays`` have one."""
    side = np.cross(rays, [0.0, 0.0, 1.0])
    flat = np.linalg.norm(side, axis=1, keepdims=True)
    side = np.where(flat > 1e-6, side / np.maximum(flat, 1e-6), [1.0, 0.0, 0.0])
    up = np.cross(side, rays)
    turn = np.arange(_RING) * (2 * np.pi / _RING)
    ring = np.cos(turn)[:, None, None] * side + np.sin(turn)[:, None, None] * up
    ring = np.concatenate([np.zeros((1, *rays.shape)), ring])
    direction = rays + 1e-3 * settings.divergence * ring
    direction /= np.linalg.norm(direction, axis=-1, keepdims=True)
    starts = place + 1e-3 * settings.waist * ring
    hits = scene.cast(starts.reshape(-1, 3), direction.reshape(-1, 3))
    shape = ring.shape[:2]
    part, distance, cosine = (a.reshape(shape) for a in (hits.part, hits.distance, hits.cosine))
    distance = np.where(np.isfinite(distance), distance, 1e9)
    share = np.array([0.4] + [0.6 / _RING] * _RING)[:, None]  # of a Gaussian beam's power
    signal = np.where(part != NOTHING, share * reflectance[np.maximum(part, GROUND)] * cosine, 0.0)
    power = signal / np.maximum(distance, settings.min_range) ** 2
    strongest = np.argmax(power, axis=0)
    column = np.arange(len(rays))
    kept = power[strongest, column] > 0.0
    gate = np.abs(distance - distance[strongest, column]) <= settings.pulse
    weight = np.where(gate, power, 0.0)
    total = np.maximum(weight.sum(axis=0), 1e-300)
    mean = (weight * distance).sum(axis=0) / total
    echo = _Echo(
        mean[kept],
        np.where(gate, signal, 0.0).sum(axis=0)[kept],
        cosine[strongest, column][kept],
        part[strongest, column][kept],
    )
    return echo, np.asarray(kept)


def _received(
    echo: _Echo, place: FloatArray, direction: FloatArray, settings: ScannerSettings, rng: np.random.Generator
) -> Returns:
    """Noise and drop-outs."""
    n = len(echo.part)
    signal = echo.signal * np.exp(rng.normal(scale=_SPECKLE, size=n))
    incidence = np.degrees(np.arccos(np.clip(echo.cosine, 0.0, 1.0)))
    fade = (settings.last_incidence - incidence) / max(
        settings.last_incidence - settings.full_incidence, 1e-9
    )
    back = rng.random(n) < np.clip(fade, 0.0, 1.0)
    back &= signal * (settings.max_range / np.maximum(echo.distance, 1e-9)) ** 2 >= _TARGET
    back &= echo.distance >= settings.min_range
    sigma = 1e-3 * settings.range_noise + 1e-6 * settings.range_noise_ppm * echo.distance
    sigma *= np.clip(np.sqrt(0.5 / np.maximum(signal, 1e-9)), 0.5, 3.0)
    measured = echo.distance + sigma * rng.normal(size=n)
    xyz = place + measured[back, None] * direction[back]
    return Returns(xyz, echo.part[back], signal[back])

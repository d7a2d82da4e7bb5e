"""SHOT written straight from its definition, one neighbour at a time: what the core is compared with."""

from __future__ import annotations

import numpy as np


def frame(offsets: np.ndarray, radius: float) -> np.ndarray | None:
    """Rows x, y, z, or None with fewer than five neighbours. ``offsets``: neighbours minus centre, by distance."""
    distance = np.linalg.norm(offsets, axis=1)
    if len(offsets) < 5:
        return None
    weight = radius - distance
    _, vectors = np.linalg.eigh((offsets * weight[:, None]).T @ offsets / weight.sum())

    def turned(axis: np.ndarray) -> np.ndarray:
        ahead, n = np.sum(offsets @ axis >= 0), len(offsets)
        if 2 * ahead == n:
            middle = offsets[n // 2 - 2 : n // 2 + 3]
            return -axis if np.sum(middle @ axis > 0) < 3 else axis
        return -axis if 2 * ahead < n else axis

    x, z = turned(vectors[:, 2]), turned(vectors[:, 0])
    return np.stack([x, np.cross(z, x), z])


def descriptor(
    offsets: np.ndarray, normals: np.ndarray, axes: np.ndarray, radius: float, wrap: bool
) -> np.ndarray:
    """(352,) histogram of unit length, over cells (sector, shell, half) and cosine bins."""
    h = np.zeros((8, 2, 2, 11))
    for v, normal in zip(offsets, normals, strict=True):
        if not np.isfinite(normal).all():
            continue
        x, y, z = axes @ v
        d = np.linalg.norm(v)
        b = (1 + np.clip(normal @ axes[2], -1, 1)) * 5
        step = int(np.floor(b + 0.5))
        azimuth = np.degrees(np.arctan2(y, x))
        sector = min(7, int((azimuth + 180) // 45))
        shell, half = int(d > radius / 2), int(z > 0)
        own = 1 - abs(b - step)
        if b != step:
            other = step + (1 if b > step else -1)
            h[sector, shell, half, other % 10 if wrap else other] += abs(b - step)
        away = (d - (0.75 if shell else 0.25) * radius) / (radius / 2)
        own += 1 - abs(away)
        if 0.25 * radius < d < 0.75 * radius:
            h[sector, 1 - shell, half, step] += abs(away)
        inclination = np.degrees(np.arccos(np.clip(z / d, -1, 1)))
        tilt = (inclination - (45 if half else 135)) / 90
        own += 1 - abs(tilt)
        if 45 < inclination < 135:
            h[sector, shell, 1 - half, step] += abs(tilt)
        turn = (azimuth - (-157.5 + 45 * sector)) / 45
        own += 1 - abs(turn)
        h[(sector + (1 if turn > 0 else -1)) % 8, shell, half, step] += abs(turn)
        h[sector, shell, half, step] += own
    return h.ravel() / np.linalg.norm(h)

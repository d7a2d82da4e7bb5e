"""Pictures of point clouds: points as discs, nearer ones in front, edges of depth darkened so that shape shows."""

from __future__ import annotations

import numpy as np

from gapcut.scenes.bridges.picture import Camera
from gapcut.typing import AnyArray, FloatArray, IntArray

_PAPER = np.array([238.0, 242.0, 246.0])
_REACH = 60.0  # how dark a step in depth becomes


def splat(
    camera: Camera, points: FloatArray, colours: AnyArray, spacing: float, samples: int = 2
) -> IntArray:
    """An image (height, width, 3) of 0..255 of ``points`` (n, 3) with ``colours`` (n, 3) of 0..255.

    ``spacing`` m: diameter of the points. Shaded by depth alone (eye-dome lighting, Boucheny 2009).
    """
    width, height = camera.size[0] * samples, camera.size[1] * samples
    at, depth = camera.project(points)
    at = at * samples
    radius = spacing * width / 4 / camera.half / np.maximum(depth, 1e-9)
    near = np.full(width * height, np.inf)
    who = np.full(width * height, -1, dtype=np.int64)
    most = int(np.ceil(np.quantile(radius, 0.99))) if len(radius) else 0
    for dx in range(-most, most + 1):
        for dy in range(-most, most + 1):
            rows = np.flatnonzero(np.hypot(dx, dy) <= np.maximum(radius, 0.5))
            x, y = (np.floor(at[rows, i]).astype(np.int64) + d for i, d in ((0, dx), (1, dy)))
            inside = (x >= 0) & (x < width) & (y >= 0) & (y < height)
            rows, pixel = rows[inside], (y * width + x)[inside]
            order = np.argsort(-depth[rows], kind="stable")  # the nearest is written last
            rows, pixel = rows[order], pixel[order]
            closer = depth[rows] < near[pixel]
            near[pixel[closer]] = depth[rows[closer]]
            who[pixel[closer]] = rows[closer]
    image = np.tile(_PAPER, (width * height, 1))
    image[who >= 0] = np.asarray(colours, dtype=np.float64)[who[who >= 0]]
    shade = _dome(near.reshape(height, width), samples)
    image = image.reshape(height, width, 3) * shade[..., None]
    image = image.reshape(camera.size[1], samples, camera.size[0], samples, 3).mean(axis=(1, 3))
    return np.asarray(np.clip(image, 0, 255), dtype=np.int64)


def _dome(depth: FloatArray, reach: int) -> FloatArray:
    """Brightness of every pixel: less where neighbours are nearer, 1 on the background."""
    scene = np.isfinite(depth)
    if not scene.any():
        return np.ones(depth.shape)
    far = depth[scene].max()
    log = np.log2(np.where(scene, depth, 2 * far))
    drop = np.zeros(depth.shape)
    for axis in (0, 1):
        for step in (-reach, reach):
            drop += np.clip(log - np.roll(log, step, axis), 0.0, 0.01)
    return np.where(scene, np.exp(-_REACH * drop), 1.0)

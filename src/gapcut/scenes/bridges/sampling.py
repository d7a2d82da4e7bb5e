"""Points on the surfaces of parts: what a perfect scan of all sides would give."""

from __future__ import annotations

import numpy as np

from gapcut.scenes.bridges.model import Bridge
from gapcut.typing import FloatArray, IntArray


def sample_surface(
    bridge: Bridge, spacing: float = 0.12, least: int = 150, seed: int = 0
) -> tuple[FloatArray, IntArray, FloatArray]:
    """About one point in every square of side ``spacing`` metres on all surfaces, hidden ones included.

    Every part gets at least ``least`` points. Returns points (N, 3), part ids (N,) and outward normals (N, 3).
    """
    rng = np.random.default_rng(seed)
    triangles, part = bridge.mesh.triangles, bridge.face_parts
    cross = np.cross(triangles[:, 1] - triangles[:, 0], triangles[:, 2] - triangles[:, 0])
    area = np.linalg.norm(cross, axis=1) / 2
    of_part = np.maximum(np.bincount(part, weights=area, minlength=bridge.n_parts), 1e-12)
    density = np.maximum(1.0 / spacing**2, least / of_part)
    want = area * density[part]
    # Systematic sampling keeps the counts of small faces right on average without clumping.
    ends = np.floor(np.cumsum(want) + rng.random()).astype(np.int64)
    face = np.repeat(np.arange(len(area)), np.diff(ends, prepend=0))
    u, v = rng.random((2, len(face)))
    fold = u + v > 1
    u[fold], v[fold] = 1 - u[fold], 1 - v[fold]
    a, b, c = triangles[face, 0], triangles[face, 1], triangles[face, 2]
    points = a + u[:, None] * (b - a) + v[:, None] * (c - a)
    normals = cross[face] / np.maximum(2 * area[face, None], 1e-12)
    return points, part[face], normals

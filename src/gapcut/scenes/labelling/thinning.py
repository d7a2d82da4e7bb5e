"""Fewer points that stand for all: one a voxel, and for every point the one that stands for it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.spatial import cKDTree

from gapcut import _core
from gapcut.typing import FloatArray, Int32Array, IntArray

_CHUNK = 500_000


@dataclass(frozen=True, eq=False)
class Thinned:
    """``rows`` (M,) the points kept, ascending; ``keeper`` (N,) for every point the place in ``rows`` of the nearest
    kept one."""

    rows: IntArray
    keeper: Int32Array


def thin(xyz: FloatArray, size: float, n_threads: int = 1) -> Thinned:
    """One random point (always the same) of each cube of ``size`` metres."""
    points = np.ascontiguousarray(xyz)
    rows = np.sort(_core.voxel_sample(points, size, 0))
    keeper = np.empty(len(points), dtype=np.int32)
    tree = cKDTree(points[rows])
    for i in range(0, len(points), _CHUNK):
        keeper[i : i + _CHUNK] = tree.query(points[i : i + _CHUNK], k=1, workers=n_threads)[1]
    return Thinned(rows, keeper)

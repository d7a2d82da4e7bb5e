"""Square tiles of whole voxels, so that the cubes that a scan is thinned in are never cut."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from gapcut.typing import FloatArray, IntArray

Tile = tuple[int, int]
"""Place of a tile in the grid: column and row."""

STEPS = 1e4
"""Places a metre: the same point of two files may differ by rounding, and is one point then."""


def snapped(local: FloatArray) -> FloatArray:
    """(N, 3) to the next tenth of a millimetre."""
    return np.asarray(np.rint(local * STEPS) / STEPS)


@dataclass(frozen=True)
class TileGrid:
    """Tiles of ``voxels`` cubes of ``voxel`` metres from the origin of the scan's local coordinates on. A point belongs
    to one of them, by its cube, also on a border."""

    voxel: float
    voxels: int

    @classmethod
    def of_size(cls, size: float, voxel: float) -> TileGrid:
        """Tiles of ``size`` metres, to the next whole cube."""
        return cls(voxel, max(1, round(size / voxel)))

    @property
    def size(self) -> float:
        """Edge in metres."""
        return self.voxel * self.voxels

    def of(self, local: FloatArray) -> IntArray:
        """(N, 2) the tiles of places (N, 3)."""
        return np.floor(local[:, :2] / self.voxel).astype(np.int64) // self.voxels

    def margin(self, tile: Tile, local: FloatArray, halo: float) -> FloatArray:
        """(N,) metres from places (N, 3) to the rim of a tile with a halo, negative beyond it."""
        inside = np.full(len(local), np.inf)
        for axis in (0, 1):
            low, high = tile[axis] * self.size - halo, (tile[axis] + 1) * self.size + halo
            np.minimum(inside, local[:, axis] - low, out=inside)
            np.minimum(inside, high - local[:, axis], out=inside)
        return inside

    def around(self, tile: Tile, halo: float, tiles: Iterable[Tile]) -> list[Tile]:
        """Those of the ``tiles`` that the halo reaches, itself among them."""
        rings = int(np.ceil(halo / self.size))
        return [t for t in tiles if abs(t[0] - tile[0]) <= rings and abs(t[1] - tile[1]) <= rings]

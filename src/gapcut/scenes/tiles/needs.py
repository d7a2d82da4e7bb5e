"""What a scan needs before it is begun: tiles, memory, room on disk, time."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from gapcut.scenes.tiles.grid import TileGrid
from gapcut.scenes.tiles.survey import Survey

POINTS_A_TILE = 1_000_000
_STEP = 2.0**0.25
_BASE_MB, _WORKER_MB = 250.0, 150.0
_BYTES_A_TILE_POINT, _BYTES_A_POINT, _SCRATCH_A_POINT = 300.0, 75.0, 100.0
_SECONDS_A_POINT = 5.6e-6
_MEBI = 2.0**20


@dataclass(frozen=True)
class Needs:
    """``points`` in ``tiles`` of ``size`` metres, the largest of ``most`` points with its halo; ``memory_mb`` of all
    processes together; ``disk_mb`` of the scratch folder; CPU ``seconds``: estimates, from scans that were measured."""

    points: int
    tiles: int
    size: float
    most: int
    memory_mb: float
    disk_mb: float
    seconds: float

    @classmethod
    def of(cls, seen: Survey, grid: TileGrid, halo: float, jobs: int) -> Needs:
        """Of a file that was read once."""
        tiles, largest = _fullest(seen, grid.size, halo)
        reach = halo / grid.size
        overlap = (1.0 + 2.0 * reach) ** 2
        return cls(
            points=seen.n_points,
            tiles=tiles,
            size=grid.size,
            most=largest,
            memory_mb=_memory(largest, seen.n_points, jobs),
            disk_mb=seen.n_points * _SCRATCH_A_POINT / _MEBI,
            seconds=seen.n_points * _SECONDS_A_POINT * (1.0 + 0.6 * (overlap - 1.0)),
        )

    @staticmethod
    def of_a_file(points: int, jobs: int) -> tuple[float, float]:
        """Memory and disk in MB of so many points, before they are read: in tiles of a million."""
        return _memory(min(points, POINTS_A_TILE), points, jobs), points * _SCRATCH_A_POINT / _MEBI

    @staticmethod
    def of_strips(points: float, channels: int) -> float:
        """Disk in MB of points that neighbours see."""
        return points * (24 + 4 * channels) / _MEBI

    def to_document(self) -> dict[str, Any]:
        """JSON-able."""
        return asdict(self)


def _memory(largest: int, points: int, jobs: int) -> float:
    """Of all processes, with the ``largest`` tile in each."""
    tile, whole = largest * _BYTES_A_TILE_POINT / _MEBI, points * _BYTES_A_POINT / _MEBI
    # one process has done with its tiles before the energy of the whole scan is minimised
    return _BASE_MB + (max(tile, whole) if jobs == 1 else whole + jobs * (_WORKER_MB + tile))


def tile_size(seen: Survey, halo: float) -> float:
    """Metres of a tile that would hold a million points at the mean density where there are any; larger ones where
    none would hold more than that with its halo: what halos have twice is less then."""
    area = len(seen.squares) * seen.cell**2
    size = math.sqrt(POINTS_A_TILE * area / seen.n_points)
    extent = float((seen.high - seen.low)[:2].max()) + seen.cell
    while size < extent and _fullest(seen, _STEP * size, halo)[1] <= POINTS_A_TILE:
        size *= _STEP
    return size


def _fullest(seen: Survey, size: float, halo: float) -> tuple[int, int]:
    """Number of tiles of ``size`` metres that hold points, and most points of one with its halo."""
    places = np.asarray(list(seen.squares), dtype=np.int64)
    counts = np.asarray(list(seen.squares.values()), dtype=np.int64)
    at = ((places + 0.5) * seen.cell - seen.shift[:2]) / size
    tiles, owner = np.unique(np.floor(at).astype(np.int64), axis=0, return_inverse=True)
    reach, most = halo / size, 0
    for i, j in tiles[np.argsort(-np.bincount(owner.ravel(), counts))[:9]].tolist():
        near = (at > np.array([i, j]) - reach) & (at < np.array([i, j]) + 1 + reach)
        most = max(most, int(counts[near.all(axis=1)].sum()))
    return len(tiles), most

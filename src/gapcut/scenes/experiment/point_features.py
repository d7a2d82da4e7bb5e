"""What the forest is told about a point of a scan: SHOT at two scales, shape at several, heights."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from gapcut.scenes.points import height_above_ground, local_shape
from gapcut.scenes.scanner import Scan
from gapcut.scenes.shot import Float32Array, ShotEstimator
from gapcut.typing import FloatArray, IntArray

_SHOT_VOXELS, _SHAPE_VOXELS = 3.5, 2.5  # least radii: fewer voxels hold too few points
_COLUMN = 1.0  # metres: squares in which the highest and the lowest point are looked for


def point_values(
    scan: Scan, rows: IntArray, shot_radii: Sequence[float], shape_radii: Sequence[float]
) -> Float32Array:
    """(M, 352 |shot_radii| + 5 |shape_radii| + 3) features of the points ``rows`` of a scan.

    SHOT of every radius (normals from half of it, turned to the station); linearity, planarity, sphericity,
    verticality and steepness of the longest axis of every shape radius; metres above the ground, below the highest
    and above the lowest point of the square of one metre. Radii are metres, enlarged where a scan is too coarse.
    """
    view = scan.stations[scan.station]
    columns: list[Float32Array] = []
    for radius in shot_radii:
        wide = max(radius, _SHOT_VOXELS * scan.voxel)
        normals = local_shape(scan.xyz, radius=max(wide / 2, _SHAPE_VOXELS * scan.voxel))
        shot = ShotEstimator(scan.xyz, normals.towards(scan.xyz, view).normals, wide).describe(rows)
        columns.append(np.nan_to_num(shot.descriptors))
    for radius in shape_radii:
        shape = local_shape(scan.xyz, radius=max(radius, _SHAPE_VOXELS * scan.voxel))
        columns += [shape.features()[rows], np.nan_to_num(np.abs(shape.axes[rows, 2:]))]
    columns.append(_heights(scan.xyz)[rows].astype(np.float32))
    return np.concatenate(columns, axis=1, dtype=np.float32)


def _heights(xyz: FloatArray) -> FloatArray:
    """(N, 3) metres above the ground, below the highest and above the lowest point of the same square."""
    z = xyz[:, 2]
    _, square = np.unique(np.floor(xyz[:, :2] / _COLUMN), axis=0, return_inverse=True)
    top, low = np.full(square.max() + 1, -np.inf), np.full(square.max() + 1, np.inf)
    np.maximum.at(top, square, z)
    np.minimum.at(low, square, z)
    return np.column_stack([height_above_ground(xyz), top[square] - z, z - low[square]])

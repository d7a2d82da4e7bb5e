"""What the forests are told about a point of a scan: SHOT, and shape at several scales with heights."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy.spatial import cKDTree

from gapcut import _core
from gapcut.scenes.points import height_above_ground, local_shape
from gapcut.scenes.scanner import Scan
from gapcut.scenes.shot import SHOT_SIZE, Float32Array, ShotEstimator
from gapcut.typing import FloatArray, IntArray

_SHOT_VOXELS, _SHAPE_VOXELS = 3.5, 2.5  # least radii: fewer voxels hold too few points
_DENSITY = 8  # points along a radius of shapes: enough for their moments
_COLUMN = 1.0  # metres: squares in which the highest and the lowest point are looked for


def shot_values(scan: Scan, rows: IntArray, radius: float) -> Float32Array:
    """(M, 352) SHOT of the points ``rows``, normals from half the radius and turned to the station; zeros where there
    is no descriptor. The radius is enlarged where a scan is too coarse for it."""
    wide = max(radius, _SHOT_VOXELS * scan.voxel)
    shape = local_shape(scan.xyz, radius=max(wide / 2, _SHAPE_VOXELS * scan.voxel))
    normals = shape.towards(scan.xyz, scan.stations[scan.station]).normals
    found = ShotEstimator(scan.xyz, normals, wide).describe(rows).descriptors
    return np.nan_to_num(found).reshape(len(rows), SHOT_SIZE)


def shape_values(scan: Scan, rows: IntArray, radii: Sequence[float]) -> Float32Array:
    """(M, 5 |radii| + 4) of the points ``rows``: linearity, planarity, sphericity, verticality and steepness of the
    longest axis of every radius; metres above the ground, below the highest and above the lowest point of the square
    of one metre; height as a share of the scan's.

    Wide neighbourhoods are measured on a thinned cloud, at its point nearest to the one asked for.
    """
    columns: list[Float32Array] = []
    for radius in radii:
        wide = max(radius, _SHAPE_VOXELS * scan.voxel)
        kept = _core.voxel_sample(np.ascontiguousarray(scan.xyz), wide / _DENSITY, 0)
        thin = scan.xyz[kept]
        shape = local_shape(thin, radius=wide)
        _, near = cKDTree(thin).query(scan.xyz[rows])
        columns += [shape.features()[near], np.nan_to_num(np.abs(shape.axes[near, 2:]))]
    columns.append(_heights(scan.xyz)[rows].astype(np.float32))
    return np.concatenate(columns, axis=1, dtype=np.float32)


def _heights(xyz: FloatArray) -> FloatArray:
    """(N, 4) metres above the ground, below the highest and above the lowest point of the same square, share."""
    z = xyz[:, 2]
    _, square = np.unique(np.floor(xyz[:, :2] / _COLUMN), axis=0, return_inverse=True)
    top, low = np.full(square.max() + 1, -np.inf), np.full(square.max() + 1, np.inf)
    np.maximum.at(top, square, z)
    np.minimum.at(low, square, z)
    share = (z - z.min()) / max(float(np.ptp(z)), 1e-9)
    return np.column_stack([height_above_ground(xyz), top[square] - z, z - low[square], share])

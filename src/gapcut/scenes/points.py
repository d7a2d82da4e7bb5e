"""What can be said of a point from the points around it: normal, shape, spacing."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gapcut import _core
from gapcut.typing import AnyArray, Float32Array, Int32Array

SHAPE_NAMES = ("linearity", "planarity", "sphericity", "verticality")
"""Columns of :meth:`LocalShape.features`."""

CROWD = 0.3
"""Points a cube of the grid in which k nearest ones are searched, over k: the fastest on scans of streets."""

NEIGHBOURS = 16
"""Points in a neighbourhood where nothing else is asked for."""


@dataclass(frozen=True, eq=False)
class LocalShape:
    """Principal components of each point's neighbourhood, the point included.

    ``normals`` (N, 3) unit, direction of least variance, sign arbitrary; ``axes`` (N, 3) unit, direction of most;
    ``variances`` (N, 3) m^2, descending. Float32; NaN where fewer than two other points lie apart from the point.
    """

    normals: Float32Array
    axes: Float32Array
    variances: Float32Array

    def towards(self, xyz: AnyArray, viewpoints: AnyArray) -> LocalShape:
        """With normals turned to where the points were seen from: ``viewpoints`` (3,) or one per point (N, 3)."""
        view = np.asarray(viewpoints, dtype=np.float64) - np.asarray(xyz, dtype=np.float64)
        away = np.einsum("ij,ij->i", view, self.normals) < 0.0
        return LocalShape(np.where(away[:, None], -self.normals, self.normals), self.axes, self.variances)

    def features(self) -> Float32Array:
        """(N, 4) in [0, 1], 0 where undefined: ``SHAPE_NAMES``.

        With variances l1 >= l2 >= l3 linearity is (l1 - l2) / l1, planarity (l2 - l3) / l1, sphericity l3 / l1 (they
        add up to 1; Weinmann et al. 2015) and verticality 1 - |normal_z| (0 on floors, 1 on walls).
        """
        l1, l2, l3 = self.variances.T
        vertical = np.nan_to_num(1.0 - np.abs(self.normals[:, 2])).astype(np.float32)
        columns: list[Float32Array] = [
            _quotient(l1 - l2, l1),
            _quotient(l2 - l3, l1),
            _quotient(l3, l1),
            vertical,
        ]
        return np.asarray(np.column_stack(columns), dtype=np.float32)


def _quotient(a: AnyArray, b: AnyArray) -> Float32Array:
    good = b > 0.0
    return np.asarray(np.where(good, a, 0.0) / np.where(good, b, 1.0), dtype=np.float32)


def nearest(xyz: AnyArray, k: int = NEIGHBOURS, n_threads: int = 1, size: float = 0.0) -> Int32Array:
    """(N, k) the k nearest points of each point, equally near ones by number; -1 in a cloud of fewer points. ``size``:
    metres in which about so many are expected, where that is known: spares looking for it."""
    points = np.ascontiguousarray(xyz, dtype=np.float64)
    ids = np.full((len(points), k), -1, dtype=np.int32)
    if len(points):
        there = min(k, len(points))
        ids[:, :there] = _core.NearGrid(points, size, CROWD * there).nearest(None, there, n_threads)[0]
    return ids


def point_spacing(xyz: AnyArray, sample: int = 5000) -> float:
    """Median distance in metres to the nearest other point, twins not counted, over an even sample.

    Raises ValueError where all points coincide.
    """
    points = np.ascontiguousarray(xyz, dtype=np.float64)
    if len(points) > 1:
        some = np.ascontiguousarray(points[:: max(1, len(points) // sample)])
        k = min(8, len(points))
        squared = _core.NearGrid(points, 0.0, CROWD * k).nearest(some, k, 1)[1]
        distance = np.sqrt(np.where(squared > 0.0, squared, np.inf).min(axis=1))
        if np.isfinite(distance).any():
            return float(np.median(distance[np.isfinite(distance)]))
    raise ValueError(f"{len(points)} points in one place have no spacing: give the sizes in metres")


def local_shape(
    xyz: AnyArray,
    *,
    radius: float | None = None,
    neighbours: Int32Array | None = None,
    n_threads: int = 1,
) -> LocalShape:
    """Principal components over all points within ``radius`` metres, or over the ids given (as from
    :func:`nearest`), or over the 16 nearest points."""
    points = np.ascontiguousarray(xyz, dtype=np.float64)
    if radius is not None and neighbours is not None:
        raise ValueError("give radius or neighbours, not both")
    if radius is not None:
        return LocalShape(*_core.RadiusGrid(points, float(radius)).shape(n_threads))
    ids = nearest(points, n_threads=n_threads) if neighbours is None else neighbours
    return LocalShape(*_core.shape_of_nearest(points, np.ascontiguousarray(ids, dtype=np.int32), n_threads))

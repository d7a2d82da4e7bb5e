"""What a point looks like from near and from afar: shape of its neighbourhood at several scales, and its column."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

import numpy as np
from scipy.ndimage import distance_transform_edt, grey_opening

from gapcut import _core
from gapcut.scenes.groups import group_order, squares, voxel_sample
from gapcut.scenes.labelling.settings import SceneSettings
from gapcut.scenes.points import local_shape
from gapcut.scenes.shot import shot
from gapcut.typing import Float32Array, FloatArray, IntArray

SCALE_FEATURES = (
    *("linearity", "planarity", "verticality", "uprightness"),
    *("height range", "height in range", "reach"),
)
"""Features of a point at each scale; see :func:`shapes_at_scale`."""

COLUMN_FEATURES = ("height above ground", "column height", "column share below", "column filling")
"""Features of a point from the points above and below it; see :func:`columns`."""

_MOST_CELLS = 4_000_000


def shapes_at_scale(
    kept: FloatArray, places: FloatArray, size: float, neighbours: int, n_threads: int = 1
) -> Float32Array:
    """(M, 7) ``SCALE_FEATURES`` of ``places`` (M, 3) from their ``neighbours`` nearest among the points ``kept`` of
    cubes of ``size`` metres.

    With variances l1 >= l2 >= l3 of the neighbours, their axis a (of l1) and normal n (of l3): linearity
    (l1 - l2) / l1, planarity (l2 - l3) / l1, verticality 1 - abs(n_z), uprightness abs(a_z), height range max z - min z
    (m), height in range (z - min z) / (max z - min z + size), reach: mean distance (m).
    """
    grid = _core.NearGrid(kept, 2.5 * size, 1.0)
    return np.asarray(grid.shapes(places, min(neighbours, len(kept)), size, n_threads))


def nested_samples(
    xyz: FloatArray, sizes: Sequence[float], numbers: IntArray | None = None
) -> Iterator[FloatArray]:
    """One point a cube for each of the ascending ``sizes``, chosen by the ``numbers`` of the points, as
    :func:`gapcut.scenes.groups.voxel_sample` does.

    The least of a cube is the least among those of the cubes in it: where cubes are twice as large as before (or four
    times, eight times, ...), which keeps what a place over their size rounds to, only those are looked at.
    """
    names = np.arange(len(xyz)) if numbers is None else numbers
    kept, known, before = xyz, names, None
    for size in sizes:
        times = 1.0 if before is None else size / before
        if before is None or math.frexp(times)[0] != 0.5 or before * times != size:
            kept, known = xyz, names
        rows = voxel_sample(kept, size, 0, known)
        kept, known, before = kept[rows], known[rows], size
        yield kept


class Ground:
    """The ground below points, estimated from the points alone, which may come in parts.

    The lowest point of each square of ``cell`` metres, empty squares filled from the nearest, opened with a square of
    ``window`` metres: whatever stands on the ground and is narrower than that does not count as ground (Zhang et al.
    2003). Squares begin at multiples of their size, and become wider where the extent of the points, from ``low`` to
    ``high`` (2,), would need more than 4 million of them.
    """

    def __init__(self, low: FloatArray, high: FloatArray, cell: float) -> None:
        extent = high - low
        self._cell = max(cell, float(np.sqrt(extent.prod() / _MOST_CELLS)), float(extent.max()) / 65_536)
        self._first = np.floor(low / self._cell)
        self._shape = tuple(int(k) + 1 for k in np.floor(high / self._cell) - self._first)
        self._level = np.full(self._shape[0] * self._shape[1], np.inf)

    def add(self, xyz: FloatArray) -> None:
        """Points (N, 3) between ``low`` and ``high``."""
        np.minimum.at(self._level, self._at(xyz), xyz[:, 2])

    def open(self, window: float) -> None:
        """After the last points."""
        ground = self._level.reshape(self._shape)
        empty = ~np.isfinite(ground)
        if empty.any():
            ground = ground[tuple(distance_transform_edt(empty, return_distances=False, return_indices=True))]
        width = min(max(1, round(window / self._cell)), 2 * max(ground.shape))
        # Slopes go on beyond the rim, or opening would cut them off there.
        wide = np.pad(ground, width, mode="reflect", reflect_type="odd")
        self._level = grey_opening(wide, size=(width, width))[width:-width, width:-width].ravel()

    def heights(self, xyz: FloatArray) -> FloatArray:
        """(N,) metres above the opened ground, at least 0."""
        return np.asarray(np.maximum(xyz[:, 2] - self._level[self._at(xyz)], 0.0))

    def _at(self, xyz: FloatArray) -> IntArray:
        across, along = ((np.floor(xyz[:, k] / self._cell) - self._first[k]).astype(np.int64) for k in (0, 1))
        return np.asarray(across * self._shape[1] + along)


def ground_heights(xyz: FloatArray, cell: float, window: float) -> FloatArray:
    """(N,) metres above the :class:`Ground` of the points, at least 0."""
    ground = Ground(xyz[:, :2].min(axis=0), xyz[:, :2].max(axis=0), cell)
    ground.add(xyz)
    ground.open(window)
    return ground.heights(xyz)


def columns(xyz: FloatArray, height: FloatArray, size: float, at: IntArray) -> Float32Array:
    """(M, 4) ``COLUMN_FEATURES`` of the points ``at`` from all points of each square of ``size`` metres.

    Height above ground (m); column height: max z - min z of the column (m); share of its points below the point;
    filling: points of the column over those it would have with one each ``size / 4`` metres of height, at most 1.
    """
    column, n_columns = squares(xyz, size)
    order = group_order(column, n_columns, xyz[:, 2])
    count = np.bincount(column, minlength=n_columns)
    end = np.cumsum(count)
    start = end - count
    place = np.empty(len(xyz), dtype=np.int64)
    place[order] = np.arange(len(xyz))
    mine = column[at]
    span = xyz[order[end - 1], 2] - xyz[order[start], 2]
    number, tall = count[mine], span[mine]
    out = [
        height[at],
        tall,
        (place[at] - start[mine]) / number,
        np.minimum(number * (size / 4) / np.maximum(tall, size / 4), 16.0) / 16.0,
    ]
    return np.column_stack(out).astype(np.float32)


def shot_values(
    xyz: FloatArray,
    at: IntArray,
    radius: float,
    least: float,
    viewpoints: FloatArray | None = None,
    n_threads: int = 1,
) -> Float32Array:
    """(M, 352) SHOT of the points ``at``, zeros where there is no descriptor. Normals are of half the radius, of
    ``least`` metres at least, turned to where the points were seen from (``viewpoints`` (N, 3)), or up."""
    seen_from = xyz + np.array([0.0, 0.0, 1.0]) if viewpoints is None else viewpoints
    shape = local_shape(xyz, radius=max(radius / 2, least), n_threads=n_threads)
    normals = shape.towards(xyz, seen_from).normals
    return np.nan_to_num(shot(xyz, normals, radius, at, n_threads=n_threads).descriptors)


def point_features(
    xyz: FloatArray,
    height: FloatArray,
    at: IntArray,
    settings: SceneSettings,
    channels: FloatArray,
    viewpoints: FloatArray | None = None,
    n_threads: int = 1,
    numbers: IntArray | None = None,
) -> Float32Array:
    """(M, F) what ``settings.points`` says of the points ``at``, apart from the features of their segments; ``numbers``
    (N,) of the points, where these are not their rows."""
    size, parts = settings.lengths, [np.empty((len(at), 0), dtype=np.float32)]
    if "shape" in settings.points:
        cubes, places = [scale * size["voxel"] for scale in settings.scales], xyz[at]
        for cube, kept in zip(cubes, nested_samples(xyz, cubes, numbers), strict=True):
            parts.append(shapes_at_scale(kept, places, cube, settings.neighbours, n_threads))
        parts += [columns(xyz, height, 8.0 * size["voxel"], at), channels[at].astype(np.float32)]
    if "shot" in settings.points:
        parts.append(shot_values(xyz, at, size["shot_radius"], 2.5 * size["voxel"], viewpoints, n_threads))
    return np.concatenate(parts, axis=1)

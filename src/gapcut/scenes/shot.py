"""SHOT: signatures of histograms of orientations, the descriptor of a point by the normals around it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from gapcut import _core
from gapcut.typing import AnyArray, Float32Array

SHOT_SIZE = 352
"""Values of a descriptor: 8 azimuth sectors x 2 shells x 2 hemispheres x 11 cosine bins."""


@dataclass(frozen=True, eq=False)
class Shot:
    """Descriptors and the local frames they were measured in.

    - ``descriptors`` (M, 352) float32, of unit length: value ``11 (4 s + 2 o + u) + b`` belongs to azimuth sector ``s``
      (45 degrees each, from -180 degrees), inner or outer shell ``o``, lower or upper half ``u`` and cosine bin ``b``;
    - ``frames`` (M, 3, 3) float32: rows are the unit axes x (most spread), y = z x x and z (least spread).

    Both are NaN for a point with fewer than five neighbours apart from it (or all of them exactly at the radius); the
    descriptor alone is NaN where no neighbour has a finite normal. :attr:`defined` tells.
    """

    descriptors: Float32Array
    frames: Float32Array

    @property
    def defined(self) -> npt.NDArray[np.bool_]:
        """(M,) whether a point has a descriptor."""
        return np.asarray(np.isfinite(self.descriptors[:, 0]))


def shot(
    points: AnyArray,
    normals: AnyArray,
    radius: float,
    at: AnyArray | None = None,
    *,
    wrap_cosine: bool = False,
    n_threads: int = 1,
) -> Shot:
    """Describe points of a cloud by their neighbours within ``radius``.

    Signatures of Tombari, Salti, Di Stefano ("Unique signatures of histograms for local surface description",
    ECCV 2010) with the additive interpolation of the Point Cloud Library 1.13: the own bin of a neighbour gets
    the sum of ``1 - |delta|`` over cosine, shell, inclination and azimuth, each adjacent bin its ``|delta|``.

    ``points`` (N, 3) metres, finite; ``normals`` (N, 3) unit, NaN for points that shall not vote, oriented the same way
    everywhere (to the scanner, say); ``radius`` metres, about five point spacings; ``at`` (M,) numbers of the points to
    describe, in that order, default all (1,408 bytes each).

    ``wrap_cosine=True`` repeats a slip of that library, where cosines just below 0.9 leak into the bin of -1
    instead of the bin of 1; wanted only to compare with it.

    Raises ``ValueError`` for arrays of other shapes, coordinates that are not finite, a radius that is not positive or
    smaller than two millionths of the cloud; ``IndexError`` for a point that does not exist.
    """
    xyz = np.ascontiguousarray(points, dtype=np.float64)
    if xyz.ndim != 2 or xyz.shape[1] != 3:
        raise ValueError(f"points have shape {xyz.shape}, need (N, 3)")
    if np.shape(normals) != xyz.shape:
        raise ValueError(f"normals have shape {np.shape(normals)}, need {xyz.shape}: one for each point")
    which = np.arange(len(xyz)) if at is None else np.asarray(at)
    if which.ndim != 1 or (which.size and not np.issubdtype(which.dtype, np.integer)):
        raise ValueError(f"at must be a list of point numbers, not {which.dtype} of shape {which.shape}")
    votes = np.ascontiguousarray(normals, dtype=np.float32)
    rows = np.ascontiguousarray(which, dtype=np.int64)
    return Shot(*_core.RadiusGrid(xyz, float(radius)).shot(votes, rows, wrap_cosine, n_threads))

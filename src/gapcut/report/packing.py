"""Points as bytes in a page: 16 bits per axis, one byte per layer, gzip, base64."""

from __future__ import annotations

import base64
import gzip
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.spatial import cKDTree

from gapcut.report.scene_view import CONFIDENCE, SEGMENTS, SceneView
from gapcut.typing import AnyArray, FloatArray, IntArray

MOST_POINTS = 500_000
_NONE = 255
_STEPS = 65535
_SAMPLE = 3000


@dataclass(frozen=True)
class PackedScene:
    """``meta`` for the page's JSON and the points as base64 of gzip.

    The bytes, all for the n points in one order: of each axis the low, then the high bytes of the step (modulo 2^16)
    from the point before; then a byte a point and layer (255: none).
    """

    meta: dict[str, Any]
    base64: str


def points_to_show(sizes: Sequence[int], per_scene: int, in_all: int) -> list[int]:
    """How many points of each scene are kept: small scenes whole, what is left over shared by the large ones."""
    if per_scene < 1 or in_all < len(sizes):
        raise ValueError("scene_points and page_points must leave at least one point a scene")
    limits = [min(size, per_scene) for size in sizes]
    left, result = in_all, list(limits)
    for rank, i in enumerate(sorted(range(len(sizes)), key=limits.__getitem__)):
        result[i] = min(limits[i], left // (len(sizes) - rank))
        left -= result[i]
    return result


def pack_scene(scene: SceneView, labels: Sequence[int], most: int) -> PackedScene:
    """At most ``most`` points; codes of layers are positions in ``labels`` (sorted)."""
    chosen = np.arange(scene.n_points)
    if most < scene.n_points:
        chosen = np.sort(np.random.default_rng(0).choice(scene.n_points, most, replace=False))
    xyz = scene.xyz[chosen]
    low = xyz.min(axis=0)
    extent = np.maximum(xyz.max(axis=0) - low, 1e-9)
    steps = np.rint((xyz - low) / extent * _STEPS).astype(np.uint16)
    order = _along_curve(steps)
    chosen, steps = chosen[order], steps[order]
    before = np.concatenate([np.zeros((1, 3), np.uint16), steps[:-1]])
    change = steps - before  # wraps modulo 2^16
    parts = [
        part for axis in change.T for part in ((axis & 255).astype(np.uint8), (axis >> 8).astype(np.uint8))
    ]
    codes = np.array(labels, dtype=np.int64)
    for key, values in scene.layers.items():
        parts.append(_layer_codes(key, values[chosen], codes))
    packed = gzip.compress(b"".join(part.tobytes() for part in parts), compresslevel=6, mtime=0)
    segments = scene.layers.get(SEGMENTS)
    meta = {
        "name": scene.name,
        "points": len(chosen),
        "of": scene.n_points,
        "low": (-extent / 2).tolist(),
        "extent": extent.tolist(),
        "heights": [float(low[2]), float(low[2] + extent[2])],
        "spacing": _spacing(xyz),
        "layers": list(scene.layers),
        "segments": 0 if segments is None else len(np.unique(segments[segments >= 0])),
    }
    return PackedScene(meta, base64.b64encode(packed).decode("ascii"))


def _along_curve(steps: AnyArray) -> IntArray:
    """The order along a Morton curve: neighbours in space become neighbours in the file, which compresses well."""
    key = np.zeros(len(steps), dtype=np.uint64)
    for bit in range(16):
        for axis in range(3):
            key |= ((steps[:, axis].astype(np.uint64) >> np.uint64(bit)) & np.uint64(1)) << np.uint64(
                3 * bit + axis
            )
    return np.asarray(np.argsort(key, kind="stable"))


def _layer_codes(key: str, values: IntArray, labels: IntArray) -> AnyArray:
    """Per cent as they are, segments so that those near each other in number rarely share a code, labels by place."""
    by_place = key not in (CONFIDENCE, SEGMENTS)
    codes = np.searchsorted(labels, values) if by_place else values % 255
    return np.where(values >= 0, codes, _NONE).astype(np.uint8)


def _spacing(xyz: FloatArray) -> float:
    """Median distance from a point to its third nearest neighbour, metres; positive."""
    if len(xyz) < 2:
        return 1.0
    sample = xyz[:: max(1, len(xyz) // _SAMPLE)]
    distance = np.asarray(cKDTree(xyz).query(sample, k=min(4, len(xyz)))[0])[:, -1]
    return max(float(np.median(distance)), 1e-4 * float(np.max(np.ptp(xyz, axis=0))), 1e-9)

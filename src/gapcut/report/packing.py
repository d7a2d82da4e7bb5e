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
from gapcut.scenes.labelling.reasons import Reasons
from gapcut.typing import AnyArray, FloatArray, IntArray

MOST_POINTS = 500_000
_NONE = 255
_STEPS = 65535
_SAMPLE = 3000


@dataclass(frozen=True)
class PackedScene:
    """``meta`` for the page's JSON and the points as base64 of gzip.

    The bytes, all for the n points in one order: of each axis the low, then the high bytes of the step (modulo 2^16)
    from the point before; a byte a point and layer (255: none); the numbers of segments plus one (0: none), modulo
    2^32, least bytes first. ``reasons``: see :func:`pack_reasons`.
    """

    meta: dict[str, Any]
    base64: str
    reasons: str = ""


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
    shown = [key for key in scene.layers if key != SEGMENTS]
    parts += [_layer_codes(key, scene.layers[key][chosen], codes) for key in shown]
    segments = scene.layers.get(SEGMENTS)
    width = 0 if segments is None else _bytes_of(segments)
    if segments is not None:
        parts += _planes(segments[chosen] + 1, width)
    meta = {
        "name": scene.name,
        "points": len(chosen),
        "of": scene.n_points,
        "low": (-extent / 2).tolist(),
        "extent": extent.tolist(),
        "centre": (low + extent / 2).tolist(),
        "spacing": _spacing(xyz),
        "layers": shown,
        "segments": 0 if segments is None else len(np.unique(segments[segments >= 0])),
        "segment_bytes": width,
        "score": scene.score,
        "key": scene.key,
    }
    if scene.reasons is None:
        return PackedScene(meta, _compressed(parts))
    meta["reasons"], reasons = pack_reasons(scene.reasons, codes)
    return PackedScene(meta, _compressed(parts), reasons)


def pack_reasons(reasons: Reasons, labels: IntArray) -> tuple[dict[str, Any], str]:
    """Sizes for the page's JSON, and for all S segments in one order, a plane of S bytes each: the label; the next
    best ones; of each of the energies ``worse``, ``own``, ``by_relation`` and ``by_neighbour`` the low and the high
    bytes as half floats; of relations their numbers; of neighbours their numbers plus one."""
    width = _bytes_of(np.array([reasons.n_segments]))
    parts = _planes(np.asarray(np.searchsorted(labels, np.c_[reasons.labels, reasons.others])), 1)
    energies = (reasons.worse, reasons.own[:, None], reasons.by_relation, reasons.by_neighbour)
    parts += _planes(
        np.concatenate(energies, axis=1).clip(-65504, 65504).astype(np.float16).view(np.uint16), 2
    )
    parts += _planes(reasons.relations, 1) + _planes(reasons.neighbours + 1, width)
    meta = {
        "segments": reasons.n_segments,
        "others": reasons.others.shape[1],
        "relations": reasons.relations.shape[1],
        "neighbours": reasons.neighbours.shape[1],
        "bytes": width,
        "names": list(reasons.names),
        "temperature": reasons.temperature if np.isfinite(reasons.temperature) else None,
    }
    return meta, _compressed(parts)


def _compressed(parts: Sequence[AnyArray]) -> str:
    packed = gzip.compress(b"".join(part.tobytes() for part in parts), compresslevel=6, mtime=0)
    return base64.b64encode(packed).decode("ascii")


def _bytes_of(values: IntArray) -> int:
    """That values from 0 to the largest plus one need, at most 4."""
    return min(4, max(1, -(-int(values.max(initial=0) + 1).bit_length() // 8)))


def _planes(values: AnyArray, width: int) -> list[AnyArray]:
    """The bytes of whole numbers >= 0, column by column, the least byte of all rows first."""
    columns = values.astype(np.int64).reshape(len(values), -1).T
    return [(column >> 8 * k & 255).astype(np.uint8) for column in columns for k in range(width)]


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
    if key == CONFIDENCE:  # per cent as they are
        return np.where(values >= 0, values, _NONE).astype(np.uint8)
    return _label_codes(values, labels)


def _label_codes(values: IntArray, labels: IntArray) -> AnyArray:
    if not len(labels):
        return np.full(len(values), _NONE, dtype=np.uint8)
    return np.where(values >= 0, np.searchsorted(labels, values), _NONE).astype(np.uint8)


def _spacing(xyz: FloatArray) -> float:
    """Median distance from a point to its third nearest neighbour, metres; positive."""
    if len(xyz) < 2:
        return 1.0
    sample = xyz[:: max(1, len(xyz) // _SAMPLE)]
    distance = np.asarray(cKDTree(xyz).query(sample, k=min(4, len(xyz)))[0])[:, -1]
    return max(float(np.median(distance)), 1e-4 * float(np.max(np.ptp(xyz, axis=0))), 1e-9)

"""Graphs of points: who is a neighbour of whom."""

from __future__ import annotations

from typing import Any

import numpy as np

from gapcut.data import Graph
from gapcut.typing import FloatArray, IntArray


def knn_graph(points: Any, k: int, **arguments: Any) -> Graph:
    """Each point linked to its ``k`` nearest others, once per pair.

    ``points`` (V, d) in any unit. Edges lead from the lower to the higher index and are sorted; their features are the
    ``distance`` and the absolute ``offset`` along each axis, in the unit of the points. ``arguments`` are those of
    :class:`gapcut.Graph`: labels, ``node_features`` (omitted: the coordinates), ... Raises ValueError for points that
    are no (V, d) table of finite numbers or a ``k`` outside [1, V - 1].
    """
    from scipy.spatial import cKDTree  # slow to import

    xyz = _points(points)
    if not 1 <= k < len(xyz):
        raise ValueError(f"k={k} neighbours of {len(xyz)} points: k must be in [1, {len(xyz) - 1}]")
    _, near = cKDTree(xyz).query(xyz, k + 1)
    ends = np.stack([np.repeat(np.arange(len(xyz)), k + 1), near.ravel()], axis=1).reshape(-1, k + 1, 2)
    own = ends[..., 0] == ends[..., 1]
    own[~own.any(axis=1), -1] = True  # among equal points a point may not find itself: the last goes
    return _graph(xyz, ends[~own], arguments)


def radius_graph(points: Any, radius: float, **arguments: Any) -> Graph:
    """All pairs of points at most ``radius`` apart; otherwise as :func:`knn_graph`."""
    from scipy.spatial import cKDTree  # slow to import

    xyz = _points(points)
    if not radius > 0:
        raise ValueError(f"radius={radius} must be positive")
    return _graph(xyz, cKDTree(xyz).query_pairs(radius, output_type="ndarray"), arguments)


def _points(points: Any) -> FloatArray:
    xyz = np.asarray(points, dtype=np.float64)
    if xyz.ndim != 2 or not np.isfinite(xyz).all():
        raise ValueError(f"points of shape {xyz.shape} must be a (V, d) table of finite numbers")
    return xyz


def _graph(xyz: FloatArray, pairs: IntArray, arguments: dict[str, Any]) -> Graph:
    edges = np.unique(np.sort(np.asarray(pairs, dtype=np.int64).reshape(-1, 2), axis=1), axis=0)
    offset = np.abs(xyz[edges[:, 1]] - xyz[edges[:, 0]])
    measured: dict[str, Any] = {
        "edge_features": np.column_stack([np.linalg.norm(offset, axis=1), offset]),
        "edge_feature_names": ["distance", *(f"offset[{i}]" for i in range(xyz.shape[1]))],
    }
    if "node_features" not in arguments:
        names = [f"coordinate[{i}]" for i in range(xyz.shape[1])]
        measured |= {"node_features": xyz, "node_feature_names": names}
    if "edge_features" in arguments:
        measured.pop("edge_feature_names")
    return Graph(**{"edges": edges, **measured, **arguments})

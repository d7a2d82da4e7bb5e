"""Superpoint hierarchies as superpoint_transformer writes them (HDF5; extra ``scenes``: h5py).

``level_0`` holds the points, ``level_1``, 2, ... ever larger segments: ``edge_index`` (2, E), ``edge_attr`` (E, De),
attributes (V, .), ``_csr_/y`` the histogram of the point labels (the last column is "void"), ``_cluster_/sub`` the
members on the level below.
"""

from __future__ import annotations

from collections.abc import Callable
from os import PathLike
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from gapcut.data import Graph
from gapcut.extras import needed
from gapcut.scenes.clouds.cloud import NO_LABEL, PointCloud
from gapcut.scenes.clouds.errors import CloudError, CloudFileError
from gapcut.typing import AnyArray, FloatArray, IntArray

T = TypeVar("T")

_POINT_FEATURES = ("elevation", "linearity", "planarity", "scattering", "verticality")
_SEGMENT_FEATURES = ("log_length", "log_surface", "log_volume", "log_size", "normal")


def read_superpoint_graph(path: str | PathLike[str], level: int = 1) -> Graph:
    """The segments of a level as a graph.

    Node features: size and shape columns of the level (log_length, log_surface, log_volume, log_size, |normal|), then
    the means over the segment's points of elevation, linearity, planarity, scattering, verticality and red, green,
    blue / 255. Edges and edge features: those of the file, self loops left out. Labels: the most frequent label of a
    segment's points, None if they are all void. Node weights: numbers of points. Raises CloudFileError.
    """
    return _guarded(path, lambda file: _graph(file, level, Path(path).stem))


def read_superpoint_cloud(path: str | PathLike[str], level: int = 1) -> PointCloud:
    """The points of ``level_0`` with their labels, and with the segments of ``level``."""
    return _guarded(path, lambda file: _cloud(file, level, Path(path).stem))


def _guarded(path: str | PathLike[str], read: Callable[[Any], T]) -> T:
    h5py = needed("h5py", "superpoint files need", "scenes")
    if not Path(path).is_file():
        raise FileNotFoundError(f"{path}: no such file")
    try:
        with h5py.File(path, "r") as file:
            return read(file)
    except CloudError as error:
        raise CloudFileError(path, str(error)) from None
    except Exception as error:
        reason = " ".join(str(error).split())[:120]
        raise CloudFileError(path, f"is no readable superpoint hierarchy ({reason})") from None


def _graph(file: Any, level: int, name: str) -> Graph:
    nodes = _group(file, level)
    points = _group(file, 0)
    segment = _segment_of_points(file, level)
    size = np.bincount(segment, minlength=len(nodes["pos"]))
    columns = [_columns(nodes[key]) for key in _SEGMENT_FEATURES if key in nodes]
    if "normal" in nodes:
        columns[-1] = np.abs(columns[-1])
    columns += [_means(_columns(points[key]), segment, size) for key in _POINT_FEATURES if key in points]
    if "rgb" in points:
        columns.append(_means(_columns(points["rgb"]) / 255.0, segment, size))
    edges: IntArray = nodes["edge_index"][:].astype(np.int64).T
    straight = edges[:, 0] != edges[:, 1]
    labels = _labels(nodes)
    return Graph(
        np.concatenate(columns, axis=1),
        edges[straight],
        nodes["edge_attr"][:].astype(np.float64)[straight],
        [None if k == NO_LABEL else int(k) for k in labels],
        size.astype(np.float64),
        name=name,
    )


def _cloud(file: Any, level: int, name: str) -> PointCloud:
    points = _group(file, 0)
    extra = {key: _columns(points[key])[:, 0].astype(np.float32) for key in _POINT_FEATURES if key in points}
    return PointCloud(
        points["pos"][:].astype(np.float64),
        labels=_labels(points),
        segments=_segment_of_points(file, level),
        colour=points["rgb"][:] if "rgb" in points else None,
        extra=extra,
        name=name,
    )


def _group(file: Any, level: int) -> Any:
    if f"level_{level}" not in file:
        levels = ", ".join(key for key in file if key.startswith("level_")) or "none"
        raise CloudError(f"has no level {level} (levels: {levels})")
    return file[f"level_{level}"]


def _segment_of_points(file: Any, level: int) -> IntArray:
    """(N,) segment of each point on ``level``: the chain of ``super_index`` up to it."""
    if level < 1:
        raise CloudError(f"level {level} is the points themselves: segments begin at level 1")
    _group(file, level)
    above: IntArray = _group(file, 0)["super_index"][:].astype(np.int64)
    for k in range(1, level):
        above = _group(file, k)["super_index"][:].astype(np.int64)[above]
    return above


def _labels(group: Any) -> IntArray:
    """(V,) the largest entry of each row of the histogram, -1 where only the last column (void) is filled."""
    table = group["_csr_/y"]
    rows, n_columns = (int(n) for n in table["shape"][:])
    pointers = table["pointers"][:].astype(np.int64)
    histogram = np.zeros((rows, n_columns))
    row = np.repeat(np.arange(rows), np.diff(pointers))
    np.add.at(histogram, (row, table["columns"][:].astype(np.int64)), table["values"][:].astype(np.float64))
    known = histogram[:, :-1]
    return np.where(known.any(axis=1), np.argmax(known, axis=1), NO_LABEL)


def _columns(data: Any) -> FloatArray:
    values: AnyArray = data[:].astype(np.float64)
    return values.reshape(len(values), -1)


def _means(values: FloatArray, segment: IntArray, size: IntArray) -> FloatArray:
    sums = [np.bincount(segment, weights=column, minlength=len(size)) for column in values.T]
    return np.stack(sums, axis=1) / np.maximum(size, 1)[:, None]

"""The segments of a labelled scan as a table (CSV, GeoPackage): class, confidence, place, extent, volume of each."""

from __future__ import annotations

import csv
import io
import os
import struct
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from scipy.spatial import ConvexHull, QhullError

from gapcut.extras import needed
from gapcut.files import write_atomically
from gapcut.scenes.clouds import PointCloud
from gapcut.scenes.groups import group_order
from gapcut.typing import FloatArray

COLUMNS = (
    *("segment", "label", "class", "confidence", "points"),
    *("x_min", "y_min", "z_min", "x_max", "y_max", "z_max", "hull_volume"),
)


def segment_rows(labelled: PointCloud) -> Iterator[tuple[tuple[Any, ...], FloatArray]]:
    """Values of ``COLUMNS`` and points (n, 3) of each segment, in order of their numbers. Extents in the units of the
    scan; ``hull_volume`` is that of the convex hull, 0 for points in a plane. Points of no segment are left out."""
    if labelled.segments is None or labelled.labels is None:
        return
    confidence = labelled.extra["confidence"]
    numbers, place, sizes = np.unique(labelled.segments, return_inverse=True, return_counts=True)
    groups = np.split(group_order(place, len(numbers)), np.cumsum(sizes)[:-1])
    for number, rows in zip(numbers.tolist(), groups, strict=True):
        if number < 0:
            continue
        xyz, label = labelled.xyz[rows], int(labelled.labels[rows[0]])
        said = (number, label, labelled.name_of(label), float(confidence[rows[0]]), len(rows))
        ends = (*xyz.min(axis=0).tolist(), *xyz.max(axis=0).tolist())
        yield (*said, *ends, _hull_volume(xyz)), xyz


def segment_table(labelled: PointCloud) -> str:
    """CSV, a line a segment."""
    text = io.StringIO()
    lines = csv.writer(text, lineterminator="\n")
    lines.writerow(COLUMNS)
    for (number, label, name, sure, n, *ends, volume), _ in segment_rows(labelled):
        lines.writerow([number, label, name, f"{sure:.6g}", n, *(f"{v:.10g}" for v in ends), f"{volume:.6g}"])
    return text.getvalue()


def write_geopackage(path: str | os.PathLike[str], labelled: PointCloud) -> None:
    """A GeoPackage with a polygon a segment, the outline of its points seen from above (convex hull; the rectangle of a
    segment that has none), the same columns, and the scan's coordinate system where it is known. The file appears whole
    or not at all. Raises ImportError naming what to install."""
    pyogrio = needed("pyogrio.raw", "GeoPackage files need", "gis")
    rows = list(segment_rows(labelled))
    columns = [np.array([said[k] for said, _ in rows], _kind(name)) for k, name in enumerate(COLUMNS)]
    outlines = np.array([_polygon(_outline(xyz)) for _, xyz in rows], dtype=object)
    content = io.BytesIO()
    about = {"layer": "segments", "driver": "GPKG", "geometry_type": "Polygon", "crs": labelled.crs}
    pyogrio.raw.write(content, outlines, columns, list(COLUMNS), **about)
    write_atomically(Path(path), lambda file: file.write(content.getvalue()))


def _kind(name: str) -> Any:
    return {"segment": np.int64, "label": np.int64, "points": np.int64, "class": object}.get(name, np.float64)


def _outline(xyz: FloatArray) -> FloatArray:
    """(P, 2) corners, against the clock."""
    flat = xyz[:, :2]
    local = flat - flat.mean(axis=0)
    try:
        return np.asarray(flat[ConvexHull(local).vertices]) if len(local) > 2 else _rectangle(flat)
    except QhullError:  # on a line, or one place
        return _rectangle(flat)


def _rectangle(flat: FloatArray) -> FloatArray:
    (left, low), (right, high) = flat.min(axis=0), flat.max(axis=0)
    return np.array([[left, low], [right, low], [right, high], [left, high]])


def _polygon(corners: FloatArray) -> bytes:
    """Well-known binary of a polygon without holes."""
    ring = np.ascontiguousarray(np.concatenate([corners, corners[:1]]), dtype="<f8")
    return struct.pack("<BIII", 1, 3, 1, len(ring)) + ring.tobytes()


def _hull_volume(xyz: FloatArray) -> float:
    local = xyz - xyz.mean(axis=0)
    try:
        return float(ConvexHull(local).volume) if len(local) > 3 else 0.0
    except QhullError:  # flat
        return 0.0

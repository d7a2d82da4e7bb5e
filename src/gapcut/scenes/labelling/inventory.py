"""The segments of a labelled scan as a table: class, confidence, place, extent and volume of each."""

from __future__ import annotations

import csv
import io

import numpy as np
from scipy.spatial import ConvexHull, QhullError

from gapcut.scenes.clouds import PointCloud
from gapcut.scenes.groups import group_order
from gapcut.typing import FloatArray

COLUMNS = (
    *("segment", "label", "class", "confidence", "points"),
    *("x_min", "y_min", "z_min", "x_max", "y_max", "z_max", "hull_volume"),
)


def segment_table(labelled: PointCloud) -> str:
    """CSV, a line a segment, in order of their numbers. Extents in the units of the scan; ``hull_volume`` is that of
    the convex hull, 0 for points in a plane. Points of no segment are left out."""
    text = io.StringIO()
    lines = csv.writer(text, lineterminator="\n")
    lines.writerow(COLUMNS)
    if labelled.segments is None or labelled.labels is None:
        return text.getvalue()
    confidence = labelled.extra["confidence"]
    numbers, place, sizes = np.unique(labelled.segments, return_inverse=True, return_counts=True)
    groups = np.split(group_order(place, len(numbers)), np.cumsum(sizes)[:-1])
    for number, rows in zip(numbers.tolist(), groups, strict=True):
        if number < 0:
            continue
        xyz, label = labelled.xyz[rows], int(labelled.labels[rows[0]])
        ends = (f"{value:.10g}" for value in (*xyz.min(axis=0), *xyz.max(axis=0)))
        sure = f"{float(confidence[rows[0]]):.6g}"
        lines.writerow(
            [number, label, labelled.name_of(label), sure, len(rows), *ends, f"{_hull_volume(xyz):.6g}"]
        )
    return text.getvalue()


def _hull_volume(xyz: FloatArray) -> float:
    local = xyz - xyz.mean(axis=0)
    try:
        return float(ConvexHull(local).volume) if len(local) > 3 else 0.0
    except QhullError:  # flat
        return 0.0

"""The segments of a labelled scan as CSV, GeoPackage or DXF: class, confidence, place, extent, volume of each."""

from __future__ import annotations

import csv
import io
import os
import re
import struct
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np
from scipy.spatial import ConvexHull, QhullError

from gapcut.extras import needed
from gapcut.files import write_atomically
from gapcut.scenes.clouds import PointCloud
from gapcut.scenes.groups import group_order
from gapcut.typing import FloatArray, IntArray

COLUMNS = (
    *("segment", "label", "class", "confidence", "points"),
    *("x_min", "y_min", "z_min", "x_max", "y_max", "z_max", "hull_volume"),
)

Kind = Literal["csv", "gpkg", "dxf"]
"""Of files that segments are written to: by their ending."""

NEEDS = {"gpkg": ("pyogrio", "GeoPackage files need"), "dxf": ("ezdxf", "DXF files need")}
"""What writes such a file, by kind; both are in the extra ``gis``."""


@dataclass(frozen=True, eq=False)
class Segment:
    """A segment by its ``values`` of ``COLUMNS``, and ``corners`` (n, 3): points of it with the hull of all of them.
    Extents in the units of the scan; ``hull_volume`` is that of the convex hull, 0 for points in a plane."""

    values: tuple[Any, ...]
    corners: FloatArray

    @classmethod
    def of(cls, number: int, label: int, name: str, confidence: float, size: int, xyz: FloatArray) -> Segment:
        """From its ``size`` points, or from some with their hull, (n, 3)."""
        ends = (*xyz.min(axis=0).tolist(), *xyz.max(axis=0).tolist())
        said = (number, label, name, confidence, size)
        hull = _Hull.of(xyz)
        return cls((*said, *ends, hull.volume), hull.corners(xyz))

    def __getitem__(self, column: str) -> Any:
        return self.values[COLUMNS.index(column)]


@dataclass(frozen=True, eq=False)
class Inventory:
    """The ``segments`` of a scan, in order of their numbers; its coordinate system, ``crs``."""

    segments: Sequence[Segment]
    crs: str | None = None

    @classmethod
    def of(cls, labelled: PointCloud) -> Inventory:
        """Of a labelled scan. Points of no segment are left out."""
        if labelled.segments is None or labelled.labels is None:
            return cls([], labelled.crs)
        sure, found = labelled.extra["confidence"], []
        numbers, place, sizes = np.unique(labelled.segments, return_inverse=True, return_counts=True)
        groups = np.split(group_order(place, len(numbers)), np.cumsum(sizes)[:-1])
        for number, rows in zip(numbers.tolist(), groups, strict=True):
            if number >= 0:
                label = int(labelled.labels[rows[0]])
                said = (label, labelled.name_of(label), float(sure[rows[0]]), len(rows))
                found.append(Segment.of(number, *said, labelled.xyz[rows]))
        return cls(found, labelled.crs)

    def write(self, path: str | os.PathLike[str], kind: Kind) -> None:
        """The file appears whole or not at all. Raises ImportError naming what to install."""
        content = {"csv": _csv, "gpkg": _geopackage, "dxf": _dxf}[kind](self)
        write_atomically(Path(path), lambda file: file.write(content))


def _csv(inventory: Inventory) -> bytes:
    """A line a segment."""
    text = io.StringIO()
    lines = csv.writer(text, lineterminator="\n")
    lines.writerow(COLUMNS)
    for segment in inventory.segments:
        number, label, name, sure, n, *ends, volume = segment.values
        lines.writerow([number, label, name, f"{sure:.6g}", n, *(f"{v:.10g}" for v in ends), f"{volume:.6g}"])
    return text.getvalue().encode()


def _geopackage(inventory: Inventory) -> bytes:
    """A polygon a segment, the outline of its points seen from above (convex hull; the rectangle of a segment that has
    none), the same columns, and the scan's coordinate system where it is known."""
    pyogrio = needed("pyogrio.raw", NEEDS["gpkg"][1], "gis")
    columns = [np.array([s[name] for s in inventory.segments], _kind(name)) for name in COLUMNS]
    outlines = np.array([_polygon(_outline(s.corners)) for s in inventory.segments], dtype=object)
    content = io.BytesIO()
    about = {"layer": "segments", "driver": "GPKG", "geometry_type": "Polygon", "crs": inventory.crs}
    pyogrio.raw.write(content, outlines, columns, list(COLUMNS), **about)
    return content.getvalue()


def _dxf(inventory: Inventory) -> bytes:
    """A prism a segment: its outline seen from above, at its lowest point, as thick as it is high; on a layer called
    like its class, with the columns as extended data of the application GAPCUT."""
    ezdxf = needed("ezdxf", NEEDS["dxf"][1], "gis")
    document = ezdxf.new("R2010", units=6)  # metres
    document.appids.new("GAPCUT")
    layers: dict[str, str] = {}
    for segment in inventory.segments:
        name = segment["class"]
        if name not in layers:
            layers[name] = _layer_name(name, list(layers.values()))
            if layers[name] not in document.layers:
                document.layers.add(layers[name], color=len(layers) % 255)
        low, high = segment["z_min"], segment["z_max"]
        about = {"layer": layers[name], "elevation": low, "thickness": high - low}
        outline = _outline(segment.corners).tolist()
        shape = document.modelspace().add_lwpolyline(outline, close=True, dxfattribs=about)
        data = [_extended(key, segment[key]) for key in COLUMNS]
        shape.set_xdata("GAPCUT", [tag for pair in data for tag in pair])
    text = io.StringIO()
    document.write(text)
    return text.getvalue().encode(document.output_encoding, "dxfreplace")


def _layer_name(name: str, taken: Sequence[str]) -> str:
    """The name without what layers may not be called; other ones differ by more than case."""
    plain = re.sub(r"[<>/\\\":;?*|=,`\x00-\x1f]", "_", name).strip() or "_"
    known, found, n = {other.lower() for other in taken}, plain, 2
    while found.lower() in known:
        found, n = f"{plain} {n}", n + 1
    return found


def _extended(name: str, value: Any) -> tuple[tuple[int, Any], tuple[int, Any]]:
    code = 1000 if isinstance(value, str) else 1071 if isinstance(value, int) else 1040
    return (1000, name), (code, value[:255] if isinstance(value, str) else value)


_FEW = 8


def hull_corners(xyz: FloatArray) -> FloatArray:
    """Points among (n, 3) with the same convex hull, in space and seen from above."""
    return _Hull.of(xyz).corners(xyz) if len(xyz) > _FEW else xyz


@dataclass(frozen=True)
class _Hull:
    """Of points in space: 0 and no vertices where they are flat."""

    volume: float
    vertices: IntArray

    @classmethod
    def of(cls, xyz: FloatArray) -> _Hull:
        try:
            found = ConvexHull(xyz - xyz.mean(axis=0)) if len(xyz) > 3 else None
        except QhullError:
            found = None
        none = np.empty(0, dtype=np.int64)
        return cls(0.0, none) if found is None else cls(float(found.volume), found.vertices.astype(np.int64))

    def corners(self, xyz: FloatArray) -> FloatArray:
        """See :func:`hull_corners`."""
        if len(xyz) <= _FEW:
            return xyz
        local = xyz - xyz.mean(axis=0)
        views = [_vertices(local[:, [0, 1]])]
        if not len(self.vertices):  # all in a plane or on a line: the corners are those of two of these
            views += [_vertices(local[:, [0, 2]]), _vertices(local[:, [1, 2]])]
            views += [local.argmin(axis=0), local.argmax(axis=0)]
        return np.asarray(xyz[np.unique(np.concatenate([self.vertices, *views]))])


def _vertices(points: FloatArray) -> IntArray:
    """Of the convex hull, none where it is flat."""
    try:
        return np.asarray(ConvexHull(points).vertices, dtype=np.int64)
    except QhullError:
        return np.empty(0, dtype=np.int64)


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

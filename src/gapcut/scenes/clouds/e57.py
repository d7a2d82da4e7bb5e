"""E57 (ASTM E2807), read only (extra ``scenes``: pye57).

All scans of a file become one cloud in its common coordinates (each scan's pose applied in float64); with more than
one, ``scan`` counts them. Points marked invalid are left out.
"""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import numpy as np

from gapcut.extras import needed
from gapcut.scenes.clouds.errors import CloudError
from gapcut.scenes.clouds.names import Said
from gapcut.scenes.clouds.table import Table, narrow_float, narrow_integer
from gapcut.typing import AnyArray, FloatArray

_SPHERICAL = ("sphericalRange", "sphericalAzimuth", "sphericalElevation")
_CARTESIAN = ("cartesianX", "cartesianY", "cartesianZ")


def read(path: Path) -> Table:
    """Columns of all scans. What libE57Format raises on a damaged file passes through."""
    pye57 = needed("pye57", "E57 files need", "scenes")
    with pye57.E57(str(path)) as file:
        count = int(file.scan_count)
        scans = [_scan(pye57, file, i) for i in range(count)]
        crs = file.root["coordinateMetadata"].value() if file.root.isDefined("coordinateMetadata") else ""
    kept = [(i, scan) for i, scan in enumerate(scans) if len(scan["x"])]
    if not kept:
        raise CloudError("holds no points")
    if count > 1:
        for i, scan in kept:
            scan["scan"] = np.full(len(scan["x"]), i, dtype=np.int32)
    names = list(dict.fromkeys(name for _, scan in kept for name in scan))
    for i, scan in kept:
        if missing := [name for name in names if name not in scan]:
            warnings.warn(
                f"{path}: scan {i} (counted from 0) has no {', '.join(missing)}: colours are 0 there, all else NaN",
                stacklevel=2,
            )
    columns = {name: _joined(name, [scan for _, scan in kept]) for name in names}
    return Table({name: _whole(values) for name, values in columns.items()}, Said(crs=crs or None))


def _joined(name: str, scans: list[dict[str, AnyArray]]) -> AnyArray:
    """A column of all scans. Where a scan has none, colours are 0 (black) and all else is not a number."""
    missing = 0.0 if name.startswith("color") else np.nan
    return np.concatenate(
        [scan[name] if name in scan else np.full(len(scan["x"]), missing) for scan in scans]
    )


def _whole(values: AnyArray) -> AnyArray:
    """As integers where that keeps every value: all is read as float64."""
    whole = bool((np.abs(values) < 2.0**53).all()) and bool((values == np.floor(values)).all())
    return narrow_integer(values.astype(np.int64)) if whole else narrow_float(values)


def _scan(pye57: Any, file: Any, index: int) -> dict[str, AnyArray]:
    header = file.get_header(index)
    columns = {name: np.empty(header.point_count, dtype=np.float64) for name in header.point_fields}
    buffers = pye57.libe57.VectorSourceDestBuffer()
    for name, values in columns.items():
        buffers.append(
            pye57.libe57.SourceDestBuffer(file.image_file, name, values, header.point_count, True, True)
        )
    found = header.points.reader(buffers).read() if header.point_count else 0
    if found != header.point_count:
        raise CloudError(
            f"holds {found:,} of {header.point_count:,} points in scan {index}: the file was cut short"
        )
    valid = np.ones(header.point_count, dtype=bool)
    for state in ("cartesianInvalidState", "sphericalInvalidState"):
        if state in columns:
            valid &= columns.pop(state) == 0
    columns = {name: values[valid] for name, values in columns.items()}
    xyz = _posed(_coordinates(columns, index), header)
    return {"x": xyz[:, 0], "y": xyz[:, 1], "z": xyz[:, 2]} | columns


def _coordinates(columns: dict[str, AnyArray], index: int) -> FloatArray:
    if all(name in columns for name in _CARTESIAN):
        for name in _SPHERICAL:
            columns.pop(name, None)
        return np.stack([columns.pop(name) for name in _CARTESIAN], axis=1)
    if not all(name in columns for name in _SPHERICAL):
        raise CloudError(f"has no coordinates in scan {index}")
    distance, azimuth, elevation = (columns.pop(name) for name in _SPHERICAL)
    level = distance * np.cos(elevation)
    return np.stack([level * np.cos(azimuth), level * np.sin(azimuth), distance * np.sin(elevation)], axis=1)


def _posed(xyz: FloatArray, header: Any) -> FloatArray:
    if not header.has_pose():
        return xyz
    pose: FloatArray = xyz @ np.asarray(header.rotation_matrix).T + np.asarray(header.translation)
    return pose

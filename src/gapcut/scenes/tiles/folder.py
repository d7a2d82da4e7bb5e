"""Which files of a folder lie side by side in one coordinate system, as far as their headers tell."""

from __future__ import annotations

import math
import re
import warnings
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from gapcut.files import digest
from gapcut.scenes.clouds import CloudFileError, PointCloud
from gapcut.scenes.clouds.files import blamed
from gapcut.scenes.clouds.las import announced_extent
from gapcut.scenes.tiles.plan import Stamp, stamp
from gapcut.scenes.tiles.survey import ScanFile
from gapcut.typing import FloatArray

Box = tuple[tuple[float, float, float], tuple[float, float, float]]
"""Least and largest x, y and z."""
_MOST_VOXELS = 900_000  # from the origin, to be told apart
_STEP = 10_000.0  # metres: a file more seldom moves a shift that labels of the others were found with
_NODE = re.compile(r"(PROJCS|PROJCRS|PROJECTEDCRS|GEOGCS|GEOGCRS|GEODCRS|GEODETICCRS)\s*\[", re.IGNORECASE)
_CODE = re.compile(r'(?:AUTHORITY|ID)\s*\[\s*"([^"]+)"\s*,\s*"?(\w+)', re.IGNORECASE)


@dataclass(frozen=True)
class Extent:
    """What is known of a file before its points are used: its ``stamp`` and the ``digest`` of its bytes; the ``box`` of
    its ``points``, ``believed`` if only its header says so; its coordinate system, None if it states none."""

    stamp: Stamp
    digest: str
    box: Box
    points: int
    believed: bool
    system: str | None


def look(scan: ScanFile) -> Extent:
    """At a file: the header of LAS and LAZ is believed where its box can be one, every other file is read. Raises
    OSError, CloudFileError."""
    before = stamp(scan.path)
    with blamed(scan.path):
        said, believed = announced_extent(scan.path), True
    if said is None:
        said, believed = _read_extent(scan), False
    low, high, points, crs = said
    if not points:
        raise CloudFileError(scan.path, "holds no points")
    found = Extent(before, digest(scan.path), (_place(low), _place(high)), points, believed, system_of(crs))
    if stamp(scan.path) != before:
        raise CloudFileError(scan.path, "was changed while it was read: label it again when it is complete")
    return found


def _read_extent(scan: ScanFile) -> tuple[FloatArray, FloatArray, int, str | None]:
    low, high, points, crs = np.full(3, np.inf), np.full(3, -np.inf), 0, None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # whoever labels the file says it
        for cloud in scan.parts():
            low, high = np.minimum(low, cloud.xyz.min(axis=0)), np.maximum(high, cloud.xyz.max(axis=0))
            points, crs = points + cloud.n_points, crs or cloud.crs
    return low, high, points, crs


def _place(values: FloatArray) -> tuple[float, float, float]:
    x, y, z = values.tolist()
    return x, y, z


def system_of(crs: str | None) -> str | None:
    """The coordinate system of x and y: its code (``EPSG:25832``), else its name, else the text itself."""
    if crs is None or not crs.strip():
        return None
    nodes = [(m[1].upper().startswith("PROJ"), m.start()) for m in _NODE.finditer(crs)]
    if not nodes:
        return " ".join(crs.split()).upper()
    start = next((at for projected, at in nodes if projected), nodes[0][1])
    code, name = _heading(crs[start:])
    return code or name


def _heading(text: str) -> tuple[str | None, str]:
    """Code and name of the system whose brackets ``text`` begins with: not those of what is inside it."""
    depth, quoted, code = 0, False, None
    for i, letter in enumerate(text):
        quoted ^= letter == '"'
        if quoted:
            continue
        if depth == 1 and (found := _CODE.match(text, i)) and not text[i - 1].isalpha():
            code = f"{found[1]}:{found[2]}".upper()
        depth += (letter == "[") - (letter == "]")
        if letter == "]" and depth == 0:
            break
    name = re.search(r'"([^"]*)"', text)
    return code, name[1].upper() if name else ""


@dataclass(frozen=True)
class SideBySide:
    """``neighbours`` of each file, by number; ``shift`` (3,) that files which hang together have in common; pairs
    ``apart`` that lie side by side but state other coordinate systems."""

    neighbours: list[list[int]]
    shift: list[tuple[float, float, float]]
    apart: list[tuple[int, int]]


def side_by_side(extents: Sequence[Extent | None], halo: float, voxel: float) -> SideBySide:
    """Files whose boxes are within ``halo`` metres of each other, from above, and state no different systems. What is
    not known (None) adjoins nothing."""
    n = len(extents)
    known = [i for i, extent in enumerate(extents) if extent is not None]
    boxes = np.full((n, 2, 3), np.nan)
    for i in known:
        boxes[i] = extents[i].box  # type: ignore[union-attr]
    neighbours: list[list[int]] = [[] for _ in range(n)]
    apart = []
    for i in known:
        gap = np.maximum(boxes[i, 0] - boxes[:, 1], boxes[:, 0] - boxes[i, 1])[:, :2].max(axis=1)
        for j in np.flatnonzero(gap <= halo).tolist():  # NaN is not
            if j == i:
                continue
            systems = {extents[k].system for k in (i, j)} - {None}  # type: ignore[union-attr]
            if len(systems) < 2:
                neighbours[i].append(j)
            elif i < j:
                apart.append((i, j))
    return SideBySide(neighbours, _shifts(neighbours, boxes, voxel), apart)


def _shifts(neighbours: list[list[int]], boxes: FloatArray, voxel: float) -> list[tuple[float, float, float]]:
    pairs = [(i, j) for i, others in enumerate(neighbours) for j in others]
    n = len(neighbours)
    u, v = np.array(pairs, dtype=np.int64).reshape(-1, 2).T
    graph = coo_array((np.ones(len(u), dtype=np.int8), (u, v)), shape=(n, n))
    n_groups, of = connected_components(graph, directed=False)
    shifts: list[tuple[float, float, float]] = [(0.0, 0.0, 0.0)] * n
    for group in range(n_groups):
        members = np.flatnonzero(of == group)
        low, high = boxes[members, 0].min(axis=0), boxes[members, 1].max(axis=0)
        if np.isnan(low).any():
            continue
        common = PointCloud(np.stack([low, high])).shift
        if _MOST_VOXELS * voxel >= 2 * _STEP:
            common = np.floor(common / _STEP) * _STEP
        wide = float((high - common).max()) > _MOST_VOXELS * voxel
        for i in members.tolist():
            # where one shift would leave numbers too large, each file has its own, and voxels may be cut between them
            shifts[i] = _place(PointCloud(boxes[i]).shift if wide else common)
    return shifts


def overlap_points(own: Box, other: Extent, halo: float) -> int:
    """Points of a neighbour that a halo around a box sees, if they are spread evenly."""
    share = 1.0
    for axis in (0, 1):
        low, high = other.box[0][axis], other.box[1][axis]
        seen = min(high, own[1][axis] + halo) - max(low, own[0][axis] - halo)
        share *= min(1.0, max(0.0, seen) / (high - low)) if high > low else float(seen >= 0)
    return math.ceil(other.points * share)

"""Getting a bridge from elsewhere ready for the scanner: coordinates near zero, and ground to stand on."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from gapcut.scenes.bridges.model import Bridge, Mesh
from gapcut.typing import FloatArray

_FAR = 5000.0  # metres: beyond this, rays in single precision are off by half a millimetre and more


def ready_to_scan(bridge: Bridge, margin: float = 25.0) -> Bridge:
    """The bridge, moved towards zero if it lies far from it (its origin says how far), on flat ground if it has none.

    Flat ground lies at the lowest point of the structure and reaches ``margin`` m beyond it.
    """
    low, high = bridge.mesh.bounds
    offset = np.where(np.abs(bridge.mesh.bounds).max(axis=0) > _FAR, np.round((low + high) / 2, -2), 0.0)
    parts = tuple(replace(p, mesh=Mesh(p.mesh.vertices - offset, p.mesh.faces)) for p in bridge.parts)
    if bridge.terrain.n_faces:
        terrain = Mesh(bridge.terrain.vertices - offset, bridge.terrain.faces)
    else:
        terrain = _flat(low - offset, high - offset, margin)
    origin = np.array(bridge.origin) + offset
    return replace(bridge, parts=parts, terrain=terrain, origin=(origin[0], origin[1], origin[2]))


def _flat(low: FloatArray, high: FloatArray, margin: float) -> Mesh:
    (x0, y0), (x1, y1) = low[:2] - margin, high[:2] + margin
    corners = [[x0, y0, low[2]], [x1, y0, low[2]], [x1, y1, low[2]], [x0, y1, low[2]]]
    return Mesh(np.array(corners, dtype=np.float64), np.array([[0, 1, 2], [0, 2, 3]], dtype=np.int64))

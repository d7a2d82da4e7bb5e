"""Rays against triangles: a thin cover of embreex that works in chunks and knows what each face belongs to."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gapcut.scenes.bridges.model import Bridge, Mesh, concatenate
from gapcut.typing import BoolArray, FloatArray, IntArray

NOTHING = -2
"""Part of a ray that meets nothing."""

GROUND = -1
"""Part of the terrain."""

_CHUNK = 500_000


@dataclass(frozen=True, eq=False)
class Hits:
    """What rays meet first: ``part`` (n,) id, GROUND or NOTHING; ``distance`` (n,) m, inf for nothing; ``cosine``
    (n,) of the angle of incidence, 1 head-on, 0 for nothing; ``front`` (n,) whether the face is met from outside."""

    part: IntArray
    distance: FloatArray
    cosine: FloatArray
    front: BoolArray


class RayScene:
    """A bridge, its surroundings and its terrain, ready for rays. Raises ImportError where embreex is missing."""

    def __init__(self, bridge: Bridge, *, terrain_only: bool = False) -> None:
        meshes: list[Mesh] = [] if terrain_only else [part.mesh for part in bridge.solids]
        ids = [] if terrain_only else [part.id for part in bridge.solids]
        mesh = concatenate([*meshes, bridge.terrain])
        faces = [m.n_faces for m in [*meshes, bridge.terrain]]
        self.part_of_face: IntArray = np.repeat(np.array([*ids, GROUND], dtype=np.int64), faces)
        normals = np.cross(*np.moveaxis(np.diff(mesh.triangles, axis=1), 1, 0))
        self.normals: FloatArray = normals / np.maximum(np.linalg.norm(normals, axis=1, keepdims=True), 1e-30)
        self._scene = mesh.for_rays("the virtual scanner needs")

    def cast(self, origins: FloatArray, directions: FloatArray) -> Hits:
        """First hits of rays from ``origins`` (3,) or (n, 3) along unit ``directions`` (n, 3)."""
        directions = np.asarray(directions, dtype=np.float64).reshape(-1, 3)
        starts = np.broadcast_to(np.asarray(origins, dtype=np.float64), directions.shape)
        pieces = [
            self._cast(starts[i : i + _CHUNK], directions[i : i + _CHUNK])
            for i in range(0, len(directions), _CHUNK)
        ]
        if not pieces:
            return Hits(np.empty(0, np.int64), np.empty(0), np.empty(0), np.empty(0, bool))
        names = ("part", "distance", "cosine", "front")
        return Hits(*(np.concatenate([getattr(p, name) for p in pieces]) for name in names))

    def _cast(self, starts: FloatArray, directions: FloatArray) -> Hits:
        found = self._scene.run(starts.astype(np.float32), directions.astype(np.float32), output=True)
        face = found["primID"].astype(np.int64)
        seen = np.flatnonzero(face >= 0)
        part = np.full(len(face), NOTHING, dtype=np.int64)
        distance, slope = np.full(len(face), np.inf), np.zeros(len(face))
        part[seen] = self.part_of_face[face[seen]]
        distance[seen] = found["tfar"][seen]
        slope[seen] = np.einsum("ij,ij->i", self.normals[face[seen]], directions[seen])
        return Hits(part, distance, np.abs(slope), slope < 0)

"""What a bridge is to the rest of the package: closed meshes with a class and a number, and the ground they stand on.

Coordinates are metres, x runs along the bridge, z points up. Faces are triangles wound counter-clockwise when seen from
outside, so that normals point out of the solid.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from gapcut.extras import needed
from gapcut.typing import FloatArray, IntArray

CLASSES: tuple[str, ...] = (
    "abutment",
    "deck",
    "column",
    "pier cap",
    "girder",
    "cross beam",
    "bearing",
    "railing",
    "chord",
    "cable",
    "footing",
)
"""The eleven classes of parts. ``column`` includes pylon legs and spandrel columns, ``cross beam`` diaphragms, floor
beams and bracing, ``chord`` the chords, diagonals and posts of a truss and arch ribs, ``cable`` stays and hangers."""

SURROUNDINGS: tuple[str, ...] = ("surfacing", "furniture", "vegetation")
"""Classes of what is on and around a bridge and no part of its structure: the asphalt, lamp posts, signs and barriers,
trees and shrubs."""

LABELS = (*CLASSES, *SURROUNDINGS)
"""All classes of solids; a label's number is its place here."""

TERRAIN = "terrain"
"""Class of the ground, which is scanned but is not a part (and no node of a graph)."""

TYPES: tuple[str, ...] = ("girder", "frame", "arch", "truss", "cable-stayed")
"""The five types of bridges: IFC4X3 GIRDER, FRAMEWORK, ARCHED, TRUSS, CABLE_STAYED."""


@dataclass(frozen=True, eq=False)
class Mesh:
    """A triangle mesh: ``vertices`` (n, 3) float64 metres, ``faces`` (m, 3) int64 indices into them."""

    vertices: FloatArray
    faces: IntArray

    @property
    def n_faces(self) -> int:
        """Number of triangles."""
        return len(self.faces)

    @cached_property
    def triangles(self) -> FloatArray:
        """Corner points of every face: (m, 3, 3)."""
        return np.asarray(self.vertices[self.faces], dtype=np.float64)

    @cached_property
    def bounds(self) -> FloatArray:
        """Lower and upper corner of the axis-aligned box: (2, 3)."""
        return np.stack([self.vertices.min(axis=0), self.vertices.max(axis=0)])

    @cached_property
    def volume(self) -> float:
        """Signed volume in cubic metres: positive when closed and wound outwards."""
        a, b, c = np.moveaxis(self.triangles, 1, 0)
        return float(np.einsum("ij,ij->", a, np.cross(b, c)) / 6.0)

    def for_rays(self, what: str) -> Any:
        """The faces as a scene of embree; raises ImportError where embreex is missing, which ``what`` needs."""
        embreex = needed("embreex.mesh_construction", what, "scenes")
        scene = embreex.rtcore_scene.EmbreeScene()
        embreex.mesh_construction.TriangleMesh(scene, np.ascontiguousarray(self.triangles, dtype=np.float32))
        return scene


@dataclass(frozen=True, eq=False)
class Part:
    """One solid of a bridge: its mesh, its class (a name in ``LABELS``) and its number within the bridge."""

    mesh: Mesh
    label: str
    id: int
    name: str = ""

    @property
    def vertices(self) -> FloatArray:
        """Vertices of the mesh: (n, 3)."""
        return self.mesh.vertices

    @property
    def faces(self) -> IntArray:
        """Faces of the mesh: (m, 3)."""
        return self.mesh.faces


@dataclass(frozen=True, eq=False)
class Bridge:
    """A bridge: ``parts[i].id == i``, the terrain below it (an open surface), and the figures it was made from.

    ``parameters`` holds plain numbers, strings and lists (spans in metres, skew in degrees, ...), fit for JSON.
    ``surroundings``: solids that are no part of it, numbered on from the last part; ``origin``: where the zero of its
    coordinates lies, (easting, northing, height) in metres.
    """

    name: str
    type: str
    parts: tuple[Part, ...]
    terrain: Mesh
    parameters: dict[str, Any] = field(default_factory=dict)
    surroundings: tuple[Part, ...] = ()
    origin: tuple[float, float, float] = (0.0, 0.0, 0.0)

    @property
    def solids(self) -> tuple[Part, ...]:
        """The parts, then the surroundings: ``solids[i].id == i``."""
        return self.parts + self.surroundings

    @property
    def n_parts(self) -> int:
        """Number of parts: nodes of the bridge's graph."""
        return len(self.parts)

    @cached_property
    def labels(self) -> IntArray:
        """Class index of every part: (n_parts,)."""
        return np.array([CLASSES.index(part.label) for part in self.parts], dtype=np.int64)

    @cached_property
    def mesh(self) -> Mesh:
        """All parts in one mesh, in order of their ids (the terrain left out)."""
        return concatenate([part.mesh for part in self.parts])

    @cached_property
    def face_parts(self) -> IntArray:
        """Part id of every face of :attr:`mesh`: what a ray's face number becomes."""
        counts = [part.mesh.n_faces for part in self.parts]
        return np.repeat(np.arange(self.n_parts, dtype=np.int64), counts)

    def counts(self) -> dict[str, int]:
        """Number of parts of each class, classes without parts included."""
        found = np.bincount(self.labels, minlength=len(CLASSES))
        return {name: int(count) for name, count in zip(CLASSES, found, strict=True)}


def concatenate(meshes: list[Mesh]) -> Mesh:
    """Put meshes side by side in one, faces in order (vertices are not merged)."""
    if not meshes:
        return Mesh(np.empty((0, 3)), np.empty((0, 3), dtype=np.int64))
    starts = np.cumsum([0] + [len(mesh.vertices) for mesh in meshes[:-1]])
    faces = [mesh.faces + start for mesh, start in zip(meshes, starts, strict=True)]
    return Mesh(np.concatenate([mesh.vertices for mesh in meshes]), np.concatenate(faces).astype(np.int64))

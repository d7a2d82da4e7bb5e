"""Pictures of bridges by ray casting: sun with shadows, sky light, one colour per class (extra ``scenes``)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from gapcut.scenes.bridges.colours import COLOURS
from gapcut.scenes.bridges.model import Bridge, Mesh, concatenate
from gapcut.scenes.bridges.solids import unit
from gapcut.typing import FloatArray, IntArray

_SUN = np.array([0.35, -0.75, 0.85]) / np.linalg.norm([0.35, -0.75, 0.85])


def render(
    bridge: Bridge,
    size: tuple[int, int] = (1200, 600),
    azimuth: float = -60.0,
    elevation: float = 14.0,
    samples: int = 2,
) -> IntArray:
    """An image (height, width, 3) of 0..255, the structure filling the frame.

    ``azimuth`` and ``elevation`` (degrees) say where the camera is as seen from the middle of the structure. Raises
    ImportError without embreex.
    """
    ground = _ground(bridge.terrain)
    solids = bridge.solids
    mesh = concatenate([*(solid.mesh for solid in solids), ground])
    paint = np.array([COLOURS[solid.label] for solid in solids] + [COLOURS["terrain"]]) / 255.0
    faces = np.repeat(np.arange(len(solids) + 1), [*(solid.mesh.n_faces for solid in solids), ground.n_faces])
    scene = mesh.for_rays("pictures of bridges need")
    wide = (size[0] * samples, size[1] * samples)
    camera = Camera.at(bridge, wide, azimuth, elevation)
    image = _shade(scene, mesh.triangles, paint[faces], camera.position, camera.rays())
    image = image.reshape(size[1], samples, size[0], samples, 3).mean(axis=(1, 3))
    return np.asarray(np.clip(image, 0, 1) ** (1 / 1.15) * 255, dtype=np.int64)


@dataclass(frozen=True, eq=False)
class Camera:
    """A pinhole camera: ``position`` (3,), unit axes ``right``, ``above`` and ``back`` (3,), tangent of half the
    horizontal angle ``half``, image ``size`` (width, height)."""

    position: FloatArray
    right: FloatArray
    above: FloatArray
    back: FloatArray
    half: float
    size: tuple[int, int]

    @classmethod
    def at(
        cls, bridge: Bridge, size: tuple[int, int], azimuth: float = -60.0, elevation: float = 14.0
    ) -> Camera:
        """As in :func:`render`: the structure fills the frame."""
        vertices = bridge.mesh.vertices
        a, e = np.radians(azimuth), np.radians(elevation)
        back = np.array([np.cos(e) * np.cos(a), np.cos(e) * np.sin(a), np.sin(e)])
        right = unit(np.cross([0, 0, 1], back))
        above = np.cross(back, right)
        half, aspect = float(np.tan(np.radians(9.0))), size[1] / size[0]
        middle = bridge.mesh.bounds.mean(axis=0)
        for _ in range(4):  # what is seen is moved to the middle of the image
            seen = vertices - middle
            x, y = seen @ right, seen @ above
            need = np.maximum(np.abs(x), np.abs(y / aspect)) / half + seen @ back
            distance = float(np.percentile(need, 99.9) * 1.03)
            scale = distance - seen @ back
            across, along = x / scale, y / scale
            middle = middle + distance * (np.ptp(across) / 2 + across.min()) * right
            middle = middle + distance * (np.ptp(along) / 2 + along.min()) * above
        return cls(middle + back * distance, right, above, back, half, size)

    def rays(self) -> FloatArray:
        """One unit direction a pixel (n, 3), row by row from the upper left."""
        width, height = self.size
        x = (np.arange(width) + 0.5) / width * 2 - 1
        y = (1 - (np.arange(height) + 0.5) / height * 2) * height / width
        xx, yy = np.meshgrid(x * self.half, y * self.half)
        directions = xx[..., None] * self.right + yy[..., None] * self.above - self.back
        return np.asarray(unit(directions.reshape(-1, 3)))

    def project(self, points: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Image coordinates (n, 2) in pixels, right and down, and depths (n,) in metres."""
        seen = points - self.position
        depth = -(seen @ self.back)
        width, height = self.size
        unit_ = width / 2 / (self.half * np.maximum(depth, 1e-9))
        return np.column_stack(
            [width / 2 + seen @ self.right * unit_, height / 2 - seen @ self.above * unit_]
        ), depth


def _ground(terrain: Mesh, depth: float = 2.0) -> Mesh:
    """The terrain as the top of a block: walls from its rim down, so that nothing is seen from below."""
    edges = np.sort(terrain.faces[:, [0, 1, 1, 2, 2, 0]].reshape(-1, 2), axis=1)
    once, count = np.unique(edges, axis=0, return_counts=True)
    rim = once[count == 1]
    low = terrain.vertices.copy()
    low[:, 2] = low[:, 2].min() - depth
    n = len(low)
    walls = np.concatenate(
        [np.column_stack([rim, rim[:, 0] + n]), np.column_stack([rim[:, 1], rim[:, 0] + n, rim[:, 1] + n])]
    )
    return Mesh(np.concatenate([terrain.vertices, low]), np.concatenate([terrain.faces, walls]))


def _shade(
    scene: Any,
    triangles: FloatArray,
    paint: FloatArray,
    origin: FloatArray,
    rays: FloatArray,
    rows: int = 400_000,
) -> FloatArray:
    normals = np.cross(triangles[:, 1] - triangles[:, 0], triangles[:, 2] - triangles[:, 0])
    normals /= np.maximum(np.linalg.norm(normals, axis=1, keepdims=True), 1e-12)
    out = np.empty((len(rays), 3))
    for start in range(0, len(rays), rows):
        out[start : start + rows] = _shade_some(scene, normals, paint, origin, rays[start : start + rows])
    return out


def _shade_some(
    scene: Any, normals: FloatArray, paint: FloatArray, origin: FloatArray, rays: FloatArray
) -> FloatArray:
    starts = np.broadcast_to(origin, rays.shape).astype(np.float32)
    hit = scene.run(np.ascontiguousarray(starts), rays.astype(np.float32), output=True)
    face = np.asarray(hit["primID"])
    sky = np.clip(rays[:, 2:] * 1.4 + 0.25, 0, 1)
    colour = (1 - sky) * [0.93, 0.95, 0.97] + sky * [0.62, 0.76, 0.92]
    seen = face >= 0
    if not seen.any():
        return np.asarray(colour)
    distance = np.asarray(hit["tfar"])[seen, None]
    normal = normals[face[seen]]
    normal = np.where((normal * rays[seen]).sum(1, keepdims=True) > 0, -normal, normal)
    point = origin + rays[seen] * distance + normal * (0.003 + 2e-5 * distance)
    light = np.maximum(normal @ _SUN, 0.0) * ~_blocked(scene, point, _SUN, 500.0)
    open_ = _openness(scene, point, normal)
    strength = 0.75 * light + (0.32 + 0.18 * normal[:, 2]) * open_ + 0.08
    colour[seen] = paint[face[seen]] * strength[:, None] * 1.1
    return np.asarray(colour)


def _blocked(scene: Any, points: FloatArray, direction: FloatArray, reach: float) -> Any:
    rays = np.broadcast_to(direction, points.shape).astype(np.float32)
    hits = scene.run(points.astype(np.float32), np.ascontiguousarray(rays), output=True)
    return (np.asarray(hits["primID"]) >= 0) & (np.asarray(hits["tfar"]) < reach)


def _openness(
    scene: Any, points: FloatArray, normals: FloatArray, n: int = 14, reach: float = 6.0
) -> FloatArray:
    """Share of directions around the normal that meet nothing within ``reach`` metres.

    The same directions everywhere: bands instead of noise, and smaller files.
    """
    free = np.zeros(len(points))
    height = 1 - 2 * (np.arange(n) + 0.5) / n
    turn = np.arange(n) * np.pi * (3 - np.sqrt(5))
    ring = np.sqrt(1 - height**2)
    for direction in np.column_stack([ring * np.cos(turn), ring * np.sin(turn), height]):
        rays = unit(normals + 0.98 * direction)
        hits = scene.run(points.astype(np.float32), rays.astype(np.float32), output=True)
        free += (np.asarray(hits["primID"]) < 0) | (np.asarray(hits["tfar"]) > reach)
    return free / n

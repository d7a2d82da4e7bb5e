"""Bridges as GLB (one node per part, one material per class) and as PLY (one mesh, part and class at every face)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from gapcut.extras import needed
from gapcut.files import write_bytes
from gapcut.scenes.bridges.colours import COLOURS
from gapcut.scenes.bridges.model import CLASSES, LABELS, TERRAIN, Bridge, concatenate
from gapcut.typing import FloatArray


def write_ply(bridge: Bridge, path: str | Path, terrain: bool = True) -> None:
    """Binary PLY: vertices as double x y z, faces with ``part`` (int, terrain -1), ``class`` (index, terrain 255) and
    colour. The names of the classes are in comments. Places are those on earth."""
    ground, solids = bridge.terrain if terrain else concatenate([]), bridge.solids
    mesh = concatenate([*(solid.mesh for solid in solids), ground])
    counts = [solid.mesh.n_faces for solid in solids]
    part = np.append(np.repeat(np.arange(len(solids)), counts), np.full(ground.n_faces, -1))
    label = np.array([*(LABELS.index(solid.label) for solid in solids), 255])[part]
    paint = np.array([COLOURS[name] for name in (*LABELS, TERRAIN)], dtype=np.uint8)
    colour = paint[np.where(label == 255, len(LABELS), label)]
    names = LABELS if bridge.surroundings else CLASSES
    rows = np.zeros(
        mesh.n_faces,
        dtype=[("n", "u1"), ("v", "<i4", 3), ("part", "<i4"), ("class", "u1"), ("rgb", "u1", 3)],
    )
    rows["n"], rows["v"], rows["part"], rows["class"], rows["rgb"] = 3, mesh.faces, part, label, colour
    header = [
        "ply",
        "format binary_little_endian 1.0",
        *[f"comment class {i} {name}" for i, name in enumerate(names)],
        f"element vertex {len(mesh.vertices)}",
        *[f"property double {axis}" for axis in "xyz"],
        f"element face {mesh.n_faces}",
        "property list uchar int vertex_indices",
        "property int part",
        "property uchar class",
        *[f"property uchar {name}" for name in ("red", "green", "blue")],
        "end_header\n",
    ]
    body = _on_earth(bridge, mesh.vertices).astype("<f8").tobytes() + rows.tobytes()
    write_bytes(Path(path), "\n".join(header).encode("ascii") + body)


def _on_earth(bridge: Bridge, vertices: FloatArray) -> FloatArray:
    """The origin added, where there is one."""
    return vertices + np.array(bridge.origin) if any(bridge.origin) else vertices


def write_glb(bridge: Bridge, path: str | Path, terrain: bool = True) -> None:
    """Binary glTF 2.0, y up as the format wants; ``extras`` of every node hold ``part`` and ``class``.

    Coordinates are float32: bridges lie near the origin, where that is exact to 0.1 mm, and what is to be added for
    places on earth is in the scene's ``extras``. Raises ImportError without trimesh.
    """
    trimesh = needed("trimesh", "GLB files need", "scenes")
    paint = {name: _material(trimesh.visual, name) for name in (*LABELS, TERRAIN)}
    solids = [(part.mesh, part.label, f"{part.id:04d} {part.name}", part.id) for part in bridge.solids]
    if terrain and bridge.terrain.n_faces:
        solids.append((bridge.terrain, TERRAIN, TERRAIN, -1))
    y_up = np.array([[1, 0, 0, 0], [0, 0, 1, 0], [0, -1, 0, 0], [0, 0, 0, 1]])
    scene = trimesh.Scene(base_frame=bridge.name)
    if any(bridge.origin):
        scene.metadata["origin"] = list(bridge.origin)
    for mesh, label, name, number in solids:
        solid = trimesh.Trimesh(mesh.vertices, mesh.faces, visual=paint[label], process=False)
        scene.add_geometry(solid, name, name, transform=y_up, metadata={"part": number, "class": label})
    write_bytes(Path(path), scene.export(file_type="glb"))


def _material(visual: Any, name: str) -> Any:
    colour = [round((c / 255) ** 2.2, 4) for c in COLOURS[name]]
    shading = {"baseColorFactor": [*colour, 1.0], "metallicFactor": 0.0, "roughnessFactor": 0.9}
    material = visual.material.PBRMaterial(name, **shading, doubleSided=name == TERRAIN)
    return visual.TextureVisuals(material=material)

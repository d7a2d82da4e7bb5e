"""Bridges as GLB (one node a part, one material a class) and as PLY (one mesh, part and class at every face)."""

from __future__ import annotations

import json
import struct
from pathlib import Path
from typing import Any

import numpy as np

from gapcut.files import write_bytes
from gapcut.scenes.bridges.colours import COLOURS
from gapcut.scenes.bridges.model import CLASSES, TERRAIN, Bridge, Mesh, concatenate


def write_ply(bridge: Bridge, path: str | Path, terrain: bool = True) -> None:
    """Binary PLY: vertices as double x y z, faces with ``part`` (int, terrain -1), ``class`` (index, terrain 255) and
    colour. The names of the classes are in comments."""
    ground = bridge.terrain if terrain else concatenate([])
    mesh = concatenate([bridge.mesh, ground])
    part = np.concatenate([bridge.face_parts, np.full(ground.n_faces, -1)])
    label = np.append(bridge.labels, 255)[part]
    paint = np.array([COLOURS[name] for name in (*CLASSES, TERRAIN)], dtype=np.uint8)
    colour = paint[np.where(label == 255, len(CLASSES), label)]
    rows = np.zeros(
        mesh.n_faces,
        dtype=[("n", "u1"), ("v", "<i4", 3), ("part", "<i4"), ("class", "u1"), ("rgb", "u1", 3)],
    )
    rows["n"], rows["v"], rows["part"], rows["class"], rows["rgb"] = 3, mesh.faces, part, label, colour
    header = [
        "ply",
        "format binary_little_endian 1.0",
        *[f"comment class {i} {name}" for i, name in enumerate(CLASSES)],
        f"element vertex {len(mesh.vertices)}",
        *[f"property double {axis}" for axis in "xyz"],
        f"element face {mesh.n_faces}",
        "property list uchar int vertex_indices",
        "property int part",
        "property uchar class",
        *[f"property uchar {name}" for name in ("red", "green", "blue")],
        "end_header\n",
    ]
    body = mesh.vertices.astype("<f8").tobytes() + rows.tobytes()
    write_bytes(Path(path), "\n".join(header).encode("ascii") + body)


def write_glb(bridge: Bridge, path: str | Path, terrain: bool = True) -> None:
    """Binary glTF 2.0, y up as the format wants; ``extras`` of every node hold ``part`` and ``class``.

    Coordinates are float32: bridges lie near the origin, where that is exact to 0.1 mm.
    """
    solids = [(part.mesh, part.label, f"{part.id:04d} {part.name}", part.id) for part in bridge.parts]
    if terrain and bridge.terrain.n_faces:
        solids.append((bridge.terrain, TERRAIN, TERRAIN, -1))
    names = [*CLASSES, TERRAIN]
    document: dict[str, Any] = {
        "asset": {"version": "2.0", "generator": "gapcut"},
        "scene": 0,
        "scenes": [{"nodes": [len(solids)], "name": bridge.name}],
        "nodes": [],
        "meshes": [],
        "accessors": [],
        "bufferViews": [],
        "materials": [_material(name) for name in names],
    }
    blob = bytearray()
    for i, (mesh, label, name, number) in enumerate(solids):
        _append_mesh(document, blob, mesh, names.index(label))
        document["nodes"].append({"mesh": i, "name": name, "extras": {"part": number, "class": label}})
    turn = {
        "name": bridge.name,
        "children": list(range(len(solids))),
        "rotation": [-(0.5**0.5), 0, 0, 0.5**0.5],
    }
    document["nodes"].append(turn)
    document["buffers"] = [{"byteLength": len(blob)}]
    text = json.dumps(document, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 4)
    blob += b"\0" * (-len(blob) % 4)
    head = struct.pack("<4sII", b"glTF", 2, 12 + 8 + len(text) + 8 + len(blob))
    chunks = struct.pack("<II", len(text), 0x4E4F534A) + text + struct.pack("<II", len(blob), 0x004E4942)
    write_bytes(Path(path), head + chunks + bytes(blob))


def _material(name: str) -> dict[str, Any]:
    colour = [round((c / 255) ** 2.2, 4) for c in COLOURS[name]]
    shading = {"baseColorFactor": [*colour, 1.0], "metallicFactor": 0.0, "roughnessFactor": 0.9}
    return {"name": name, "pbrMetallicRoughness": shading, "doubleSided": name == TERRAIN}


def _append_mesh(document: dict[str, Any], blob: bytearray, mesh: Mesh, material: int) -> None:
    """Add positions and indices of a mesh to the buffer, and what describes them to the document."""
    vertices = mesh.vertices.astype("<f4")
    views, accessors = document["bufferViews"], document["accessors"]
    first = len(accessors)
    for data, kind, component, target in (
        (vertices, "VEC3", 5126, 34962),
        (mesh.faces.astype("<u4").reshape(-1), "SCALAR", 5125, 34963),
    ):
        raw = data.tobytes()
        views.append({"buffer": 0, "byteOffset": len(blob), "byteLength": len(raw), "target": target})
        accessors.append(
            {"bufferView": len(views) - 1, "componentType": component, "count": len(data), "type": kind}
        )
        blob += raw
    accessors[first] |= {"min": vertices.min(axis=0).tolist(), "max": vertices.max(axis=0).tolist()}
    primitive = {"attributes": {"POSITION": first}, "indices": first + 1, "material": material}
    document["meshes"].append({"primitives": [primitive]})

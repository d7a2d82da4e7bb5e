"""Parametric bridges of five types: closed parts with classes, on a terrain."""

from gapcut.scenes.bridges.difficulty import DIFFICULTIES, Difficulty
from gapcut.scenes.bridges.files import write_glb, write_ply
from gapcut.scenes.bridges.ifc import IfcBridge, read_ifc, write_ifc
from gapcut.scenes.bridges.line import ground_height
from gapcut.scenes.bridges.make import bridge_specs, make_bridge, make_bridges
from gapcut.scenes.bridges.model import (
    CLASSES,
    LABELS,
    SURROUNDINGS,
    TERRAIN,
    TYPES,
    Bridge,
    Mesh,
    Part,
)
from gapcut.scenes.bridges.sampling import sample_surface

__all__ = [
    "CLASSES",
    "DIFFICULTIES",
    "LABELS",
    "SURROUNDINGS",
    "TERRAIN",
    "TYPES",
    "Bridge",
    "Difficulty",
    "IfcBridge",
    "Mesh",
    "Part",
    "bridge_specs",
    "ground_height",
    "make_bridge",
    "make_bridges",
    "read_ifc",
    "sample_surface",
    "write_glb",
    "write_ifc",
    "write_ply",
]

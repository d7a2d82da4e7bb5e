"""Parametric bridges of five types: closed parts with classes, on a terrain."""

from gapcut.scenes.bridges.model import CLASSES, TERRAIN, TYPES, Bridge, Mesh, Part

__all__ = ["CLASSES", "TERRAIN", "TYPES", "Bridge", "Mesh", "Part"]

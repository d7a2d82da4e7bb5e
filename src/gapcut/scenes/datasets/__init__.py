"""Scenes to learn from: street scans, generated bridges as graphs, and random scenes of their size."""

from gapcut.scenes.datasets.bridges import make_bridge_folds, make_bridges
from gapcut.scenes.datasets.oakland import OAKLAND_CLASSES, OAKLAND_LABELS, OAKLAND_MAP, load_oakland
from gapcut.scenes.datasets.random_scenes import make_scenes
from gapcut.scenes.datasets.streets import STREET_CLASSES, load_streets

__all__ = [
    "OAKLAND_CLASSES",
    "OAKLAND_LABELS",
    "OAKLAND_MAP",
    "STREET_CLASSES",
    "load_oakland",
    "load_streets",
    "make_bridge_folds",
    "make_bridges",
    "make_scenes",
]

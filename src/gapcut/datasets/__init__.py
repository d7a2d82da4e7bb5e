"""Data sets: loaders that take the folder of a data set, and generators that need no files."""

from gapcut.datasets.bridges import make_bridge_folds, make_bridges
from gapcut.datasets.cornell import load_cornell
from gapcut.datasets.letters import load_letters
from gapcut.datasets.oakland import OAKLAND_CLASSES, OAKLAND_LABELS, OAKLAND_MAP, load_oakland
from gapcut.datasets.planted import PLANTED_CLASSES, make_planted
from gapcut.datasets.scenes import make_scenes
from gapcut.datasets.snakes import load_snakes
from gapcut.datasets.tables import load_tables

__all__ = [
    "OAKLAND_CLASSES",
    "OAKLAND_LABELS",
    "OAKLAND_MAP",
    "PLANTED_CLASSES",
    "load_cornell",
    "load_letters",
    "load_oakland",
    "load_snakes",
    "load_tables",
    "make_bridge_folds",
    "make_bridges",
    "make_planted",
    "make_scenes",
]

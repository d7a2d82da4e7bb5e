"""Data sets of graphs: loaders that take the folder of a data set, and a generator that needs no files."""

from gapcut.datasets.cornell import cornell_classes, cornell_objects, load_cornell
from gapcut.datasets.letters import load_letters
from gapcut.datasets.planted import PLANTED_CLASSES, make_planted
from gapcut.datasets.snakes import load_snakes
from gapcut.datasets.tables import load_tables

__all__ = [
    "PLANTED_CLASSES",
    "cornell_classes",
    "cornell_objects",
    "load_cornell",
    "load_letters",
    "load_snakes",
    "load_tables",
    "make_planted",
]

"""Large scans labelled tile by tile, as if they were labelled whole, in memory that the tile sets."""

from gapcut.scenes.tiles.label import TiledScan, label_tiled, scratch_path, spelled
from gapcut.scenes.tiles.needs import Needs
from gapcut.scenes.tiles.plan import TileOptions
from gapcut.scenes.tiles.survey import ScanFile

__all__ = [
    "Needs",
    "ScanFile",
    "TileOptions",
    "TiledScan",
    "label_tiled",
    "scratch_path",
    "spelled",
]

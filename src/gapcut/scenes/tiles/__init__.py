"""Large scans labelled tile by tile, as if they were labelled whole, in memory that the tile sets."""

from gapcut.scenes.tiles.folder import Extent, SideBySide, look, overlap_points, side_by_side
from gapcut.scenes.tiles.label import HALO, TiledScan, label_tiled, scratch_path, spelled
from gapcut.scenes.tiles.needs import Needs
from gapcut.scenes.tiles.plan import TileOptions
from gapcut.scenes.tiles.strips import (
    FOLDER,
    Around,
    Neighbour,
    Outside,
    forget_refused,
    leave_strips,
    remove_strips,
)
from gapcut.scenes.tiles.survey import ScanFile

__all__ = [
    "FOLDER",
    "HALO",
    "Around",
    "Extent",
    "Needs",
    "Neighbour",
    "Outside",
    "ScanFile",
    "SideBySide",
    "TileOptions",
    "TiledScan",
    "forget_refused",
    "label_tiled",
    "leave_strips",
    "look",
    "overlap_points",
    "remove_strips",
    "scratch_path",
    "side_by_side",
    "spelled",
]

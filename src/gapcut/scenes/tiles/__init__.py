"""Large scans labelled tile by tile, as if they were labelled whole, in memory that the tile sets."""

from gapcut.scenes.tiles.label import TiledScan, label_tiled
from gapcut.scenes.tiles.plan import TileOptions

__all__ = ["TileOptions", "TiledScan", "label_tiled"]

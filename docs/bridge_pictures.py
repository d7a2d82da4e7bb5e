"""Draw docs/images/bridges.png, one bridge of each type: ``python docs/bridge_pictures.py`` (needs gapcut[scenes])."""

from pathlib import Path

import numpy as np

from gapcut.scenes.bridges import make_bridge
from gapcut.scenes.bridges.picture import render, write_png

OUT = Path(__file__).parent / "images" / "bridges.png"
TILE = (720, 380)
SHOWN = [("girder", 0, 9.0), ("frame", 2, 9.0), ("arch", 0, 14.0), ("arch", 3, 9.0), ("truss", 3, 12.0)]
SHOWN += [("cable-stayed", 1, 9.0)]


def main() -> None:
    tiles = [
        render(make_bridge(type_, 0, variant), TILE, azimuth=-70, elevation=high, zoom=1.06, samples=3)
        for type_, variant, high in SHOWN
    ]
    rows = [np.concatenate(tiles[i : i + 2], axis=1) for i in (0, 2, 4)]
    write_png(OUT, np.concatenate(rows))


if __name__ == "__main__":
    main()

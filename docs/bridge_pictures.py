"""Pictures of docs/bridges.md; needs gapcut[plot,scan].

``python docs/bridge_pictures.py`` draws docs/images/bridges.png, one bridge of each type. With the folder of
``gapcut bridges reproduce`` as its argument it takes that run's pictures over, in fewer colours.
"""

import sys
from pathlib import Path

import numpy as np
from PIL import Image

from gapcut.scenes.bridges import TYPES, make_bridge
from gapcut.scenes.bridges.picture import render

IMAGES = Path(__file__).parent / "images"
TILE = (720, 380)
SHOWN = [("girder", 0, 9.0), ("frame", 2, 9.0), ("arch", 0, 14.0), ("arch", 3, 9.0), ("truss", 3, 12.0)]
SHOWN += [("cable-stayed", 1, 9.0)]
_MOST_BYTES = 300_000


def one_of_each_type() -> None:
    tiles = [
        render(make_bridge(type_, 0, variant), TILE, azimuth=-70, elevation=high, samples=2)
        for type_, variant, high in SHOWN
    ]
    rows = [np.concatenate(tiles[i : i + 2], axis=1) for i in (0, 2, 4)]
    write(Image.fromarray(np.concatenate(rows).astype(np.uint8)), IMAGES / "bridges.png")


def of_a_run(report: Path) -> None:
    names = [f"bridge-{type_}.png" for type_ in TYPES]
    for name in (*names, "confusion.png"):
        write(
            Image.open(report / name).convert("RGB"), IMAGES / name.replace("confusion", "bridge-confusion")
        )


def write(image: Image.Image, path: Path) -> None:
    """As a PNG of so few colours that it stays below 300 kB; octrees keep rare colours, such as the legend's."""
    for colours in (256, 128, 64):
        few = image.quantize(colours, Image.Quantize.FASTOCTREE, dither=Image.Dither.NONE)
        few.save(path, optimize=True)
        if path.stat().st_size < _MOST_BYTES:
            return
    raise ValueError(f"{path} is too large even in 64 colours: make it smaller")


if __name__ == "__main__":
    of_a_run(Path(sys.argv[1])) if len(sys.argv) > 1 else one_of_each_type()

"""One colour per class, 0..255, the same in pictures, pages and files.

Chosen so that readers with deutan or protan vision tell any two apart (least CIELAB distance 15, simulated after
Machado et al. 2009).
"""

from __future__ import annotations

from collections.abc import Mapping

COLOURS: dict[str, tuple[int, int, int]] = {
    "abutment": (102, 51, 34),
    "deck": (126, 132, 142),
    "column": (230, 159, 0),
    "pier cap": (205, 85, 0),
    "girder": (0, 105, 190),
    "cross beam": (0, 110, 75),
    "bearing": (255, 120, 200),
    "railing": (120, 196, 238),
    "chord": (60, 20, 100),
    "cable": (248, 235, 70),
    "footing": (225, 200, 185),
    "surfacing": (37, 38, 40),
    "furniture": (206, 33, 84),
    "vegetation": (87, 222, 106),
    "terrain": (165, 180, 135),
}
"""Colour of every class and of the terrain, 0..255."""


def hex_colours(names: Mapping[int, str]) -> dict[int, str]:
    """``#rrggbb`` of each label, so that a deck looks alike everywhere; empty unless all names are those of bridges."""
    if not all(name in COLOURS for name in names.values()):
        return {}
    return {label: "#" + "".join(f"{c:02x}" for c in COLOURS[name]) for label, name in names.items()}

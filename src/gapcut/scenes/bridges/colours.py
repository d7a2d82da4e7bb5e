"""One colour a class, 0..255, the same in pictures and files."""

from __future__ import annotations

COLOURS: dict[str, tuple[int, int, int]] = {
    "abutment": (140, 108, 84),
    "deck": (112, 118, 128),
    "column": (214, 178, 92),
    "pier cap": (226, 128, 62),
    "girder": (62, 118, 190),
    "cross beam": (52, 168, 150),
    "bearing": (206, 44, 60),
    "railing": (196, 200, 206),
    "chord": (140, 84, 168),
    "cable": (232, 200, 40),
    "footing": (168, 160, 144),
    "terrain": (134, 152, 104),
}
"""Colour of every class and of the terrain, 0..255."""

"""Trees, shrubs and climbers: clumps of leaves as small flat tetrahedra, closed like every solid here."""

from __future__ import annotations

from typing import Any

import numpy as np

from gapcut.scenes.bridges.model import Mesh, concatenate
from gapcut.scenes.bridges.solids import UP, beam, circle, tower
from gapcut.typing import FloatArray

_CLUMP = np.array([[1.0, 0, 0], [-0.5, 0.87, 0], [-0.5, -0.87, 0], [0, 0, 0.3]])
_FACES = np.array([[0, 2, 1], [0, 1, 3], [1, 2, 3], [2, 0, 3]])


def leaves(rng: np.random.Generator, centres: FloatArray, size: float) -> Mesh:
    """Clumps of about ``size`` metres around ``centres`` (n, 3), turned at random."""
    n = len(centres)
    turns, _ = np.linalg.qr(rng.normal(size=(n, 3, 3)))
    turns *= np.sign(np.linalg.det(turns))[:, None, None]  # no mirroring: faces stay wound outwards
    scale = size * rng.uniform(0.5, 1.2, size=(n, 1, 1))
    vertices = np.asarray(centres)[:, None] + scale * (_CLUMP @ turns)
    faces = _FACES + 4 * np.arange(n)[:, None, None]
    return Mesh(vertices.reshape(-1, 3), faces.reshape(-1, 3).astype(np.int64))


def tree(rng: np.random.Generator, foot: Any, height: float) -> Mesh:
    """A trunk, branches and a crown that lets some rays through, of ``height`` metres."""
    foot = np.asarray(foot, dtype=np.float64)
    bole, thick = 0.35 * height, 0.02 * height + 0.05
    low = foot - 0.3 * UP
    pieces = [tower(low, [circle(thick, 8), circle(0.5 * thick, 8)], [0.0, 0.3 + 0.75 * height])]
    crown, middle = np.array([0.26, 0.26, 0.34]) * height, foot + 0.64 * height * UP
    for turn in rng.uniform(0, 2 * np.pi, 6):
        start = foot + rng.uniform(bole, 0.6 * height) * UP
        out = np.array([np.cos(turn), np.sin(turn), 0.9]) * 0.7 * crown[0]
        pieces.append(beam(start, start + out, 0.3 * circle(thick, 6), 0.1 * circle(thick, 6)))
    pieces.append(leaves(rng, middle + crown * _shell(rng, 700), 0.03 * height + 0.05))
    return concatenate(pieces)


def shrub(rng: np.random.Generator, foot: Any, radius: float, height: float) -> Mesh:
    """Leaves in half an ellipsoid on the ground."""
    ball = _shell(rng, 160)
    ball[:, 2] = np.abs(ball[:, 2])
    return leaves(rng, np.asarray(foot) + ball * [radius, radius, height], 0.12 + 0.05 * radius)


def climber(rng: np.random.Generator, foot: Any, radius: float, height: float) -> Mesh:
    """Leaves that climb up something of that ``radius``."""
    turn, up = rng.uniform(0, 2 * np.pi, 260), height * rng.random(260) ** 1.5
    out = radius + rng.uniform(0.02, 0.15, 260)
    places = np.column_stack([out * np.cos(turn), out * np.sin(turn), up])
    return leaves(rng, np.asarray(foot) + places, 0.14)


def _shell(rng: np.random.Generator, n: int) -> FloatArray:
    """(n, 3) points of the unit ball, most of them near its surface."""
    away = rng.normal(size=(n, 3))
    away /= np.linalg.norm(away, axis=1, keepdims=True)
    return np.asarray(away * rng.uniform(0.3, 1.0, size=(n, 1)) ** (1 / 3))

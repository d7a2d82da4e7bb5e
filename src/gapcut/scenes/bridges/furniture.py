"""Road furniture: lamp posts, signs, guard rails and concrete barriers.

Poles of 5 to 9 m, signs of 0.6 to 0.9 m, guard rails in lengths of 4 m, barriers of 0.9 m: typical, by eye.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from gapcut.scenes.bridges.line import Line
from gapcut.scenes.bridges.model import Mesh, concatenate
from gapcut.scenes.bridges.solids import UP, beam, circle, loft, rectangle, shifted, stack, tower


def lamp(foot: Any, over: Any, height: float, arm: float) -> Mesh:
    """A pole with an arm of ``arm`` metres towards ``over`` (3,), a unit vector, and a lamp at its end."""
    foot, over = np.asarray(foot, dtype=np.float64), np.asarray(over, dtype=np.float64)
    head = foot + height * UP
    tip = head + arm * over + 0.25 * UP
    return concatenate(
        [
            stack(foot, [(0.35, 0.35, 0.05)]),
            tower(foot, [circle(0.1, 10), circle(0.05, 10)], [0.0, height]),
            beam(head, tip, circle(0.04, 8)),
            beam(tip - 0.1 * over, tip + 0.6 * over, rectangle(0.25, 0.1)),
        ]
    )


def sign(foot: Any, heading: float, height: float, size: float, round_: bool) -> Mesh:
    """A plate on a pole, seen by those who drive along ``heading`` (radians)."""
    foot = np.asarray(foot, dtype=np.float64)
    along = np.array([np.cos(heading), np.sin(heading), 0.0])
    left = np.array([-along[1], along[0], 0.0])
    outline = circle(size / 2, 16) if round_ else rectangle(size, 0.75 * size)
    middle = foot + (height - size / 2) * UP - 0.05 * along
    face = middle + outline[:, :1] * left + outline[:, 1:] * UP
    pole = tower(foot, [circle(0.035, 8)] * 2, [-0.2, height])
    return concatenate([pole, loft(np.stack([face, face - 0.02 * along]))])


def barrier(line: Line, a: float, b: float, y: float, above: float) -> Mesh:
    """A concrete barrier that stands on the road, ``above`` its surface, the same from both sides."""
    half = [[0.3, 0.0], [0.3, 0.08], [0.16, 0.3], [0.09, 0.9]]
    profile = np.array([[-x, z] for x, z in half[::-1]][::-1] + half[::-1])
    return line.extrude(a, b, shifted(profile, y, above), datum=y)

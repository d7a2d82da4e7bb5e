"""Theorem B.4 of the paper's supplement."""

from __future__ import annotations

import math

import numpy as np

from gapcut import _core
from gapcut.problem import LearningProblem


def iteration_bound(problem: LearningProblem, eps: float) -> int | None:
    r"""Most passes Algorithm 1 can need to stop at ``eta - xi <= eps``; None if ``eps`` is not positive.

    ``ceil(log2(Delta / (4 R^2 C))) + ceil(16 R^2 C / eps)`` for ``0 < eps <= 4 R^2 C``; a larger ``eps``
    stops no later than the end of that range, and a negative first term counts as 0. ``Delta`` is the slack
    at the start ``clamp(0)``: the largest loss, plus ``R |clamp(0)|`` where weights are frozen away from 0.
    With ``R = 0`` all planes have ``h = 0``, and the second pass meets the plane of the first.
    """
    if not eps > 0.0:
        return None
    reach = 4.0 * problem.radius**2 * problem.C
    if reach == 0.0:
        return 2
    if not math.isfinite(reach):
        return None
    weights = problem.clamp(np.zeros(problem.dim))
    start = math.sqrt(_core.dot(weights, weights))
    delta = problem.max_loss + (problem.radius * start if start > 0.0 else 0.0)
    doubling = math.ceil(math.log2(delta / reach)) if delta > reach else 0
    steps = 4.0 * reach / min(eps, reach)
    return doubling + math.ceil(steps) if math.isfinite(steps) else None

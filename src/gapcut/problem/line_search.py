"""The best point between two dual points."""

from __future__ import annotations

import numpy as np

from gapcut import _core
from gapcut.problem.learning import LearningProblem
from gapcut.typing import FloatArray

_MOST_STEPS = 60
"""Of a line search; bisection alone would have pinned the step to double precision by then."""


def line_search(problem: LearningProblem, x: FloatArray, along: FloatArray, gain: float) -> float:
    """The s in [0, 1] that maximises ``s gain - conjugate(x + s along)``.

    Its derivative ``gain - clamp(x + s along)'along`` falls and is piecewise linear: Newton steps, each
    exact on its piece, inside a bracket that keeps them from oscillating between pieces.
    """
    moving = np.flatnonzero(along)
    x, along = x[moving], along[moving]
    low, high = problem.lower[moving], problem.upper[moving]

    def slope(s: float) -> tuple[float, float]:
        """First and second derivative at ``s``."""
        at = x + s * along
        inside = (at > low) & (at < high)
        free = along[inside]
        first = gain - _core.dot(np.clip(at, low, high), along)
        return first, -_core.dot(free, free)

    first, second = slope(0.0)
    if not first > 0.0:
        return 0.0
    flat = 1e-12 * first
    left, right, s = 0.0, 1.0, 0.0
    for _ in range(_MOST_STEPS):
        following = s - first / second if second < 0.0 else right
        if not left < following < right:
            following = right if s == 0.0 else 0.5 * (left + right)
        s = following
        first, second = slope(s)
        if abs(first) <= flat or (first > 0.0 and s == 1.0):
            break
        left, right = (s, right) if first > 0.0 else (left, s)
    return s

"""Longer weights: where the objective is least on the ray through the iterate.

At large C the last violations of nearly separated graphs are small beside the losses, and the iterates take long to
remove them; a few per cent more length do it at once: along ``a w`` a plane (h, l) has the slack ``l - a w.h``.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from gapcut.oracles.base import OraclePlanes
from gapcut.problem import LearningProblem
from gapcut.typing import FloatArray

LONGEST: Final = 2.0
"""Of the factors tried."""

HALVINGS: Final = 30
"""Of the interval of factors."""


class Ray:
    """Cutting planes of the objective along a multiple of the weights: below it, equal where labelings were found."""

    def __init__(self, problem: LearningProblem, weights: FloatArray) -> None:
        self._problem, self._weights = problem, weights
        self._square = float((weights * weights).sum())
        self._scores: list[FloatArray] = []
        self._losses: list[FloatArray] = []

    def add(self, found: OraclePlanes) -> None:
        """One plane of every graph. Sums are numpy's own, in an order that no number of threads changes."""
        self._scores.append((found.planes * self._weights).sum(axis=1))
        self._losses.append(found.losses)

    def best(self) -> tuple[float, float]:
        """The factor where the planes allow the least objective, and that objective, which may be too low."""
        scores, losses = np.stack(self._scores), np.stack(self._losses)
        C, columns = self._problem.C, np.arange(scores.shape[1])
        low, high = 0.0, LONGEST
        for _ in range(HALVINGS):  # the slope rises
            middle = 0.5 * (low + high)
            slack = losses - middle * scores
            worst = slack.argmax(axis=0)
            pull = np.where(slack[worst, columns] > 0.0, scores[worst, columns], 0.0)
            rises = middle * self._square > C * float(pull.mean())
            low, high = (low, middle) if rises else (middle, high)
        slack = np.maximum((losses - high * scores).max(axis=0), 0.0)
        return high, 0.5 * high * high * self._square + C * float(slack.mean())

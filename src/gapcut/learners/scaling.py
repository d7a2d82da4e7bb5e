"""Longer weights: where the objective is least on the ray through the iterate.

At large C the last violations of nearly separated graphs are small beside the losses, and the iterates take long to
remove them; a few per cent more length do it at once: along ``a w`` a plane (h, l) has the slack ``l - a w.h``.
"""

from __future__ import annotations

import math
from typing import Final

import numpy as np

from gapcut.oracles.base import OraclePlanes
from gapcut.problem import LearningProblem
from gapcut.typing import FloatArray

LONGEST: Final = 2.0
"""Of the factors tried."""

HALVINGS: Final = 30
"""Of the interval of factors."""

BACK: Final = 0.25
"""Of what is too long beyond 1, the next try, and the other way round; where what is too short is known too, the
geometric mean of both."""

LEAST: Final = 1.001
"""From which on a search begins, whatever was best before: weights that needed nothing may come to need more."""


class Ray:
    """What is known of the objective along a multiple of the weights: its values where it was asked for, between which
    it is convex, and cutting planes below it, equal where labelings were found.

    Planes alone say too little: a bound of the relaxation lies above what labelings attain, so that they may promise
    most where the weights are too short.
    """

    def __init__(self, problem: LearningProblem, weights: FloatArray, first: float) -> None:
        self._problem, self._weights, self._first = problem, weights, max(first, LEAST)
        self._square = float((weights * weights).sum())
        self._scores: list[FloatArray] = []
        self._losses: list[FloatArray] = []
        self._uppers: dict[float, float] = {}

    def add(self, factor: float, found: OraclePlanes, upper: float) -> None:
        """One plane of every graph, found at this factor, where the objective is at most ``upper``. Sums are numpy's
        own, in an order that no number of threads changes."""
        self._scores.append((found.planes * self._weights).sum(axis=1))
        self._losses.append(found.losses)
        self._uppers[factor] = upper

    def next(self) -> tuple[float, float]:
        """The factor to be tried, and how low the objective may be there at most."""
        best = min(self._uppers, key=lambda factor: (self._uppers[factor], factor))
        slack, excess = self._uppers[best] - self._length(best), self._length(best) - self._length(1.0)
        if slack < 0.5 * excess:  # length is most of it
            short, long = max(factor for factor in self._uppers if factor < best), best
        else:
            short, long = best, min((factor for factor in self._uppers if factor > best), default=math.inf)
        factor, least = self.allowed()
        if long == math.inf:
            factor = max(factor, self._first if short == 1.0 else 1.0 + (short - 1.0) / BACK)
        elif not short < factor < long:
            factor = 1.0 + (math.sqrt((short - 1.0) * (long - 1.0)) if short > 1.0 else BACK * (long - 1.0))
        return factor, max(least, self._length(short))

    def _length(self, factor: float) -> float:
        return 0.5 * factor * factor * self._square

    def allowed(self) -> tuple[float, float]:
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
        return high, self._length(high) + C * float(slack.mean())

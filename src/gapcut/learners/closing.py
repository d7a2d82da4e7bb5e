"""Passes of labelings near the weights reached, which close a gap of relaxed labels that is not far from its target."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

import numpy as np

from gapcut import _core
from gapcut.learners.base import Session
from gapcut.learners.mixtures import GraphMixture
from gapcut.learners.schedule import PASS_COST
from gapcut.oracles.base import OraclePlanes
from gapcut.problem import LearningProblem
from gapcut.typing import FloatArray

NEAR: Final = 0.03
FAR: Final = 0.4
MUCH: Final = 0.6
"""Where labelings are asked for: this part of the way from the best weights to those of the planes, at first and at
most. The best weights of both are close to each other, and few planes say little far from there; the part doubles where
a pass leaves more than so much of the gap."""

STEP: Final = 4.0
NOTHING: Final = 0.9
"""Where labelings are nearly all there is, the first part is so many times as large; so does it grow after a first pass
that leaves more than so much of the gap."""

FINE: Final = 0.1
COARSE: Final = 0.3
"""Shares are solved to this part of the gap wanted, and between passes of the gap there is."""

PASSES: Final = 10
"""In one certificate, at most."""

WITHIN: Final = 3.0
WITHIN_TIGHT: Final = 12.0
"""Times the target: the gap up to which passes are tried, and the same where labelings are nearly all there is: there
they come as close as one likes, elsewhere some share of a fractional point is needed."""

NEARLY_ALL: Final = 0.9
"""Of the graphs, on which a labeling is as good as its bound."""

AHEAD: Final = 5
EAGER: Final = 0.7
"""Where the target is so many passes away, if each lowers the gap by the factor of the last, passes go on that are this
part as fast as iterations. Where so many take longer than the iterations to the target, none is tried."""

PLANES: Final = 1.0
"""By what a pass takes longer for each number of its planes to one of the tables of all edges, which an iteration goes
through (measured: letters, with one to one, 20 iterations; snakes, with several, 40 to 110)."""

TIGHT: Final = 1e-6
"""Relative difference between a labeling and the bound that counts as rounding."""


class Approach:
    """Where the next labelings are asked for. ``tight``: labelings are nearly all there is."""

    def __init__(self, tight: bool = False) -> None:
        self._part, self._gap = NEAR * (STEP if tight else 1.0), math.inf

    @property
    def farthest(self) -> bool:
        """Whether they are asked for no farther from now on."""
        return self._part == FAR

    def point(self, problem: LearningProblem, best: FloatArray, dual: FloatArray, gap: float) -> FloatArray:
        """Between the ``best`` weights and those of the planes, ``dual``, which leave this gap."""
        if gap > MUCH * self._gap:
            nothing = gap > NOTHING * self._gap and self._part == NEAR
            self._part = min(FAR, (STEP if nothing else 2.0) * self._part)
        self._gap = gap
        return problem.clamp(best + self._part * (dual - best))


@dataclass
class Worth:
    """Whether passes are worth their time. ``rate``: by how much an iteration lowers the logarithm of the gap;
    ``cost``: iterations in the time of a pass; ``target``: the relative gap wanted; ``tight``: as for
    :class:`Approach`; ``due``: whether any are to be tried.

    All of it is counted, so that the answer does not depend on clocks nor on where the graphs are.
    """

    rate: float
    cost: float
    target: float
    tight: bool
    due: bool
    passes: int = 0
    _gap: float = math.inf
    _failed: int = 0

    def goes_on(self, gap: float) -> bool:
        """With this relative gap after the passes so far. They lower it by less each time, and the first ones may fail
        once: they find out how far from the best weights to ask."""
        before, self._gap = self._gap, gap
        if gap <= self.target or self.passes == PASSES:
            return False
        if self.passes == 0:
            near = gap <= (WITHIN_TIGHT if self.tight else WITHIN) * self.target
            return self.due and near and AHEAD * self.cost * self.rate <= math.log(gap / self.target)
        factor = min(1.0, gap / before)
        ends = gap * factor**AHEAD <= self.target
        failed = -math.log(factor) < self.cost * self.rate * (EAGER if ends else 1.0)
        self._failed = self._failed + 1 if failed else 0
        return self._failed < (2 if self.passes < 3 else 1)


def pass_cost(problem: LearningProblem) -> float:
    """Iterations in the time of a pass for labelings and their shares, about."""
    core = problem.core
    tables = max(1, int(core.edge_offset[-1])) * core.n_labels**2
    return PASS_COST * (1.0 + PLANES * problem.n_graphs * problem.dim / tables)


def close_in(
    session: Session,
    mixture: GraphMixture,
    worth: Worth,
    ask: Callable[[FloatArray], tuple[OraclePlanes, float]],
) -> None:
    """Solves the shares of a mixture, and adds labelings that ``ask`` finds near the best weights, and offers the upper
    end of, while that is worth its time."""
    bounds, approach = session.bounds, Approach(worth.tight)
    precision = FINE * session.limits.gap * bounds.upper
    while True:
        lower = mixture.solve(precision, session.clock.left)
        gap = bounds.upper - lower
        if not worth.goes_on(gap / bounds.upper if bounds.upper > 0.0 else 0.0) or mixture.full:
            break
        found, _ = ask(approach.point(session.problem, bounds.weights, mixture.weights, gap))
        mixture.add(found)
        worth.passes += 1
        precision = max(FINE * session.limits.gap * bounds.upper, COARSE * (bounds.upper - lower))


def tight_graphs(found: OraclePlanes, w: FloatArray) -> int:
    """On how many graphs a labeling found at ``w`` is as good as its bound."""
    reached = np.maximum(0.0, found.losses - _core.dots(found.planes, w))
    size = np.abs(found.losses) + _core.dots(np.abs(found.planes), np.abs(w))
    return int(np.count_nonzero(found.bounds - reached <= TIGHT * size))

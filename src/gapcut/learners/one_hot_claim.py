"""What is proven of the one-hot problem after learning its relaxation (docs/mathematics.md, One-hot claim)."""

from __future__ import annotations

import math
from typing import Final

import numpy as np

from gapcut import _core
from gapcut.certificates import OneHotClaim, dual_bound, primal_bound
from gapcut.learners.base import Session
from gapcut.learners.block import PlaneCache, in_chunks, plane_cache
from gapcut.oracles.base import OraclePlanes, SlackBound, mean_bound
from gapcut.oracles.relaxation import Relaxation
from gapcut.typing import FloatArray

PASSES: Final = 12
"""Over all graphs for labelings, at most: from the weights of the relaxed problem, 7 to 9 close the gap to 1 % on
tables at C = 0.1 to 10."""

HOPELESS: Final = 1.5
"""Times the target: where the gap would end at so much, if every pass still to come lowered it by the factor of the
last, no further pass is made."""

NEAR: Final = 0.03
FAR: Final = 0.4
MUCH: Final = 0.6
"""Where labelings are asked for: this part of the way from the best weights to those of the planes, at first and at
most. The best weights of both problems are close to each other, and few planes say little far from there; the part
doubles where a pass leaves more than so much of the gap."""

TIGHT: Final = 1e-6
"""Relative difference between a labeling and the bound that counts as rounding."""

INNER: Final = 0.3
SWEEPS: Final = 50
"""The planes known are solved to this part of the gap, in so many sweeps at most."""

CHUNK: Final = 256
"""Graphs whose planes are in memory beside the cache."""

MEMORY_MB: Final = 2048.0
"""Of the cache."""


def one_hot_claim(session: Session, relaxation: Relaxation) -> OneHotClaim:
    """Labelings that message passing finds near the best weights become planes of the one-hot problem, block by block
    as in ``learners.block``; both ends of the relaxed problem profit too.

    On graphs without cycles the relaxation is tight everywhere, and its lower end is the one-hot problem's.
    """
    problem, bounds = session.problem, session.bounds
    if _core.acyclic(problem.core):
        return _claim(session, bounds.lower, bounds.upper, problem.n_graphs)
    asked = _Labelings(session, relaxation)
    tight, upper = asked.at(bounds.weights)
    lower, before, part = 0.0, math.inf, NEAR
    for count in range(PASSES):
        asked.cache.sweep(INNER * (upper - lower), SWEEPS, session.clock.left)
        dual = asked.cache.refresh()
        lower = max(lower, dual_bound(problem, *dual)[0])
        bounds.offer_dual(*dual)
        gap, target, left = upper - lower, session.limits.gap * upper, PASSES - 1 - count
        hopeless = count > 0 and gap * (gap / before) ** left > HOPELESS * target
        if gap <= target or left == 0 or hopeless:
            break
        part = min(FAR, 2.0 * part) if count > 0 and gap > MUCH * before else part
        before = gap
        point = problem.clamp(bounds.weights + part * (asked.cache.weights - bounds.weights))
        found = asked.at(point)
        if np.array_equal(bounds.weights, point):
            tight, upper = found
    return _claim(session, lower, min(upper, bounds.upper), tight)


class _Labelings:
    """Labelings of all graphs as planes in a cache, chunk by chunk."""

    def __init__(self, session: Session, relaxation: Relaxation) -> None:
        self._session, self._relaxation = session, relaxation
        self.cache: PlaneCache

    def at(self, w: FloatArray) -> tuple[int, float]:
        """Adds what is found at ``w``. On how many graphs a labeling is as good as its bound, and the upper end."""
        session, n = self._session, self._session.problem.n_graphs
        bound, tight = 0.0, 0
        asked = self._relaxation.integer_planes
        for graphs, answer in in_chunks(session, asked, w, CHUNK, self._relaxation.elsewhere):
            if not hasattr(self, "cache"):
                self.cache = plane_cache(session.problem, answer.planes, MEMORY_MB, 0)
            self.cache.add(graphs, answer.planes, answer.losses)
            bound += float(answer.bounds.sum())
            tight += _tight(answer, w)
        session.calls += n
        mean = mean_bound(bound, n)
        slack = SlackBound(mean, mean)
        if not self._relaxation.parallel:
            session.bounds.offer_primal(w, slack)
        return tight, primal_bound(session.problem, w, slack)[0]


def _tight(answer: OraclePlanes, w: FloatArray) -> int:
    reached = np.maximum(0.0, answer.losses - _core.dots(answer.planes, w))
    size = np.abs(answer.losses) + _core.dots(np.abs(answer.planes), np.abs(w))
    return int(np.count_nonzero(answer.bounds - reached <= TIGHT * size))


def _claim(session: Session, lower: float, upper: float, tight: int) -> OneHotClaim:
    certified = upper - lower <= session.limits.gap * upper
    return OneHotClaim(lower, upper, "certified" if certified else "stopped", tight, session.problem.n_graphs)

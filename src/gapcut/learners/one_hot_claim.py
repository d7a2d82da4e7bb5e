"""What is proven of the one-hot problem after learning its relaxation (docs/mathematics.md, One-hot claim)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Final

import numpy as np

from gapcut import _core
from gapcut.certificates import OneHotClaim, dual_bound, primal_bound
from gapcut.learners.base import Session
from gapcut.learners.block import PlaneCache, in_chunks, plane_cache
from gapcut.learners.closing import Approach, tight_graphs
from gapcut.oracles.base import OraclePlanes, SlackBound, mean_bound
from gapcut.oracles.relaxation import Relaxation
from gapcut.typing import FloatArray

PASSES: Final = 12
"""Over all graphs for labelings, at most: from the weights of the relaxed problem, 7 to 10 close the gap to 1 % on
tables at C = 0.1 to 10."""

HOPELESS: Final = 1.5
"""Times the target: where the gap would end at so much, if every pass still to come lowered it by the factor of the
last, no further pass is made; but first they are asked for as far away as they may be."""

INNER: Final = 0.3
SWEEPS: Final = 50
"""The planes known are solved to this part of the gap, in so many sweeps at most."""

KEEP: Final = 3
"""Passes that a plane may stay without mass."""

CHUNK: Final = 256
"""Graphs whose planes are in memory beside the cache."""

MEMORY_MB: Final = 2048.0
"""Of the cache."""


def one_hot_claim(
    session: Session, relaxation: Relaxation, known: Sequence[OraclePlanes] = ()
) -> OneHotClaim:
    """Labelings that message passing finds near the best weights, and those ``known``, become planes of the one-hot
    problem, block by block as in ``learners.block``; both ends of the relaxed problem profit too.

    On graphs without cycles the relaxation is tight everywhere, and its lower end is the one-hot problem's.
    """
    problem, bounds = session.problem, session.bounds
    if _core.acyclic(problem.core):
        return _claim(session, bounds.lower, bounds.upper, problem.n_graphs)
    asked = _Labelings(session, relaxation)
    tight, upper = asked.at(bounds.weights)
    for more in known:
        asked.add(more)
    lower, before, approach = 0.0, math.inf, Approach()
    for count in range(PASSES):
        asked.cache.sweep(INNER * (upper - lower), SWEEPS, session.clock.left)
        dual = asked.cache.refresh()
        lower = max(lower, dual_bound(problem, *dual)[0])
        bounds.offer_dual(*dual)
        gap, target, left = upper - lower, session.limits.gap * upper, PASSES - 1 - count
        hopeless = approach.farthest and gap * (gap / before) ** left > HOPELESS * target
        if gap <= target or left == 0 or hopeless:
            break
        before = gap
        asked.cache.tick(KEEP)
        point = approach.point(problem, bounds.weights, asked.cache.weights, gap)
        found = asked.at(point)
        if np.array_equal(bounds.weights, point):
            tight, upper = found
    return _claim(session, lower, min(upper, bounds.upper), tight)


class _Labelings:
    """Labelings of all graphs as planes in a cache, chunk by chunk."""

    def __init__(self, session: Session, relaxation: Relaxation) -> None:
        self._session, self._relaxation = session, relaxation
        self.cache: PlaneCache

    def add(self, found: OraclePlanes) -> None:
        """Labelings of all graphs."""
        self.cache.add(np.arange(len(found.losses), dtype=np.int32), found.planes, found.losses)

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
            tight += tight_graphs(answer, w)
        session.calls += n
        mean = mean_bound(bound, n)
        slack = SlackBound(mean, mean)
        if not self._relaxation.parallel:
            session.bounds.offer_primal(w, slack)
        return tight, primal_bound(session.problem, w, slack)[0]


def _claim(session: Session, lower: float, upper: float, tight: int) -> OneHotClaim:
    certified = upper - lower <= session.limits.gap * upper
    return OneHotClaim(lower, upper, "certified" if certified else "stopped", tight, session.problem.n_graphs)

"""The m best labelings, each with what is proven about it."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from gapcut.engines import Deadline
from gapcut.inference.energy import Energy
from gapcut.inference.marginals import label_excess
from gapcut.inference.methods import MethodName
from gapcut.inference.normal import Normal
from gapcut.inference.packing import lower_sum
from gapcut.inference.solution import TOLERANCE, Solution
from gapcut.inference.solve import check_energy, check_limit, solve
from gapcut.typing import FloatArray, IntArray

MOST_SOLVES = 200
"""Labels that are tried in search of one labeling, without a time limit."""


def solve_best(
    energy: Energy, m: int, method: MethodName = "auto", time_limit: float | None = None, **settings: Any
) -> list[Solution[IntArray]]:
    """The ``m`` labelings of least energy, ascending; fewer if no others are allowed.

    ``bound`` and ``gap`` of each say what is proven: no labeling but those before it in the list has an energy below
    ``bound``. ``"optimal"`` means that the gap is closed, so that the labeling is the next best one; ``"infeasible"``
    stands alone where nothing is allowed.

    The best labeling is excluded by dividing the others into those that have some other label k at a node u and those
    that have not, again and again (Yanover and Weiss, Finding the M most probable configurations using loopy belief
    propagation, 2004). Min-marginals say which u and k to try, and that the rest need no trying: exactly on energies
    without cycles, one try a labeling; elsewhere by their lower bounds, so that more are tried, by ``method`` with
    ``settings``, at most 200 a labeling unless there is a ``time_limit`` (seconds for all together).
    """
    if isinstance(m, bool) or not isinstance(m, int | np.integer) or m < 1:
        raise ValueError(f"m must be a whole number >= 1, got {m!r}")
    clock = Deadline(check_limit(time_limit))
    normal = Normal.of(check_energy(energy))
    search = _Search(method, settings, clock)
    first = solve(normal.energy, method, clock.left, **settings)
    bound, best = first.bound, [first.labels]
    branches = [] if first.energy == math.inf else [search.branch(normal.energy, first.labels)]
    while len(best) < m and branches:
        bound = max(bound, min(branch.bound for branch in branches))
        branch = min(branches, key=lambda branch: branch.value)
        if branch.labels is None:
            break
        best.append(branch.labels)
        branches.remove(branch)
        if len(best) < m:
            branches += search.divided(branch, branch.labels)
    if len(best) == 1:  # the bound may be that of the first alone, or infinite
        only, stopped = normal.weighed(best[0]), first.status == "stopped"
        return [normal.judged(only, normal.proven(first.bound), stopped, clock.seconds)]
    found = sorted(map(normal.weighed, best), key=lambda y: y.excess)
    own = [lower_sum(normal.energy.terms(y.labels)) for y in found]  # not above, and perhaps in another order
    proven = [normal.proven(min(bound, *own[i:])) for i in range(len(best))]
    pairs = zip(found, proven, strict=True)
    return [normal.judged(y, least, search.stopped, clock.seconds) for y, least in pairs]


@dataclass(frozen=True, eq=False)
class _Branch:
    """The labelings that ``energy`` allows, but ``known``: the best found, if any, its energy, a bound of them all."""

    energy: Energy
    known: IntArray
    labels: IntArray | None
    value: float
    bound: float
    node: int = 0


@dataclass
class _Search:
    method: MethodName
    settings: dict[str, Any]
    clock: Deadline
    stopped: bool = False

    def divided(self, branch: _Branch, labels: IntArray) -> list[_Branch]:
        """The rest of a branch after its best labeling is taken out: with its label at the node, and without."""
        u = branch.node
        forbidden = np.zeros(int(branch.energy.n_labels[u]))
        forbidden[labels[u]] = math.inf
        inside = branch.energy.with_evidence({u: int(labels[u])})
        outside = branch.energy.with_evidence(soft={u: forbidden})
        return [self.branch(inside, labels), self.branch(outside, branch.known)]

    def branch(self, energy: Energy, known: IntArray) -> _Branch:
        """Try labels other than the known ones, the most promising first, until the rest cannot be better."""
        starts = energy.segments()[0]
        least = self._least(energy)
        least[starts[:-1] + known] = math.inf
        best = _Branch(energy, known, None, math.inf, math.inf)
        bound = math.inf
        for tries, place in enumerate(np.argsort(least, kind="stable").tolist()):
            if least[place] == math.inf or least[place] >= (1.0 - TOLERANCE) * best.value:
                break
            if self.clock.left == 0.0 or (self.clock.left is None and tries == MOST_SOLVES):
                self.stopped |= self.clock.left == 0.0
                break
            u = int(np.searchsorted(starts, place, side="right")) - 1
            tried = energy.with_evidence({u: int(place - starts[u])})
            found = solve(tried, self.method, self.clock.left, **self.settings)
            bound = min(bound, max(found.bound, float(least[place])))
            least[place] = math.inf
            if found.energy < best.value:
                best = _Branch(energy, known, found.labels, found.energy, bound, u)
        bound = min(bound, float(least.min(initial=math.inf)))
        return _Branch(energy, known, best.labels, best.value, bound, best.node)

    def _least(self, energy: Energy) -> FloatArray:
        """(unary entries,) lower bounds of min-marginals."""
        if energy.n_cliques:
            least = np.full(len(energy.unaries()), energy.independent_bound())
            least[energy.unaries() == math.inf] = math.inf
            return least
        found = label_excess(energy, self.clock)
        return np.nextafter(found.bound + found.above, -math.inf)

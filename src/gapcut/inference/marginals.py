"""Min-marginals: the least energy of all labelings in which a node has a label."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise

import numpy as np

from gapcut import _core
from gapcut.engines import Deadline
from gapcut.inference.energy import Energy
from gapcut.inference.normal import Normal, rounded_down
from gapcut.inference.persistency import refuse_cliques
from gapcut.inference.solution import TOLERANCE
from gapcut.inference.solve import check_energy, check_limit
from gapcut.typing import FloatArray, Int32Array

SWEEPS = 1000


@dataclass(frozen=True)
class MinMarginals:
    """``lower[u][k] <= min {U(y) : y_u = k}`` for every node u and label k, rounding paid for; +inf: forbidden.

    ``exact``: the energy has no cycle, and both sides are equal but for rounding. Elsewhere ``lower`` holds lower
    bounds only, which may lie far below. ``bound`` is one of the minimum of U; no entry is below it.
    """

    lower: list[FloatArray]
    bound: float
    exact: bool


def min_marginals(energy: Energy, time_limit: float | None = None) -> MinMarginals:
    """Min-marginals of a pairwise energy (with the sign turned: max-marginals), exact where it has no cycle.

    On energies with cycles: lower bounds from the messages that TRW-S ends with, added up along the order of the nodes
    (cpp/include/gapcut/infer/min_marginals.hpp). ``time_limit`` in seconds ends message passing early; bounds are then
    weaker. ``ValueError`` for terms over more than two nodes.
    """
    refuse_cliques(check_energy(energy), "min_marginals")
    normal = Normal.of(energy)
    excess = label_excess(normal.energy, Deadline(check_limit(time_limit)))
    offset = sum((Fraction(x) for x in normal.least.tolist() if x), Fraction(0))
    scale = Fraction(2) ** normal.exponent

    def absolute(above: float) -> float:
        if above == math.inf or excess.bound == math.inf:
            return math.inf
        return rounded_down(offset + scale * (Fraction(excess.bound) + Fraction(above)))

    values = np.array([absolute(above) for above in excess.above.tolist()])
    starts = energy.segments()[0]
    lower = [values[i:j] for i, j in pairwise(starts.tolist())]
    return MinMarginals(lower, absolute(0.0), excess.exact)


@dataclass(frozen=True)
class LabelExcess:
    """``min {U(y) : y_u = k} >= bound + above`` at the place of every unary entry; ``labels`` of TRW-S."""

    above: FloatArray
    bound: float
    exact: bool
    labels: Int32Array


def label_excess(energy: Energy, clock: Deadline) -> LabelExcess:
    """Of an energy in normal form."""
    above, exact, labels, bound, _ = _core.min_marginals(energy.native, clock.left, SWEEPS, TOLERANCE)
    return LabelExcess(np.asarray(above), bound, exact, labels)

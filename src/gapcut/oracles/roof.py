"""The oracle of QPBO-R (Finley and Joachims 2008; Anand et al. 2012): roof duality with half labels."""

from __future__ import annotations

from typing import Literal

import numpy as np

from gapcut.engines import Deadline, OutOfTime
from gapcut.inference import Energy, persistency
from gapcut.oracles.base import ProblemName
from gapcut.oracles.looped import Answer, AugmentedEnergy, LoopedOracle
from gapcut.problem import LearningProblem
from gapcut.typing import FloatArray

HalfRule = Literal["product", "score", "energy"]


class RoofOracle(LoopedOracle):
    """Independent indicators in {0, 1/2, 1} by roof duality, for pairwise weights of any sign; uncertified.

    Indicators that roof duality leaves open are 1/2, with the soft loss ``rho/(2|V|) |y - z|``. ``rule`` is the
    marginal of a label pair of which both ends are open: ``"product"`` 1/4; ``"score"`` 1/2 where the score
    ``w^{kl}.phi`` is positive, else 0 (the optimum of the linear program behind roof duality); ``"energy"`` the same
    with the opposite sign, as the rounding rule is printed in the literature. The bound of roof duality says nothing
    about the one-hot problem, so none is reported. Products are the mean over independent indicators, so their planes
    are mixtures of labelings; those of the other rules are not, and with them not even a lower bound is left.
    """

    solves: ProblemName = "relaxed binary"
    proven = False
    binary = True

    def __init__(self, problem: LearningProblem, n_threads: int = 1, *, rule: HalfRule = "product") -> None:
        super().__init__(problem, n_threads)
        if rule not in ("product", "score", "energy"):
            raise ValueError(f"rule={rule!r} is unknown: use 'product', 'score' or 'energy'")
        self._rule = rule
        self.feasible = rule == "product"

    def answer(self, graph: int, energy: AugmentedEnergy, clock: Deadline) -> Answer:
        """One roof dual over all indicators of the graph."""
        z = self.half_labels(energy, clock)
        plane, loss = self._graphs.fractional_plane(graph, z, self._pair_marginals(energy, z))
        return Answer(plane, loss)

    def half_labels(self, energy: AugmentedEnergy, clock: Deadline) -> FloatArray:
        """(V, K) of 0, 1/2 and 1."""
        n_labels = energy.unary.shape[1]
        edge, k, m = np.nonzero(energy.tables)
        pairs = np.stack([energy.edges[edge, 0] * n_labels + k, energy.edges[edge, 1] * n_labels + m], axis=1)
        tables = np.zeros((len(pairs), 2, 2))
        tables[:, 1, 1] = energy.tables[edge, k, m]
        unary = np.zeros((energy.unary.size, 2))
        unary[:, 1] = energy.unary.ravel()
        dual = persistency(Energy(unary, pairs, tables), time_left=clock.left)
        if dual.stopped:
            raise OutOfTime
        return dual.values.reshape(energy.unary.shape)

    def _pair_marginals(self, energy: AugmentedEnergy, z: FloatArray) -> FloatArray | None:
        """(E, K, K) where the rule is not the product; None where it is."""
        if self._rule == "product" or not len(energy.edges):
            return None
        tail, head = z[energy.edges[:, 0], :, None], z[energy.edges[:, 1], None, :]
        wanted = energy.tables < 0.0 if self._rule == "score" else energy.tables > 0.0
        both_open = (tail == 0.5) & (head == 0.5)
        return np.ascontiguousarray(np.where(both_open, 0.5 * wanted, tail * head))

"""The local polytope as oracle: fractional labels, and a bound from the multipliers."""

from __future__ import annotations

import math

import numpy as np

from gapcut import _core
from gapcut.engines import Deadline, OutOfTime
from gapcut.engines.shards import ShardEngine
from gapcut.late import sparse as sp
from gapcut.oracles.base import ProblemName
from gapcut.oracles.looped import Answer, AugmentedEnergy, LoopedOracle
from gapcut.oracles.lp_relaxation import LpRelaxation
from gapcut.typing import FloatArray


class LpOracle(LoopedOracle):
    """``max`` over the local polytope: marginals of labels that add up to one, those of label pairs that agree.

    Solved by HiGHS, which knows only tolerances; so both ends are made anew: the marginals are moved into the
    polytope, and the bound comes from reparametrising the energy with the multipliers, which is valid
    whatever they are (Werner 2007). Certifies the LP-relaxed problem; the upper end also holds for the one-hot
    one. Slow: V K + E K^2 variables a graph. First-order learning uses the same polytope without this solver.
    """

    solves: ProblemName = "LP-relaxed one-hot"

    def answer(self, graph: int, energy: AugmentedEnergy, clock: Deadline) -> Answer:
        """One linear program."""
        z, m, messages = _solve(energy, clock)
        plane, loss = self._graphs.fractional_plane(graph, z, m if len(energy.edges) else None)
        lower, magnitude = _reparametrised_minimum(energy, messages)
        slack = max(0.0, energy.value_of_truth() - lower)
        rounding = energy.rounding + _depth(energy) * np.finfo(np.float64).eps * magnitude
        return Answer(plane, loss, math.nextafter(slack + rounding, math.inf))

    def relaxation(
        self, settings: _core.PrimalDualSettings, n_threads: int, engine: ShardEngine | None = None
    ) -> LpRelaxation:
        """Labels on the simplex and tables on edges. Graphs must have no cliques."""
        return LpRelaxation(self._problem, settings, n_threads, engine)


Messages = tuple[FloatArray, FloatArray]
"""(E, K) to the tail's labels and (E, K) to the head's."""


def _solve(energy: AugmentedEnergy, clock: Deadline) -> tuple[FloatArray, FloatArray, Messages]:
    """Marginals of labels and of label pairs inside the polytope, and multipliers of their agreement."""
    from scipy.optimize import linprog  # slow to import, and few need it

    n_nodes, n_labels = energy.unary.shape
    n_edges = len(energy.edges)
    options = {} if clock.left is None else {"time_limit": max(clock.left, 1e-3)}
    result = linprog(  # type: ignore[call-overload]  # the stubs know no sparse arrays
        np.concatenate([energy.unary.ravel(), energy.tables.ravel()]),
        A_eq=_constraints(energy),
        b_eq=np.concatenate([np.ones(n_nodes), np.zeros(2 * n_edges * n_labels)]),
        bounds=[(0.0, None)],
        method="highs",
        options=options,
    )
    if result.x is None or result.status == 1:
        raise OutOfTime
    z = np.clip(result.x[: n_nodes * n_labels].reshape(n_nodes, n_labels), 0.0, 1.0)
    z /= z.sum(axis=1, keepdims=True)
    pairs = np.clip(result.x[n_nodes * n_labels :].reshape(n_edges, n_labels, n_labels), 0.0, 1.0)
    multipliers = result.eqlin.marginals[n_nodes:].reshape(2, n_edges, n_labels)
    pairs = _agreeing(pairs, z[energy.edges[:, 0]], z[energy.edges[:, 1]])
    return np.ascontiguousarray(z), pairs, (multipliers[0], multipliers[1])


def _constraints(energy: AugmentedEnergy) -> sp.csr_array:
    """Rows: one per node (marginals add up to 1); one per edge and label of the tail, then of the head."""
    n_nodes, n_labels = energy.unary.shape
    n_edges, tail, head = len(energy.edges), energy.edges[:, 0], energy.edges[:, 1]
    eye, ones = sp.eye_array(n_labels), np.ones((1, n_labels))
    sums = sp.kron(sp.eye_array(n_nodes), ones)
    pick = sp.eye_array(n_nodes, format="csr")
    parts = [sp.hstack([sums, sp.csr_array((n_nodes, n_edges * n_labels**2))])]
    if n_edges:
        rows = sp.kron(sp.eye_array(n_edges), sp.kron(eye, ones))
        columns = sp.kron(sp.eye_array(n_edges), sp.kron(ones, eye))
        parts.append(sp.hstack([-sp.kron(pick[tail], eye), rows]))
        parts.append(sp.hstack([-sp.kron(pick[head], eye), columns]))
    return sp.csr_array(sp.vstack(parts))


def _agreeing(pairs: FloatArray, tail: FloatArray, head: FloatArray) -> FloatArray:
    """Label pairs whose rows sum to ``tail`` and columns to ``head``: shrink what is over, then fill up with
    the product of what is missing (Altschuler, Weed, Rigollet 2017, algorithm 2)."""
    tiny = np.finfo(np.float64).tiny
    pairs = pairs * np.minimum(1.0, tail / np.maximum(pairs.sum(axis=2), tiny))[:, :, None]
    pairs = pairs * np.minimum(1.0, head / np.maximum(pairs.sum(axis=1), tiny))[:, None, :]
    left = np.maximum(0.0, tail - pairs.sum(axis=2))
    right = np.maximum(0.0, head - pairs.sum(axis=1))
    missing = np.maximum(left.sum(axis=1), tiny)
    return np.ascontiguousarray(pairs + left[:, :, None] * right[:, None, :] / missing[:, None, None])


def _depth(energy: AugmentedEnergy) -> int:
    """Additions that one number goes through at most: the messages of a node one by one, a few for an entry, and those
    of NumPy's sums, which go by pairs of blocks of 128 numbers in eight rows (Higham 2002, section 4.2)."""
    return 64 + int(np.bincount(energy.edges.ravel(), minlength=1).max())


def _reparametrised_minimum(energy: AugmentedEnergy, messages: Messages) -> tuple[float, float]:
    """Sum of the minima of all terms after messages moved cost between them, and the magnitudes that were added."""
    to_tail, to_head = messages
    unary = energy.unary.copy()
    magnitude = float(np.abs(energy.unary).sum() + np.abs(energy.tables).sum())
    if not len(energy.edges):
        return float(unary.min(axis=1).sum()), magnitude
    np.add.at(unary, energy.edges[:, 0], to_tail)
    np.add.at(unary, energy.edges[:, 1], to_head)
    tables = energy.tables - to_tail[:, :, None] - to_head[:, None, :]
    magnitude += 2.0 * energy.unary.shape[1] * float(np.abs(to_tail).sum() + np.abs(to_head).sum())
    return float(unary.min(axis=1).sum() + tables.min(axis=(1, 2)).sum()), magnitude

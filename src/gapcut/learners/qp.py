"""The working-set quadratic program and its solvers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from gapcut import _core
from gapcut.extras import needed
from gapcut.late import sparse as sp
from gapcut.typing import FloatArray


@dataclass(frozen=True, eq=False)
class PlaneProgram:
    """``max_a d'a - conjugate(H'a)``, ``a >= 0``, ``sum a <= C`` (supplement B, box eliminated by Eq. 21).

    ``planes`` (t, dim) rows ``h_t``, ``losses`` (t,), box (dim,).
    """

    planes: FloatArray
    losses: FloatArray
    C: float
    lower: FloatArray
    upper: FloatArray

    def value_and_gap(self, alpha: FloatArray) -> tuple[FloatArray, float, float]:
        """Weights, dual value and primal-dual gap of a feasible ``alpha``."""
        x = _core.weighted_sum(alpha, self.planes)
        weights = np.clip(x, self.lower, self.upper)
        slack = self.losses - _core.dots(self.planes, weights)
        value = _core.dot(alpha, self.losses) - _core.dot(weights, x) + 0.5 * _core.dot(weights, weights)
        gap = self.C * max(0.0, float(slack.max(initial=0.0))) - _core.dot(alpha, slack)
        return weights, value, max(0.0, gap)


@dataclass(frozen=True)
class QPResult:
    """Solution of the working-set program, with its own proof.

    ``alpha`` (t,) >= 0, sum <= C; ``weights`` (dim,) ``clamp(sum alpha_t h_t)``, with exact values at the
    sides of the box; ``value`` the dual value of ``alpha``; ``gap`` primal value at ``weights`` minus
    ``value``; ``iterations`` of the method.
    """

    alpha: FloatArray
    weights: FloatArray
    value: float
    gap: float
    iterations: int


@dataclass(frozen=True)
class QPSolver:
    """A method for :class:`PlaneProgram`."""

    method: Callable[[PlaneProgram, FloatArray, float, float | None], QPResult]

    def solve(
        self,
        program: PlaneProgram,
        start: FloatArray | None = None,
        tolerance: float = 1e-9,
        time_left: float | None = None,
    ) -> QPResult:
        """``start`` (t,) warm start.

        Aims at ``gap <= tolerance * (value + gap)``; the gap returned is honest where rounding or the limit on
        iterations ends the work before. Raises ``gapcut.engines.OutOfTime`` if ``time_left`` seconds pass first.
        """
        return self.method(program, np.zeros(0) if start is None else start, tolerance, time_left)


def _in_core(solve: Callable[..., Any], most: int) -> Callable[..., QPResult]:
    """A method of the core, in ``most`` iterations or sweeps; it always leaves an honest gap."""

    def run(program: PlaneProgram, start: FloatArray, tolerance: float, time_left: float | None) -> QPResult:
        data = program.planes, program.losses, program.C, program.lower, program.upper
        return QPResult(*solve(*data, start, tolerance, most, time_left))

    return run


def _interior_point(
    program: PlaneProgram, start: FloatArray, tolerance: float, time_left: float | None
) -> QPResult:
    """Clarabel on the primal ``min 1/2 |w|^2 + C xi`` with one row per plane, to check the other against.

    Needs the ``exact`` extra. Slow; alpha, the multipliers of the rows, are rarely exact zeros, and ``weights`` are
    clamped from them all the same.
    """
    clarabel = needed("clarabel", 'qp="clarabel" needs the package', "exact", ', or use qp="dual"')
    count, dim = program.planes.shape
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    settings.tol_gap_rel = settings.tol_feas = tolerance
    settings.tol_gap_abs = 0.0
    if time_left is not None:
        settings.time_limit = time_left
    quadratic = sp.diags_array(np.append(np.ones(dim), 0.0), format="csc")
    matrix, right, cones = _constraints(clarabel, program)
    linear = np.append(np.zeros(dim), program.C)
    solution = clarabel.DefaultSolver(quadratic, linear, matrix, right, cones, settings).solve()
    first = int((program.lower == program.upper).sum())
    alpha = np.maximum(0.0, np.nan_to_num(np.array(solution.z)[first : first + count]))
    if alpha.sum() > program.C:
        alpha *= program.C / alpha.sum()
    return QPResult(alpha, *program.value_and_gap(alpha), solution.iterations)


def _constraints(clarabel: Any, program: PlaneProgram) -> tuple[sp.csc_matrix, FloatArray, list[Any]]:
    """Rows ``A (w, xi) + s = b``: frozen weights (s = 0), then planes, xi >= 0 and the sides of the box (s >= 0)."""
    planes, lower, upper = program.planes, program.lower, program.upper
    count, dim = planes.shape
    frozen = np.flatnonzero(lower == upper)
    low = np.flatnonzero(np.isfinite(lower) & (lower != upper))
    high = np.flatnonzero(np.isfinite(upper) & (lower != upper))
    unit = sp.eye_array(dim + 1, format="csr")
    under = sp.csr_array(np.hstack([-planes, -np.ones((count, 1))]))
    rows = sp.vstack([unit[frozen], under, -unit[[dim]], -unit[low], unit[high]], format="csc")
    right = np.concatenate([lower[frozen], -program.losses, [0.0], -lower[low], upper[high]])
    cones = [clarabel.ZeroConeT(len(frozen)), clarabel.NonnegativeConeT(len(right) - len(frozen))]
    return sp.csc_matrix(rows), right, cones


_METHODS = {
    # Ascent on the dual, semismooth Newton with exact zeros: each iteration solves the quadratic model over the free
    # coordinates on the planes that matter by an active set, then searches the line exactly; pairwise steps follow
    # where that gained little, so it always ascends.
    "dual": _in_core(_core.solve_planes_newton, 1000),
    # The solver of the paper (3.2.3), to compare with: one alpha at a time, weights clipped after every step (Ramanan,
    # "Dual coordinate solvers for large-scale structural SVMs", 2013). Near the optimum it is slow.
    "dcd": _in_core(_core.solve_planes_coordinate, 100_000),
    "clarabel": _interior_point,
}


def qp_solver(name: str) -> QPSolver:
    """The solver of that name: ``"dual"``, ``"dcd"`` or ``"clarabel"``."""
    if name not in _METHODS:
        raise ValueError(f"qp={name!r} is unknown: choose one of {', '.join(map(repr, _METHODS))}")
    return QPSolver(_METHODS[name])

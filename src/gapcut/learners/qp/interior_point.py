"""Clarabel's interior-point method, to check the others against."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from gapcut.learners.qp.base import QPResult, value_and_gap
from gapcut.typing import FloatArray


@dataclass(frozen=True)
class InteriorPoint:
    """The primal ``min 1/2 |w|^2 + C xi`` with one row a plane; alpha are the multipliers of the rows.

    Needs the ``exact`` extra. Slow, and its alpha carry dust; ``weights`` are clamped from alpha all the
    same.
    """

    max_iterations: int = 200

    def solve(
        self,
        planes: FloatArray,
        losses: FloatArray,
        C: float,
        lower: FloatArray,
        upper: FloatArray,
        start: FloatArray | None = None,
        tolerance: float = 1e-9,
        time_left: float | None = None,
    ) -> QPResult:
        clarabel = _clarabel()
        count, dim = planes.shape
        settings = clarabel.DefaultSettings()
        settings.verbose = False
        settings.max_iter = self.max_iterations
        settings.tol_gap_rel = settings.tol_feas = tolerance
        settings.tol_gap_abs = 0.0
        if time_left is not None:
            settings.time_limit = time_left
        quadratic = sp.diags_array(np.append(np.ones(dim), 0.0), format="csc")
        matrix, right, cones = _constraints(clarabel, planes, losses, lower, upper)
        linear = np.append(np.zeros(dim), C)
        solution = clarabel.DefaultSolver(quadratic, linear, matrix, right, cones, settings).solve()
        first = int((lower == upper).sum())
        alpha = np.maximum(0.0, np.nan_to_num(np.array(solution.z)[first : first + count]))
        if alpha.sum() > C:
            alpha *= C / alpha.sum()
        return QPResult(alpha, *value_and_gap(planes, losses, C, lower, upper, alpha), solution.iterations)


def _constraints(
    clarabel: Any, planes: FloatArray, losses: FloatArray, lower: FloatArray, upper: FloatArray
) -> tuple[sp.csc_matrix, FloatArray, list[Any]]:
    """Rows ``A (w, xi) + s = b``: frozen weights (s = 0), then planes, xi >= 0 and the sides of the box (s
    >= 0).
    """
    count, dim = planes.shape
    frozen = np.flatnonzero(lower == upper)
    low = np.flatnonzero(np.isfinite(lower) & (lower != upper))
    high = np.flatnonzero(np.isfinite(upper) & (lower != upper))
    unit = sp.eye_array(dim + 1, format="csr")
    rows = sp.vstack(
        [
            unit[frozen],
            sp.csr_array(np.hstack([-planes, -np.ones((count, 1))])),
            -unit[[dim]],
            -unit[low],
            unit[high],
        ],
        format="csc",
    )
    right = np.concatenate([lower[frozen], -losses, [0.0], -lower[low], upper[high]])
    cones = [clarabel.ZeroConeT(len(frozen)), clarabel.NonnegativeConeT(len(right) - len(frozen))]
    return sp.csc_matrix(rows), right, cones


def _clarabel() -> Any:
    try:
        import clarabel
    except ImportError as error:
        raise ImportError(
            'qp="clarabel" needs the package clarabel: pip install "gapcut[exact]", or use qp="dual"'
        ) from error
    return clarabel

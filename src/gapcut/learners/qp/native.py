"""The two solvers of the core."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gapcut import _core
from gapcut.learners.qp.base import QPResult
from gapcut.typing import FloatArray


@dataclass(frozen=True)
class DualNewton:
    """Semismooth Newton on the dual with exact zeros (the default).

    Each iteration solves the quadratic model over the free coordinates on the planes that matter by an
    active set, then searches the line exactly; pairwise steps follow where that gained little, so it always
    ascends.
    """

    max_iterations: int = 1000

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
        start = np.zeros(0) if start is None else start
        return QPResult(
            *_core.solve_planes_newton(
                planes, losses, C, lower, upper, start, tolerance, self.max_iterations, 0, time_left
            )
        )


@dataclass(frozen=True)
class DualCoordinateDescent:
    """Dual coordinate descent in the manner of Ramanan, "Dual coordinate solvers for large-scale structural
    SVMs", 2013, as the paper used it: one alpha at a time, weights clipped after every step.
    """

    max_iterations: int = 100_000
    seed: int = 0

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
        start = np.zeros(0) if start is None else start
        return QPResult(
            *_core.solve_planes_coordinate(
                planes, losses, C, lower, upper, start, tolerance, self.max_iterations, self.seed, time_left
            )
        )

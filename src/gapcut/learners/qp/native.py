"""The solvers of the core."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from gapcut import _core
from gapcut.learners.qp.base import QPResult
from gapcut.typing import FloatArray

_METHODS = {
    "newton": (_core.solve_planes_newton, 1000),
    "coordinate": (_core.solve_planes_coordinate, 100_000),
}
"""The native function of each method and the iterations it may make by default."""


@dataclass(frozen=True)
class DualAscent:
    """Ascent on the dual, by one of two methods.

    ``"newton"`` (the default): semismooth Newton with exact zeros. Each iteration solves the quadratic model
    over the free coordinates on the planes that matter by an active set, then searches the line exactly;
    pairwise steps follow where that gained little, so it always ascends.

    ``"coordinate"``: dual coordinate descent in the manner of Ramanan, "Dual coordinate solvers for
    large-scale structural SVMs", 2013, as the paper used it: one alpha at a time, weights clipped after every
    step, in an order drawn from ``seed``.
    """

    method: Literal["newton", "coordinate"] = "newton"
    max_iterations: int | None = None
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
        native, most = _METHODS[self.method]
        most = most if self.max_iterations is None else self.max_iterations
        start = np.zeros(0) if start is None else start
        return QPResult(
            *native(planes, losses, C, lower, upper, start, tolerance, most, self.seed, time_left)
        )

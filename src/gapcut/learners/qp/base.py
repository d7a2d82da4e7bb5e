"""The working-set quadratic program and what its solvers return."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from gapcut.typing import FloatArray


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


class QPSolver(Protocol):
    """Solves ``max_a d'a - conjugate(H'a)``, ``a >= 0``, ``sum a <= C`` (supplement B, box eliminated by
    Eq. 21).
    """

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
        """``planes`` (t, dim) rows ``h_t``, ``losses`` (t,), box (dim,); ``start`` (t,) warm start.

        Aims at ``gap <= tolerance * (value + gap)``; the gap returned is honest where rounding or the limit
        on iterations ends the work before. Raises ``gapcut.engines.OutOfTime`` if ``time_left`` seconds
        pass first.
        """
        ...


def value_and_gap(
    planes: FloatArray, losses: FloatArray, C: float, lower: FloatArray, upper: FloatArray, alpha: FloatArray
) -> tuple[FloatArray, float, float]:
    """Weights, dual value and primal-dual gap of a feasible ``alpha``."""
    x = alpha @ planes
    weights = np.clip(x, lower, upper)
    slack = losses - planes @ weights
    value = float(alpha @ losses - weights @ x + 0.5 * (weights @ weights))
    gap = C * max(0.0, float(slack.max(initial=0.0))) - float(alpha @ slack)
    return weights, value, max(0.0, gap)

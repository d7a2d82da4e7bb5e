"""Working-set programs: optimality conditions, agreement of three methods, degenerate and extreme
instances.
"""

from __future__ import annotations

import builtins
from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gapcut.engines import OutOfTime
from gapcut.learners.qp import PlaneProgram, QPResult, QPSolver, qp_solver

KINDS = ["random", "nearly dependent", "duplicates and ties", "zero planes", "all clipped", "no losses"]


@dataclass(frozen=True, eq=False)
class Instance(PlaneProgram):
    def solve(self, solver: QPSolver, **options: object) -> QPResult:
        return solver.solve(self, **options)  # type: ignore[arg-type]

    def values(self, alpha: np.ndarray) -> tuple[np.ndarray, float, float]:
        """Weights, primal value at them, dual value: computed here, by the definitions."""
        x = alpha @ self.planes
        w = np.clip(x, self.lower, self.upper)
        primal = 0.5 * w @ w + self.C * max(0.0, (self.losses - self.planes @ w).max())
        return w, primal, alpha @ self.losses - (w @ x - 0.5 * w @ w)


def instance(seed: int, kind: str, C: float) -> Instance:
    rng = np.random.default_rng(seed)
    count, dim = int(rng.integers(1, 30)), int(rng.integers(1, 25))
    planes, losses = rng.normal(size=(count, dim)), 5 * rng.random(count)
    half = count // 2
    if kind == "nearly dependent":
        planes[half:] = planes[: count - half] + 1e-9 * rng.normal(size=(count - half, dim))
    elif kind == "duplicates and ties":
        planes, losses = np.round(planes), np.round(losses)
        planes[half:] = planes[: count - half]
    elif kind == "zero planes":
        planes[rng.random(count) < 0.7] = 0.0
    elif kind == "all clipped":
        planes = -np.abs(planes)
    elif kind == "no losses":
        losses[:] = 0.0
    lower = np.where(rng.random(dim) < 0.5, 0.0, -np.inf)
    upper = np.where(rng.random(dim) < 0.1, 0.3, np.inf)
    frozen, value = rng.random(dim) < 0.1, rng.normal(size=dim)
    lower[frozen] = upper[frozen] = value[frozen]
    return Instance(planes, losses, C, lower, upper)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("C", [1e-6, 1e-2, 1.0, 10.0, 1e3])
def test_newton_meets_the_optimality_conditions(kind: str, C: float) -> None:
    for seed in range(20):
        case = instance(seed, kind, C)
        result = case.solve(qp_solver("dual"))
        w, primal, dual = case.values(result.alpha)
        assert np.all(result.alpha >= 0.0)
        assert result.alpha.sum() <= C * (1 + 1e-14)
        np.testing.assert_allclose(result.weights, w, rtol=1e-12, atol=1e-12 * np.abs(w).max(initial=0.0))
        np.testing.assert_allclose(
            [result.value, result.value + result.gap], [dual, primal], rtol=1e-9, atol=1e-13
        )
        assert primal - dual <= 2e-9 * max(primal, 1e-300) + 1e-13 * C
        # complementarity: a plane with mass is among the most violated, spare mass means no violation
        slack = case.losses - case.planes @ w
        worst = max(0.0, slack.max())
        assert np.all(result.alpha * (worst - slack) <= 1e-8 * primal + 1e-13 * C)
        assert (C - result.alpha.sum()) * worst <= 1e-8 * primal + 1e-13 * C


@pytest.mark.parametrize("kind", KINDS)
def test_methods_agree(kind: str) -> None:
    for seed in range(25):
        case = instance(100 + seed, kind, float(np.random.default_rng(seed).choice([0.01, 0.3, 3.0])))
        newton = case.solve(qp_solver("dual"))
        for name in ("dcd", "clarabel"):
            result = case.solve(qp_solver(name), tolerance=1e-7)
            # the weights are unique, and strong convexity turns a gap into a distance
            assert abs(result.value - newton.value) <= result.gap + newton.gap + 1e-12
            distance = np.sum((result.weights - newton.weights) ** 2)
            assert distance <= 4 * (result.gap + newton.gap) + 1e-12
            assert result.gap <= 1e-3 * (result.value + result.gap) + 1e-5 * case.C


@settings(max_examples=150, deadline=None)
@given(st.integers(0, 10**6), st.sampled_from(KINDS), st.floats(-6, 9))
def test_any_scale_ends_with_an_honest_gap(seed: int, kind: str, exponent: float) -> None:
    case = instance(seed, kind, 10.0**exponent)
    result = case.solve(qp_solver("dual"))
    _, primal, dual = case.values(result.alpha)
    scale = abs(primal) + case.C * (
        np.abs(case.losses).max() + np.abs(case.planes).max() ** 2 * result.alpha.sum() * case.planes.shape[1]
    )
    assert result.gap >= primal - dual - 1e-12 * scale
    assert primal - dual <= 1e-5 * primal + 1e-14 * scale


def test_zeros_are_exact() -> None:
    case = instance(3, "random", 1.0)
    case.lower[:] = 0.0
    case.upper[:] = np.inf
    result = case.solve(qp_solver("dual"))
    x = result.alpha @ case.planes
    assert (x < 0).any(), "the instance must clip something"
    assert np.all(result.weights[x < 0] == 0.0)
    assert np.count_nonzero(result.alpha) < len(result.alpha)


def test_hand_solved() -> None:
    """One plane (3, -4), loss 10, second weight >= 0: w = (3 a, 0), a = min(C, 10/9)."""
    case = Instance(
        np.array([[3.0, -4.0]]), np.array([10.0]), 5.0, np.array([-np.inf, 0.0]), np.full(2, np.inf)
    )
    for solver in (qp_solver("dual"), qp_solver("dcd"), qp_solver("clarabel")):
        result = case.solve(solver)
        np.testing.assert_allclose(result.alpha, [10 / 9], rtol=1e-6)
        np.testing.assert_allclose(result.weights, [10 / 3, 0.0], rtol=1e-6)
        np.testing.assert_allclose(result.value, 50 / 9, rtol=1e-7)
        case_small = Instance(case.planes, case.losses, 0.5, case.lower, case.upper)
        np.testing.assert_allclose(case_small.solve(solver).value, 5.0 - 0.5 * 1.5**2, rtol=1e-7)


def test_warm_start_saves_iterations_and_infeasible_starts_are_mended() -> None:
    case = instance(11, "random", 3.0)
    cold = case.solve(qp_solver("dual"))
    warm = case.solve(qp_solver("dual"), start=cold.alpha)
    assert warm.iterations <= 1
    for start in (np.full(len(case.losses), 1e3), np.full(len(case.losses), -1.0)):
        result = case.solve(qp_solver("dual"), start=start)
        np.testing.assert_allclose(result.value, cold.value, rtol=1e-8)


def test_time_limit() -> None:
    rng = np.random.default_rng(0)
    case = Instance(
        rng.normal(size=(50, 30)), rng.random(50), 100.0, np.full(30, -np.inf), np.full(30, np.inf)
    )
    for name in ("dual", "dcd"):
        with pytest.raises(OutOfTime):
            case.solve(qp_solver(name), time_left=0.0)


def test_refusals(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ValueError, match="qp='gurobi' is unknown"):
        qp_solver("gurobi")
    case = instance(0, "random", 1.0)
    with pytest.raises(ValueError, match="C must be positive"):
        Instance(case.planes, case.losses, 0.0, case.lower, case.upper).solve(qp_solver("dual"))
    with pytest.raises(ValueError, match="exceeds its upper bound"):
        Instance(case.planes, case.losses, 1.0, np.ones(len(case.upper)), np.zeros(len(case.upper))).solve(
            qp_solver("dual")
        )
    real = builtins.__import__

    def without(name: str, *rest: object) -> object:
        if name == "clarabel":
            raise ImportError(name)
        return real(name, *rest)  # type: ignore[arg-type]

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(ImportError, match=r"gapcut\[exact\]"):
        case.solve(qp_solver("clarabel"))

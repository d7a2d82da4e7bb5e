"""Bounds against enumeration, the exact value of sums in rational arithmetic, and the extremes."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from brute_oracle import BruteOracle, all_planes, enumerated_optimum
from gapcut.certificates import (
    Bounds,
    Certificate,
    dual_bound,
    iteration_bound,
    primal_bound,
    trivial_bound,
)
from gapcut.certificates.rounding import gamma
from gapcut.oracles import OracleTotal, SlackBound
from gapcut.problem import LearningProblem, learning_problem
from tiny import TinyGraph, tiny_problem


def exact_objective(problem: LearningProblem, total: OracleTotal, w: np.ndarray) -> Fraction:
    return sum((Fraction(v) ** 2 for v in w), Fraction(0)) / 2 + Fraction(problem.C) * Fraction(total.bound)


def exact_dual(problem: LearningProblem, alpha: np.ndarray, rows: np.ndarray, losses: np.ndarray) -> Fraction:
    """The dual value in rational arithmetic; planes and losses taken as they are."""
    value = sum((Fraction(a) * Fraction(d) for a, d in zip(alpha, losses, strict=True)), Fraction(0))
    for j in range(problem.dim):
        x = sum((Fraction(a) * Fraction(h) for a, h in zip(alpha, rows[:, j], strict=True)), Fraction(0))
        w = x
        if np.isfinite(problem.lower[j]):
            w = max(w, Fraction(problem.lower[j]))
        if np.isfinite(problem.upper[j]):
            w = min(w, Fraction(problem.upper[j]))
        value -= w * x - w * w / 2
    return value


@pytest.mark.parametrize("scale", [1e-150, 1e-6, 1.0, 1e6, 1e100])
def test_primal_bound_is_above_the_exact_value(scale: float) -> None:
    for seed in range(50):
        rng = np.random.default_rng(seed)
        problem, _, _ = tiny_problem(rng, C=float(10.0 ** rng.integers(-6, 10)))
        w = rng.normal(size=problem.dim) * scale
        total = OracleTotal(np.zeros(problem.dim), 0.0, float(rng.random() * scale))
        value, rounding = primal_bound(problem, w, total.slack(w))
        exact = exact_objective(problem, total, w)
        assert Fraction(value) >= exact
        assert Fraction(value) <= exact * (1 + Fraction(1e-12)) + Fraction(1e-300)
        assert rounding >= 0.0


def test_dual_bound_is_below_the_exact_value() -> None:
    for seed in range(200):
        rng = np.random.default_rng(seed)
        C = float(10.0 ** rng.integers(-6, 10))
        problem, graphs, labels = tiny_problem(rng, n_graphs=1, max_bits=6, C=C)
        rows, losses = all_planes(problem, graphs, labels)[0]
        alpha = rng.random(len(losses)) * (rng.random(len(losses)) < 0.4)
        alpha *= C / max(alpha.sum(), 1e-300)
        value, rounding = dual_bound(problem, alpha @ rows, float(alpha @ losses), np.count_nonzero(alpha))
        exact = exact_dual(problem, alpha, rows, losses)
        floor = Fraction(0)
        assert Fraction(value) <= max(exact, floor)
        assert rounding >= 0.0
        size = C * float(losses.max()) + C**2 * float((np.abs(rows).max(axis=0) ** 2).sum())
        assert Fraction(value) >= exact - Fraction(1e-12 * size)


def test_dual_bound_pays_for_too_much_mass() -> None:
    """Nudging alpha over the cap by ulps must not lift the bound over the optimum: a case where D is tight
    and w = 0.
    """
    graph = TinyGraph(np.zeros((1, 1)), np.zeros((0, 2), dtype=np.int64), np.zeros((0, 1)))
    problem = learning_problem([graph], [np.array([0])], n_labels=2, C=3.0, loss_scale=1.0)
    optimum = Fraction(problem.C) * Fraction(problem.max_loss)
    for excess in (0.0, 2e-16, 4e-16):
        value, _ = dual_bound(problem, np.zeros(problem.dim), problem.C * (1 + excess) * problem.max_loss, 1)
        assert Fraction(value) <= optimum
        assert Fraction(value) >= optimum * (1 - Fraction(1e-13))


def test_dual_bound_pays_for_mass_and_planes_at_once() -> None:
    """The largest excess of mass and the largest error of the losses that the bound allows for, together: paying
    for one of them only would lift it over the optimum. With this many terms they dwarf all other rounding.
    """
    graph = TinyGraph(np.zeros((1, 1)), np.zeros((0, 2), dtype=np.int64), np.zeros((0, 1)))
    terms = 1_000_000
    for C in (1e-3, 3.0, 1e6):
        problem = learning_problem([graph], [np.array([0])], n_labels=2, C=C, loss_scale=1.0)
        optimum = Fraction(problem.C) * Fraction(problem.max_loss)
        loss = float(optimum * (1 + Fraction(gamma(terms + 2))) * (1 + Fraction(gamma(terms))))
        value, _ = dual_bound(problem, np.zeros(problem.dim), loss, terms)
        assert Fraction(value) <= optimum
        assert Fraction(value) >= optimum * (1 - Fraction(1e-12) - 2 * Fraction(gamma(terms)))


def test_trivial_bounds_hold_for_every_box() -> None:
    for seed in range(60):
        rng = np.random.default_rng(seed)
        problem, graphs, labels = tiny_problem(
            rng, n_graphs=2, max_bits=6, C=float(rng.choice([0.01, 1.0, 50.0]))
        )
        if seed % 2:
            value = rng.normal(size=problem.dim)
            frozen = rng.random(problem.dim) < 0.4
            problem = replace(
                problem,
                lower=np.where(frozen, value, problem.lower),
                upper=np.where(frozen, value, problem.upper),
            )
        planes = all_planes(problem, graphs, labels)
        lower, upper = enumerated_optimum(problem, planes)
        bounds = Bounds(problem)
        assert bounds.lower <= upper
        assert bounds.upper >= lower
        assert bounds.upper == trivial_bound(problem)
        w = bounds.weights
        assert np.array_equal(w, problem.clamp(np.zeros(problem.dim)))
        measured = bounds.offer_primal(w, BruteOracle(planes).total(w).slack(w))
        assert measured <= trivial_bound(problem) * (1 + 1e-12)


def test_bounds_keep_the_best_and_their_weights() -> None:
    problem, graphs, labels = tiny_problem(np.random.default_rng(4), n_graphs=2, max_bits=6)
    oracle, rng = BruteOracle(all_planes(problem, graphs, labels)), np.random.default_rng(0)
    bounds = Bounds(problem)
    values = {bounds.upper: bounds.weights}
    for _ in range(20):
        w = problem.clamp(0.2 * rng.normal(size=problem.dim))
        values[bounds.offer_primal(w, oracle.total(w).slack(w))] = w
        assert bounds.upper == min(values)
        assert np.array_equal(bounds.weights, values[bounds.upper])
    bounds.offer_primal(w, SlackBound(np.inf, np.inf))
    assert not bounds.bounded
    assert bounds.relative_gap == np.inf
    assert np.array_equal(bounds.weights, w)


def test_overflow_is_no_bound() -> None:
    problem, _, _ = tiny_problem(np.random.default_rng(1))
    huge = np.full(problem.dim, 1e200)
    assert primal_bound(problem, huge, SlackBound(1.0, 0.0)) == (np.inf, 0.0)
    assert dual_bound(problem, huge, 1e308, 3) == (0.0, 0.0)
    assert dual_bound(problem, np.full(problem.dim, np.nan), 1.0, 3) == (0.0, 0.0)


def test_iteration_bound_formula_and_range() -> None:
    problem, _, _ = tiny_problem(np.random.default_rng(7), C=2.0, loss_scale=100.0)
    reach = 4 * problem.radius**2 * problem.C
    assert reach > 0
    doubling = max(0, int(np.ceil(np.log2(problem.max_loss / reach))))
    assert iteration_bound(problem, reach / 10) == doubling + 40
    assert iteration_bound(problem, reach) == doubling + 4
    assert iteration_bound(problem, 1e9 * reach) == doubling + 4, "a larger eps stops no later"
    assert iteration_bound(problem, 0.0) is None
    assert iteration_bound(replace(problem, C=1e9), 4e9 * problem.radius**2) == 4, (
        "a negative first term counts as 0"
    )
    flat = TinyGraph(np.zeros((2, 1)), np.zeros((0, 2), dtype=np.int64), np.zeros((0, 1)))
    zero = learning_problem([flat], [np.array([0, 1])], n_labels=2, C=1.0, loss_scale=1.0)
    assert iteration_bound(zero, 1e-3) == 2


def test_gaps_of_a_certificate() -> None:
    certificate = Certificate("relaxed binary", 9.0, 10.0, 1e-9, 12, 3, "certified", 77)
    assert (certificate.gap, certificate.relative_gap) == (1.0, 0.1)
    assert Certificate("one-hot", 0.0, 0.0, 0.0, 0, 0, "certified").relative_gap == 0.0
    assert Certificate("one-hot", 0.0, np.inf, 0.0, 0, 0, "uncertified").relative_gap == np.inf

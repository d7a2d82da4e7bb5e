"""Block-coordinate Frank-Wolfe: its certificates against enumeration, its line search against a fine grid."""

from __future__ import annotations

import numpy as np
import pytest

from gapcut.learners import FrankWolfe, Limits
from gapcut.oracles import CutOracle
from gapcut.problem import learning_problem, line_search
from learner_checks import (
    Careless,
    Unbounded,
    check_boxes,
    check_counts_and_history,
    check_early_ends,
    check_random_problems,
    check_threads,
)
from tiny import TinyGraph, tiny_problem


@pytest.mark.parametrize(("C", "gap"), [(1e-6, 1e-2), (0.1, 1e-2), (1.0, 2e-2), (10.0, 0.1)])
def test_brackets_the_enumerated_optimum_and_certifies(C, gap):
    assert check_random_problems(FrankWolfe, C, gap=gap, passes=1000) >= 24


def test_brackets_at_large_C():
    check_random_problems(FrankWolfe, 1e3, gap=0.1, passes=100)


@pytest.mark.parametrize("settings", [{"averaging": False}, {"batch": 3}, {"batch": 100}])
def test_settings_change_the_way_and_not_the_answer(settings):
    assert check_random_problems(lambda: FrankWolfe(**settings), 1.0, gap=2e-2, passes=1500) == 25


def test_boxes_frozen_and_bounded_weights():
    assert check_boxes(FrankWolfe, gap=2e-2, passes=1000) == 15


def test_inexact_oracle_stays_honest():
    check_random_problems(FrankWolfe, 1.0, gap=1e-2, passes=30, oracle=Careless)


def test_an_oracle_without_bounds_certifies_nothing():
    problem, *_ = tiny_problem(np.random.default_rng(4), n_graphs=3)
    result = FrankWolfe().run(problem, Unbounded(problem), Limits(max_passes=10))
    assert result.certificate.status == "uncertified"
    assert result.certificate.upper == np.inf


def test_same_bits_for_any_number_of_threads():
    check_threads(lambda **kwargs: FrankWolfe(batch=4, **kwargs))


def test_early_ends_keep_a_valid_certificate():
    check_early_ends(FrankWolfe)


def test_counts_and_history():
    check_counts_and_history(FrankWolfe)


@pytest.mark.parametrize("C", [1e-6, 1.0, 1e6, 1e9])
def test_degenerate_data(C):
    graph = TinyGraph(np.ones((3, 2)), np.array([[0, 1], [1, 0], [0, 1]]), np.ones((3, 1)))
    for n_labels in (1, 3):
        problem = learning_problem(
            [graph], [np.zeros(3, dtype=int)], n_labels=n_labels, C=C, loss_scale=100.0
        )
        result = FrankWolfe().run(problem, CutOracle(problem), Limits(max_passes=200))
        assert 0.0 <= result.certificate.lower <= result.certificate.upper < np.inf


def test_line_search_finds_the_best_step():
    rng = np.random.default_rng(0)
    grid = np.linspace(0.0, 1.0, 2001)
    inside = 0
    for _ in range(300):
        problem, *_ = tiny_problem(rng)
        x, along = rng.normal(size=(2, problem.dim)) * 10.0 ** rng.integers(-3, 4)
        along[rng.random(problem.dim) < 0.3] = 0.0
        gain = float(rng.normal() * (problem.clamp(x) @ np.abs(along) + 1e-3 * np.abs(along).sum()))
        size = line_search(problem, x, along, gain)
        assert 0.0 <= size <= 1.0

        points = x + np.append(grid, size)[:, None] * along
        w = problem.clamp(points)
        values = np.append(grid, size) * gain - (w * points - 0.5 * w * w).sum(axis=1)
        best = values.max()
        assert values[-1] >= best - 1e-9 * (1.0 + abs(best) + problem.conjugate(x))
        inside += 0.0 < size < 1.0
    assert inside > 60


def test_line_search_on_a_flat_piece_and_without_direction():
    problem, *_ = tiny_problem(np.random.default_rng(1))
    zero = np.zeros(problem.dim)
    assert line_search(problem, zero, zero, 1.0) == 1.0
    assert line_search(problem, zero, zero, 0.0) == 0.0
    assert line_search(problem, zero, zero, -1.0) == 0.0


def test_refuses_an_empty_batch():
    with pytest.raises(ValueError, match="batch=0"):
        FrankWolfe(batch=0)

"""Stochastic subgradient steps: weak certificates, but valid ones, and steps that do converge."""

from __future__ import annotations

import numpy as np
import pytest

from brute_oracle import all_planes, enumerated_optimum
from gapcut.learners import Limits, Subgradient
from gapcut.oracles import CutOracle
from gapcut.problem import learning_problem
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


@pytest.mark.parametrize("C", [1e-6, 0.1, 1.0])
def test_brackets_the_enumerated_optimum_and_certifies(C):
    assert check_random_problems(Subgradient, C, gap=0.1, passes=500) >= 20


@pytest.mark.parametrize("C", [10.0, 1e3])
def test_brackets_at_large_C(C):
    check_random_problems(Subgradient, C, gap=0.1, passes=100)


@pytest.mark.parametrize("settings", [{"averaging": False}, {"batch": 1}, {"first": 1.0}])
def test_settings_keep_the_bounds(settings):
    check_random_problems(lambda: Subgradient(**settings), 1.0, gap=0.1, passes=60)


def test_both_bounds_tend_to_the_optimum():
    """Ten times the steps at least halve the distance of either bound, summed over problems."""
    rng = np.random.default_rng(9)
    upper, lower = np.zeros(2), np.zeros(2)
    for _ in range(8):
        problem, graphs, labels = tiny_problem(rng, n_graphs=4, max_bits=8, C=1.0)
        _, best = enumerated_optimum(problem, all_planes(problem, graphs, labels))
        for i, passes in enumerate((60, 600)):
            result = Subgradient().run(problem, CutOracle(problem), Limits(gap=1e-6, max_passes=passes))
            upper[i] += (result.certificate.upper - best) / best
            lower[i] += (best - result.certificate.lower) / best
    assert upper[1] < 0.5 * upper[0]
    assert lower[1] < 0.5 * lower[0]


def test_boxes_frozen_and_bounded_weights():
    check_boxes(Subgradient, gap=0.1, passes=100)


def test_inexact_oracle_stays_honest():
    check_random_problems(Subgradient, 1.0, gap=1e-2, passes=30, oracle=Careless)


def test_an_oracle_without_bounds_certifies_nothing():
    problem, *_ = tiny_problem(np.random.default_rng(4), n_graphs=3)
    result = Subgradient().run(problem, Unbounded(problem), Limits(max_passes=10))
    assert result.certificate.status == "uncertified"
    assert result.certificate.upper == np.inf


def test_same_bits_for_any_number_of_threads():
    check_threads(Subgradient)


def test_early_ends_keep_a_valid_certificate():
    check_early_ends(lambda: Subgradient(batch=1))


def test_counts_and_history():
    check_counts_and_history(Subgradient)


@pytest.mark.parametrize("C", [1e-6, 1.0, 1e6, 1e9])
def test_degenerate_data(C):
    graph = TinyGraph(np.zeros((2, 1)), np.array([[0, 1]]), np.zeros((1, 1)))
    for n_labels in (1, 3):
        problem = learning_problem(
            [graph], [np.zeros(2, dtype=int)], n_labels=n_labels, C=C, loss_scale=100.0
        )
        result = Subgradient().run(problem, CutOracle(problem), Limits(max_passes=100))
        assert 0.0 <= result.certificate.lower <= result.certificate.upper < np.inf


def test_refuses_settings_without_sense():
    with pytest.raises(ValueError, match="batch=0"):
        Subgradient(batch=0)
    with pytest.raises(ValueError, match="first=-1"):
        Subgradient(first=-1.0)

"""Learning problems with cliques, bracketed around their enumerated optimum by every learner that takes them."""

from __future__ import annotations

import numpy as np
import pytest

from gapcut.certificates import iteration_bound
from gapcut.learners import Block, CuttingPlane, FrankWolfe, Limits, PrimalDual, Subgradient
from gapcut.oracles import CutOracle
from learner_checks import check_bracket
from tiny import clique_problem


@pytest.mark.parametrize(
    ("make", "rounds", "gap", "passes", "least"),
    [
        (Block, 40, 1e-3, 300, 40),
        (CuttingPlane, 20, 1e-2, 300, 20),
        (FrankWolfe, 8, 0.1, 150, 4),
        (Subgradient, 8, 0.2, 150, 2),
    ],
    ids=["block", "cutting-plane", "frank-wolfe", "subgradient"],
)
def test_brackets(make, rounds, gap, passes, least) -> None:
    rng = np.random.default_rng(11)
    certified = weights = 0
    for _ in range(rounds):
        C = 10.0 ** float(rng.integers(-2, 2))
        problem, graphs, labels = clique_problem(rng, n_graphs=int(rng.integers(1, 4)), max_bits=9, C=C)
        result = make().run(problem, CutOracle(problem), Limits(gap=gap, max_passes=passes))
        check_bracket(problem, graphs, labels, result)
        certified += result.certificate.status == "certified"
        weights += sum(w.any() for w in problem.clique_weights(result.weights))
    assert certified >= least
    assert weights > 0, "no clique got a weight in these problems"


def test_passes_stay_below_the_theorem() -> None:
    rng = np.random.default_rng(12)
    for _ in range(10):
        problem, *_ = clique_problem(rng, n_graphs=2, max_bits=9)
        eps = 0.05 * problem.max_loss
        result = CuttingPlane().run(problem, CutOracle(problem), Limits(eps=eps))
        assert result.certificate.passes <= iteration_bound(problem, eps)


def test_radius_bounds_every_plane() -> None:
    from tiny import enumerated_planes

    rng = np.random.default_rng(13)
    for _ in range(100):
        problem, graphs, labels = clique_problem(rng, max_bits=9)
        planes, _ = enumerated_planes(problem, graphs[0], labels[0])
        assert np.linalg.norm(planes, axis=1).max() <= problem.radius * (1 + 1e-12)


def test_primal_dual_refuses_in_one_line() -> None:
    problem, *_ = clique_problem(np.random.default_rng(14))
    with pytest.raises(ValueError, match="the problem has cliques: use learner='block'"):
        PrimalDual().run(problem, CutOracle(problem), Limits())

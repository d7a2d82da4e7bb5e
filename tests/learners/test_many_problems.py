"""Hundreds of tiny problems of every awkward kind against their enumerated optimum: all must end certified."""

from __future__ import annotations

import numpy as np
import pytest

from gapcut.learners import Block, Limits, PrimalDual
from gapcut.oracles import CutOracle
from gapcut.problem import LearningProblem, learning_problem
from learner_checks import check_bracket
from tiny import TinyGraph, tiny_graph

KINDS = ("plain", "nodes without features", "edges without features", "all features one", "all labels equal")


def awkward_problem(
    rng: np.random.Generator, kind: str
) -> tuple[LearningProblem, list[TinyGraph], list[np.ndarray]]:
    """2 to 4 labels, 1 to 3 graphs, a quarter of them without edges, isolated nodes, ties, C of 1e-6 to 1e6."""
    n_labels, node_dim, edge_dim = (int(rng.integers(low, high)) for low, high in ((2, 5), (1, 3), (1, 3)))
    only = int(rng.integers(n_labels))
    graphs, labels = [], []
    for _ in range(int(rng.integers(1, 4))):
        n_nodes = int(rng.integers(1, 8 // n_labels + 1))
        n_edges = 0 if rng.random() < 0.25 else int(rng.integers(1, 7))
        graph = tiny_graph(rng, n_nodes, n_edges, node_dim, edge_dim)
        if kind in ("nodes without features", "all features one"):
            graph.node_features[:] = float(kind == "all features one")
        if kind in ("edges without features", "all features one"):
            graph.edge_features[:] = float(kind == "all features one")
        graphs.append(graph)
        equal = kind == "all labels equal"
        labels.append(np.full(n_nodes, only) if equal else rng.integers(n_labels, size=n_nodes))
    C, scale = 10.0 ** float(rng.integers(-6, 7)), float(rng.choice([1.0, 4.0, 100.0]))
    return learning_problem(graphs, labels, n_labels=n_labels, C=C, loss_scale=scale), graphs, labels


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    ("make", "rounds", "passes"), [(PrimalDual, 100, 300), (Block, 40, 300)], ids=["primal-dual", "block"]
)
def test_every_problem_is_certified_around_its_optimum(make, rounds, passes, kind):
    rng = np.random.default_rng(KINDS.index(kind))
    for round_ in range(rounds):
        problem, graphs, labels = awkward_problem(rng, kind)
        result = make().run(problem, CutOracle(problem), Limits(gap=1e-2, max_passes=passes))
        check_bracket(problem, graphs, labels, result)
        assert result.certificate.status == "certified", (round_, problem.C, result.message)
        assert result.certificate.upper - result.certificate.lower <= 1e-2 * result.certificate.upper * (
            1 + 1e-12
        )


def test_thousands_of_sparse_node_columns():
    """Beyond the size where the unary metric is factored; another learner bounds the same optimum."""
    rng = np.random.default_rng(9)
    graphs, labels = [], []
    for _ in range(12):
        y = rng.integers(3, size=40)
        present = rng.random((40, 1500)) < 0.01 + 0.02 * (np.arange(1500) % 3 == y[:, None])
        graph = tiny_graph(rng, 40, 80, 1, 2)
        graphs.append(
            TinyGraph(
                np.where(present, rng.normal(1.0, 0.3, size=(40, 1500)), 0.0),
                graph.edges,
                graph.edge_features,
            )
        )
        labels.append(y)
    problem = learning_problem(graphs, labels, n_labels=3, C=0.3, loss_scale=100.0)
    limits = Limits(gap=1e-2, max_passes=300)
    steps, planes = (make().run(problem, CutOracle(problem), limits) for make in (PrimalDual, Block))
    assert steps.certificate.status == planes.certificate.status == "certified"
    assert max(steps.certificate.lower, planes.certificate.lower) <= min(
        steps.certificate.upper, planes.certificate.upper
    )

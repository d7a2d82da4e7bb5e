"""Columns and C many powers of ten apart: the default learner certifies what ``block`` certifies, at a like price."""

import time

import numpy as np
import pytest

from gapcut import Graph
from gapcut.learners import Block, LearnResult, Limits, PrimalDual
from gapcut.learners.schedule import LONGEST, SLOW_AFTER, CertificateSchedule
from gapcut.learners.steps import PASS_COST
from gapcut.oracles.cut import CutOracle
from gapcut.problem import LearningProblem, learning_problem


def unscaled(C: float) -> LearningProblem:
    """Chains of two labels whose columns lie between 1e-3 and 1e5."""
    rng = np.random.default_rng(0)
    graphs, labels = [], []
    for _ in range(10):
        nodes = rng.normal(size=(20, 6)) * np.array([1, 10, 1e3, 1e5, 1e-3, 1])
        edges = [[i, i + 1] for i in range(19)]
        graphs.append(Graph(nodes, edges, rng.random((19, 2)) * 1e4))
        labels.append((nodes[:, 2] > 0).astype(int))
    return learning_problem(graphs, labels, n_labels=2, C=C, loss_scale=100.0)


def drawn(seed: int) -> LearningProblem:
    """A tiny problem of random sizes; every column and C has a scale of its own."""
    rng = np.random.default_rng(seed)
    n_graphs, n_labels, node_dim = rng.integers(1, 9), int(rng.integers(2, 5)), rng.integers(1, 7)
    node_scale, edge_scale = 10.0 ** rng.uniform(-3, 5, node_dim), 10.0 ** rng.uniform(-3, 5, rng.integers(4))
    centres = rng.normal(size=(n_labels, node_dim)) * rng.choice([0.3, 1.0, 3.0])
    graphs, labels = [], []
    for _ in range(n_graphs):
        y = np.sort(rng.integers(0, n_labels, rng.integers(2, 20)))
        edges = rng.integers(0, len(y), (2 * len(y), 2))
        edges = edges[edges[:, 0] != edges[:, 1]]
        nodes = (centres[y] + rng.normal(size=(len(y), node_dim))) * node_scale
        graphs.append(Graph(nodes, edges, rng.random((len(edges), len(edge_scale))) * edge_scale))
        labels.append(y)
    C = 10.0 ** rng.uniform(-2, 4)
    return learning_problem(graphs, labels, n_labels=n_labels, C=C, loss_scale=100.0)


def compare(problem: LearningProblem) -> tuple[LearnResult, LearnResult]:
    """By ``block`` and by the default."""
    limits = Limits(max_passes=400)
    alone = Block().run(problem, CutOracle(problem), limits)
    return alone, PrimalDual().run(problem, CutOracle(problem), limits)


def check(alone: LearnResult, default: LearnResult) -> None:
    if alone.certificate.status != "certified":
        return
    assert default.certificate.status == "certified", default.message
    assert default.warm_start is not None
    iterations = default.warm_start().arrays["counters"][0]
    assert iterations <= 3 * (SLOW_AFTER + LONGEST + PASS_COST * alone.certificate.passes)


@pytest.mark.parametrize("C", [1.0, 1e4])
def test_columns_from_a_thousandth_to_a_hundred_thousand_are_certified(C: float) -> None:
    alone, default = compare(unscaled(C))
    assert alone.certificate.status == "certified"
    check(alone, default)


@pytest.mark.parametrize("seed", range(24))
def test_the_default_certifies_what_block_certifies(seed: int) -> None:
    check(*compare(drawn(seed)))


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(24, 324))
def test_the_default_certifies_what_block_certifies_on_hundreds(seed: int) -> None:
    check(*compare(drawn(seed)))


def test_steps_are_slow_only_where_four_times_as_many_would_not_do() -> None:
    falling = CertificateSchedule()
    for now, gap in ((200, 1000.0), (SLOW_AFTER, 10.0)):
        falling.note(now, gap, 0.01)
    assert not falling.slow
    falling.note(2 * SLOW_AFTER, 5.0, 0.01)
    assert falling.slow
    falling.note(4 * SLOW_AFTER, 0.1, 0.01)
    assert not falling.slow


def test_a_few_steps_are_never_slow() -> None:
    schedule = CertificateSchedule()
    schedule.note(SLOW_AFTER - 1, 1e9, 1.0)
    assert not schedule.slow


def wide(node_dim: int, n_graphs: int, n_nodes: int) -> LearningProblem:
    """Chains of five labels with many dense columns, of which five tell the labels."""
    rng = np.random.default_rng(0)
    edges = [[i, i + 1] for i in range(n_nodes - 1)]
    labels = [rng.integers(0, 5, n_nodes) for _ in range(n_graphs)]
    graphs = []
    for y in labels:
        nodes = rng.normal(size=(n_nodes, node_dim))
        nodes[:, :5] += 2 * np.eye(5)[y]
        graphs.append(Graph(nodes, edges, rng.random((n_nodes - 1, 2))))
    return learning_problem(graphs, labels, n_labels=5, C=1.0, loss_scale=100.0)


def test_wide_problems_have_a_certificate_early_and_meet_the_target() -> None:
    problem = wide(1100, 4, 30)
    first = PrimalDual().run(problem, CutOracle(problem), Limits(max_passes=1))
    assert first.warm_start is not None
    assert first.warm_start().arrays["counters"][0] == 5
    assert (
        PrimalDual().run(problem, CutOracle(problem), Limits(max_passes=30)).certificate.status == "certified"
    )


@pytest.mark.slow
def test_ten_thousand_columns_have_a_certificate_within_seconds() -> None:
    problem = wide(10_000, 20, 100)
    start = time.process_time()
    PrimalDual().run(problem, CutOracle(problem), Limits(max_passes=1))
    assert time.process_time() - start < 5.0

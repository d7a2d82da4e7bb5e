"""Both plane learners against enumeration, the theorems of the paper, interruptions, and extreme numbers."""

from __future__ import annotations

import itertools
import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from brute_oracle import BruteOracle, all_planes, enumerated_optimum, objective
from gapcut.certificates import Callback, Record, iteration_bound
from gapcut.learners import Block, CutOff, CuttingPlane, Learner, Limits
from gapcut.oracles import CutOracle
from gapcut.problem import LearningProblem, learning_problem
from tiny import TinyGraph, all_labelings, node_loss, one_hot, tiny_problem

LEARNERS = [CuttingPlane(), Block()]
both = pytest.mark.parametrize("learner", LEARNERS, ids=["cutting-plane", "block"])


def chains(shared: Path) -> tuple[LearningProblem, list[TinyGraph], list[np.ndarray], float]:
    """The reported case of five sign-constrained chains (relaxed binary labels)."""
    case = json.loads((shared / "cases" / "sign_constrained_chains.json").read_text())
    target = next(c for c in case["cases"] if c["labels"] == "relaxed binary")
    edges = np.array(case["edges"])
    graphs = [TinyGraph(np.array(x), edges, np.ones((len(edges), 1))) for x in case["node_features"]]
    labels = [np.array(y) for y in case["labels"]]
    problem = learning_problem(graphs, labels, n_labels=2, C=target["C"], loss_scale=target["loss_scale"])
    return problem, graphs, labels, target["optimum"]


@both
def test_reported_optimum_of_sign_constrained_chains(learner: Learner, shared: Path) -> None:
    problem, graphs, labels, optimum = chains(shared)
    for oracle in (CutOracle(problem), BruteOracle(all_planes(problem, graphs, labels))):
        result = learner.run(problem, oracle, Limits(gap=1e-7))
        assert result.certificate.status == "certified"
        assert result.certificate.lower - 1e-6 <= optimum <= result.certificate.upper + 1e-6, (
            "the file rounds to six digits"
        )
        assert result.certificate.upper - result.certificate.lower <= 1e-7 * result.certificate.upper
        assert np.all(problem.expand(result.weights)[1] >= 0.0)


@both
@pytest.mark.parametrize("C", [0.01, 1.0, 100.0])
def test_bounds_enclose_the_enumerated_optimum(learner: Learner, C: float) -> None:
    for seed in range(25):
        problem, graphs, labels = tiny_problem(np.random.default_rng(seed), n_graphs=3, max_bits=8, C=C)
        planes = all_planes(problem, graphs, labels)
        low, high = enumerated_optimum(problem, planes)
        for oracle in (CutOracle(problem), BruteOracle(planes)):
            result = learner.run(problem, oracle, Limits(gap=1e-5, max_passes=3000))
            assert result.certificate.status == "certified", result.message
            slack = 1e-9 * high
            assert result.certificate.lower <= high + slack
            assert result.certificate.upper >= low - slack
            assert objective(problem, planes, result.weights) <= result.certificate.upper * (1 + 1e-14)
            assert 0.0 <= result.certificate.rounding <= 1e-9 * max(1.0, result.certificate.upper)


@both
def test_every_record_holds_valid_bounds(learner: Learner) -> None:
    for seed in range(10):
        problem, graphs, labels = tiny_problem(
            np.random.default_rng(50 + seed), n_graphs=3, max_bits=8, C=5.0
        )
        planes = all_planes(problem, graphs, labels)
        low, high = enumerated_optimum(problem, planes)
        seen: list[Record] = []
        result = learner.run(problem, BruteOracle(planes), Limits(gap=1e-4, max_passes=500), seen.append)
        assert result.history == tuple(seen)
        for before, after in itertools.pairwise(seen):
            assert after.lower >= before.lower
            assert after.upper <= before.upper
            assert after.oracle_calls == before.oracle_calls + problem.n_graphs
        assert all(r.lower <= high * (1 + 1e-9) and r.upper >= low * (1 - 1e-9) for r in seen)


@both
def test_frozen_and_free_weights(learner: Learner) -> None:
    """Any box: pairwise weights free (another oracle must answer), unary weights frozen, bounded or
    non-negative.
    """
    for seed in range(25):
        rng = np.random.default_rng(300 + seed)
        problem, graphs, labels = tiny_problem(
            rng, n_graphs=2, max_bits=7, C=float(rng.choice([0.1, 2.0, 20.0]))
        )
        kind, value = rng.integers(5, size=problem.dim), rng.normal(size=problem.dim)
        lower = np.select([kind == 0, kind == 1, kind == 2], [value, 0.0, value - 0.1], -np.inf)
        upper = np.select([kind == 0, kind == 2], [value, value + 0.1], np.inf)
        problem = replace(problem, lower=lower, upper=upper)
        planes = all_planes(problem, graphs, labels)
        low, high = enumerated_optimum(problem, planes)
        result = learner.run(problem, BruteOracle(planes), Limits(gap=1e-6, max_passes=3000))
        assert result.certificate.status == "certified", result.message
        assert result.certificate.lower <= high * (1 + 1e-9)
        assert result.certificate.upper >= low * (1 - 1e-9)
        assert np.all((lower <= result.weights) & (result.weights <= upper))
        assert np.array_equal(result.weights[kind == 0], value[kind == 0])


def theorem_4_1(seeds: range) -> None:
    """Of what is returned: its value is <= the optimum, (w, xi + eps) is feasible, and Theorem B.4 held."""
    for seed in seeds:
        rng = np.random.default_rng(700 + seed)
        problem, graphs, labels = tiny_problem(
            rng, n_graphs=2, max_bits=8, C=float(rng.choice([0.05, 1.0, 10.0]))
        )
        planes = all_planes(problem, graphs, labels)
        _, high = enumerated_optimum(problem, planes)
        eps = float(rng.choice([1e-1, 1e-2, 1e-3])) * (problem.max_loss or 1.0)  # costs may all be 0
        oracle = BruteOracle(planes)
        result = CuttingPlane().run(problem, oracle, Limits(eps=eps))
        assert result.certificate.status == "certified"
        assert result.eta is not None
        assert result.xi is not None
        assert result.eta - result.xi <= eps
        w = result.weights
        assert np.array_equal(w, oracle.points[-1])
        working_set_value = 0.5 * w @ w + problem.C * result.xi
        assert working_set_value <= high * (1 + 1e-8)
        slack = np.mean([max(0.0, (d - h @ w).max()) for h, d in planes])
        assert 0.5 * w @ w + problem.C * slack <= result.certificate.upper
        assert slack <= (result.xi + eps) * (1 + 1e-12)
        assert result.certificate.iteration_bound == iteration_bound(problem, eps)
        assert result.certificate.passes <= result.certificate.iteration_bound
        assert (
            result.certificate.upper - result.certificate.lower
            <= problem.C * eps + 1e-8 * result.certificate.upper
        )
        by_gap = CuttingPlane().run(problem, oracle, Limits(gap=1e-3))
        if by_gap.certificate.upper > 0.0:
            assert by_gap.certificate.iteration_bound is not None
            assert by_gap.certificate.passes <= by_gap.certificate.iteration_bound


def test_theorem_4_1_and_the_iteration_bound() -> None:
    theorem_4_1(range(40))


@pytest.mark.slow
def test_theorem_4_1_on_a_thousand_problems() -> None:
    theorem_4_1(range(1000))


def test_eps_below_rounding_is_not_claimed() -> None:
    """The oracle's bound at any weights lies above the slack by its rounding, and eps pays for that too."""
    problem, _, _ = tiny_problem(np.random.default_rng(3), n_graphs=2, max_bits=8, C=1.0)
    oracle = CutOracle(problem)
    total = oracle.total(np.ones(problem.dim))
    assert total.bound > total.violation(np.ones(problem.dim))
    result = CuttingPlane().run(problem, oracle, Limits(eps=1e-18 * problem.max_loss))
    assert result.certificate.status == "stopped"
    assert "no plane is left to add" in result.message


def test_cutting_plane_asks_at_the_solution_of_its_working_set() -> None:
    """Algorithm 1 line by line, replayed with another solver of the program."""
    problem, graphs, labels = tiny_problem(np.random.default_rng(12), n_graphs=3, max_bits=8, C=2.0)
    planes = all_planes(problem, graphs, labels)
    points = []
    for name in ("dual", "dcd", "clarabel"):
        oracle = BruteOracle(planes)
        result = CuttingPlane(qp=name, qp_tolerance=1e-7 if name == "dcd" else 1e-10).run(
            problem, oracle, Limits(gap=1e-3)
        )
        assert result.certificate.status == "certified"
        points.append(oracle.points)
    assert np.array_equal(points[0][0], np.zeros(problem.dim))
    for other in points[1:]:
        for a, b in zip(points[0][:3], other[:3], strict=True):
            np.testing.assert_allclose(a, b, atol=1e-3 * max(1.0, np.abs(a).max()))


def test_the_loss_is_the_one_hot_loss_of_labelings_and_half_of_it_or_more_otherwise() -> None:
    """Delta_b = Delta on one-hot z and Delta_b = 0 only at z = y. Otherwise Delta_b >= Delta / 2, not Delta, as the
    paper has it: one wrong indicator makes a node wrong. Soft labels lose that too."""
    graph = TinyGraph(np.zeros((2, 1)), np.zeros((0, 2), dtype=np.int64), np.zeros((0, 1)))
    for n_labels in (2, 3):
        truth = one_hot(np.array([0, 1]), n_labels)
        loss = node_loss(graph, np.array([0, 1]), 4.0)
        for z in all_labelings(2, n_labels):
            relaxed = (np.abs(z - truth) * loss[:, None]).sum()
            # a node is wrong unless its row is the true one-hot row; the loss of that is rho / |V| = 2 * loss
            wrong = 2 * loss[~np.all(z == truth, axis=1)].sum()
            assert (relaxed == 0.0) == np.array_equal(z, truth)
            assert relaxed >= wrong / 2 * (1 - 1e-12)
            if np.all(z.sum(axis=1) == 1.0):
                assert relaxed == pytest.approx(wrong)
        nothing_at_a_node = truth.copy()
        nothing_at_a_node[0] = 0.0
        assert (np.abs(nothing_at_a_node - truth) * loss[:, None]).sum() == pytest.approx(loss[0])
    soft = np.array([[0.9, 0.1]])
    assert (np.abs(soft - np.array([[1.0, 0.0]])) * 1.0).sum() < 1.0, (
        "a soft label costs less than half a wrong node"
    )


@both
def test_same_bits_again_and_for_any_thread_count(learner: Learner) -> None:
    problem, _, _ = tiny_problem(np.random.default_rng(2), n_graphs=9, max_bits=12, C=3.0)
    runs = [learner.run(problem, CutOracle(problem, threads), Limits(gap=1e-4)) for threads in (1, 1, 2, 3)]
    for run in runs[1:]:
        assert np.array_equal(run.weights, runs[0].weights)
        assert run.certificate == runs[0].certificate


@both
def test_ctrl_c_and_the_callback_keep_the_best_model(learner: Learner) -> None:
    problem, graphs, labels = tiny_problem(np.random.default_rng(8), n_graphs=4, max_bits=10, C=10.0)
    planes = all_planes(problem, graphs, labels)

    def interrupt(record: Record) -> None:
        if record.passes == 3:
            raise KeyboardInterrupt

    def stop(record: Record) -> bool:
        return record.passes == 3

    for callback, text in ((interrupt, "by the user"), (stop, "by the callback")):
        result = learner.run(problem, BruteOracle(planes), Limits(gap=1e-9), callback)
        assert (result.certificate.status, result.certificate.passes) == ("stopped", 3)
        assert text in result.message
        assert objective(problem, planes, result.weights) <= result.certificate.upper
        assert result.certificate.upper == min(r.upper for r in result.history)


@both
def test_what_cut_a_run_off_is_told_apart_from_its_limits(learner: Learner) -> None:
    problem, graphs, labels = tiny_problem(np.random.default_rng(8), n_graphs=4, max_bits=10, C=10.0)
    planes = all_planes(problem, graphs, labels)

    def end(how: type[BaseException]) -> Callback:
        def ended(record: Record) -> None:
            if record.passes == 3:
                raise how

        return ended

    for callback, cut_off in (
        (end(KeyboardInterrupt), CutOff.BY_USER),
        (end(MemoryError), CutOff.BY_MEMORY),
        (lambda record: record.passes == 3, None),
    ):
        assert learner.run(problem, BruteOracle(planes), Limits(gap=1e-9), callback).cut_off is cut_off
    assert learner.run(problem, BruteOracle(planes), Limits(gap=1e-9, max_passes=3)).cut_off is None


@both
def test_limits(learner: Learner) -> None:
    problem, graphs, labels = tiny_problem(np.random.default_rng(8), n_graphs=4, max_bits=10, C=10.0)
    planes = all_planes(problem, graphs, labels)
    low, high = enumerated_optimum(problem, planes)
    at_once = learner.run(problem, CutOracle(problem), Limits(time_limit=0.0))
    inside = learner.run(problem, BruteOracle(planes, calls_allowed=2), Limits(gap=1e-9))
    passes = learner.run(problem, CutOracle(problem), Limits(gap=1e-9, max_passes=2))
    assert (at_once.certificate.passes, inside.certificate.passes, passes.certificate.passes) == (0, 2, 2)
    for result in (at_once, inside, passes):
        assert result.certificate.status == "stopped"
        assert np.isfinite(result.certificate.upper)
        assert result.certificate.lower <= high
        assert result.certificate.upper >= low
    assert "time_limit" in at_once.message
    assert "time_limit" in inside.message
    assert "max_passes" in passes.message


@both
def test_oracles_that_are_not_exact(learner: Learner) -> None:
    problem, graphs, labels = tiny_problem(np.random.default_rng(8), n_graphs=3, max_bits=8, C=1.0)
    planes = all_planes(problem, graphs, labels)
    low, high = enumerated_optimum(problem, planes)
    bounded = learner.run(problem, BruteOracle(planes, worse=2), Limits(gap=1e-6, max_passes=100))
    assert bounded.certificate.status == "stopped"
    assert bounded.certificate.lower <= high
    assert low <= bounded.certificate.upper < np.inf
    unproven = learner.run(problem, BruteOracle(planes, worse=2, proven=False), Limits(max_passes=100))
    assert unproven.certificate.status == "uncertified"
    assert unproven.certificate.upper == np.inf
    assert "proves no bound" in unproven.message
    assert np.any(unproven.weights != 0.0), "the last model, not the empty one"


@both
@pytest.mark.parametrize("C", [1e-6, 1e-3, 1e3, 1e6, 1e9])
def test_any_trade_off_ends_with_valid_bounds(learner: Learner, C: float) -> None:
    for seed in range(8):
        problem, graphs, labels = tiny_problem(np.random.default_rng(900 + seed), n_graphs=2, max_bits=7, C=C)
        planes = all_planes(problem, graphs, labels)
        result = learner.run(problem, CutOracle(problem), Limits(gap=1e-2, max_passes=2000, time_limit=20.0))
        assert result.certificate.status == "certified", result.message
        value = objective(problem, planes, result.weights)
        assert result.certificate.lower <= value <= result.certificate.upper * (1 + 1e-12)
        low, high = enumerated_optimum(problem, planes)
        assert result.certificate.lower <= high * (1 + 1e-6)
        assert result.certificate.upper >= low * (1 - 1e-6)


@both
@pytest.mark.parametrize("C", [1e-6, 1.0, 1e9])
@pytest.mark.parametrize(
    "kind", ["separable", "all equal", "zero features", "one label", "one node", "no weight"]
)
def test_special_data(learner: Learner, kind: str, C: float) -> None:
    rng = np.random.default_rng(0)
    edges = np.array([[0, 1], [1, 2]])
    labels = [np.array([0, 1, 0]), np.array([1, 1, 0])]
    nodes = [np.eye(2)[y] * 3.0 for y in labels]
    graphs = [TinyGraph(x, edges, rng.random((2, 1))) for x in nodes]
    n_labels = 2
    if kind == "all equal":
        labels = [np.zeros(3, dtype=int)] * 2
    elif kind == "zero features":
        graphs = [TinyGraph(np.zeros((3, 2)), edges, np.zeros((2, 1)))] * 2
    elif kind == "one label":
        labels, n_labels = [np.zeros(3, dtype=int)] * 2, 1
    elif kind == "one node":
        graphs, labels = (
            [TinyGraph(nodes[0][:1], np.zeros((0, 2), dtype=int), np.zeros((0, 1)))],
            [labels[0][:1]],
        )
    elif kind == "no weight":
        graphs = [TinyGraph(g.node_features, g.edges, g.edge_features, np.zeros(3)) for g in graphs]
    problem = learning_problem(graphs, labels, n_labels=n_labels, C=C, loss_scale=100.0)
    result = learner.run(problem, CutOracle(problem), Limits(gap=1e-2, max_passes=1000))
    assert result.certificate.status == "certified", result.message
    value = objective(problem, all_planes(problem, graphs, labels), result.weights)
    assert result.certificate.lower <= value * (1 + 1e-12) <= result.certificate.upper * (1 + 1e-10)
    if kind == "zero features":
        assert (
            result.certificate.lower
            <= C * problem.max_loss * (1 + 1e-12)
            <= result.certificate.upper * (1 + 2e-12)
        )
    if kind == "separable" and C == 1e9:
        assert result.certificate.upper < 1e4, "the hinge vanishes: the value is that of a finite w"


def test_settings_are_checked() -> None:
    with pytest.raises(ValueError, match="unknown"):
        CuttingPlane(qp="simplex")
    with pytest.raises(ValueError, match="stabilisation"):
        Block(stabilisation=0.0)
    with pytest.raises(ValueError, match="inner"):
        Block(inner=1.0)
    problem, _, _ = tiny_problem(np.random.default_rng(0))
    with pytest.raises(ValueError, match="eps"):
        CuttingPlane().run(problem, CutOracle(problem), Limits(eps=0.0))


def test_block_under_a_tight_memory_cap_stays_valid() -> None:
    problem, graphs, labels = tiny_problem(np.random.default_rng(6), n_graphs=4, max_bits=10, C=5.0)
    planes = all_planes(problem, graphs, labels)
    _, high = enumerated_optimum(problem, planes)
    seen: list[Record] = []
    result = Block(memory_mb=0.0).run(
        problem, CutOracle(problem), Limits(gap=1e-6, max_passes=60), seen.append
    )
    assert max(r.planes for r in seen) <= 2 * problem.n_graphs
    assert result.certificate.lower <= high * (1 + 1e-9)
    assert objective(problem, planes, result.weights) <= result.certificate.upper


def test_block_keeps_far_fewer_passes_than_without_stabilisation() -> None:
    """The reason for asking near the best weights; counted over instances to be no accident."""
    counts = {1.0: 0, 0.2: 0}
    for stabilisation in counts:
        for seed in range(6):
            rng = np.random.default_rng(seed)
            problem, _, _ = tiny_problem(rng, n_graphs=12, max_bits=12, C=30.0)
            result = Block(stabilisation=stabilisation).run(problem, CutOracle(problem), Limits(gap=1e-2))
            assert result.certificate.status == "certified"
            counts[stabilisation] += result.certificate.passes
    assert counts[0.2] < 2 * counts[1.0]

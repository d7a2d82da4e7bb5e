"""Sets cut into several shards: proofs against enumeration, and bits that do not depend on who works on them."""

from __future__ import annotations

import pickle
from itertools import pairwise

import numpy as np
import pytest

from brute_oracle import all_planes, enumerated_optimum
from forced_shards import same_bits, snake_problem
from gapcut import _core
from gapcut.learners import Limits, PrimalDual
from gapcut.learners.checkpoint import Checkpoint
from gapcut.oracles import CutOracle
from gapcut.oracles.lp import LpOracle
from gapcut.oracles.relaxation import RelaxedLabels
from gapcut.problem import learning_problem, plane_ends, shard_ends
from gapcut.problem import shards as rule
from learner_checks import check_boxes, check_random_problems
from lp_relaxed import lp_relaxed_optimum
from one_hot import tiny_one_hot
from sample_cliques import xor_graphs
from tiny import TinyGraph, tiny_problem

pytestmark = pytest.mark.usefixtures("forced")
both = pytest.mark.parametrize("make", [CutOracle, LpOracle], ids=["cut", "lp"])


@pytest.mark.parametrize("C", [1e-6, 0.1, 1.0, 10.0, 1e3])
def test_certificates_bracket_the_enumerated_optimum(C):
    assert check_random_problems(PrimalDual, C, 1e-2, 300) == 25


def test_boxes():
    assert check_boxes(PrimalDual, 1e-2, 300) == 15


def test_bounds_of_shards_hold_anywhere():
    """Also where no run ends: at any iterate, and at weights that have nothing to do with it."""
    rng = np.random.default_rng(5)
    for _ in range(40):
        problem, graphs, labels = tiny_problem(rng, n_graphs=int(rng.integers(2, 6)), max_bits=8, C=10.0)
        oracle = CutOracle(problem)
        relaxation = oracle.relaxation(PrimalDual().native(), 1)
        relaxation.advance(int(rng.choice([1, 7, 60])))
        planes = all_planes(problem, graphs, labels)
        _, best = enumerated_optimum(problem, planes)
        for w in (problem.clamp(relaxation.weights()), problem.clamp(rng.normal(size=problem.dim))):
            exact = oracle.total(w).bound
            assert relaxation.slack(w).bound >= exact - 1e-12 * (1.0 + exact)
            assert relaxation.total(w).bound == pytest.approx(exact, rel=1e-9, abs=1e-12)
            for closely in (False, True):
                assert relaxation.prove_slack(w, closely).slack.bound >= exact - 1e-12 * (1.0 + exact)
            assert relaxation.prove_slack(w, True).slack.bound <= exact + 1e-3 * (1.0 + np.abs(w).sum())
        nodes = int(problem.core.node_offset[-1])
        z = rng.random((nodes, problem.n_labels)).astype(np.float32)
        better, _ = relaxation.repair(z, problem.C, 3, 0.0, 1, None)
        before, after = (_dual(problem, relaxation, labels) for labels in (z, better))
        assert before <= after + 1e-5 * (1.0 + abs(before))  # labels come back in float32
        assert after <= best + 1e-7 * (1.0 + abs(best))


def test_bounds_and_points_of_shards_with_one_label_a_node():
    """At any iterate: bounds are above the slack, planes those that all graphs in one shard give, and what is stored
    comes back as it was."""
    rng, several = np.random.default_rng(6), 0
    for _ in range(25):
        problem, graphs, labels = tiny_one_hot(rng, int(rng.integers(2, 9)), free=True, C=3.0, most=60)
        relaxation = LpOracle(problem).relaxation(PrimalDual().native(), 1)
        several += len(relaxation._pool.here) > 1
        relaxation.advance(int(rng.choice([1, 7, 60])))
        best, _ = lp_relaxed_optimum(problem, graphs, labels)
        w = problem.clamp(rng.normal(size=problem.dim) * 3.0)
        slack = LpOracle(problem).total(w).violation(w)
        messages = relaxation.stored_messages(relaxation.fetched_messages(relaxation.messages()))
        for found in (relaxation.slack(w), relaxation.slack(w, None, messages), relaxation.total(w)):
            assert slack <= found.bound * (1 + 1e-9) + 1e-8
        assert relaxation.slack(w) == relaxation.slack(w, None, messages)
        for closely in (False, True):
            assert slack <= relaxation.prove_slack(w, closely).slack.bound * (1 + 1e-9) + 1e-8
        point = relaxation.reached()
        again = relaxation.stored(relaxation.fetched(point))
        plane, loss = relaxation.plane(point)
        assert np.array_equal(plane, relaxation.plane(again)[0])
        planes, losses = relaxation.planes(relaxation.feasible(point))
        assert planes.mean(axis=0) == pytest.approx(plane, abs=1e-5)
        assert losses.mean() == pytest.approx(loss, abs=1e-5)
        dual = problem.C * loss - problem.conjugate(problem.C * plane)
        assert dual <= best + 1e-6 * (1.0 + abs(best))
    assert several > 20


def test_a_shard_without_nodes_takes_part_in_mixtures():
    rng = np.random.default_rng(0)
    edges = {3: np.array([[0, 1], [1, 2], [2, 0]]), 0: np.zeros((0, 2), dtype=int)}
    graphs = [
        TinyGraph(rng.normal(size=(n, 2)), edges[n], rng.random((n, 1))) for n in [3, 0, 0, 3, 0, 0] * 2
    ]
    labels = [rng.integers(3, size=graph.n_nodes) for graph in graphs]
    problem = learning_problem(graphs, labels, n_labels=3, C=30.0, loss_scale=100.0)
    assert [1, 3] in map(list, pairwise(shard_ends(problem.core, tables=True)))
    relaxation = LpOracle(problem).relaxation(PrimalDual().native(), 1)
    relaxation.advance(5)
    points, found = [relaxation.feasible(relaxation.reached())], relaxation.labelings(np.zeros(problem.dim))
    relaxation.advance(5)
    points.append(relaxation.feasible(relaxation.reached()))
    shares = np.tile([[0.25], [0.5], [0.25]], len(graphs))
    planes, losses = relaxation.planes(relaxation.mixed(*points, found.labels[None], shares))
    parts = [*(relaxation.planes(point) for point in points), (found.planes, found.losses)]
    assert planes == pytest.approx(sum(s[0] * p[0] for s, p in zip(shares, parts, strict=True)), abs=1e-5)
    assert losses == pytest.approx(sum(s[0] * p[1] for s, p in zip(shares, parts, strict=True)), abs=1e-5)


def test_shards_forget_what_nobody_has():
    relaxation = LpOracle(snake_problem()).relaxation(PrimalDual().native(), 1)
    points = [relaxation.reached() for _ in range(3)]
    kept = relaxation._pool.here[0]._points
    assert sorted(kept.all()) == [point.number for point in points]
    del points[1]
    point = relaxation.reached()
    assert sorted(kept.all()) == [points[0].number, points[1].number, point.number]


def _dual(problem, relaxation, labels):
    plane, loss = relaxation.plane(RelaxedLabels(labels))
    return problem.C * loss - problem.conjugate(problem.C * plane)


@both
def test_threads_do_not_change_the_bits(make):
    problem = snake_problem()
    assert len(shard_ends(problem.core)) > 4
    first, *others = (
        PrimalDual(n_threads=t).run(problem, make(problem, t), Limits(gap=1e-3)) for t in (1, 2, 3)
    )
    assert first.certificate.status == "certified"
    for other in others:
        same_bits(first, other)


@both
def test_one_shard_and_several_prove_the_same_optimum(monkeypatch, make):
    several = PrimalDual().run(snake_problem(), make(snake_problem()), Limits(gap=1e-3))
    monkeypatch.undo()
    problem = snake_problem()
    assert shard_ends(problem.core) == [0, problem.n_graphs]
    one = PrimalDual().run(problem, make(problem), Limits(gap=1e-3))
    assert max(one.certificate.lower, several.certificate.lower) <= min(
        one.certificate.upper, several.certificate.upper
    )
    assert not np.array_equal(one.weights, several.weights)


@both
def test_a_resumed_run_ends_with_the_same_bits(tmp_path, make):
    problem, path = snake_problem(), tmp_path / "run"
    whole = PrimalDual().run(problem, make(problem), Limits(gap=1e-3))
    learner = PrimalDual(checkpoint=path, checkpoint_seconds=1e9)
    half = learner.run(problem, make(problem), Limits(gap=1e-3, max_passes=3))
    assert half.certificate.status == "stopped"
    resumed = learner.run(problem, make(problem), Limits(gap=1e-3))
    assert len(half.history) < len(resumed.history)
    same_bits(whole, resumed)


def test_a_checkpoint_does_not_know_of_shards(tmp_path, monkeypatch):
    problem, path = snake_problem(), tmp_path / "run"
    PrimalDual(checkpoint=path).run(problem, CutOracle(problem), Limits(gap=1e-3, max_passes=3))
    monkeypatch.undo()
    learner = PrimalDual(checkpoint=path)
    assert learner.run(problem, CutOracle(problem), Limits(gap=1e-3)).certificate.status == "certified"
    assert Checkpoint(path, learner._identity(problem), 1.0).path == path


def test_ends_are_those_of_graphs_of_about_equal_work(monkeypatch):
    core = snake_problem(60).core
    monkeypatch.setattr(rule, "MOST", 5)
    ends = shard_ends(core)
    assert ends[0] == 0
    assert ends[-1] == core.n_graphs
    assert len(ends) == 6
    edges = np.diff(core.edge_offset[ends])
    assert edges.max() < 1.2 * edges.min()


def test_parts_and_copies_answer_as_the_whole():
    problem = snake_problem()
    core = problem.core
    w = problem.clamp(np.random.default_rng(1).normal(size=problem.dim))
    whole = CutOracle(problem).evaluate(w)
    for begin, end in ((0, 3), (3, 4), (4, core.n_graphs), (2, 2)):
        part = core.part(begin, end)
        copy = pickle.loads(pickle.dumps(part))
        for own in (part, copy):
            found = _core.CutOracle(own, 1).evaluate(w, np.arange(end - begin, dtype=np.int32), None)
            assert np.array_equal(found[0], whole.planes[begin:end])
            assert np.array_equal(found[2], whole.bounds[begin:end])
    for begin, end in ((-1, 2), (3, 2), (0, core.n_graphs + 1)):
        with pytest.raises(ValueError, match="graphs that do not exist"):
            core.part(begin, end)


def test_parts_with_cliques():
    rng = np.random.default_rng(8)
    graphs = list(xor_graphs(5))
    tuples = [np.array([[a, a ^ b, b] for a in range(2) for b in range(2)]), np.array([[0] * 4, [1] * 4])]
    labels = [np.asarray(graph.labels) for graph in graphs]
    problem = learning_problem(graphs, labels, n_labels=2, C=1.0, loss_scale=10.0, tuples=tuples)
    core, w = problem.core, problem.clamp(rng.normal(size=problem.dim))
    whole = CutOracle(problem).evaluate(w)
    ends = plane_ends(core)
    assert len(ends) > 3
    for begin, end in pairwise(ends):
        part = pickle.loads(pickle.dumps(core.part(begin, end)))
        found = _core.CutOracle(part, 1).evaluate(w, np.arange(end - begin, dtype=np.int32), None)
        assert np.array_equal(found[0], whole.planes[begin:end])
        assert np.array_equal(found[2], whole.bounds[begin:end])


def test_sums_are_a_tree():
    rows = np.array([[1e16], [1.0], [-1e16], [1.0], [3.0]])
    assert _core.tree_sum(rows).tolist() == [((1e16 + 1.0) + (-1e16 + 1.0)) + 3.0]
    assert _core.tree_sum(rows[:1]).tolist() == [1e16]

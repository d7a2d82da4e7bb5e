"""Primal-dual learning of the LP-relaxed one-hot problem: its proofs against an interior point and enumeration."""

from __future__ import annotations

import numpy as np
import pytest

from brute_oracle import enumerated_optimum
from gapcut import Graph, StructuredSVM, _core
from gapcut.cli.show import certificate_document, certificate_line
from gapcut.learners import Limits, PrimalDual
from gapcut.learners.base import Session
from gapcut.learners.closing import FAR, NEAR, PASSES, STEP, WITHIN, Approach, Worth, pass_cost
from gapcut.learners.mixtures import GraphMixture
from gapcut.learners.schedule import PASS_COST, CertificateSchedule
from gapcut.learners.steps import Steps
from gapcut.oracles.lp import LpOracle
from gapcut.oracles.relaxation import RelaxedLabels
from gapcut.problem import learning_problem
from gapcut.scenes.datasets import make_scenes
from lp_relaxed import lp_relaxed_optimum
from one_hot import all_one_hot_planes, tiny_one_hot
from sample_cliques import xor_graphs
from tiny import TinyGraph, in_box, joint_feature_map, node_loss, one_hot

TRADE_OFFS = [1e-3, 0.1, 1.0, 10.0, 100.0]


def solve(problem, gap=1e-2, passes=60, **settings):
    return PrimalDual(**settings).run(problem, LpOracle(problem), Limits(gap=gap, max_passes=passes))


def check(rng, C, free):
    """One random problem; whether it was certified."""
    problem, graphs, labels = tiny_one_hot(rng, int(rng.integers(1, 4)), free=free, C=C, most=60)
    result = solve(problem)
    best, _ = lp_relaxed_optimum(problem, graphs, labels)
    slip = 1e-6 * (1.0 + abs(best))
    certificate = result.certificate
    assert certificate.problem == "LP-relaxed one-hot"
    assert certificate.lower <= best + slip
    assert best - slip <= certificate.upper
    assert (problem.clamp(result.weights) == result.weights).all()
    low, high = enumerated_optimum(problem, all_one_hot_planes(problem, graphs, labels))
    assert low <= certificate.upper
    if claim := certificate.one_hot:
        assert claim.lower <= high
        assert low <= claim.upper
        assert 0 <= claim.tight_graphs <= claim.graphs == problem.n_graphs
        assert (claim.status == "certified") == (claim.relative_gap <= 1e-2)
    assert (certificate.one_hot is not None) == (certificate.status == "certified")
    return certificate.status == "certified"


@pytest.mark.parametrize("free", [True, False])
@pytest.mark.parametrize("C", TRADE_OFFS)
def test_brackets_the_optimum_and_certifies(C, free):
    rng = np.random.default_rng(int(np.log10(C) * 10) + 100 + free)
    assert sum(check(rng, C, free) for _ in range(15)) >= 14


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(20))
def test_brackets_the_optimum_of_many_problems(seed):
    rng = np.random.default_rng(1000 + seed)
    certified = sum(check(rng, float(rng.choice(TRADE_OFFS)), bool(rng.integers(2))) for _ in range(100))
    assert certified >= 95


def random_point(rng, problem, graphs):
    """Labels off the simplex by rounding, and any tables: sparse ones, empty ones, close ones."""
    core, K = problem.core, problem.n_labels
    starts = np.cumsum([0] + [g.n_nodes for g in graphs])
    edges = np.concatenate([g.edges + s for g, s in zip(graphs, starts, strict=False)])
    z = rng.random((int(core.node_offset[-1]), K)) * (rng.random((int(core.node_offset[-1]), K)) < 0.7)
    z[z.sum(axis=1) == 0.0, 0] = 1.0
    z /= z.sum(axis=1, keepdims=True)
    m = z[edges[:, 0]][:, :, None] * z[edges[:, 1]][:, None, :]
    m = (
        m
        * rng.random(m.shape) ** rng.choice([0.0, 0.1, 3.0])
        * (rng.random(m.shape) < rng.choice([0.3, 1.0]))
    )
    return z.astype(np.float32), np.ascontiguousarray(m.reshape(len(m), K * K).T, dtype=np.float32)


def test_tables_are_made_feasible():
    """Plane and loss are those of labels and tables in the polytope: linear in both, so probed coordinate by coordinate
    with one edge."""
    rng = np.random.default_rng(3)
    for _ in range(200):
        K = int(rng.integers(1, 5))
        graph = TinyGraph(np.eye(2), np.array([[0, 1]]), np.ones((1, 1)))
        y = rng.integers(K, size=2)
        lower = np.full(2 * K + K * K, -np.inf)
        problem = learning_problem([graph], [y], n_labels=K, C=1.0, loss_scale=1.0, lower=lower)
        z, m = random_point(rng, problem, [graph])
        plane, loss = _core.table_sums(problem.core, z, m, 1)
        reached = joint_feature_map(graph, one_hot(y, K)) - np.asarray(plane)
        labels, table = reached[: 2 * K].reshape(K, 2).T, reached[2 * K :].reshape(K, K)
        assert labels == pytest.approx(z, abs=1e-6)
        assert labels.sum(axis=1) == pytest.approx(1.0, abs=1e-12)
        assert table.min() >= -1e-14
        assert table.sum(axis=1) == pytest.approx(labels[0], abs=1e-12)
        assert table.sum(axis=0) == pytest.approx(labels[1], abs=1e-12)
        truth = one_hot(y, K)
        assert loss == pytest.approx((np.abs(labels - truth) * node_loss(graph, y, 1.0)[:, None]).sum())


def test_points_stay_what_they_are_once_feasible_and_mixtures_are_feasible_too():
    """Planes are linear in the point: those of a mixture are mixtures of those of its parts, and of the truth's, 0."""
    rng = np.random.default_rng(13)
    for _ in range(30):
        problem, graphs, _ = tiny_one_hot(rng, 3, free=True, C=3.0, most=60)
        relaxation, n = LpOracle(problem).relaxation(PrimalDual().native(), 1), problem.n_graphs
        raw = [RelaxedLabels(*random_point(rng, problem, graphs)) for _ in range(2)]
        one, two = (relaxation.feasible(point) for point in raw)
        for point, whole in zip(raw, (one, two), strict=True):
            assert np.abs(relaxation.plane(whole)[0] - relaxation.plane(point)[0]).max() < 1e-5
            planes, losses = relaxation.planes(whole)
            assert planes.mean(axis=0) == pytest.approx(relaxation.plane(whole)[0], abs=1e-12)
            assert losses.mean() == pytest.approx(relaxation.plane(whole)[1])
        found = [relaxation.labelings(rng.normal(size=problem.dim)) for _ in range(int(rng.integers(4)))]
        labels = np.array([more.labels for more in found], dtype=np.int32).reshape(
            len(found), problem.core.node_offset[-1]
        )
        shares = rng.dirichlet(np.ones(3 + len(found)), size=n).T[:-1].copy()
        planes, losses = relaxation.planes(relaxation.mixed(one, two, labels, shares))
        parts = [relaxation.planes(one), relaxation.planes(two), *((f.planes, f.losses) for f in found)]
        expected = sum(share[:, None] * part[0] for share, part in zip(shares, parts, strict=True))
        assert planes == pytest.approx(expected, abs=1e-5)
        assert losses == pytest.approx(
            sum(s * part[1] for s, part in zip(shares, parts, strict=True)), abs=1e-5
        )


def test_masses_of_planes_are_those_behind_the_sums_and_can_be_set():
    rng = np.random.default_rng(15)
    for cache_of in (_core.PlaneCache, _core.SparsePlaneCache):
        caches = [cache_of(3, 2.0, np.full(4, -np.inf), np.full(4, np.inf), 100, 0) for _ in range(2)]
        blocks = np.array([0, 1, 2, 0, 1, 0], dtype=np.int32)
        planes, losses = rng.normal(size=(6, 4)), rng.random(6)
        planes[3], losses[3] = planes[0], losses[0]  # known: joins no block again
        for cache in caches:
            assert cache.add(blocks, planes, losses) == 5
        caches[0].sweep(1e-9, 200)
        masses = caches[0].masses()
        assert masses[3] == 0.0
        assert masses.max() > 0.0
        assert np.bincount(blocks, masses).max() <= 2.0 * (1 + 1e-12)
        x, loss, _ = caches[0].refresh()
        assert x == pytest.approx(masses @ planes)
        assert loss == pytest.approx(masses @ losses)
        caches[1].set_masses(masses)
        assert caches[1].refresh()[0] == pytest.approx(x, abs=1e-14)
        caches[1].set_masses(np.where(np.arange(6) == 3, masses[0], masses * (np.arange(6) > 0)))
        assert caches[1].refresh()[0] == pytest.approx(x, abs=1e-14)  # the same row, whichever has the mass
        with pytest.raises(ValueError, match="one mass"):
            caches[1].set_masses(masses[:5])


def two_points(rng, C):
    """Steps on a random problem, what they reached after 15 and 30 iterations, and labelings found there."""
    problem, *_ = tiny_one_hot(rng, 12, free=True, C=C, most=60)
    session = Session(problem, LpOracle(problem), Limits())
    steps = Steps(PrimalDual(), problem, session.oracle)
    points = []
    for iterations in (15, 15):
        steps.state.advance(iterations)
        points.append(steps.prove_lower(session, steps.relaxation.reached()))
    found, _ = steps.prove_upper(session, problem.clamp(steps.relaxation.weights()))
    return session, steps, points, found


@pytest.mark.parametrize("sweeps", [0, 50])
def test_mixtures_of_graphs_prove_more_than_their_parts(sweeps, monkeypatch):
    monkeypatch.setattr("gapcut.learners.mixtures.SWEEPS", sweeps)
    rng = np.random.default_rng(14)
    for C in (1.0, 3.0, 30.0, 100.0):
        session, steps, points, found = two_points(rng, C)
        if session.problem.n_labels == 1:
            continue
        assert steps.relaxation.mixes
        best = C * found.mean().bound + 0.5 * steps.relaxation.weights() @ steps.relaxation.weights()
        for wanted in (1e-4, 0.05 * best):
            mixture = GraphMixture(session.problem, steps.relaxation, *points, [found])
            shown = mixture.solve(wanted, None)
            value = steps.prove_lower(session, mixture.point()).value
            assert value == pytest.approx(shown, abs=1e-4 * best)
            assert max(0.0, *(point.value for point in points)) * (1.0 - 1e-5) <= value <= best
            for at in (0.9, 1.1):  # more labelings prove no less
                weights = session.problem.clamp(at * steps.relaxation.weights())
                mixture.add(steps.prove_upper(session, weights)[0])
            more = mixture.solve(wanted, None)
            assert more >= shown - 1e-9 * best
            assert steps.prove_lower(session, mixture.point()).value == pytest.approx(more, abs=1e-4 * best)


def test_the_best_point_before_is_mixed_with_the_one_reached(monkeypatch):
    pairs = []

    class Noted(GraphMixture):
        def __init__(self, problem, relaxation, one, two, found):
            pairs.append((one, two))
            super().__init__(problem, relaxation, one, two, found)

    monkeypatch.setattr("gapcut.learners.steps.GraphMixture", Noted)
    rng = np.random.default_rng(14)
    for _ in range(3):
        problem, *_ = tiny_one_hot(rng, 12, free=True, C=3.0, most=60)
        solve(problem, gap=1e-6, passes=8)
    assert len(pairs) > 3
    assert all(one is not two for one, two in pairs)
    assert any(one.value < two.value for one, two in pairs)


def calls_of(method, monkeypatch):
    """Grows by one whenever this method of :class:`Steps` is called from now on."""
    calls, done = [], getattr(Steps, method)

    def noted(*given):
        calls.append(1)
        return done(*given)

    monkeypatch.setattr(Steps, method, noted)
    return calls


def with_passes(monkeypatch):
    """Labelings of passes inside certificates, which are tried wherever the target is missed and points are mixed."""
    asked = calls_of("_ask", monkeypatch)
    monkeypatch.setattr(Steps, "_lengthen", lambda *given: None)
    monkeypatch.setattr("gapcut.learners.steps.FIRST_MIXTURE", 0)
    monkeypatch.setattr("gapcut.learners.closing.WITHIN", 1e9)
    monkeypatch.setattr("gapcut.learners.steps.AGAIN", 0)
    monkeypatch.setattr("gapcut.learners.steps.pass_cost", lambda problem: 1.0)
    return asked


@pytest.mark.parametrize("free", [True, False])
@pytest.mark.parametrize("C", TRADE_OFFS)
def test_passes_of_labelings_keep_both_ends(C, free, monkeypatch):
    asked = with_passes(monkeypatch)
    rng = np.random.default_rng(int(np.log10(C) * 10) + 200 + free)
    assert sum(check(rng, C, free) for _ in range(15)) >= 14
    assert len(asked) >= 10 or C < 0.1  # certified before


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(20))
def test_passes_of_labelings_keep_both_ends_of_many_problems(seed, monkeypatch):
    asked = with_passes(monkeypatch)
    rng = np.random.default_rng(3000 + seed)
    certified = sum(check(rng, float(rng.choice(TRADE_OFFS)), bool(rng.integers(2))) for _ in range(100))
    assert certified >= 95
    assert len(asked) >= 100


@pytest.mark.parametrize("threads", [1, 3])
def test_passes_of_labelings_have_the_same_bits_for_any_threads_and_resumed(threads, tmp_path, monkeypatch):
    problem, *_ = tiny_one_hot(np.random.default_rng(6), 20, C=100.0)
    asked = with_passes(monkeypatch)
    whole = solve(problem, 1e-3)
    assert asked
    assert whole.certificate.passes > 1
    assert whole.certificate.status == "certified"
    other = solve(problem, 1e-3, n_threads=threads)
    assert np.array_equal(other.weights, whole.weights)
    assert other.certificate == whole.certificate
    for stop in range(1, whole.certificate.passes):
        path = tmp_path / f"{stop}.checkpoint"
        assert solve(problem, 1e-3, stop, checkpoint=path).certificate.status == "stopped"
        rest = solve(problem, 1e-3, checkpoint=path, n_threads=threads)
        assert np.array_equal(rest.weights, whole.weights)
        assert rest.certificate == whole.certificate


def test_passes_stop_where_their_planes_would_not_fit(monkeypatch):
    asked = with_passes(monkeypatch)
    problem, *_ = tiny_one_hot(np.random.default_rng(6), 20, C=100.0)
    solve(problem, 1e-3, 6)
    before = len(asked)
    rows = 5.5  # of two points and three labelings, one of which is there anyhow
    monkeypatch.setattr(
        "gapcut.learners.mixtures.MEMORY_MB", rows * problem.n_graphs * (8 * problem.dim + 64) / 2**20
    )
    certificate = solve(problem, 1e-3, 6).certificate
    assert certificate.lower <= certificate.upper
    assert 0 < len(asked) - before <= 2 * certificate.passes
    assert len(asked) - before < before


def test_a_claim_after_turns_of_planes_has_the_same_bits_resumed(tmp_path, monkeypatch):
    """The labelings of the last certificate are in no checkpoint."""
    monkeypatch.setattr("gapcut.learners.steps.FIRST_MIXTURE", 0)
    monkeypatch.setattr("gapcut.learners.steps.PASS_COST", 4)
    monkeypatch.setattr(Steps, "_lengthen", lambda *given: None)
    monkeypatch.setattr(CertificateSchedule, "slow", property(lambda schedule: bool(schedule.gaps)))
    problem, *_ = tiny_one_hot(np.random.default_rng(70), 20, C=100.0, most=60)
    whole = solve(problem)
    assert whole.certificate.one_hot is not None
    for stop in range(1, whole.certificate.passes):
        path = tmp_path / f"{stop}.checkpoint"
        assert solve(problem, passes=stop, checkpoint=path).certificate.status == "stopped"
        assert solve(problem, checkpoint=path).certificate == whole.certificate


def test_passes_are_tried_near_the_target_and_go_on_while_they_are_worth_it():
    def after(*gaps, rate=0.01, cost=10.0, tight=False, due=True):
        worth = Worth(rate, cost, 0.01, tight, due)
        told = []
        for gap in gaps:
            told.append(worth.goes_on(gap))
            worth.passes += 1
        return told

    assert after(0.01) == [False]
    assert after(0.02) == [True]
    assert after(0.02, due=False) == [False]
    assert after(0.02, cost=15.0) == [False]  # iterations are there before five passes
    assert after(0.01 * WITHIN + 1e-6) == [False]
    assert after(0.05, tight=True) == [True]
    assert after(0.02, 0.0199) == [True, True]  # one may fail
    assert after(0.02, 0.0199, 0.0198) == [True, True, False]
    assert after(0.028, 0.024, 0.0205, 0.0195) == [True, True, True, False]  # later ones may not
    assert after(0.02, 0.0199, 0.0198, rate=0.0) == [True, True, True]
    assert after(*(0.029 - 0.0001 * k for k in range(PASSES + 1)), rate=0.0)[-2:] == [True, False]


def test_passes_cost_more_where_planes_are_longer_than_tables():
    graphs = [Graph(np.ones((2, width)), [(0, 1)], np.ones((1, 1)), [0, 1]) for width in (1, 300)]
    short, long = (learning_problem([g], [g.labels], n_labels=2, C=1.0, loss_scale=1.0) for g in graphs)
    assert PASS_COST < pass_cost(short) < 0.1 * pass_cost(long)
    alone = Graph(np.ones((2, 1)), np.empty((0, 2), int), np.empty((0, 1)), [0, 1])
    assert np.isfinite(
        pass_cost(learning_problem([alone], [alone.labels], n_labels=2, C=1.0, loss_scale=1.0))
    )


@pytest.mark.parametrize("before", [-1e-12, 0.0, 1e-320, 1e-3, 0.5, 1.0, np.inf])
@pytest.mark.parametrize("gap", [-1e-3, 0.0, 1e-320, 1e-3, 0.5, 2.0, np.inf])
def test_every_gap_has_a_rate(gap, before):
    """Ends may meet or pass each other by rounding, where the target is less than that."""
    rate = CertificateSchedule(unrepaired=(20, before)).rate(60, gap)
    assert 0.0 <= rate < np.inf
    assert rate > 0.0 or gap >= min(before, 1.0) or before <= 1e-320


def test_labelings_are_asked_for_farther_away_where_near_ones_say_little():
    problem, *_ = tiny_one_hot(np.random.default_rng(0), 2, free=True)
    best, dual = np.zeros(problem.dim), np.ones(problem.dim)

    def parts(*gaps, tight=False):
        approach = Approach(tight)
        return [float(approach.point(problem, best, dual, gap)[0]) for gap in gaps]

    assert parts(1.0, 0.5, 0.25) == pytest.approx([NEAR] * 3)
    assert parts(1.0, 0.7, 0.6, 0.59) == pytest.approx([NEAR, 2 * NEAR, 4 * NEAR, 8 * NEAR])
    assert parts(1.0, 0.95, 0.94) == pytest.approx([NEAR, STEP * NEAR, 2 * STEP * NEAR])
    assert parts(1.0, 0.7, tight=True) == pytest.approx([STEP * NEAR, 2 * STEP * NEAR])
    assert parts(*[1.0] * 9)[-1] == pytest.approx(FAR)


def test_any_point_is_below_the_optimum_and_any_messages_bound_the_slack():
    rng = np.random.default_rng(4)
    for round_ in range(60):
        problem, graphs, labels = tiny_one_hot(rng, 2, free=bool(round_ % 2), C=3.0, most=60)
        best, _ = lp_relaxed_optimum(problem, graphs, labels)
        relaxation = LpOracle(problem).relaxation(PrimalDual().native(), 1)
        plane, loss = relaxation.plane(RelaxedLabels(*random_point(rng, problem, graphs)))
        dual = problem.C * loss - problem.conjugate(problem.C * plane)
        assert dual <= best + 1e-6 * (1.0 + abs(best))
        relaxation.state.advance(int(rng.choice([1, 7, 60])))
        exact = LpOracle(problem)
        for w in (relaxation.state.weights(), rng.normal(size=problem.dim) * 3.0):
            w = problem.clamp(w)
            true = exact.total(w)
            slack = true.violation(w)
            messages, swept = relaxation.slack(w).bound, relaxation.total(w).bound
            assert slack <= messages * (1 + 1e-9) + 1e-8
            assert slack <= swept * (1 + 1e-9) + 1e-8
            assert swept <= messages * (1 + 1e-9) + 1e-8


def test_the_one_hot_problem_is_certified_too_where_the_relaxation_is_tight():
    rng = np.random.default_rng(8)
    for trees in (True, False):
        problem, graphs, labels = tiny_one_hot(rng, 12, trees=trees, C=3.0, most=60)
        claim = solve(problem).certificate.one_hot
        low, high = enumerated_optimum(problem, all_one_hot_planes(problem, graphs, labels))
        assert claim.status == "certified"
        assert claim.lower <= high
        assert low <= claim.upper
        assert claim.tight_graphs >= 9


@pytest.mark.parametrize("seed", [1, 2, 4])
def test_labelings_near_the_learned_weights_prove_the_claim_in_few_passes(seed):
    claim = StructuredSVM(oracle="lp", C=10).fit(make_scenes(12, 40, 100, 5, seed=seed)).certificate_.one_hot
    assert claim.tight_graphs >= 9
    assert claim.upper - claim.lower <= 0.03 * claim.upper  # asked for at 0.4 of the way, more is left


def test_same_bits_for_any_number_of_threads():
    rng = np.random.default_rng(5)
    for free in (True, False):
        problem, *_ = tiny_one_hot(rng, 30, free=free, C=10.0)
        one, *others = [solve(problem, 1e-3, n_threads=t) for t in (1, 1, 2, 3)]
        for other in others:
            assert np.array_equal(one.weights, other.weights)
            assert one.certificate == other.certificate


def test_a_resumed_run_ends_with_the_same_bits(tmp_path, monkeypatch):
    problem, *_ = tiny_one_hot(np.random.default_rng(6), 20, C=100.0)
    mixed = calls_of("_mix", monkeypatch)
    whole = solve(problem, 1e-3)
    assert mixed
    assert whole.certificate.status == "certified"
    assert whole.certificate.passes > 2
    for stop in range(1, whole.certificate.passes, 2):
        path = tmp_path / f"{stop}.checkpoint"
        part = solve(problem, 1e-3, stop, checkpoint=path)
        assert part.certificate.status == "stopped"
        rest = solve(problem, 1e-3, checkpoint=path, n_threads=2)
        assert np.array_equal(rest.weights, whole.weights)
        assert rest.certificate == whole.certificate


def test_boxes_frozen_and_bounded_weights():
    rng = np.random.default_rng(7)
    for round_ in range(20):
        problem, graphs, labels = tiny_one_hot(rng, 2, C=5.0, most=60)
        core = problem.core
        lower, upper = np.full(core.full_dim, -np.inf), np.full(core.full_dim, np.inf)
        lower[rng.random(core.full_dim) < 0.4] = 0.0
        frozen = rng.random(core.full_dim) < 0.3
        lower[frozen] = upper[frozen] = rng.normal(size=frozen.sum())
        boxed = in_box(problem, graphs, labels, lower, upper)
        result = solve(boxed)
        best, _ = lp_relaxed_optimum(boxed, graphs, labels)
        slip = 1e-6 * (1.0 + abs(best))
        assert result.certificate.lower <= best + slip, round_
        assert best - slip <= result.certificate.upper, round_
        assert result.certificate.status == "certified", round_


@pytest.mark.parametrize("C", [1e-6, 1.0, 1e6])
def test_degenerate_data_end_certified(C):
    graphs = [
        TinyGraph(np.zeros((2, 1)), np.array([[0, 1]]), np.zeros((1, 1))),
        TinyGraph(np.ones((1, 1)), np.zeros((0, 2), dtype=int), np.zeros((0, 2))),
        TinyGraph(np.ones((3, 2)), np.array([[0, 1], [1, 0], [0, 1]]), np.ones((3, 1))),
    ]
    for graph in graphs:
        labels = np.zeros(graph.n_nodes, dtype=int)
        for n_labels in (1, 3):
            problem = learning_problem([graph], [labels], n_labels=n_labels, C=C, loss_scale=100.0)
            result = solve(problem, passes=300)
            best, _ = lp_relaxed_optimum(problem, [graph], [labels])
            assert result.certificate.lower <= best * (1 + 1e-6) + 1e-6
            assert best <= result.certificate.upper * (1 + 1e-6) + 1e-6
            assert result.certificate.status == "certified"


@pytest.mark.parametrize("n_graphs", [2, 10])
def test_features_beyond_single_precision_are_left_to_planes(n_graphs):
    """The steps may leave nodes without a label then."""
    rng = np.random.default_rng(4)
    graphs = [
        TinyGraph(1e75 * rng.normal(size=(3, 2)), np.array([[0, 1], [1, 2]]), 1e75 * rng.random((2, 1)))
        for _ in range(n_graphs)
    ]
    labels = [rng.integers(2, size=3) for _ in graphs]
    problem = learning_problem(graphs, labels, n_labels=2, C=1e4, loss_scale=1.0)
    certificate = solve(problem, passes=10).certificate
    assert 0.0 <= certificate.lower <= certificate.upper


def rings(n_graphs):
    rng = np.random.default_rng(0)
    edges = [[0, 1], [1, 2], [2, 0]]
    return [
        Graph(rng.normal(size=(3, 2)), edges, rng.random((3, 1)), labels=rng.integers(2, size=3))
        for _ in range(n_graphs)
    ]


def test_the_estimator_learns_it_with_any_sign_rule():
    graphs = rings(8)
    for rule in ("none", "pairwise"):
        svm = StructuredSVM(learner="primal-dual", oracle="lp", nonnegative=rule, C=10.0).fit(graphs)
        assert svm.certificate_.problem == "LP-relaxed one-hot"
        assert svm.certificate_.status == "certified"
        assert (svm.pairwise_.min() >= 0.0) == (rule == "pairwise")
    path = StructuredSVM(oracle="lp").fit_path(graphs, [0.1, 1.0, 10.0])
    assert [m.certificate_.status for m in path] == ["certified"] * 3
    warm = StructuredSVM(learner="primal-dual", oracle="lp", warm_start=True, C=1.0).fit(graphs)
    warm.set_params(C=2.0)
    assert warm.fit(graphs).certificate_.status == "certified"


def test_the_claim_is_kept_in_files_and_shown(tmp_path):
    svm = StructuredSVM(oracle="lp", C=10.0).fit(rings(8))
    claim = svm.certificate_.one_hot
    assert claim.status == "certified"
    svm.save(tmp_path / "m.gapcut")
    assert StructuredSVM.load(tmp_path / "m.gapcut").certificate_ == svm.certificate_
    assert f"tight on {claim.tight_graphs} of 8 graphs" in certificate_line(svm.certificate_)
    assert certificate_document(svm.certificate_)["one_hot"]["lower"] == claim.lower
    cut = StructuredSVM(C=10.0).fit(rings(8)).certificate_
    assert cut.one_hot is None
    assert "one_hot" not in certificate_document(cut)


def test_tables_of_parallel_edges_stay_apart():
    """Adding them up first, as message passing does, is a tighter relaxation: its bounds are no upper ends here."""
    rng = np.random.default_rng(9)
    edges = np.array([[0, 1], [1, 0], [0, 1], [1, 2], [2, 0]])
    graphs = [TinyGraph(rng.normal(size=(3, 2)), edges, rng.normal(size=(5, 2))) for _ in range(4)]
    labels = [rng.integers(3, size=3) for _ in graphs]
    lower = np.full(3 * 2 + 9 * 2, -np.inf)
    problem = learning_problem(graphs, labels, n_labels=3, C=30.0, loss_scale=10.0, lower=lower)
    result = solve(problem, 1e-3, 100)
    best, _ = lp_relaxed_optimum(problem, graphs, labels)
    assert result.certificate.lower <= best * (1 + 1e-6)
    assert best * (1 - 1e-6) <= result.certificate.upper
    assert result.certificate.status == "certified"


def test_cliques_are_refused_with_the_reason():
    cliques = xor_graphs(6)
    with pytest.raises(ValueError, match="oracle='lp' is not compatible with cliques"):
        StructuredSVM(oracle="lp").fit(cliques)

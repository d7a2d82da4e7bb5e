"""Planes first where all graphs are forests: what they prove, the point made of them, and the same bits resumed."""

from __future__ import annotations

import numpy as np
import pytest

from gapcut import _core
from gapcut.certificates import prove
from gapcut.learners import Limits, PrimalDual
from gapcut.learners.steps import Steps
from gapcut.oracles.lp import LpOracle
from lp_relaxed import lp_relaxed_optimum
from one_hot import tiny_one_hot

TRADE_OFFS = [0.01, 1.0, 100.0, 1e4]


def forest(rng, C, n_graphs=10, **more):
    """A random problem with no two edges between the same nodes, and something to decide."""
    while True:
        made = tiny_one_hot(rng, n_graphs, trees=True, C=C, most=60, **more)
        if made[0].n_labels > 1 and _core.acyclic(made[0].core):
            return made


def learned(problem, gap=1e-2, passes=200, start=None, **settings):
    return PrimalDual(**settings).run(
        problem, LpOracle(problem), Limits(gap=gap, max_passes=passes), start=start
    )


def planes_alone(monkeypatch):
    """No step can be made from now on."""
    monkeypatch.setattr("gapcut.learners.turns.LESS", np.inf)
    monkeypatch.setattr("gapcut.learners.turns.FAR", np.inf)
    monkeypatch.setattr(Steps, "advance", None)


@pytest.mark.parametrize("free", [True, False])
@pytest.mark.parametrize("C", TRADE_OFFS)
def test_brackets_the_optimum(C, free):
    rng = np.random.default_rng(int(np.log10(C) * 10) + 300 + free)
    certified = 0
    for _ in range(10):
        problem, graphs, labels = forest(rng, C, free=free)
        proof = learned(problem).certificate
        best, _ = lp_relaxed_optimum(problem, graphs, labels)
        slip = 1e-6 * (1.0 + abs(best))
        assert proof.lower <= best + slip
        assert best - slip <= proof.upper
        certified += proof.status == "certified"
    assert certified >= 9


def test_planes_alone_certify_and_their_point_proves_as_much(monkeypatch):
    planes_alone(monkeypatch)
    rng, seen = np.random.default_rng(31), 0
    for C in (0.1, 1.0, 10.0):
        for _ in range(6):
            problem, *_ = forest(rng, C)
            result = learned(problem)
            proof, point = result.certificate, result.dual_point
            assert proof.status == "certified"
            found = point.labels()
            plane, loss = point.relaxation.plane(found)
            shown = C * loss - problem.conjugate(C * plane)
            assert shown == pytest.approx(proof.lower, rel=1e-5, abs=1e-6)
            lower, upper, _ = prove(problem, result.weights, point, found)
            assert lower >= proof.lower - 1e-3 * proof.upper
            assert upper <= proof.upper * (1.0 + 1e-3)
            seen += proof.lower > 0.0
    assert seen >= 10


def test_the_same_bits_for_any_threads_and_resumed(tmp_path):
    """Whether it is stopped among the planes or among the steps after them."""
    problem, *_ = forest(np.random.default_rng(6), 1e3, 20)
    whole = learned(problem, 1e-4)
    assert whole.certificate.passes > 4
    for stop in range(1, min(8, whole.certificate.passes)):
        path = tmp_path / f"{stop}.checkpoint"
        assert learned(problem, 1e-4, stop, checkpoint=path).certificate.status == "stopped"
        rest = learned(problem, 1e-4, checkpoint=path, n_threads=3)
        assert np.array_equal(rest.weights, whole.weights)
        assert rest.certificate == whole.certificate
        one, two = (result.dual_point.labels() for result in (rest, whole))
        fetched = [r.dual_point.relaxation.fetched(p).labels for r, p in ((rest, one), (whole, two))]
        assert np.array_equal(*fetched)


def test_steps_follow_planes_that_do_not_get_on(tmp_path, monkeypatch):
    monkeypatch.setattr("gapcut.learners.turns.SOME", 1)
    monkeypatch.setattr("gapcut.learners.turns.LESS", 0.0)
    monkeypatch.setattr("gapcut.learners.turns.MORE", np.inf)
    problem, *_ = forest(np.random.default_rng(8), 10.0, 20)
    whole = learned(problem, 1e-5)
    assert whole.certificate.status == "certified"
    assert whole.certificate.passes > 3
    for stop in (1, 2, 3):
        path = tmp_path / f"{stop}.checkpoint"
        learned(problem, 1e-5, stop, checkpoint=path)
        rest = learned(problem, 1e-5, checkpoint=path)
        assert np.array_equal(rest.weights, whole.weights)
        assert rest.certificate == whole.certificate


def test_along_C_and_from_a_warm_start():
    problem, *_ = forest(np.random.default_rng(9), 1.0, 12)
    values = [0.1, 1.0, 10.0]
    for C, result in zip(
        values, PrimalDual().path(problem, LpOracle, values, Limits(gap=1e-2, max_passes=200)), strict=True
    ):
        alone = learned(problem.with_C(C))
        assert result.certificate.status == alone.certificate.status == "certified"
        assert result.certificate.lower <= alone.certificate.upper
        assert alone.certificate.lower <= result.certificate.upper
    assert learned(problem, start=result.warm_start()).certificate.status == "certified"


def test_few_graphs_and_cycles_are_left_to_the_steps():
    rng = np.random.default_rng(10)
    for n_graphs, trees in ((3, True), (20, False)):
        problem, *_ = tiny_one_hot(rng, n_graphs, trees=trees, C=1.0, most=60)
        assert not Steps(PrimalDual(), problem, LpOracle(problem)).forests


def test_a_resumed_run_may_ask_for_less_or_have_less_time(tmp_path):
    """Its planes come to a larger gap sooner, or not at all: either way its checkpoint is whole."""
    problem, *_ = forest(np.random.default_rng(6), 1e3, 20)
    for stop, gap in ((4, 0.5), (8, 0.1)):
        path = tmp_path / f"{stop}.checkpoint"
        learned(problem, 1e-4, stop, checkpoint=path)
        kept = path.read_bytes()
        assert learned(problem, gap, checkpoint=path).certificate.status == "certified"
        path.write_bytes(kept)
        late = PrimalDual(checkpoint=path).run(problem, LpOracle(problem), Limits(gap=1e-4, time_limit=1e-9))
        assert "time limit" in late.message
        path.write_bytes(kept)
        assert learned(problem, 1e-4, checkpoint=path).certificate == learned(problem, 1e-4).certificate


def test_a_pass_that_is_cut_off_before_it_begins_is_none(monkeypatch):
    def interrupted(*_):
        raise KeyboardInterrupt

    problem, *_ = forest(np.random.default_rng(6), 1e3, 20)
    monkeypatch.setattr("gapcut.learners.block.Block.one_pass", interrupted)
    result = learned(problem)
    assert "stopped by the user" in result.message
    assert result.certificate.passes == 0

"""Planes of graphs on actors: the bits of one process, for block and for its turns beside first-order steps."""

from __future__ import annotations

import numpy as np
import pytest

from forced_shards import same_bits, snake_problem
from gapcut import StructuredSVM
from gapcut.learners import Block, Limits, PrimalDual
from gapcut.learners.base import Session
from gapcut.learners.turns import PlaneTurns
from gapcut.oracles import CutOracle, TrwsOracle
from gapcut.oracles.lp import LpOracle
from sample_cliques import xor_graphs

pytestmark = [pytest.mark.cluster, pytest.mark.usefixtures("forced")]

LIMITS = Limits(gap=0.02, max_passes=40)


@pytest.mark.parametrize("make", [CutOracle, TrwsOracle], ids=["cut", "trws"])
def test_block_with_an_actor_that_dies(engine, make):
    """TRW-S starts from the messages of its last call, so what dies is asked all its calls again."""
    problem = snake_problem()
    killed = []

    def kill(record):
        if record.passes == 3:
            assert len(engine.pool.actors) == 2
            killed.append(engine.pool.actors[0])
            engine._cluster.ray.kill(engine.pool.actors[0])

    there = Block(engine=engine).run(problem, make(problem), LIMITS, kill)
    assert len(killed) == 1
    same_bits(Block().run(problem, make(problem), LIMITS), there)


def test_block_along_C(engine):
    problem = snake_problem()
    for one, two in zip(
        *(list(Block(engine=e).path(problem, CutOracle, [0.5, 5.0], LIMITS)) for e in (None, engine)),
        strict=True,
    ):
        same_bits(one, two)


@pytest.mark.parametrize("make", [CutOracle, LpOracle], ids=["cut", "lp"])
def test_turns_beside_the_steps(engine, make):
    problem, found = snake_problem(), []
    for where in (None, engine):
        oracle = make(problem)
        relaxation = oracle.relaxation(PrimalDual().native(), 1, where)
        asked = relaxation.plane_oracle(oracle)
        assert asked.elsewhere == (where is not None)
        session = Session(problem, asked, Limits())
        turns = PlaneTurns(session, asked, 0)
        for _ in range(4):
            turns.one_pass()
        found.append(session)
    assert np.array_equal(found[0].bounds.weights, found[1].bounds.weights)
    assert [(r.lower, r.upper) for r in found[0].history] == [(r.lower, r.upper) for r in found[1].history]


def test_the_estimator_with_cliques(cluster):
    graphs = xor_graphs(6)
    settings = {"C": 10.0, "gap": 0.01}
    one = StructuredSVM(**settings).fit(graphs)
    two = StructuredSVM(engine="ray", address=cluster.address, **settings).fit(graphs)
    assert one.certificate_ == two.certificate_
    assert np.array_equal(one.unary_, two.unary_)
    for (_, weights), (_, others) in zip(one.cliques_, two.cliques_, strict=True):
        assert np.array_equal(weights, others)

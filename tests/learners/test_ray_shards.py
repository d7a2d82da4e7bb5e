"""Training on actors: the bits of one process, whoever dies meanwhile."""

from __future__ import annotations

import signal
import time

import numpy as np
import pytest

from forced_shards import same_bits, snake_problem
from gapcut import StructuredSVM
from gapcut.engines.shards import ClusterLost, open_shards
from gapcut.learners import Limits, PrimalDual
from gapcut.oracles import CutOracle
from gapcut.oracles.lp import LpOracle
from ray_nodes import NODE, started, two_nodes
from sample_graphs import sample_graphs

pytestmark = [pytest.mark.cluster, pytest.mark.usefixtures("forced")]

LIMITS = Limits(gap=1e-3)

both = pytest.mark.parametrize("make", [CutOracle, LpOracle], ids=["cut", "lp"])


def alone(problem, make, **settings):
    return PrimalDual(**settings).run(problem, make(problem), LIMITS)


@both
@pytest.mark.parametrize("C", [0.1, 10.0, 1000.0])
def test_the_same_bits_as_one_process(engine, C, make):
    problem = snake_problem(C=C)
    same_bits(alone(problem, make), alone(problem, make, engine=engine))
    assert len(engine.pool.actors) == 2


@both
def test_a_path_a_warm_start_and_a_resumed_run(engine, tmp_path, make):
    problem = snake_problem()
    paths = [list(PrimalDual(engine=e).path(problem, make, [1.0, 10.0], LIMITS)) for e in (None, engine)]
    for one, two in zip(*paths, strict=True):
        same_bits(one, two)
    assert paths[0][1].warm_start is not None
    start = paths[1][0].warm_start()
    warm = [PrimalDual(engine=e).run(problem, make(problem), LIMITS, start=start) for e in (None, engine)]
    same_bits(*warm)
    learner = PrimalDual(engine=engine, checkpoint=tmp_path / "run", checkpoint_seconds=1e9)
    learner.run(problem, make(problem), Limits(gap=1e-3, max_passes=3))
    same_bits(alone(problem, make), learner.run(problem, make(problem), LIMITS))


@both
def test_an_actor_that_dies_changes_nothing(engine, monkeypatch, make):
    """Killed in the middle, before states were kept and after."""
    monkeypatch.setattr("gapcut.engines.actors.KEEP_AFTER", 25)
    problem = snake_problem()
    ended = []

    def kill(record):
        if record.passes in (1, 3):
            pool = engine.pool
            ended.append(pool.actors[0])
            engine._cluster.ray.kill(pool.actors[0])

    killed = PrimalDual(engine=engine).run(problem, make(problem), LIMITS, kill)
    assert len(ended) == 2
    same_bits(alone(problem, make), killed)


def test_errors_of_shards_are_those_of_one_process(engine):
    problem = snake_problem()
    relaxation = CutOracle(problem).relaxation(PrimalDual().native(), 1, engine)
    relaxation.advance(3)
    with pytest.raises(ValueError, match=r"must be \(nodes, labels\)"):
        relaxation._pool.call("plane", np.zeros((3, 3), dtype=np.float32), None)
    with pytest.raises(Exception, match="stopped before") as caught:
        relaxation.total(relaxation.weights(), 0.0)
    assert type(caught.value).__name__ == "Interrupted"


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_in_the_middle_of_an_iteration_waits_for_its_end(engine, tmp_path, number):
    heard = []

    def handler(*_):
        heard.append(number)
        raise KeyboardInterrupt

    before = signal.signal(number, handler)
    problem, limits = snake_problem(), Limits(gap=1e-5)
    learner = PrimalDual(engine=engine, checkpoint=tmp_path / "run", checkpoint_seconds=1e9)

    def interrupt(record):
        if record.passes == 2:
            ask = engine.pool._everywhere

            def pressed(*arguments):
                engine.pool._everywhere = ask
                signal.raise_signal(number)
                return ask(*arguments)

            engine.pool._everywhere = pressed

    try:
        stopped = learner.run(problem, CutOracle(problem), limits, interrupt)
    finally:
        signal.signal(number, before)
    assert heard == [number]
    assert "stopped by the user" in stopped.message
    whole = PrimalDual().run(problem, CutOracle(problem), limits)
    assert len(stopped.history) < len(whole.history)
    same_bits(whole, learner.run(problem, CutOracle(problem), limits))


@pytest.mark.parametrize("oracle", ["cut", "lp"])
def test_the_estimator(cluster, oracle):
    rng = np.random.default_rng(2)
    graphs = [
        (rng.normal(size=(30, 3)), np.stack([np.arange(29), np.arange(1, 30)], axis=1), rng.random((29, 2)))
        for _ in range(5)
    ]
    labels = [(g[0][:, 0] > 0).astype(int) for g in graphs]
    settings = {"oracle": oracle, "gap": 1e-3}
    one = StructuredSVM(**settings).fit(graphs, labels)
    told = []
    two = StructuredSVM(engine="ray", address=cluster.address, callback=told.append, **settings)
    two.fit(graphs, labels)
    assert {record.actors for record in told} == {2}
    assert told[-1].iterations > 0
    assert np.array_equal(one.unary_, two.unary_)
    assert np.array_equal(one.pairwise_, two.pairwise_)
    assert one.certificate_ == two.certificate_


def test_the_command(cluster, run, tmp_path):
    data = tmp_path / "d.npz"
    sample_graphs(6).save(data)
    models = []
    for name, options in (("one", []), ("two", ["--engine", "ray", "--address", cluster.address])):
        out = tmp_path / name
        code, said, _ = run("train", data, "--out", out, "--C", "3", "--oracle", "cut", *options)
        assert code == 0
        assert "certified" in said
        models.append(StructuredSVM.load(out))
    assert np.array_equal(models[0].unary_, models[1].unary_)
    assert models[0].certificate_ == models[1].certificate_


@both
def test_a_node_that_is_lost_and_a_cluster_that_is(tmp_path, make):
    problem = snake_problem()
    with two_nodes() as cluster:
        third = started(lambda: cluster.add_node(**NODE))
        engine = open_shards("ray", cluster.address)
        lost = []

        def remove(record):
            if record.passes == 2 and not lost:
                lost.append(len(engine.pool.actors))
                cluster.remove_node(third)

        try:
            same_bits(
                alone(problem, make), PrimalDual(engine=engine).run(problem, make(problem), LIMITS, remove)
            )
            assert lost == [3]
            assert len(engine.pool.actors) == 2

            def end_all(record):
                if record.passes == 2:
                    pool = engine.pool
                    pool._begin = lambda: (_ for _ in ()).throw(ClusterLost("no node is left"))
                    for actor in list(pool.actors):
                        engine._cluster.ray.kill(actor)
                    time.sleep(0.1)

            for checkpoint in (None, tmp_path / "run"):
                learner = PrimalDual(engine=engine, checkpoint=checkpoint, checkpoint_seconds=0.0)
                ended = learner.run(problem, make(problem), Limits(gap=0.0), end_all)
                assert "no node is left" in ended.message
                assert ended.certificate.lower > 0.0
        finally:
            engine.close()

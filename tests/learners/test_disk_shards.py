"""Training with the state on disk: the bits of one process, in the memory of a shard."""

from __future__ import annotations

import signal
import sys

import numpy as np
import pytest

from forced_shards import same_bits, snake_problem
from gapcut import GraphFolder, StructuredSVM
from gapcut.engines.disk import DiskPool
from gapcut.engines.shards import open_shards
from gapcut.learners import Limits, PrimalDual
from gapcut.oracles import CutOracle
from gapcut.oracles.lp import LpOracle
from gapcut.problem import learning_problem
from sample_graphs import sample_graphs
from tiny import TinyGraph

LIMITS = Limits(gap=1e-3)
PAIRED = 100.0
"""C from which on the cut has label pairs in use, whose state is on disk."""

pytestmark = pytest.mark.usefixtures("forced")
both = pytest.mark.parametrize("make", [CutOracle, LpOracle], ids=["cut", "lp"])


@pytest.fixture
def engine(tmp_path):
    yield open_shards("disk", str(tmp_path))
    assert not list(tmp_path.iterdir())


@both
@pytest.mark.parametrize("threads", [1, 2])
def test_the_bits_of_one_process(engine, make, threads):
    problem = snake_problem(C=PAIRED)
    there = PrimalDual(engine=engine, n_threads=threads).run(problem, make(problem), LIMITS)
    same_bits(PrimalDual().run(problem, make(problem), LIMITS), there)


@both
def test_a_path_and_a_warm_start(engine, make):
    problem = snake_problem()
    paths = [list(PrimalDual(engine=e).path(problem, make, [1.0, 10.0], LIMITS)) for e in (None, engine)]
    for one, two in zip(*paths, strict=True):
        same_bits(one, two)
    start = paths[1][0].warm_start()
    same_bits(
        *(PrimalDual(engine=e).run(problem, make(problem), LIMITS, start=start) for e in (None, engine))
    )


@both
def test_turns_of_planes_and_proofs(engine, make):
    problem = snake_problem()
    found = []
    for where in (None, engine):
        result = PrimalDual(engine=where).run(problem, make(problem), LIMITS)
        point = result.dual_point
        found.append(
            (point.relaxation.prove_slack(result.weights, True), point.relaxation.whole(point.labels())[1])
        )
    assert found[0][0].slack == found[1][0].slack
    for name, array in found[0][1].items():
        assert np.array_equal(array, found[1][1][name])


def test_nothing_is_mapped_between_two_questions(engine):
    relaxation = LpOracle(snake_problem()).relaxation(PrimalDual().native(), 1, engine)
    relaxation.advance(3)
    assert relaxation.state.active_pairs > 0
    shard = relaxation._pool._shards[0]
    with pytest.raises(RuntimeError, match="not mapped"):
        shard.save()
    shard.wake()
    assert shard.save()["arcs"].size > 0
    shard.rest()


def test_a_signal_waits_for_the_end_of_an_iteration(engine, monkeypatch):
    problem = snake_problem()
    heard = []

    def press(record):
        if record.passes == 2:
            pool = learner_pool[0]
            ask = pool._shards[1].ask

            def pressed(*arguments):
                pool._shards[1].ask = ask
                heard.append(True)
                signal.raise_signal(signal.SIGINT)
                return ask(*arguments)

            pool._shards[1].ask = pressed

    learner_pool = []
    spread = engine.spread

    def note(*arguments):
        learner_pool.append(spread(*arguments))
        return learner_pool[-1]

    monkeypatch.setattr(engine, "spread", note)
    stopped = PrimalDual(engine=engine).run(problem, CutOracle(problem), Limits(gap=1e-5), press)
    assert heard
    assert "stopped by the user" in stopped.message


def test_the_estimator_and_what_is_refused(tmp_path):
    graphs = sample_graphs(5)
    settings = {"oracle": "cut", "C": 3.0}
    one = StructuredSVM(**settings).fit(graphs)
    two = StructuredSVM(engine="disk", address=str(tmp_path), **settings).fit(graphs)
    assert np.array_equal(one.unary_, two.unary_)
    assert one.certificate_ == two.certificate_
    graphs.save_parts(tmp_path / "parts", 1)
    folder = GraphFolder(tmp_path / "parts")
    assert folder.n_parts > 1
    three = StructuredSVM(engine="disk", address=str(tmp_path), **settings).fit(folder)
    assert np.array_equal(one.pairwise_, three.pairwise_)
    assert one.certificate_ == three.certificate_
    with pytest.raises(ValueError, match="engine='disk' keeps no checkpoint"):
        StructuredSVM(engine="disk", checkpoint=tmp_path / "c", **settings).fit(graphs)
    with pytest.raises(FileNotFoundError, match="no such folder for the state on disk"):
        StructuredSVM(engine="disk", address=str(tmp_path / "none"), **settings).fit(graphs)


def test_the_command(run, tmp_path):
    data, out = tmp_path / "d.npz", tmp_path / "m"
    sample_graphs(5).save(data)
    code, said, _ = run("train", data, "--out", out, "--C", "3", "--oracle", "cut", "--engine", "disk")
    assert code == 0
    assert "certified" in said
    assert not (tmp_path / "m.checkpoint").exists()
    code, _, told = run(
        "train", data, "--out", out, "--force", "--oracle", "cut", "--engine", "disk", "--resume"
    )
    assert code == 2
    assert "--engine threads or ray" in told


@both
def test_shards_without_edges(engine, make):
    """Such a shard has nothing on the disk; also from a warm start, which fills its columns."""
    rng = np.random.default_rng(3)
    graphs, labels = [], []
    for i in range(6):
        y = rng.integers(3, size=8)
        ends = np.arange(7 if i % 2 else 0)
        edges = np.stack([ends, ends + 1], axis=1)
        graphs.append(TinyGraph(np.eye(3)[y] + rng.normal(size=(8, 3)), edges, rng.random((len(edges), 2))))
        labels.append(y)
    problem = learning_problem(graphs, labels, n_labels=3, C=10.0, loss_scale=1.0)
    runs = [PrimalDual(engine=e).run(problem, make(problem), LIMITS) for e in (None, engine)]
    same_bits(*runs)
    start = runs[1].warm_start()
    same_bits(
        *(PrimalDual(engine=e).run(problem, make(problem), LIMITS, start=start) for e in (None, engine))
    )


@both
def test_a_disk_that_fills_up_keeps_the_best_model(engine, monkeypatch, make):
    problem = snake_problem()
    spread = engine.spread

    def fills_up(*arguments):
        return DiskPool([Filling(shard, left) for shard in spread(*arguments)._shards], "/scratch")

    left = iter([True] * 300 + [False] * 1000)
    monkeypatch.setattr(engine, "spread", fills_up)
    found = PrimalDual(engine=engine).run(problem, make(problem), LIMITS)
    assert "/scratch has no room for the state" in found.message
    assert 0.0 < found.certificate.lower <= found.certificate.upper < np.inf


@pytest.mark.skipif(sys.platform != "linux", reason="needs a limit on the size of files")
def test_a_file_that_cannot_grow_ends_the_run_in_words(engine):
    import resource

    problem = snake_problem(C=PAIRED)
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (4096, before[1]))
    try:
        found = PrimalDual(engine=engine).run(problem, CutOracle(problem), LIMITS)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert "has no room for the state" in found.message
    assert "File too large" in found.message


class Filling:
    """A shard on a disk that is full after some questions."""

    def __init__(self, shard, left):
        self._shard, self._left = shard, left

    def __getattr__(self, name):
        return getattr(self._shard, name)

    def ask(self, *arguments):
        if not next(self._left):
            raise OSError(28, "No space left on device")
        return self._shard.ask(*arguments)

"""Threads, time limits and Ctrl-C, as work in the core sees them."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Callable, Iterator

import numpy as np
import pytest

from gapcut import Energy, StructuredSVM, solve
from gapcut.engines import OutOfTime, peak_memory_mb, thread_count
from gapcut.learners.base import Record
from gapcut.oracles import CutOracle
from gapcut.problem import learning_problem
from own_time import OwnTime
from sample_graphs import same_model, sample_graphs
from tiny import TinyGraph


def test_thread_counts_are_those_of_scikit_learn(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda process: set(range(6)), raising=False)
    assert [thread_count(n) for n in (None, 1, 4, 100)] == [1, 1, 4, 100]
    assert [thread_count(n) for n in (-1, -2, -6, -50)] == [6, 5, 1, 1]
    with pytest.raises(ValueError, match="n_jobs must not be 0"):
        thread_count(0)


def test_peak_memory_is_in_mebibytes_and_does_not_fall() -> None:
    block = np.ones(60 * 2**17)
    during = peak_memory_mb()
    assert 60.0 < during < 60_000.0
    del block
    assert peak_memory_mb() >= during - 1.0  # Linux counts pages in batches


# ---- many graphs


@pytest.fixture(scope="module")
def crowd():
    """A thousand graphs: work for a good while."""
    rng = np.random.default_rng(0)
    edges = np.array([(u, v) for u in range(30) for v in range(u) if rng.random() < 0.3])
    graphs = [TinyGraph(rng.normal(size=(30, 4)), edges, rng.random((len(edges), 3))) for _ in range(1000)]
    labels = [rng.integers(4, size=30) for _ in graphs]
    return learning_problem(graphs, labels, n_labels=4, C=1.0, loss_scale=1.0)


def some_weights(problem, seed: int = 0) -> np.ndarray:
    w = 0.3 * np.random.default_rng(seed).normal(size=problem.dim)
    w[problem.unary_count :] = np.abs(w[problem.unary_count :])
    return w


@pytest.mark.parametrize("threads", [1, 2, 5])
def test_work_ends_at_its_time_limit_and_can_be_asked_again(crowd, threads: int) -> None:
    oracle, w = CutOracle(crowd, n_threads=threads), some_weights(crowd)
    clock = OwnTime()
    for limit in (0.0, 1e-3):
        with pytest.raises(OutOfTime):
            oracle.total(w, limit)
    assert clock.seconds < 1.0
    assert oracle.total(w).bound == CutOracle(crowd).total(w).bound


@pytest.mark.parametrize("threads", [1, 3])
def test_an_error_in_one_thread_is_the_error_of_the_call(crowd, threads: int) -> None:
    w = some_weights(crowd)
    w[crowd.unary_count] = -1.0
    with pytest.raises(ValueError, match=r"labels \(0, 0\), edge feature 0 is -1") as caught:
        CutOracle(crowd, n_threads=threads).total(w)
    assert "\n" not in str(caught.value)


# ---- Ctrl-C


@pytest.fixture
def interrupt_after() -> Iterator[Callable[[float], None]]:
    """Sends a real SIGINT to this process after so many seconds; a test run in the background would ignore it."""
    timers: list[threading.Timer] = []

    def start(seconds: float) -> None:
        timers.append(threading.Timer(seconds, os.kill, (os.getpid(), signal.SIGINT)))
        timers[-1].start()

    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield start
    for timer in timers:
        timer.cancel()
        timer.join()
    signal.signal(signal.SIGINT, before)


@pytest.mark.skipif(os.name == "nt", reason="signals as on POSIX")
def test_ctrl_c_ends_a_long_call_into_the_core(interrupt_after) -> None:
    rng = np.random.default_rng(1)
    n, k = 2000, 8
    edges = rng.integers(n, size=(10_000, 2))
    edges = edges[edges[:, 0] != edges[:, 1]]
    energy = Energy(rng.normal(size=(n, k)), edges, rng.normal(size=(len(edges), k, k)))
    forever = {"max_sweeps": 10**8, "patience": 10**8, "tolerance": 0.0, "escape": False}
    clock = OwnTime()
    interrupt_after(0.3)
    with pytest.raises(KeyboardInterrupt):
        solve(energy, "trws", **forever)
    assert clock.seconds < 2.0


@pytest.mark.skipif(os.name == "nt", reason="signals as on POSIX")
@pytest.mark.parametrize("threads", [1, 2])
def test_ctrl_c_ends_a_fit_with_a_true_certificate(interrupt_after, threads: int) -> None:
    graphs = sample_graphs(60, seed=2, n_nodes=40)

    def running(record: Record) -> None:
        if record.passes == 1:
            interrupt_after(0.1)

    try:
        svm = StructuredSVM(C=100.0, gap=0.0, n_jobs=threads, callback=running).fit(graphs)
    except KeyboardInterrupt:  # would end the test run
        pytest.fail("the fit did not keep its best model")
    found, whole = svm.certificate_, StructuredSVM(C=100.0, gap=0.05).fit(graphs).certificate_
    assert found.status == "stopped"
    assert "by the user" in svm.model_.message
    assert max(found.lower, whole.lower) <= min(found.upper, whole.upper)


def test_a_fit_after_an_interrupted_one_is_as_if_alone() -> None:
    graphs = sample_graphs(4)

    def stop(record: object) -> None:
        raise KeyboardInterrupt

    alone = StructuredSVM().fit(graphs)
    assert StructuredSVM(callback=stop, gap=0.0).fit(graphs).certificate_.status == "stopped"
    assert same_model(StructuredSVM().fit(graphs), alone)

"""Fit, predict, infer and solve from several threads at once, after a fork, and in workers of joblib."""

from __future__ import annotations

import multiprocessing
import os
import threading
from concurrent.futures import ThreadPoolExecutor
from hashlib import sha256

import joblib
import numpy as np
import pytest

from gapcut import Energy, StructuredSVM, datasets, solve

LEARNERS = ("primal-dual", "block", "cutting-plane", "frank-wolfe")


@pytest.fixture(scope="module")
def graphs():
    return datasets.make_planted(6, 25, seed=3)


def fit(graphs, learner="primal-dual", jobs=2):
    return StructuredSVM(learner=learner, gap=0.05, max_passes=12, n_jobs=jobs).fit(graphs)


def bits(svm, graphs):
    """Of a model, its certificate, and what it says of the graphs."""
    found = [svm.infer(graph) for graph in graphs]
    parts = [svm.unary_, svm.pairwise_, *svm.predict(graphs), *(s.labels for s in found)]
    certificate = svm.certificate_
    numbers = [(s.energy, s.bound) for s in found] + [(certificate.lower, certificate.upper)]
    return sha256(b"".join(np.asarray(p).tobytes() for p in parts) + repr(numbers).encode()).hexdigest()


def fit_bits(graphs, learner="primal-dual", jobs=2):
    return bits(fit(graphs, learner, jobs), graphs)


def solved(seed):
    rng = np.random.default_rng(seed)
    edges = np.array([(i, i + 1) for i in range(39)] + [(i, i + 8) for i in range(32)])
    energy = Energy(rng.normal(size=(40, 3)), edges, rng.normal(size=(len(edges), 3, 3)))
    found = [solve(energy, method=method) for method in ("trws", "bp", "icm", "expansion", "auto")]
    return [(s.labels.tolist(), s.energy, s.bound, s.status) for s in found]


def at_once(work, items, threads=4):
    """Results of threads that start together."""
    barrier = threading.Barrier(threads)
    with ThreadPoolExecutor(threads) as pool:
        list(pool.map(lambda _: barrier.wait(), range(threads)))
        return list(pool.map(work, items))


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_fits_from_several_threads_equal_serial_ones(graphs):
    serial = {learner: fit_bits(graphs, learner) for learner in LEARNERS}
    assert len(set(serial.values())) == len(LEARNERS)
    assert at_once(lambda learner: fit_bits(graphs, learner), LEARNERS * 2) == list(serial.values()) * 2


def test_one_model_labels_from_several_threads(graphs):
    svm = fit(graphs)
    alone = bits(svm, graphs)
    assert set(at_once(lambda _: bits(svm, graphs), range(12))) == {alone}


def test_energies_are_solved_from_several_threads():
    serial = [solved(seed) for seed in range(8)]
    assert at_once(solved, range(8)) == serial


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork on this system")
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_after_a_fork(graphs):
    """The parent has used threads before; the child makes its own."""
    expected = fit_bits(graphs)
    child = os.fork()
    if child == 0:
        os._exit(0 if fit_bits(graphs) == expected and solved(1) == solved(1) else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    with multiprocessing.get_context("fork").Pool(2) as pool:
        assert pool.starmap(fit_bits, [(graphs,)] * 3) == [expected] * 3


@pytest.mark.parametrize(
    "backend", ["threading", *(pytest.param(b, marks=pytest.mark.slow) for b in ("loky", "multiprocessing"))]
)
def test_in_workers_of_joblib(graphs, backend):
    expected = fit_bits(graphs)
    found = joblib.Parallel(n_jobs=2, backend=backend)(
        joblib.delayed(fit_bits)(graphs, jobs=jobs) for jobs in (1, 2, 1)
    )
    assert found == [expected] * 3

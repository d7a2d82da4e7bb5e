"""The same bits for any number of threads, of the core and of a library for linear algebra, with many weights."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

ABOVE_10000_WEIGHTS = """
import sys, hashlib, warnings
import numpy as np
from gapcut import Graph, StructuredSVM
warnings.simplefilter("ignore")
r = np.random.default_rng(0)
graphs = []
for _ in range(6):
    V = 12
    X = r.normal(size=(V, 3000))
    edges = np.array([(a, (a + 1) % V) for a in range(V)])
    graphs.append(Graph(X, edges, r.random((V, 40)), (X[:, 0] > 0).astype(int) + 2 * (X[:, 1] > 0)))
for learner, oracle in (
    *((name, "cut") for name in ("primal-dual", "block", "cutting-plane", "frank-wolfe", "subgradient")),
    ("block", "trws"),
    ("block", "lp"),
):
    svm = StructuredSVM(learner=learner, oracle=oracle, max_passes=4, gap=1e-3, n_jobs=int(sys.argv[1]))
    c = svm.fit(graphs).certificate_
    assert svm.unary_.size + svm.pairwise_.size > 10_000
    found = [svm.infer(g) for g in graphs[:2]]
    numbers = repr((c, [(s.energy, s.bound) for s in found]))
    bits = svm.unary_.tobytes() + svm.pairwise_.tobytes() + numbers.encode()
    print(learner, oracle, hashlib.sha256(bits).hexdigest())
"""


def printed(threads, blas):
    names = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS")
    environment = {**os.environ, **dict.fromkeys(names, str(blas))}
    done = subprocess.run(
        [sys.executable, "-c", ABOVE_10000_WEIGHTS, str(threads)],
        capture_output=True,
        text=True,
        env=environment,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


@pytest.mark.slow
def test_threads_change_no_bit_above_10000_weights():
    if (os.cpu_count() or 1) < 2:
        pytest.skip("BLAS makes no more threads than there are processors")
    alone = printed(1, 1)
    assert len(alone) == 7
    assert printed(2, 2) == alone

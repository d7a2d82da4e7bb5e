"""Sets that are cut into several shards, small as they are."""

from __future__ import annotations

import numpy as np
import pytest

from gapcut.learners import LearnResult
from gapcut.problem import LearningProblem, learning_problem, shards
from tiny import TinyGraph


def force_shards(monkeypatch: pytest.MonkeyPatch) -> None:
    """From here on every graph is a shard, up to 64."""
    monkeypatch.setattr(shards, "ONE", 0.0)
    monkeypatch.setattr(shards, "WORK", 1.0)
    monkeypatch.setattr(shards, "SUMS", 0)


def snake_problem(n_graphs: int = 9, C: float = 10.0) -> LearningProblem:
    """Noisy labels on rings with chords, of several sizes; large enough that runs take some certificates."""
    rng = np.random.default_rng(17)
    graphs, labels = [], []
    for _ in range(n_graphs):
        n = int(rng.integers(20, 60))
        y = (np.cumsum(rng.random(n) < 0.1) % 3).astype(np.int64)
        nodes = np.eye(3)[y] + rng.normal(scale=0.9, size=(n, 3))
        tail = np.concatenate([np.arange(n), rng.integers(n, size=n)])
        head = np.concatenate([(np.arange(n) + 1) % n, (rng.integers(1, n, size=n) + tail[n:]) % n])
        keep = tail != head
        edges = np.stack([tail, head], axis=1)[keep]
        graphs.append(TinyGraph(nodes, edges, np.abs(rng.normal(size=(len(edges), 2)))))
        labels.append(y)
    return learning_problem(graphs, labels, n_labels=3, C=C, loss_scale=100.0)


def same_bits(one: LearnResult, two: LearnResult) -> None:
    """Weights, bounds and their history are equal."""
    assert np.array_equal(one.weights, two.weights)
    assert one.certificate == two.certificate
    ends = [[(r.lower, r.upper, r.planes) for r in result.history] for result in (one, two)]
    assert ends[0] == ends[1]

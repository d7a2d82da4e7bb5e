"""Feature steps on many graphs at once: the same numbers as one at a time, in little time, within the limit."""

from __future__ import annotations

import signal
import threading
import time
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

from gapcut import CliqueSet, Graph, GraphError, StructuredSVM
from gapcut.features import FeaturePipeline, block


def random_graphs(count: int, sparse: bool = False, cliques: bool = False) -> list[Graph]:
    rng = np.random.default_rng(count)
    graphs = []
    for i in range(count):
        n = int(rng.integers(1, 9))
        edges = np.stack([np.arange(n - 1), np.arange(1, n)], axis=1)
        rows = rng.normal(size=(n, 3)) * (rng.random((n, 3)) < 0.7)
        groups = [
            CliqueSet(np.arange(3)[None] if n > 2 else np.empty((0, 3)), rng.normal(size=(int(n > 2), 2)))
        ]
        graphs.append(
            Graph(
                sp.csr_array(rows) if sparse and i % 5 else rows,
                edges,
                rng.normal(size=(n - 1, 2)),
                rng.integers(0, 2, n),
                cliques=groups if cliques else None,
            )
        )
    return graphs


def bits(graphs: list[Graph]) -> list[bytes]:
    def of(rows: Any) -> bytes:
        return (rows.toarray() if sp.issparse(rows) else rows).tobytes()

    return [
        b"".join(map(of, (g.node_features, g.edge_features, *(c.features for c in g.cliques))))
        for g in graphs
    ]


@pytest.mark.parametrize("cliques", [False, True])
@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize(
    "choice",
    [{}, {"standardize": "scale", "degree_scale": "graph"}, {"edge_lift": "stumps", "degree_scale": "node"}],
)
def test_blocks_leave_no_trace(monkeypatch, choice: dict[str, Any], sparse: bool, cliques: bool) -> None:
    graphs = random_graphs(40, sparse, cliques)
    steps = FeaturePipeline(**choice)
    together = steps.fit_transform(graphs)
    assert bits(steps.transform_all(graphs)) == bits(together)
    assert bits([steps.transform(g) for g in graphs]) == bits(together)
    monkeypatch.setattr(block, "ENOUGH", 1)
    alone = FeaturePipeline(**choice)
    assert bits(alone.fit_transform(graphs)) == bits(together)
    for name, learned in alone.to_state()[0].items():
        assert learned.tobytes() == steps.to_state()[0][name].tobytes()
    assert [g.is_sparse for g in alone.fit_transform(graphs)] == [g.is_sparse for g in together]


def test_a_number_that_overflows_names_its_graph() -> None:
    train = [Graph([[1.0], [2.0]], [[0, 1]], [[1e-200 * k]], [0, 1], name=f"g{k}") for k in (1, 2)]
    steps = FeaturePipeline().fit(train)
    late = Graph([[1.0], [2.0], [3.0]], [[0, 1], [2, 1]], [[1e-200], [1e200]], name="late")
    with pytest.raises(GraphError, match=r"graph 'late': edge_features of edge 1, feature 0 is inf"):
        steps.transform_all([*train, late])


def test_many_tiny_graphs_take_little_time() -> None:
    graphs = random_graphs(4000)
    start = time.process_time()
    FeaturePipeline().fit_transform(graphs)
    assert time.process_time() - start < 1.2  # 100,000 in 10 s leave 0.4; one at a time took 4.5


@pytest.mark.slow
def test_time_of_the_largest_sets() -> None:
    rng = np.random.default_rng(0)
    at = np.arange(299_999)
    large = Graph(rng.normal(size=(300_000, 60)), np.stack([at, at + 1], axis=1), rng.random((299_999, 4)))
    start = time.process_time()
    FeaturePipeline().fit_transform([large])
    assert time.process_time() - start < 3.0
    small = [
        Graph(rng.normal(size=(5, 4)), [[0, 1], [1, 2], [2, 3], [3, 4]], rng.random((4, 2)))
        for _ in range(100_000)
    ]
    start = time.process_time()
    FeaturePipeline().fit_transform(small)
    assert time.process_time() - start < 10.0


def test_a_limit_that_ends_in_feature_steps_leaves_a_model() -> None:
    graphs = random_graphs(2000)
    start = time.process_time()
    svm = StructuredSVM(time_limit=1e-6, gap=1e-9).fit(graphs)
    assert svm.certificate_.status == "stopped"
    assert time.process_time() - start < 5.0


def test_feature_steps_count_towards_the_time_limit(monkeypatch) -> None:
    given: list[float] = []
    before = FeaturePipeline.fit_transform

    def slow(self: FeaturePipeline, *args: Any) -> list[Graph]:
        time.sleep(0.3)
        return before(self, *args)

    monkeypatch.setattr(FeaturePipeline, "fit_transform", slow)
    svm = StructuredSVM(time_limit=0.6, gap=0.0 + 1e-12, callback=lambda r: given.append(r.seconds) or False)
    start = time.monotonic()
    assert svm.fit(random_graphs(30)).certificate_.status in ("stopped", "certified")
    assert all(seconds < 0.5 for seconds in given[:-1])
    assert time.monotonic() - start < 5.0


def test_ctrl_c_ends_feature_steps() -> None:
    graphs = random_graphs(2000) * 200
    threading.Timer(0.2, signal.raise_signal, [signal.SIGINT]).start()
    with pytest.raises(KeyboardInterrupt):
        FeaturePipeline().fit_transform(graphs)

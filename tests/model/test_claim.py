"""Claims of models whose oracle tightens its bound from call to call."""

import numpy as np

from gapcut import Graph, StructuredSVM
from gapcut.model.claim import check_claim
from gapcut.model.settings import Settings


def rings(count: int) -> list[Graph]:
    rng = np.random.default_rng(0)
    edges = [[i, (i + 1) % 6] for i in range(6)] + [[0, 3], [1, 4]]
    return [
        Graph(rng.normal(size=(6, 2)), edges, rng.normal(size=(8, 2)), rng.integers(3, size=6))
        for _ in range(count)
    ]


def test_a_claim_proven_with_kept_messages_is_proven_again():
    graphs = rings(12)
    svm = StructuredSVM(C=1.0, oracle="trws", gap=0.05, max_passes=200).fit(graphs)
    settings = Settings.checked(svm.get_params(deep=False))
    found = check_claim(svm.model_, settings, graphs, time_limit=20.0)
    assert found.verdict == "holds", found.reason
    assert found.upper <= svm.certificate_.upper * (1 + 1e-9)

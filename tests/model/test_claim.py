"""Claims of models whose oracle tightens its bound from call to call."""

import numpy as np
import pytest

from gapcut import Graph, StructuredSVM
from gapcut.certificates import Record
from gapcut.machine import Machine
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


@pytest.mark.parametrize("oracle", ["cut", "lp"])
def test_a_claim_is_proven_again_in_the_steps_that_made_it(oracle):
    """A run that aimed at no gap would take turns with planes, and be far longer than the training."""
    graphs = rings(40)
    svm = Machine(C=30.0, oracle=oracle, gap=0.002, n_jobs=1).fit(graphs)
    again: list[Record] = []
    found = svm.check(graphs, callback=lambda record: again.append(record) and False)
    assert found.verdict == "holds", found.reason
    assert [(r.passes, r.lower) for r in again] == [(r.passes, r.lower) for r in svm.history_]


def test_a_lower_end_beyond_the_target_is_reached_by_further_runs():
    graphs = rings(12)
    closer = Machine(C=1.0, gap=1e-4).fit(graphs)
    model = Machine(C=1.0, gap=0.2).fit(graphs)
    settings = Settings.checked(model.get_params())
    found = check_claim(closer.model_, settings, graphs)
    assert found.verdict == "holds", found.reason
    assert found.lower > model.certificate_.lower


@pytest.mark.parametrize("stop_after", [1, 3])
def test_a_check_ends_when_its_caller_says_so(stop_after):
    graphs = rings(12)
    closer = Machine(C=1.0, gap=1e-4).fit(graphs)
    seen: list[Record] = []

    def stop(record: Record) -> bool:
        seen.append(record)
        return len(seen) >= stop_after

    settings = Settings.checked(Machine(C=1.0, gap=0.2).get_params())
    assert check_claim(closer.model_, settings, graphs, callback=stop).verdict == "not reproduced"
    assert len(seen) == stop_after

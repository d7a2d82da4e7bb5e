"""Actors that are lost at the worst moments, on a Ray that works in this process."""

from __future__ import annotations

import os
import signal
import warnings
from collections.abc import Sequence

import numpy as np
import pytest

from gapcut import StructuredSVM
from gapcut.engines import actors as engine
from local_ray import Actor, LocalRay
from sample_graphs import sample_graphs


@pytest.fixture
def ray(monkeypatch, forced):
    found = LocalRay(cpus=2)

    class Cluster:
        def __init__(self, address: str | None = None) -> None:
            self.ray = found

        def close(self) -> None:
            """Nothing was started."""

    monkeypatch.setattr(engine, "RayCluster", Cluster)
    monkeypatch.setattr(engine, "PATIENCE", 0.05)
    return found


def fit(**settings):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return StructuredSVM(C=10.0, gap=1e-3, max_passes=12, engine="ray", **settings).fit(sample_graphs(12))


def weights(svm):
    return svm.unary_.tobytes() + svm.pairwise_.tobytes(), svm.certificate_.lower, svm.certificate_.upper


@pytest.mark.parametrize("oracle", ["cut", "lp"])
@pytest.mark.parametrize("moment", [2, 5, 12])
def test_two_losses_in_one_call_change_no_bits(ray, oracle, moment):
    """The second actor dies, its shards go to the first, which had answered, and dies when it is asked again."""
    asked = 0

    def dies(_: Actor, call: str, shards: Sequence[int]) -> bool:
        nonlocal asked
        if call != "ask":
            return False
        asked += 1
        if asked == 2 * moment:
            ray.cpus = 1
        if asked == 2 * moment + 1:
            ray.cpus = 2
        return asked in (2 * moment, 2 * moment + 1)

    expected = weights(fit(oracle=oracle))
    ray.dies = dies
    found = weights(fit(oracle=oracle))
    assert asked > 2 * moment + 1
    assert found == expected


def test_actors_that_cannot_live_end_the_run(ray):
    ray.stillborn = True
    with pytest.raises(ConnectionError, match=r"actors in a row were lost with the same graphs"):
        fit(oracle="cut")
    assert ray.made < 20


@pytest.mark.parametrize("oracle", ["cut", "trws"])
def test_ctrl_c_ends_planes_made_elsewhere(ray, oracle):
    calls = 0

    def interrupts(actor: Actor, call: str, shards: Sequence[int]) -> bool:
        nonlocal calls
        calls += call == "evaluate"
        if calls == 4:
            os.kill(os.getpid(), signal.SIGINT)
        return False

    ray.dies = interrupts
    svm = fit(learner="block", oracle=oracle)
    assert svm.interrupted_
    assert np.isfinite(svm.unary_).all()

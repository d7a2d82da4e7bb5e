"""Where weights are learned: what an engine is refused for, in one line."""

from __future__ import annotations

import sys

import pytest

from gapcut import StructuredSVM
from gapcut.engines.shards import open_shards
from sample_graphs import sample_graphs


@pytest.mark.parametrize(
    "settings",
    [{"oracle": "lp", "learner": "block"}, {"oracle": "brute"}, {"oracle": "cut", "learner": "subgradient"}],
)
def test_what_is_not_learned_from_shards(settings, monkeypatch):
    monkeypatch.setattr("gapcut.machine.open_shards", lambda *_: open_shards("threads"))
    wanted = r"^engine='ray' is for learner='primal-dual', and for 'block' with oracle='cut', 'tree' or 'trws', not"
    with pytest.raises(ValueError, match=wanted) as told:
        StructuredSVM(engine="ray", **settings).fit(sample_graphs(2))
    assert "\n" not in str(told.value)


def test_what_is_there(monkeypatch):
    with pytest.raises(ValueError, match="address 'a:1' is of a Ray cluster, but the engine is 'threads'"):
        StructuredSVM(address="a:1").fit(sample_graphs(2))
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(ImportError, match=r'engine "ray" needs ray: pip install "gapcut\[cluster\]"'):
        StructuredSVM(engine="ray").fit(sample_graphs(2))


def test_a_model_does_not_remember_the_cluster(monkeypatch, tmp_path):
    monkeypatch.setattr("gapcut.machine.open_shards", lambda *_: open_shards("threads"))
    svm = StructuredSVM(engine="ray", address="a:1").fit(sample_graphs(2))
    svm.save(tmp_path / "m.gapcut")
    loaded = StructuredSVM.load(tmp_path / "m.gapcut")
    assert (loaded.engine, loaded.address) == ("threads", None)

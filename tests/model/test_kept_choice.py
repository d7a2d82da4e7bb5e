"""A search that is over is kept in the checkpoint of the fit after it."""

import json

import numpy as np
import pytest

import gapcut.machine
import gapcut.model.training
from gapcut import Graph, StructuredSVM
from gapcut.learners.checkpoint import DamagedCheckpoint
from sample_graphs import same_model

ASKED = {"C": "cv", "base": "auto", "node_lift": "none", "oracle": "auto", "gap": 0.02}


def outliers(seed):
    """Rings whose labels tell small from large numbers of either sign: trees see it, a linear model does not."""
    rng = np.random.default_rng(seed)
    ring = np.stack([np.arange(40), np.roll(np.arange(40), -1)], axis=1)
    columns = [rng.normal(size=(40, 1)) for _ in range(8)]
    return [Graph(x, ring, labels=(np.abs(x[:, 0]) > 0.7).astype(int)) for x in columns]


GRAPHS = outliers(0)


@pytest.fixture(scope="module")
def killed(tmp_path_factory):
    """The checkpoint of a fit that was killed after its search, and the model of one that was not."""
    path = tmp_path_factory.mktemp("killed") / "run.checkpoint"

    def kill(_: object) -> None:
        raise RuntimeError("killed")

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(gapcut.model.training, "FEWEST_NODES", 100)
        with pytest.raises(RuntimeError, match="killed"):
            StructuredSVM(**ASKED, checkpoint=path, callback=kill).fit(GRAPHS)
        return path.read_bytes(), StructuredSVM(**ASKED).fit(GRAPHS)


@pytest.fixture
def begun(killed, monkeypatch, tmp_path):
    """The same in a folder of its own, where no search may begin."""

    def twice(*_: object) -> None:
        raise AssertionError("searched again")

    monkeypatch.setattr(gapcut.machine, "decide", twice)
    path = tmp_path / "run.checkpoint"
    path.write_bytes(killed[0])
    return path, killed[1]


def test_a_resumed_fit_does_not_search_again(begun):
    path, whole = begun
    resumed = StructuredSVM(**ASKED, checkpoint=path).fit(GRAPHS)
    assert same_model(resumed, whole)
    assert resumed.certificate_ == whole.certificate_
    assert resumed.choice_ == whole.choice_ is not None
    assert resumed.model_.temperature == whole.model_.temperature is not None
    assert np.array_equal(resumed.model_.base.held_out, whole.model_.base.held_out)
    assert not path.exists()


@pytest.mark.parametrize(
    "other", [{"base": None}, {"base": "trees"}, {"node_lift": "stumps"}, {"probability": True}]
)
def test_another_search_is_refused(begun, other):
    with pytest.raises(ValueError, match="belongs to other data, another C or other settings"):
        StructuredSVM(**{**ASKED, **other}, checkpoint=begun[0]).fit(GRAPHS)


def test_other_graphs_are_refused(begun):
    with pytest.raises(ValueError, match="belongs to other data"):
        StructuredSVM(**ASKED, checkpoint=begun[0]).fit(outliers(1))


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("C", -1.0),
        ("C", "cv"),
        ("node_lift", "auto"),
        ("standardize", None),
        ("temperature", 0.0),
        ("choice", {}),
    ],
)
def test_a_damaged_choice_is_refused(begun, name, value):
    path = begun[0]
    with np.load(path) as stored:
        arrays = dict(stored)
    meta = json.loads(arrays.pop("meta").tobytes().decode())
    meta["chosen"][name] = value
    with path.open("wb") as file:
        np.savez(file, meta=np.frombuffer(json.dumps(meta).encode(), dtype=np.uint8), **arrays)
    with pytest.raises(DamagedCheckpoint, match="damaged checkpoint"):
        StructuredSVM(**ASKED, checkpoint=path).fit(GRAPHS)

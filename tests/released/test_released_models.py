"""Models that released versions wrote load for ever, claim what they claimed and label as they did.

A folder per version, made by ``make_models.py`` at its release and never changed.
"""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from make_models import kinds, said

from gapcut import GraphSet, Machine, StructuredSVM

MODELS = sorted(Path(__file__).parent.glob("*/*.gapcut"))
IDS = [f"{path.parent.name}/{path.stem}" for path in MODELS]


def test_there_is_a_model_of_every_kind():
    assert {path.stem for path in MODELS if path.parent.name == "0.1"} == set(kinds())
    assert all(path.stat().st_size < 50_000 for path in MODELS)


@pytest.mark.parametrize("path", MODELS, ids=IDS)
def test_a_released_model_says_what_it_said(path):
    wanted = json.loads(path.with_suffix(".json").read_text())
    found = said(StructuredSVM.load(path), GraphSet.load(path.with_suffix(".npz")))
    for name, value in wanted.pop("params").items():
        assert found["params"][name] == value
    for name in ("energies", "probabilities"):
        assert (found[name] is None) == (wanted[name] is None)
        for a, b in zip(found.pop(name) or [], wanted.pop(name) or [], strict=True):
            assert np.allclose(a, b, rtol=1e-9, atol=1e-9)
    assert {name: found[name] for name in wanted} == wanted


@pytest.mark.parametrize("path", MODELS, ids=IDS)
def test_a_released_model_can_be_saved_again(path, tmp_path):
    svm = Machine.load(path)
    svm.save(tmp_path / "again.gapcut")
    again = Machine.load(tmp_path / "again.gapcut")
    assert np.array_equal(again.unary_, svm.unary_)
    assert np.array_equal(again.pairwise_, svm.pairwise_)
    assert again.certificate_ == svm.certificate_

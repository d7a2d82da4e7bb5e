"""Defaults of released versions."""

from __future__ import annotations

from dataclasses import fields

import pytest

import gapcut
from gapcut.parameters import DEFAULTS, Parameters

UNCHANGING = {
    "classes",
    "warm_start",
    "n_jobs",
    "max_passes",
    "time_limit",
    "checkpoint",
    "callback",
    "verbose",
    "random_state",
    "engine",
    "address",
}
"""What does not change what is learned from data, or has no default of its own."""


def test_the_newest_entry_is_what_the_constructor_does():
    newest = list(DEFAULTS)[-1]
    now = {f.name: f.default for f in fields(Parameters) if f.name not in UNCHANGING}
    assert gapcut.defaults(newest) == now
    assert tuple(map(int, newest.split("."))) <= tuple(map(int, gapcut.__version__.split(".")[:2]))


@pytest.mark.parametrize("version", DEFAULTS)
def test_an_estimator_takes_them(version):
    svm = gapcut.StructuredSVM(**gapcut.defaults(version) | {"C": 10.0})
    assert svm.get_params()["C"] == 10.0
    svm._settings()
    assert gapcut.defaults(version)["C"] == 1.0


def test_unknown_versions_are_named():
    with pytest.raises(ValueError, match=r"'9\.9': known are 0\.1"):
        gapcut.defaults("9.9")

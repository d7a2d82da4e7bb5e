"""Targets differ in their last bits; what each claims holds on the others."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator

import numpy as np
import pytest

import gapcut
from gapcut import StructuredSVM, _core, datasets
from gapcut.engines import targets

TARGETS = targets()
CHECK = "import sys; from gapcut.cli import main; sys.exit(main(sys.argv[1:]))"


@pytest.fixture(autouse=True)
def in_use() -> Iterator[None]:
    before = gapcut.target()
    yield
    _core.use_target(before)


@pytest.mark.skipif(len(TARGETS) < 2, reason="this processor has one target")
def test_a_claim_holds_on_every_other_target(tmp_path) -> None:
    graphs = datasets.make_planted(8, seed=5)
    for trained_on in TARGETS:
        _core.use_target(trained_on)
        svm = StructuredSVM().fit(graphs)
        path = tmp_path / f"{trained_on}.gapcut"
        svm.save(path)
        graphs_file = tmp_path / "graphs.npz"
        gapcut.GraphSet(graphs).save(graphs_file)
        for checked_on in TARGETS:
            done = subprocess.run(
                [sys.executable, "-c", CHECK, "check", str(path), str(graphs_file)],
                env={**os.environ, "GAPCUT_TARGET": checked_on},
                capture_output=True,
                text=True,
            )
            assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("labels", [2, 3, 4, 5, 7, 9])
def test_bounds_of_message_passing_agree_and_labelings_never_beat_them(labels: int) -> None:
    rng = np.random.default_rng(labels)
    edges = rng.integers(0, 40, (90, 2))
    edges = edges[edges[:, 0] != edges[:, 1]]
    energy = gapcut.Energy(rng.random((40, labels)), edges, rng.random((len(edges), labels, labels)))
    bounds = []
    for name in TARGETS:
        _core.use_target(name)
        solution = gapcut.solve(energy, method="trws")
        assert solution.bound <= solution.energy
        bounds.append(solution.bound)
    assert bounds == pytest.approx([bounds[0]] * len(bounds), rel=1e-3)


def test_results_repeat_on_one_target_for_any_number_of_threads() -> None:
    graphs = datasets.make_planted(6, seed=2)
    for name in TARGETS:
        _core.use_target(name)
        one, two = StructuredSVM().fit(graphs), StructuredSVM(n_jobs=2).fit(graphs)
        assert np.array_equal(one.pairwise_, two.pairwise_)
        assert (one.certificate_.lower, one.certificate_.upper) == (
            two.certificate_.lower,
            two.certificate_.upper,
        )


def test_an_unknown_target_is_one_clear_error() -> None:
    done = subprocess.run(
        [sys.executable, "-c", "from gapcut import solve"],
        env={**os.environ, "GAPCUT_TARGET": "v9"},
        capture_output=True,
        text=True,
    )
    assert done.returncode != 0
    assert "no target 'v9' on this machine; there are baseline" in done.stderr


def test_the_version_tells_the_target(capsys) -> None:
    from gapcut.cli import main

    assert main(["--version", "--verbose"]) == 0
    assert f"target {gapcut.target()}" in capsys.readouterr().out

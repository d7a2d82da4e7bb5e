"""Energies of images."""

from __future__ import annotations

import pickle
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import gapcut
from gapcut import Energy, _core, solve
from gapcut.engines import Deadline, targets
from gapcut.inference import grids
from gapcut.inference.methods.parts import Known
from gapcut.inference.methods.windows import improve_windows


def test_a_grid_is_the_energy_of_its_pixels() -> None:
    rng = np.random.default_rng(0)
    for height, width, k in ((3, 4, 3), (1, 5, 2), (4, 1, 2), (1, 1, 3), (2, 2, 1)):
        unary, table = rng.normal(size=(height, width, k)), rng.normal(size=(k, k))
        right, down = rng.random((height, width - 1)), rng.random((height - 1, width))
        plain, weighted = Energy.grid(unary, table), Energy.grid(unary, table, right=right, down=down)
        half = Energy.grid(unary, table, down=down)
        for _ in range(5):
            y = rng.integers(0, k, (height, width))
            own = np.take_along_axis(unary, y[..., None], 2).sum()
            across, below = table[y[:, :-1], y[:, 1:]], table[y[:-1], y[1:]]
            flat = y.ravel()
            assert plain.energy(flat) == pytest.approx(own + across.sum() + below.sum())
            assert weighted.energy(flat) == pytest.approx(own + (right * across).sum() + (down * below).sum())
            assert half.energy(flat) == pytest.approx(own + across.sum() + (down * below).sum())
        for energy in (plain, weighted):
            found = solve(energy)
            assert found.status == "optimal"
            if k ** (height * width) < 1e5:
                assert found.energy == pytest.approx(solve(energy, "brute").energy)


def test_tables_are_shared_and_a_number_is_potts() -> None:
    unary = np.random.default_rng(1).random((20, 30, 4))
    potts = Energy.grid(unary, 0.5)
    assert len(potts.tables()) == 16
    assert potts.table(0).tolist() == (0.5 * (1 - np.eye(4))).tolist()
    levels = np.where(np.arange(29) % 2, 0.5, 1.0)[None].repeat(20, axis=0)
    assert len(Energy.grid(unary, 0.5, right=levels).tables()) == 2 * 16
    forbidden = Energy.grid(unary, np.inf, right=0.0 * levels)
    assert (forbidden.table(0) == np.where(np.eye(4) > 0, 0.0, np.inf)).all()
    assert np.unique(solve(potts, soft={0: [9, 9, 0, 9]}, fixed={1: 3}).labels[:2]).tolist() == [2, 3]


def test_what_does_not_fit_is_named() -> None:
    unary = np.zeros((3, 4, 2))
    for arguments, message in (
        ((np.zeros((3, 4)), 1.0), r"unary has shape \(3, 4\), expected \(height, width, labels\)"),
        ((unary, np.zeros((3, 3))), r"pairwise has shape \(3, 3\), expected a number or \(2, 2\)"),
    ):
        with pytest.raises(ValueError, match=message):
            Energy.grid(*arguments)
    with pytest.raises(ValueError, match=r"right has shape \(3, 4\), expected \(3, 3\)"):
        Energy.grid(unary, 1.0, right=np.ones((3, 4)))
    with pytest.raises(ValueError, match="down must hold finite numbers >= 0"):
        Energy.grid(unary, 1.0, down=-np.ones((2, 4)))


@pytest.fixture
def no_lists(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Small grids are kept without a list of edges too."""
    monkeypatch.setattr(grids, "LEAST_ENTRIES", 0)
    before = gapcut.target()
    yield
    _core.use_target(before)


def tables(rng: np.random.Generator, k: int) -> Iterator[np.ndarray]:
    """One of each kind that the sweeps know: Potts, truncated linear, any."""
    step = np.abs(np.arange(k)[:, None] - np.arange(k))
    yield 0.7 * (step > 0)
    yield np.minimum(0.3 * step, 0.8)
    anything = rng.random((k, k))
    yield anything - anything.min()


def listed(energy: Energy) -> Energy:
    """The same with a list of edges."""
    k = int(energy.n_labels[0])
    return Energy(
        energy.unaries().reshape(-1, k), energy.edges, [energy.table(e) for e in range(energy.n_edges)]
    )


@pytest.mark.parametrize("target", targets())
@pytest.mark.usefixtures("no_lists")
def test_bounds_without_a_list_of_edges_hold_and_are_as_good(target: str) -> None:
    _core.use_target(target)
    rng = np.random.default_rng(2)
    for height, width, k in (
        (2, 2, 2),
        (2, 3, 3),
        (3, 3, 2),
        (16, 5, 3),
        (17, 40, 4),
        (33, 18, 7),
        (48, 2, 5),
    ):
        for table in tables(rng, k):
            for weights in (
                {},
                {"right": rng.random((height, width - 1)), "down": rng.integers(0, 3, (height - 1, width))},
            ):
                unary = rng.normal(size=(height, width, k))
                energy = Energy.grid(unary, table, **weights)
                assert energy.pixels is not None
                other = listed(energy)
                labels = rng.integers(0, k, height * width)
                assert np.array_equal(energy.terms(labels), other.terms(labels))
                found, reference = solve(energy, "trws"), solve(other, "trws", escape=False)
                assert found.bound <= found.energy == other.energy(found.labels)
                assert found.bound <= reference.energy
                assert reference.bound <= found.energy
                assert found.bound == pytest.approx(reference.bound, rel=1e-3)
                if k ** (height * width) < 1e4:
                    assert found.bound <= solve(other, "brute").energy <= found.energy


@pytest.mark.usefixtures("no_lists")
@settings(max_examples=60, deadline=None)
@given(seed=st.integers(0, 10**6), scale=st.sampled_from([1e-9, 1.0, 1e9]), sweeps=st.integers(1, 3))
def test_no_bound_is_above_the_least_energy(seed: int, scale: float, sweeps: int) -> None:
    """Few sweeps, whose bounds are far from tight; ties, where rounding would show."""
    rng = np.random.default_rng(seed)
    height, width, k = rng.integers(2, 4, 3)
    unary = scale * rng.integers(0, 4, (height, width, k)) / 3.0
    for table in tables(rng, k):
        energy = Energy.grid(unary, scale * table, right=rng.integers(0, 4, (height, width - 1)) / 7.0)
        found = solve(energy, "trws", max_sweeps=sweeps)
        least = solve(listed(energy), "brute").energy
        assert found.bound <= least <= found.energy * (1 + 1e-12)  # sums in another order round differently


@pytest.mark.usefixtures("no_lists")
def test_what_grids_without_a_list_cannot_do_gets_one() -> None:
    rng = np.random.default_rng(3)
    unary = rng.random((3, 4, 3))
    assert Energy.grid(unary, 1.0).with_evidence({0: 1}).pixels is None
    assert Energy.grid(unary, 1.0).with_evidence(soft={0: [1.0, 2.0, 3.0]}).pixels is not None
    for table in (np.inf, np.eye(3) + 1.0, 1e-200 * np.eye(3), 1e20):
        assert Energy.grid(unary, table).pixels is None
    for size in (1e45, 1e60):  # what a float32 cannot hold, times weights that make it ordinary again
        weights = np.full((3, 3), 1 / size), np.full((2, 4), 1 / size)
        energy = Energy.grid(unary, size, right=weights[0], down=weights[1])
        assert energy.pixels is None
        assert solve(energy).energy == pytest.approx(solve(Energy.grid(unary, 1.0), "brute").energy)
    assert Energy.grid(unary[:1], 1.0).pixels is None
    energy = Energy.grid(unary, 1.0)
    same = pickle.loads(pickle.dumps(energy))
    assert same.pixels is not None
    best = solve(energy, "brute").energy
    for one in (energy, same):
        assert solve(one).energy == solve(one, "lp").energy == best
        assert min(solve(one, "icm").energy, solve(one, "expansion").energy) >= best
    assert solve(energy, fixed={0: 1}).energy == solve(listed(energy), "brute", fixed={0: 1}).energy


def test_large_grids_keep_no_list_and_a_limit_is_held() -> None:
    rng = np.random.default_rng(4)
    energy = Energy.grid(rng.random((300, 200, 8)), 0.2)
    for limit in (0.0, 0.05, 20.0):
        found = solve(energy, "trws", limit)
        assert found.bound <= found.energy
        assert found.seconds < limit + 0.3
    assert found.gap < 1e-3 * found.energy
    assert "_pairs" not in vars(energy)


def test_auto_makes_no_list_of_tables_that_its_time_does_not_allow() -> None:
    """A wide gap, and a table of its own for every edge."""
    rng = np.random.default_rng(4)
    size, k = 220, 16
    right, down = rng.random((size, size - 1)), rng.random((size - 1, size))
    table = rng.random((k, k)) * (1 - np.eye(k))
    energy = Energy.grid(rng.random((size, size, k)), table, right=right, down=down)
    assert energy.pixels is not None
    assert energy.pixels.listed_entries == (right.size + down.size) * k * k
    found = solve(energy, time_limit=0.5)
    assert found.seconds < 1.2
    assert found.status == "stopped"
    assert "_pairs" not in vars(energy)


@pytest.mark.usefixtures("no_lists")
def test_windows_never_make_a_labeling_worse_and_find_better_ones() -> None:
    rng = np.random.default_rng(5)
    for table in tables(rng, 4):
        for weights in ({}, {"right": rng.random((40, 69)), "down": rng.random((39, 70))}):
            energy = Energy.grid(rng.random((40, 70, 4)), 0.6 * table, **weights)
            start = rng.integers(0, 4, energy.n_nodes)
            known = Known.of(energy, start, 0.0)
            better = improve_windows(energy, known, Deadline(None), 1.0)
            message = solve(energy, "trws")
            assert message.bound <= better.value == energy.energy(better.labels) < known.value
            assert better.value <= message.bound + 0.01 * abs(message.bound)
            assert solve(energy).energy <= message.energy
            assert solve(energy, time_limit=1.0, start=better.labels).energy <= better.value


GROWTH = """
import numpy as np
from pathlib import Path
from gapcut import Energy, solve

def peak():
    return 1024 * int(Path("/proc/self/status").read_text().split("VmHWM:")[1].split()[0])

before = peak()
unary = np.random.default_rng(0).random((512, 384, 16))
for label in range(16):
    unary[32 * label : 32 * (label + 1), :, label] -= 0.5
assert solve(Energy.grid(unary, 0.6), "METHOD").status == "optimal"
print((peak() - before) / unary.nbytes)
"""


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="reads Linux's own count")
@pytest.mark.parametrize("method", ["trws", "auto"])
def test_memory_is_at_most_four_times_the_unaries(method: str) -> None:
    code = GROWTH.replace("METHOD", method)
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert float(done.stdout) <= 4.0

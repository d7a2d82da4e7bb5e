"""Energies of images."""

from __future__ import annotations

import numpy as np
import pytest

from gapcut import Energy, solve


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

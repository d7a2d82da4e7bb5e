"""Rows by group: against sorts over everything."""

from __future__ import annotations

import numpy as np
import pytest

from gapcut.scenes.labelling.groups import group_order, spread_sample, squares
from gapcut.scenes.labelling.surroundings import columns


@pytest.mark.parametrize("seed", range(30))
def test_order_is_that_of_a_sort(seed: int) -> None:
    rng = np.random.default_rng(seed)
    n, n_groups = int(rng.integers(0, 300)), int(rng.integers(1, 40))
    groups = rng.integers(0, n_groups, n)
    values = rng.integers(-3, 3, n) * rng.choice([1e-300, 1.0, 1e300]) + 0.0
    assert np.array_equal(group_order(groups, n_groups), np.argsort(groups, kind="stable"))
    assert np.array_equal(group_order(groups, n_groups, values), np.lexsort((values, groups)))


def test_order_says_what_is_wrong() -> None:
    with pytest.raises(ValueError, match="row 1 is of group 3, but there are 3 groups"):
        group_order(np.array([0, 3]), 3)
    with pytest.raises(ValueError, match="row 0 is of group -1"):
        group_order(np.array([-1]), 3)
    with pytest.raises(ValueError, match="one value for each row"):
        group_order(np.array([0, 1]), 3, np.zeros(3))
    with pytest.raises(ValueError, match="the value of row 1 is NaN"):
        group_order(np.array([0, 1]), 3, np.array([0.0, np.nan]))


@pytest.mark.parametrize("seed", range(20))
def test_a_sample_is_spread_over_each_group(seed: int) -> None:
    rng = np.random.default_rng(seed)
    n_groups, most = int(rng.integers(1, 12)), int(rng.integers(1, 8))
    groups = rng.integers(0, n_groups, int(rng.integers(1, 200)))
    rows = spread_sample(groups, n_groups, most, rng)
    assert (np.diff(rows) > 0).all()
    for g in range(n_groups):
        mine = np.flatnonzero(groups == g)
        place = np.searchsorted(mine, rows[groups[rows] == g])
        assert len(place) == min(most, len(mine))
        ends = np.arange(len(place) + 1) * len(mine) // max(1, len(place))
        assert ((ends[:-1] <= place) & (place < ends[1:])).all()


def test_every_point_of_a_group_can_be_sampled() -> None:
    groups = np.zeros(17, dtype=np.int64)
    seen = {int(r) for seed in range(60) for r in spread_sample(groups, 1, 3, np.random.default_rng(seed))}
    assert seen == set(range(17))


@pytest.mark.parametrize("size", [0.5, 1e-4])  # counted, and too many squares to count
def test_squares_are_numbered_without_gaps(size: float) -> None:
    xyz = np.random.default_rng(0).uniform(0, 30, (400, 3))
    number, n = squares(xyz, size)
    cell = np.floor((xyz[:, :2] - xyz[:, :2].min(axis=0)) / size).astype(np.int64)
    present, inverse = np.unique(cell, axis=0, return_inverse=True)
    assert n == len(present)
    assert np.array_equal(number, inverse.ravel())


def test_columns_are_what_their_definition_says() -> None:
    rng = np.random.default_rng(1)
    xyz = rng.uniform(0, 6, (300, 3)) * [1, 1, 2]
    found = columns(xyz, xyz[:, 2], 1.0)
    cell = np.floor(xyz[:, :2] - xyz[:, :2].min(axis=0))
    for i in range(len(xyz)):
        z = xyz[(cell == cell[i]).all(axis=1), 2]
        span = np.ptp(z)
        wanted = [
            xyz[i, 2],
            span,
            (z < xyz[i, 2]).mean(),
            min(len(z) * 0.25 / max(span, 0.25), 16.0) / 16.0,
        ]
        assert np.allclose(found[i], wanted, atol=1e-5)

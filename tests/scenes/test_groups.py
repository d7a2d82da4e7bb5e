"""Rows by group: against sorts over everything."""

from __future__ import annotations

import numpy as np
import pytest

from gapcut.scenes.groups import blocks, group_order, segment_means, spread_sample, squares, voxel_sample
from gapcut.scenes.labelling.segments import segment_shapes
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
    cell = np.floor(xyz[:, :2] / size).astype(np.int64)
    present, inverse = np.unique(cell, axis=0, return_inverse=True)
    assert n == len(present)
    assert np.array_equal(number, inverse.ravel())


def test_columns_are_what_their_definition_says() -> None:
    rng = np.random.default_rng(1)
    xyz = rng.uniform(0, 6, (300, 3)) * [1, 1, 2]
    at = np.sort(rng.choice(300, 120, replace=False))
    found = columns(xyz, xyz[:, 2], 1.0, at)
    cell = np.floor(xyz[:, :2])
    for row, i in enumerate(at):
        z = xyz[(cell == cell[i]).all(axis=1), 2]
        span = np.ptp(z)
        wanted = [
            xyz[i, 2],
            span,
            (z < xyz[i, 2]).mean(),
            min(len(z) * 0.25 / max(span, 0.25), 16.0) / 16.0,
        ]
        assert np.allclose(found[row], wanted, atol=1e-5)


@pytest.mark.parametrize("seed", range(10))
def test_blocks_cover_all_rows_group_by_group(seed: int) -> None:
    rng = np.random.default_rng(seed)
    count = rng.choice([0, 1, 900, 40_000, 65_536, 200_000], int(rng.integers(0, 30)))
    ends = np.concatenate([[0], np.cumsum(count)])
    group = 0
    for groups, rows in blocks(count):
        assert groups.start == group < groups.stop
        assert (rows.start, rows.stop) == (ends[groups.start], ends[groups.stop])
        assert rows.stop - rows.start <= 65_536 or groups.stop == groups.start + 1
        group = groups.stop
    assert group == len(count)


def test_shapes_of_segments_are_the_same_in_blocks() -> None:
    rng = np.random.default_rng(0)
    xyz = rng.normal(size=(150_000, 3)) * [3, 2, 1] + [500_000, 6_000_000, 0]
    segments = rng.integers(0, 9, len(xyz)) * (rng.random(len(xyz)) < 0.5)
    found = segment_shapes(xyz, segments, 10)
    for s in range(9):
        mine = xyz[segments == s]
        assert np.allclose(found.centre[s], mine.mean(axis=0), atol=1e-6)
        assert np.allclose(
            found.spread[s] ** 2, np.linalg.eigvalsh(np.cov(mine.T, bias=True))[::-1], rtol=1e-6
        )
    assert found.count[9] == 0
    assert not found.spread[9].any()


def test_segment_means():
    values = np.array([[1.0, 0], [0, 1], [0.5, 0.5], [9, 9]])
    assert segment_means(values, [1, 0, 1, -1], 2).tolist() == [[0, 1], [0.75, 0.25]]
    with pytest.raises(ValueError, match="segment 1 has no points"):
        segment_means(values, [0, 0, 2, -1], 3)
    with pytest.raises(ValueError, match="beyond"):
        segment_means(values, [0, 0, 2, -1], 2)


def _mixed(x: int) -> int:
    x = (x + 0x9E3779B97F4A7C15) % 2**64
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9 % 2**64
    x = (x ^ (x >> 27)) * 0x94D049BB133111EB % 2**64
    return x ^ (x >> 31)


@pytest.mark.parametrize("seed", range(3))
def test_of_each_cube_the_point_with_the_least_hash_is_kept(seed: int) -> None:
    rng = np.random.default_rng(seed)
    xyz = rng.normal(scale=3.0, size=(500, 3))
    numbers = rng.choice(10**6, 500, replace=False)
    for given in (None, numbers):
        best: dict[tuple[int, ...], tuple[int, int]] = {}
        for row, place in enumerate(xyz):
            number = row if given is None else int(given[row])
            cube = tuple(np.floor(place / 0.7).astype(int).tolist())
            best[cube] = min(best.get(cube, (2**64, 0)), (_mixed(seed ^ _mixed(number)), row))
        assert voxel_sample(xyz, 0.7, seed, given).tolist() == sorted(row for _, row in best.values())
    assert len(voxel_sample(xyz, 1e-4, 0)) == 500
    assert voxel_sample(np.empty((0, 3)), 1.0, 0).tolist() == []
    with pytest.raises(ValueError, match="point 1 is not finite or more than a million voxels"):
        voxel_sample(np.array([[0.0, 0, 0], [1e6, 0, 0]]), 1.0, 0)

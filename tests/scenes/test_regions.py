"""Region growing on clouds whose faces are known, and its measures by hand."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gapcut.scenes.regions import RegionSettings, grow_regions, segment_quality


def room(seed: int, spacing: float = 0.05) -> tuple[np.ndarray, np.ndarray]:
    """Floor, two walls, a column and a wire, with 2 mm of noise; and which is which."""
    rng = np.random.default_rng(seed)
    n = int(4 / spacing**2)
    flat = rng.uniform(0, 2, size=(3, n, 2))
    zero = np.zeros(n)
    turn, up = rng.uniform(0, 2 * np.pi, n // 2), rng.uniform(0.2, 2, n // 2)
    column = np.column_stack([1 + 0.3 * np.cos(turn), 1 + 0.3 * np.sin(turn), up])
    along = np.linspace(0.3, 1.7, 120)
    wire = np.column_stack([along, 0 * along + 0.4, 1.5 + 0.1 * along])
    parts = [
        np.column_stack([flat[0], zero]),
        np.column_stack([flat[1, :, 0], zero, flat[1, :, 1]]),
        np.column_stack([zero, flat[2]]),
        column,
        wire,
    ]
    points = np.concatenate(parts) + rng.normal(scale=0.002, size=(sum(map(len, parts)), 3))
    return points, np.repeat(np.arange(5), [len(p) for p in parts])


@pytest.mark.parametrize("seed", range(3))
def test_faces_come_out_whole_and_pure(seed: int) -> None:
    points, parts = room(seed)
    regions = grow_regions(points, RegionSettings(offset=0.015, angle=15))
    quality = segment_quality(regions.segments, parts)
    assert quality.purity > 0.97
    assert quality.coverage > 0.9
    assert 5 <= regions.n_segments <= 12
    assert len(set(regions.segments[parts == 4])) == 1  # the wire


def test_defaults_follow_the_spacing() -> None:
    points, parts = room(5)
    small, large = grow_regions(points), grow_regions(100.0 * points)
    assert large.settings.reach == pytest.approx(100 * small.settings.reach)
    assert np.mean(small.segments == large.segments) > 0.99
    assert segment_quality(small.segments, parts).purity > 0.9


def test_threads_do_not_change_regions() -> None:
    points, _ = room(5)
    one, two = grow_regions(points, n_threads=1), grow_regions(points, n_threads=2)
    assert np.array_equal(one.segments, two.segments)


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10_000), st.integers(0, 150), st.integers(1, 40), st.sampled_from([0, 1, 3]))
def test_every_point_is_in_a_segment_that_is_large_enough(seed: int, n: int, least: int, digits: int) -> None:
    rng = np.random.default_rng(seed)
    points = np.round(rng.uniform(size=(n, 3)) * rng.choice([0.01, 1, 1], size=3), digits)
    wanted = RegionSettings(least=least, offset=0.05, reach=0.2, extent=0.6)
    regions = grow_regions(points, wanted)
    assert len(regions.segments) == n
    sizes = np.bincount(regions.segments, minlength=regions.n_segments)
    assert regions.n_segments == len(sizes) == len(np.unique(regions.segments))
    assert (sizes >= min(least, n)).all()
    first = [int(np.flatnonzero(regions.segments == s)[0]) for s in range(regions.n_segments)]
    assert first == sorted(first)


def test_islands_join_what_is_nearest() -> None:
    plate = np.stack(np.meshgrid(np.arange(20.0), np.arange(20.0), [0.0]), axis=-1).reshape(-1, 3)
    far = plate + np.array([0.0, 0.0, 500.0])
    stray = np.array([[10.0, 10, 300 + i] for i in range(12)])
    regions = grow_regions(np.concatenate([plate, far, stray]), RegionSettings(neighbours=3))
    assert regions.n_segments == 2
    assert set(regions.segments[-12:]) == {1}


def test_measures_by_hand() -> None:
    segments = np.array([0, 0, 0, 1, 1, 2, 2, -1])
    parts = np.array([5, 5, 8, 8, 8, 5, -1, 5])
    quality = segment_quality(segments, parts)
    assert quality.purity == pytest.approx(5 / 6)
    assert quality.coverage == pytest.approx((2 / 3 + 2 / 3) / 2)
    assert (quality.n_segments, quality.n_parts, quality.over_segmentation) == (3, 2, 1.5)


@pytest.mark.parametrize(
    ("segments", "parts", "message"), [([0, 1], [0], "one of each"), ([-1, 1], [0, -1], "both")]
)
def test_measures_need_points_that_are_in_both(segments: list[int], parts: list[int], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        segment_quality(segments, parts)


def test_points_need_three_finite_coordinates() -> None:
    with pytest.raises(ValueError, match=r"need \(N, 3\)"):
        grow_regions(np.zeros((4, 2)))
    with pytest.raises(ValueError, match="point 2"):
        grow_regions(np.array([[0.0, 0, 0], [1, 1, 1], [np.inf, 0, 0]]))


@pytest.mark.parametrize("setting", [{"offset": -1.0}, {"neighbours": 0}])
def test_settings_out_of_range_are_named(setting: dict[str, float]) -> None:
    with pytest.raises(ValueError, match=next(iter(setting)).removesuffix("s")):
        RegionSettings(**setting)

"""The forest over points: balanced samples, segment means, and that it learns."""

from __future__ import annotations

import numpy as np
import pytest

from gapcut.scenes.forest import PointForest, balanced_sample, segment_means
from gapcut.scenes.points import PointDescriber


def scene(seed: int) -> tuple[PointDescriber, np.ndarray]:
    """A floor (0), a wall (2) and unlabelled clutter (-1)."""
    rng = np.random.default_rng(seed)
    floor = np.column_stack([rng.uniform(0, 4, size=(900, 2)), rng.normal(scale=0.01, size=900)])
    wall = np.column_stack([rng.uniform(0, 4, 500), rng.normal(scale=0.01, size=500), rng.uniform(0, 2, 500)])
    clutter = rng.uniform(0.5, 1.5, size=(80, 3))
    points = np.concatenate([floor, wall, clutter])
    return PointDescriber(points, [2.0, 2, 1.7], radius=0.5), np.repeat([0, 2, -1], [900, 500, 80])


def test_learns_floor_from_wall_and_repeats_itself() -> None:
    (a, labels), (b, truth) = scene(0), scene(1)
    settings = PointForest(n_trees=20, per_class=300)
    trained = settings.train([a], [labels], 4)
    values = trained.probabilities(b)
    assert values.shape == (len(truth), 4)
    assert np.allclose(values.sum(axis=1), 1, atol=1e-5)
    assert not values[:, [1, 3]].any()  # classes never seen
    labelled = truth >= 0
    assert np.mean(values.argmax(axis=1)[labelled] == truth[labelled]) > 0.95
    assert np.array_equal(settings.train([a], [labels], 4).probabilities(b), values)
    segments = np.where(truth == 0, 1, np.where(truth == 2, 0, -1))
    every = trained.segment_distributions(b, segments, 2, per_segment=None)
    assert np.allclose(every, [values[truth == 2].mean(axis=0), values[truth == 0].mean(axis=0)], atol=1e-6)
    some = trained.segment_distributions(b, segments, 2, per_segment=100)
    assert np.abs(some - every).max() < 0.1
    assert every.argmax(axis=1).tolist() == [2, 0]


def test_sample_is_balanced_over_classes_and_scenes() -> None:
    labels = [np.repeat([0, 1, -1], [1000, 5, 50]), np.repeat([0, 1], [30, 400]), np.repeat([0, 2], [500, 2])]
    rows = balanced_sample(labels, 4, 120, np.random.default_rng(0))
    counts = np.array([[np.sum(y[r] == c) for c in range(4)] for y, r in zip(labels, rows, strict=True)])
    assert counts.sum(axis=0).tolist() == [120, 120, 2, 0]
    assert counts[:, 0].tolist() == [45, 30, 45]
    assert counts[:, 1].tolist() == [5, 115, 0]
    assert all((np.diff(r) > 0).all() for r in rows)
    assert all((y[r] >= 0).all() for y, r in zip(labels, rows, strict=True))


def test_segment_means() -> None:
    values = np.array([[1.0, 0], [0, 1], [0.5, 0.5], [9, 9]])
    assert segment_means(values, [1, 0, 1, -1], 2).tolist() == [[0, 1], [0.75, 0.25]]
    with pytest.raises(ValueError, match="segment 1 has no points"):
        segment_means(values, [0, 0, 2, -1], 3)
    with pytest.raises(ValueError, match="beyond"):
        segment_means(values, [0, 0, 2, -1], 2)


def test_errors() -> None:
    a, labels = scene(2)
    forest = PointForest(n_trees=2, per_class=10)
    with pytest.raises(ValueError, match="labels of 2"):
        forest.train([a], [labels, labels], 3)
    with pytest.raises(ValueError, match="scene 0 has 1480 points"):
        forest.train([a], [labels[:-1]], 3)
    with pytest.raises(ValueError, match="label 2, but there are 2"):
        forest.train([a], [labels], 2)
    with pytest.raises(ValueError, match="no point"):
        forest.train([a], [np.full_like(labels, -1)], 2)
    with pytest.raises(ValueError, match="segments of shape"):
        forest.train([a], [labels], 3).segment_distributions(a, labels[1:], 3)

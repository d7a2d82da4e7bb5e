"""Clouds for tests."""

from __future__ import annotations

import numpy as np

from gapcut.scenes.clouds import PointCloud


def surveyed(n: int = 500, seed: int = 0, everything: bool = True) -> PointCloud:
    """Points around x = 500,000, y = 6,000,000 with all attributes, some points unlabelled."""
    rng = np.random.default_rng(seed)
    xyz = rng.uniform(-60, 60, (n, 3)) + np.array([500_000, 6_000_000, 120])
    if not everything:
        return PointCloud(xyz)
    labels = rng.integers(-1, 5, n)
    labels[0] = 3
    segments = rng.integers(-1, 70_000, n)
    segments[-1] = 3_000_000_000  # beyond 32 bits
    return PointCloud(
        xyz,
        labels=labels,
        label_names={0: "deck", 1: "pier cap", 2: 'Träger "A"', 3: "column", 7: "never seen"},
        segments=segments,
        colour=rng.integers(0, 256, (n, 3)),
        intensity=rng.uniform(0, 1, n),
        extra={
            "confidence": rng.uniform(0, 1, n).astype(np.float32),
            "nx": rng.normal(size=n),
            "station": rng.integers(0, 4, n).astype(np.uint8),
        },
        crs='PROJCS["made up"]',
        name="scan",
    )


def assert_same(a: PointCloud, b: PointCloud, tolerance: float = 1e-3) -> None:
    assert np.abs(a.xyz - b.xyz).max() <= tolerance
    for key in ("labels", "segments", "colour", "intensity"):
        left, right = getattr(a, key), getattr(b, key)
        assert (left is None) == (right is None), key
        if left is not None:
            assert np.array_equal(left, right), key
    assert dict(a.label_names) == dict(b.label_names)
    assert a.crs == b.crs
    assert set(a.extra) == set(b.extra)
    for key in a.extra:
        assert np.array_equal(a.extra[key], b.extra[key].astype(a.extra[key].dtype), equal_nan=True), key

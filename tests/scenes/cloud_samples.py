"""Clouds for tests."""

from __future__ import annotations

from collections.abc import Container
from typing import Any

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


def assert_las_kept(before: Any, after: Any, but: Container[str] = ()) -> None:
    """That a file read by laspy has everything of another: its header but counts, box and places, its records byte for
    byte but those that describe dimensions, and its dimensions."""
    a, b = before.header, after.header
    ids = ("uuid", "file_source_id", "system_identifier", "generating_software", "creation_date")
    for name in (*ids, "version", "scales", "offsets", "extra_header_bytes", "extra_vlr_bytes"):
        assert np.array_equal(getattr(a, name), getattr(b, name)), name
    assert a.global_encoding.value == b.global_encoding.value
    assert a.point_format.id == b.point_format.id

    def records(found: Any) -> list[tuple[Any, ...]]:
        raw = [(v.user_id, v.record_id, v.description, bytes(v.record_data_bytes())) for v in found or ()]
        return [r for r in raw if r[:2] != ("LASF_Spec", 4) and r[0] not in ("gapcut", "laszip encoded")]

    assert records(a.vlrs) == records(b.vlrs)
    assert records(a.evlrs) == records(b.evlrs)
    for name in before.point_format.dimension_names:
        if name not in but:
            assert np.array_equal(before[name], after[name]), name
    found = {bytes(s.name): bytes(s) for v in b.vlrs.get("ExtraBytesVlr") for s in v.extra_bytes_structs}
    for each in (s for v in a.vlrs.get("ExtraBytesVlr") for s in v.extra_bytes_structs):
        assert bytes(each) == found[bytes(each.name)], each.name

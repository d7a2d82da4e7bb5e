"""Touching segments: against all pairs of points, and on bridges whose contacts are known."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components
from scipy.spatial.distance import cdist

from built_bridges import built_bridge
from gapcut.scenes.adjacency import (
    EXTRA_FEATURES,
    PAPER_FEATURES,
    adjacency,
    edge_features,
    segment_shapes,
)
from gapcut.scenes.bridges import TYPES, sample_surface


def _block(low, high, spacing=0.05):
    """Points on the faces of a box."""
    low, high = np.asarray(low, float), np.asarray(high, float)
    axes = [np.linspace(a, b, max(2, int((b - a) / spacing) + 1)) for a, b in zip(low, high, strict=True)]
    grid = np.stack(np.meshgrid(*axes, indexing="ij"), -1).reshape(-1, 3)
    return grid[(np.isclose(grid, low) | np.isclose(grid, high)).any(axis=1)]


def _scene(*blocks):
    clouds = [_block(*b) for b in blocks]
    return np.concatenate(clouds), np.repeat(np.arange(len(clouds)), [len(c) for c in clouds])


@pytest.mark.parametrize("seed", range(12))
def test_pairs_and_distances_are_those_of_all_points(seed: int) -> None:
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 12))
    centres = rng.random((n, 3)) * 3
    segments = rng.integers(-1, n, 400)
    points = centres[np.maximum(segments, 0)] + rng.normal(size=(400, 3)) * 0.3
    tolerance = float(rng.uniform(0.02, 0.4))
    found = adjacency(points, segments, tolerance, n_segments=n)
    expected = {}
    for u in range(n):
        for v in range(n):
            a, b = points[segments == u], points[segments == v]
            if u != v and len(a) and len(b) and cdist(a, b).min() <= tolerance:
                expected[u, v] = cdist(a, b).min()
    assert [tuple(e) for e in found.edges] == sorted(expected)
    np.testing.assert_allclose(found.distance, [expected[e] for e in sorted(expected)])
    reverse = {tuple(e): lift for e, lift in zip(found.edges, found.lift, strict=True)}
    assert all(np.isclose(reverse[u, v], -reverse[v, u]) for u, v in reverse)


def test_features_of_a_slab_on_a_wall_and_a_strut_beside_it() -> None:
    points, ids = _scene(
        ([0, -1, 2.0], [6, 1, 2.2]),  # slab
        ([0, -0.1, 0], [6, 0.1, 2.0]),  # wall below it, same length
        ([3, 0.1, 0.9], [3.2, 3, 1.1]),  # strut that meets the wall at right angles
        ([3, 5, 0.9], [3.2, 8, 1.1]),  # far away
    )
    found = adjacency(points, ids, 0.08)
    values, names = edge_features(found, segment_shapes(points, ids), extra=True)
    assert names == PAPER_FEATURES + EXTRA_FEATURES
    assert (values >= 0).all()
    assert (values <= 1).all()
    row = {tuple(e): dict(zip(names, v, strict=True)) for e, v in zip(found.edges, values, strict=True)}
    assert set(row) == {(0, 1), (1, 0), (1, 2), (2, 1)}
    assert row[0, 1]["on top of"] == 1
    assert row[1, 0]["on top of"] == 0
    assert row[1, 2]["on top of"] == row[2, 1]["on top of"] == 0
    assert row[0, 1]["direction consistency"] > 0.99
    assert row[1, 2]["perpendicularity"] > 0.99
    assert row[1, 2]["direction consistency"] < 0.1
    assert np.isclose(row[1, 2]["relative size"] + row[2, 1]["relative size"], 1)
    assert row[1, 2]["relative size"] > 0.5
    assert row[0, 1]["higher"] == row[1, 0]["lower"] > 0.25
    paper, short = edge_features(found, segment_shapes(points, ids))
    assert short == PAPER_FEATURES
    np.testing.assert_array_equal(paper, values[:, :3])


def test_two_members_in_line_are_aligned() -> None:
    points, ids = _scene(
        ([0, 0, 0], [3, 0.2, 0.2]), ([3.02, 0, 0], [6, 0.2, 0.2]), ([0, 0.2, 0], [3, 0.4, 0.2])
    )
    found = adjacency(points, ids, 0.05)
    values, names = edge_features(found, segment_shapes(points, ids), extra=True)
    alignment = {tuple(e): v for e, v in zip(found.edges, values[:, names.index("alignment")], strict=True)}
    assert alignment[0, 1] > 0.99
    assert alignment[0, 2] < 0.2


def test_result_does_not_depend_on_the_order_of_points_or_a_shift() -> None:
    bridge = built_bridge("frame", 1)
    points, ids, _ = sample_surface(bridge, 0.3)
    order = np.random.default_rng(0).permutation(len(points))
    a = adjacency(points, ids, 0.3)
    b = adjacency(points[order] + [1000.0, -500.0, 20.0], ids[order], 0.3)
    np.testing.assert_array_equal(a.edges, b.edges)
    np.testing.assert_allclose(a.distance, b.distance, atol=1e-9)


@pytest.mark.parametrize("type_", TYPES)
def test_bridges_hang_together_as_they_are_built(type_: str) -> None:
    bridge = built_bridge(type_, 0)
    points, ids, _ = sample_surface(bridge, 0.2)
    found = adjacency(points, ids, 0.25)
    n, _ = connected_components(coo_array((np.ones(len(found.edges)), found.edges.T), (bridge.n_parts,) * 2))
    assert n == 1
    assert 1.5 * bridge.n_parts < found.n_pairs < 5 * bridge.n_parts
    values, _ = edge_features(found, segment_shapes(points, ids))
    label = np.array([p.label for p in bridge.parts])
    u, v = found.edges.T

    def share(upper: str, lower: str) -> float:
        """Share of the contacts of two classes where the first lies on the second."""
        chosen = (label[u] == upper) & (label[v] == lower)
        return float(values[chosen, 0].mean()) if chosen.any() else 1.0

    assert share("bearing", "abutment") >= 0.7
    assert share("column", "footing") > 0.9
    assert share("abutment", "footing") > 0.9
    if type_ != "cable-stayed":  # whose pylon beams lie between the legs
        assert share("pier cap", "column") > 0.9
    assert share("deck", "bearing") == 1.0
    for upper, lower in (
        ("footing", "column"),
        ("abutment", "bearing"),
        ("girder", "deck"),
        ("deck", "railing"),
    ):
        chosen = (label[u] == upper) & (label[v] == lower)
        assert not values[chosen, 0].any(), (upper, lower)


def test_wrong_input_is_refused() -> None:
    points = np.zeros((4, 3))
    with pytest.raises(ValueError, match="one integer a point"):
        adjacency(points, np.zeros(3, int))
    with pytest.raises(ValueError, match="one integer a point"):
        adjacency(points, np.zeros(4))
    with pytest.raises(ValueError, match="positive"):
        adjacency(points, np.zeros(4, int), 0.0)
    with pytest.raises(ValueError, match="n_segments"):
        adjacency(points, np.full(4, 3), n_segments=2)
    with pytest.raises(ValueError, match="infinite"):
        adjacency(points * np.nan, np.zeros(4, int))
    assert len(adjacency(np.empty((0, 3)), np.empty(0, int)).edges) == 0
    assert edge_features(adjacency(points, np.full(4, -1)), segment_shapes(points, np.full(4, -1)))[
        0
    ].shape == (0, 3)

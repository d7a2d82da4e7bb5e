"""Contacts of bridges whose parts are known: they hang together, and lie on what they were built on."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from gapcut.scenes.bridges import TYPES, make_bridge, sample_surface
from gapcut.scenes.labelling.segments import find_contacts


def test_contacts_do_not_depend_on_the_order_of_points() -> None:
    points, ids, _ = sample_surface(make_bridge("frame", 1), 0.3)
    order = np.random.default_rng(0).permutation(len(points))
    a, b = find_contacts(points, ids, 0.4), find_contacts(points[order], ids[order], 0.4)
    np.testing.assert_array_equal(a.edges, b.edges)
    np.testing.assert_allclose(a.distance, b.distance, atol=1e-9)


@pytest.mark.parametrize("type_", TYPES)
def test_bridges_hang_together_as_they_are_built(type_: str) -> None:
    bridge = make_bridge(type_, 0)
    points, ids, _ = sample_surface(bridge, 0.2)
    found = find_contacts(points, ids, 0.25)
    n, _ = connected_components(coo_array((np.ones(len(found.edges)), found.edges.T), (bridge.n_parts,) * 2))
    assert n == 1
    assert 1.5 * bridge.n_parts < len(found.edges) / 2 < 5 * bridge.n_parts
    label = np.array([p.label for p in bridge.parts])
    u, v = found.edges.T
    for upper, lower in (
        *(("bearing", "abutment"), ("column", "footing"), ("abutment", "footing")),
        *(("pier cap", "column"), ("deck", "bearing"), ("deck", "girder"), ("girder", "bearing")),
    ):
        chosen = (label[u] == upper) & (label[v] == lower)
        if chosen.any() and (type_, upper) != ("cable-stayed", "pier cap"):  # its beams lie between the legs
            assert found.above[chosen].mean() > found.below[chosen].mean(), (upper, lower)

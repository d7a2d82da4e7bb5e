"""The order of pairs."""

from __future__ import annotations

import numpy as np

from gapcut.report.strongest import strongest_pairs


def test_strongest_pairs_come_first_and_zeros_never():
    pairwise = np.zeros((2, 2, 2))
    pairwise[0, 1, 1], pairwise[1, 0, 0] = 0.5, -2.0
    rows = strongest_pairs(pairwise, np.array(["x", "y"]), ["near", "above"], 10)
    assert [(r.tail, r.head, r.feature, r.weight) for r in rows] == [
        ("y", "x", "near", -2.0),
        ("x", "y", "above", 0.5),
    ]
    assert len(strongest_pairs(pairwise, np.array([0, 1]), ["a", "b"], 1)) == 1
    assert strongest_pairs(np.zeros((2, 2, 0)), np.array([0, 1]), [], 5) == []

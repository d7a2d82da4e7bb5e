"""The set P and frozen weights."""

from __future__ import annotations

import numpy as np
import pytest

from gapcut.model.domain import WeightShape, weight_box

SHAPE = WeightShape(2, 3, 4)


def box(nonnegative="pairwise", frozen=None, free=False):
    return weight_box(SHAPE, nonnegative, frozen, free_pairwise=free, oracle="cut")


def test_default_is_free_unary_and_nonnegative_pairwise():
    lower, upper = box()
    assert np.all(lower[:6] == -np.inf)
    assert np.all(lower[6:] == 0)
    assert np.all(upper == np.inf)


def test_flat_mask_means_the_same_as_the_shaped_one():
    mask = np.random.default_rng(0).random((2, 2, 4)) < 0.5
    for a, b in zip(box(mask, free=True), box(mask.ravel(), free=True), strict=True):
        assert np.array_equal(a, b)
    assert np.array_equal(box(mask, free=True)[0][6:] == 0, mask.ravel())


def test_the_offending_weight_is_named():
    mask = np.ones((2, 2, 4), dtype=bool)
    mask[0, 1, 3] = False
    with pytest.raises(ValueError, match=r"pairwise weight \(0, 1, 3\)"):
        box(mask)


def test_mapping_constrains_unary_weights_too():
    lower, _ = box({"unary": np.eye(2, 3, dtype=bool)})
    assert lower[:6].tolist() == [0, -np.inf, -np.inf, -np.inf, 0, -np.inf]
    assert np.all(lower[6:] == 0)


def test_frozen_values_bound_from_both_sides():
    unary = np.full((2, 3), np.nan)
    unary[1, 2] = -3.5
    lower, upper = box(frozen={"unary": unary})
    assert lower[5] == upper[5] == -3.5
    assert np.isinf(lower[:5]).all()


@pytest.mark.parametrize(
    ("nonnegative", "frozen", "message"),
    [
        (
            np.ones((2, 2, 3), bool),
            None,
            r"shape \(2, 2, 3\), but the model's weights have shape \(2, 2, 4\)",
        ),
        (np.ones((2, 2, 4)), None, "must be boolean"),
        ({"pairs": np.ones((2, 2, 4), bool)}, None, "only 'unary' and 'pairwise'"),
        (np.zeros((2, 2, 4), bool), None, r"pairwise weight \(0, 0, 0\) is free .* one min cut"),
        ("pairwise", {"pairwise": np.full((2, 2, 4), -1.0)}, "frozen below zero"),
        ("pairwise", {"unary": [[0, 0, 0], [0, -np.inf, 0]]}, r"at \(1, 1\) is -inf"),
        ("pairwise", {"unary": "x"}, "not an array of numbers"),
    ],
)
def test_bad_domains_are_refused(nonnegative, frozen, message):
    """Among them case 9 (LAGraph 395): a weight that is not finite is named."""
    with pytest.raises(ValueError, match=message):
        box(nonnegative, frozen)

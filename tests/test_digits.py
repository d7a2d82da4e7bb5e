"""What is left out of a number never makes it another thing: 0, or a whole."""

from __future__ import annotations

import math

import numpy as np
import pytest

from gapcut.digits import decimal, number, percent, whole_percent


@pytest.mark.parametrize(
    ("share", "shown"),
    [
        *((0.5, "50.00 %"), (0.91284, "91.28 %"), (0.0, "0.00 %"), (1.0, "100.00 %")),
        *(
            (39999 / 40000, "99.9975 %"),
            (1 - 1e-7, "99.99999 %"),
            (0.99994, "99.99 %"),
            (0.99996, "99.996 %"),
        ),
        *((1 / 40000, "0.0025 %"), (1e-9, "1e-07 %"), (0.00006, "0.01 %"), (math.nan, "-")),
        (0.1 + 0.2 + 0.7 - 2e-16, "100.00 %"),
    ],
)
def test_a_share_is_none_or_all_only_where_it_is(share, shown):
    assert percent(share) == shown


def test_shares_of_any_count_are_shown_true():
    for nodes in 10 ** np.arange(1, 10):
        for right in (0, 1, nodes // 3, nodes - 1, nodes):
            shown = float(percent(right / nodes, 1, ""))
            assert (shown == 0.0) == (right == 0)
            assert (shown == 100.0) == (right == nodes)
            assert abs(shown - 100.0 * right / nodes) <= 0.05


def test_short_shares():
    shares = (0.0, 1e-9, 0.005, 0.0051, 0.5, 0.994, 0.995, 1 - 1e-9, 1.0)
    shown = [whole_percent(share) for share in shares]
    assert shown == ["0%", "<1%", "<1%", "1%", "50%", "99%", ">99%", ">99%", "100%"]


@pytest.mark.parametrize(
    ("weight", "shown"),
    [(0.0, "0.000"), (0.1666, "0.167"), (0.0003, "0.0003"), (-4.21e-5, "-4.2e-05"), (0.9996, "1.000")],
)
def test_a_weight_is_zero_only_where_it_is(weight, shown):
    assert decimal(weight, 3) == shown


def test_a_score_is_one_only_where_it_is():
    assert [decimal(score, 3, 1.0) for score in (1.0, 0.9996, 0.957)] == ["1.000", "0.9996", "0.957"]


def test_numbers_of_tables():
    values = (12345, 1234.56, 999.96, 0.123456, 1234567.8, 7.0, -0.0004, math.nan, math.inf, 1e20)
    shown = [number(value) for value in values]
    assert shown == ["12,345", "1,235", "1,000", "0.1235", "1,234,568", "7", "-0.0004", "-", "inf", "1e+20"]

"""How certificates are shown."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

from gapcut.certificates import OneHotClaim, outwards


@pytest.mark.parametrize("digits", [4, 6, 9])
def test_ends_are_shown_rounded_outwards(digits):
    rng = np.random.default_rng(digits)
    values = rng.normal(size=300) * 10.0 ** rng.integers(-300, 300, size=300)
    for value in [*values.tolist(), 0.0, 1.0, 0.1, 208.8596, 999999.96]:
        lower, upper = outwards(value, value, digits)
        assert Fraction(lower) <= Fraction(value) <= Fraction(upper)
        assert Fraction(upper) - Fraction(lower) <= abs(Fraction(value)) * Fraction(10) ** (1 - digits)


def test_what_has_few_digits_is_shown_as_it_is():
    assert OneHotClaim(-1.5, 208.875, "stopped", 0, 1).shown(6) == ("-1.5", "208.875")
    assert outwards(-math.inf, math.inf, 6) == ("-inf", "inf")

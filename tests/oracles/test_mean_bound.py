"""The mean of proven bounds is proven: compared with exact arithmetic."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from gapcut.oracles.base import mean_bound


@pytest.mark.parametrize("count", [1, 2, 3, 7, 100, 4097])
@pytest.mark.parametrize("power", [-323, -308, -20, 0, 20, 300])
def test_never_below_the_exact_mean_and_close_to_it(count: int, power: int) -> None:
    rng = np.random.default_rng(count)
    for spread in (0.0, 1.0, 30.0):
        bounds = rng.random(count) * 10.0 ** (power - spread * rng.random(count))
        exact = sum(map(Fraction, bounds.tolist()), Fraction(0)) / count
        for order in (bounds, np.sort(bounds), np.sort(bounds)[::-1]):
            total = 0.0
            for bound in order.tolist():
                total += bound
            found = Fraction(mean_bound(total, count))
            assert exact <= found <= exact * (1 + Fraction(count + 4, 2**52)) + Fraction(2) ** -1073


def test_nothing_and_infinity_stay_what_they_are() -> None:
    assert mean_bound(0.0, 5) == 0.0
    assert mean_bound(np.inf, 5) == np.inf

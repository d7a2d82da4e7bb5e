"""Exact sums against ``math.fsum``, bit for bit, and against fractions."""

from __future__ import annotations

import math
import struct
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gapcut.inference.packing import exact_sum, lower_sum
from gapcut.typing import FloatArray

INF = math.inf


def bits(x: float) -> bytes:
    return struct.pack("<d", x)


def agree(values: FloatArray) -> None:
    """The nearest sum has the bits of ``math.fsum``; the lower one is the largest float not above the true sum."""
    total = math.fsum(values.tolist())
    assert bits(exact_sum(values)) == bits(total)
    true, lower = sum(map(Fraction, values.tolist()), Fraction(0)), lower_sum(values)
    assert Fraction(lower) <= true
    above = math.nextafter(lower, INF)
    assert above == INF or Fraction(above) > true


@given(st.lists(st.floats(allow_nan=False, allow_infinity=False, min_value=-1e300, max_value=1e300)))
def test_any_finite_numbers(values: list[float]) -> None:
    agree(np.array(values, dtype=np.float64))


@pytest.mark.parametrize("spread", [0, 10, 60, 300, 1000])
@pytest.mark.parametrize("seed", range(10))
def test_long_sums_of_all_sizes(seed: int, spread: int) -> None:
    rng = np.random.default_rng(seed)
    x = np.ldexp(rng.normal(size=3000), rng.integers(-spread, min(spread, 990) + 1, 3000))
    agree(x)
    cancelled = np.concatenate([x, -x[:-1], [math.ulp(0.0)]])  # almost nothing is left of it
    agree(rng.permutation(cancelled))
    agree(rng.permutation(np.concatenate([x, -x])))


@pytest.mark.parametrize(
    "values",
    [
        [],
        [0.0],
        [-0.0, -0.0],
        [5e-324],
        [-5e-324, 5e-324, -5e-324],
        [2.2250738585072014e-308, -5e-324],  # from the least normal number to the largest subnormal one
        [1.0, 2.0**-53],  # a tie, to even
        [1.0 + 2.0**-52, 2.0**-53],  # a tie, to even, upwards
        [1.0, 2.0**-53, 5e-324],  # above the tie
        [1.0, 2.0**-53, -5e-324],  # below it
        [-1.0, -(2.0**-53), -5e-324],
        [2.0 - 2.0**-52, 2.0**-53],  # the mantissa overflows
        [1e306] * 100 + [-1e306] * 100 + [1e-300],
        [1.7976931348623157e308, -1.0],
    ],
)
def test_corners(values: list[float]) -> None:
    agree(np.array(values))


def test_more_than_the_largest_float_on_the_way() -> None:
    """At which ``math.fsum`` gives up."""
    assert exact_sum(np.array([1.5e308, 1.5e308, -1.5e308, 1.0])) == 1.5e308
    assert exact_sum(np.array([1e306] * 1000 + [-1e306] * 1000 + [1e-300])) == 1e-300


def test_infinities_and_sums_beyond_all_floats() -> None:
    largest = 1.7976931348623157e308
    assert exact_sum(np.array([1.0, INF, -1e300])) == lower_sum([1.0, INF]) == INF
    assert exact_sum(np.array([1.0, -INF])) == lower_sum([-INF]) == -INF
    assert math.isnan(exact_sum(np.array([INF, -INF])))
    assert math.isnan(exact_sum(np.array([1.0, math.nan])))
    assert exact_sum(np.array([largest, largest])) == INF
    assert lower_sum([largest, largest]) == largest
    assert exact_sum(np.array([-largest, -largest])) == lower_sum([-largest, -largest]) == -INF


def test_more_numbers_than_carries_can_wait_for() -> None:
    """Each digit grows by as much as it can with each number."""
    values = np.full(100_000, np.nextafter(2.0, 0.0))
    agree(values)
    agree(-values)
    agree(np.append(values, [-(2.0**17), 2.0**-1000]))

"""How certificates are shown."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

from gapcut.certificates import (
    OneHotClaim,
    Record,
    at_least,
    at_most,
    gap_percent,
    in_table,
    outwards,
    spoken,
)


@pytest.mark.parametrize("digits", [4, 6, 9])
def test_ends_are_shown_rounded_outwards(digits):
    rng = np.random.default_rng(digits)
    values = rng.normal(size=300) * 10.0 ** rng.integers(-300, 300, size=300)
    for value in [*values.tolist(), 0.0, 1.0, 0.1, 208.8596, 999999.96]:
        lower, upper = outwards(value, value, digits)
        assert float(lower) <= value <= float(upper)
        assert Fraction(upper) - Fraction(lower) <= abs(Fraction(value)) * Fraction(10) ** (1 - digits)


def test_what_has_few_digits_is_shown_as_it_is():
    assert OneHotClaim(-1.5, 208.875, "stopped", 0, 1).shown(6) == ("-1.5", "208.875")
    assert outwards(-math.inf, math.inf, 6) == ("-inf", "inf")
    assert outwards(0.1, 0.1, 3) == ("0.1", "0.1")


def test_a_gap_in_percent_is_never_shown_below_the_true_one():
    rng = np.random.default_rng(0)
    for gap in [*10.0 ** rng.uniform(-12, 0, size=500), 0.00801, 0.100001, 0.999999, 1e-300]:
        shown = Fraction(gap_percent(gap, "")) / 100
        assert Fraction(repr(float(gap))) <= shown <= Fraction(gap) * Fraction(11, 10) + Fraction(1, 10**8)


@pytest.mark.parametrize(
    ("gap", "shown"),
    [
        *((0.01, "1.00 %"), (0.0100001, "1.01 %"), (0.0029, "0.29 %"), (0.001, "0.10 %"), (0.0, "0.00 %")),
        *((4.21e-6, "0.00043 %"), (1.0, "100.00 %"), (math.inf, "-")),
    ],
)
def test_a_gap_of_few_digits_is_shown_as_it_is(gap, shown):
    assert gap_percent(gap) == shown


def test_a_proven_number_in_a_table_has_its_digits_and_is_still_proven():
    shown = [in_table(value, at_most) for value in (12345.2, 1234.56, 1.30001, 0.0, math.inf)]
    assert shown == ["12,346", "1,235", "1.301", "0", "inf"]
    assert [in_table(value, at_least) for value in (12343.9, -1234.56)] == ["12,343", "-1,235"]
    assert in_table(math.nextafter(1e5, 0.0), at_least) == "99,999"


def test_a_bracket_shows_its_gap_rounded_up():
    assert OneHotClaim(98.7669, 100.0, "stopped", 0, 1).shown_gap() == "1.24 %"


def test_a_printed_line_rounds_its_gap_up(capsys):
    spoken(None)(Record(1, 0.5, 3, lower=99.9949, upper=100.0, nonzero=2, planes=4))
    assert capsys.readouterr().out.endswith("gap 0.0051 %\n")


@pytest.mark.parametrize(
    ("gap", "shown"),
    [(1.1000000000000001e-05, "0.0012 %"), (1.1e-05, "0.0011 %"), (1e25, "1e+27 %"), (0.0, "0.00 %")],
)
def test_a_gap_of_any_size_is_rounded_up_once(gap, shown):
    assert gap_percent(gap) == shown

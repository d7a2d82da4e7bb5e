"""Proven numbers as text. A float stands for the shortest decimal that it is read from, as in every file of ours: what
is shown with fewer digits, read again, is never tighter than what was proven."""

from __future__ import annotations

import math
from collections.abc import Callable
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal

from gapcut.digits import number, table_digits

_PERCENT = Context(rounding=ROUND_CEILING)
_TWO_DIGITS = Context(prec=2, rounding=ROUND_CEILING)


def outwards(lower: float, upper: float, digits: int) -> tuple[str, str]:
    """Two ends with so many digits, the lower one rounded down, the upper one up."""
    return at_least(lower, digits), at_most(upper, digits)


def at_least(lower: float, digits: int) -> str:
    """A lower end with so many digits, rounded down."""
    return _rounded(lower, digits, ROUND_FLOOR)


def at_most(upper: float, digits: int) -> str:
    """An upper end, or a gap, rounded up."""
    return _rounded(upper, digits, ROUND_CEILING)


def in_table(value: float, rounded: Callable[[float, int], str]) -> str:
    """A proven number in a table, :func:`at_least` or :func:`at_most` of it with the digits that tables show."""
    return number(float(rounded(value, table_digits(value))) if math.isfinite(value) else value)


def gap_percent(gap: float, unit: str = " %") -> str:
    """A relative gap in percent, rounded up: with two decimals, or two digits where it is small; 0 only where it is 0.
    A dash where nothing is proven."""
    if not math.isfinite(gap):
        return "-"
    percent = Decimal(repr(float(gap))).scaleb(2)
    if gap == 0.0 or 0.001 <= gap < 1e15:
        return f"{percent.quantize(Decimal('0.01'), context=_PERCENT)}{unit}"
    return f"{float(_TWO_DIGITS.plus(percent)):.2g}{unit}"


def _rounded(value: float, digits: int, towards: str) -> str:
    if math.isfinite(value):
        value = float(Context(prec=digits, rounding=towards).create_decimal(repr(float(value))))
    return f"{value:.{digits}g}"

"""Numbers as people read them: how many digits. One rule for all: what is left out never makes a number 0 that is not,
nor a share all of it that is not. (Proven numbers are rounded to their safe side: ``gapcut.certificates.shown``.)"""

from __future__ import annotations

import math

_NOISE = 1e-12
"""By which shares that are sums of floats may miss none or all."""


def decimal(value: float, places: int, whole: float = math.inf) -> str:
    """So many decimals; where these would say 0 or ``whole`` and that is not so, two digits of what there is, or of
    what is missing."""
    shown = f"{value:.{places}f}"
    if value != 0.0 and float(shown) == 0.0:
        return f"{value:.2g}"
    if value < whole and float(shown) == whole:
        missing = int(f"{whole - value:.1e}".partition("e")[2])  # the power of ten of what is
        return f"{value:.{1 - missing}f}".rstrip("0")
    return shown


def percent(share: float, places: int = 2, unit: str = " %") -> str:
    """A share of all; a dash where there is none."""
    if not math.isfinite(share):
        return "-"
    near = round(share)
    return f"{decimal(100.0 * (near if abs(share - near) < _NOISE else share), places, 100.0)}{unit}"


def mean_and_spread(mean: float, spread: float) -> str:
    """Of shares, in percent; a dash where there is none."""
    return f"{percent(mean, unit='')} ± {percent(spread)}" if math.isfinite(mean) else "-"


def whole_percent(share: float) -> str:
    """The same where there is little room."""
    if 0.0 < share <= 0.005:  # a half of one would be rounded to 0
        return "<1%"
    return ">99%" if 0.995 <= share < 1.0 - _NOISE else f"{share:.0%}"


def table_digits(value: float) -> int:
    """Digits of a number in a table: four, but all that are before the point."""
    size = abs(value)
    return len(str(int(size))) if 1e4 <= size < 1e15 else 4


def number(value: float) -> str:
    """A number in a table, thousands separated; a dash for NaN."""
    if isinstance(value, int):
        return f"{value:,}"
    if math.isnan(value):
        return "-"
    whole = abs(value) < 1e15 and (abs(value) >= 1e3 or value == round(value))
    return f"{value:,.0f}" if whole else f"{value:,.4g}"

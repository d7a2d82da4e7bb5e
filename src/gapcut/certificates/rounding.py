"""Bounds of what floating point can change.

Higham, "Accuracy and Stability of Numerical Algorithms", chapter 3.
"""

from __future__ import annotations

import math

UNIT = 2.0**-53
"""Half the distance from 1 to the next double."""

SMALLEST = 2.0**-1074
"""Largest error of one product that underflows."""


def gamma(operations: float) -> float:
    """``n u / (1 - n u)``, inf if n u >= 1.

    n roundings change a sum by at most this fraction of its absolute terms.
    """
    product = operations * UNIT
    return product / (1.0 - product) if product < 1.0 else math.inf


def up(value: float) -> float:
    """The next larger double; pays for the last rounding."""
    return math.nextafter(value, math.inf)

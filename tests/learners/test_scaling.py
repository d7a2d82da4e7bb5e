"""The search along a ray: tries lie where the least objective may be, and come to it."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from gapcut.learners.scaling import LONGEST, Ray
from gapcut.oracles.base import OraclePlanes

WEIGHTS = np.array([1.0, -2.0, 0.5])
SQUARE = float(WEIGHTS @ WEIGHTS)


def nothing(n: int = 2) -> OraclePlanes:
    """Planes that the truth attains: they say nothing."""
    return OraclePlanes(np.zeros((n, 3)), np.zeros(n), np.zeros(n))


@pytest.mark.parametrize("seed", range(20))
def test_what_planes_allow_is_found_as_on_a_grid(seed: int) -> None:
    rng = np.random.default_rng(seed)
    n, dim, C = int(rng.integers(1, 6)), 4, float(10.0 ** rng.uniform(-2, 3))
    w = rng.normal(size=dim)
    ray = Ray(SimpleNamespace(C=C), w, 1.05)
    kept: list[tuple[np.ndarray, np.ndarray]] = []

    def value(a: float) -> float:
        slack = np.max([loss - a * (h @ w) for h, loss in kept], axis=0)
        return float(0.5 * a * a * (w @ w) + C * np.maximum(slack, 0.0).mean())

    for at in (1.0, 1.5, 0.8):
        planes, losses = rng.normal(size=(n, dim)) + 0.5 * w, rng.random(n)
        kept.append((planes, losses))
        ray.add(at, OraclePlanes(planes, losses, losses), value(at))
        factor, least = ray.allowed()
        grid = [value(a) for a in np.linspace(0.0, LONGEST, 2001)]
        assert value(factor) == pytest.approx(least, rel=1e-9)
        assert least <= min(grid) + 1e-6 * (1.0 + C)


def searched(slack_of, first: float, tries: int) -> tuple[float, list[float]]:
    """The least value after so many tries where planes say nothing, and the factors."""

    def value(a: float) -> float:
        return 0.5 * a * a * SQUARE + slack_of(a)

    ray, asked = Ray(SimpleNamespace(C=1.0), WEIGHTS, first), [1.0]
    ray.add(1.0, nothing(), value(1.0))
    for _ in range(tries):
        factor, least = ray.next()
        assert factor not in asked
        assert least <= min(map(value, np.linspace(1.0, 3.0, 2001))) + 1e-9, "no promise above what there is"
        asked.append(factor)
        ray.add(factor, nothing(), value(factor))
    return min(map(value, asked)), asked


@pytest.mark.parametrize("first", [1.001, 1.05, 1.5])
@pytest.mark.parametrize("wanted", [1.004, 1.02, 1.3])
def test_a_slack_that_falls_steeply_is_found_from_anywhere(first: float, wanted: float) -> None:
    """The relaxation's slack vanishes at the factor ``wanted``, though no labeling is violated before."""
    found, asked = searched(lambda a: max(0.0, 1e3 * (wanted - a)), first, tries=10)
    assert found == pytest.approx(0.5 * wanted**2 * SQUARE, rel=0.05)
    assert min(asked) == 1.0


def test_weights_that_are_long_enough_are_not_lengthened_for_long() -> None:
    _, asked = searched(lambda a: 0.1, first=1.5, tries=4)
    assert np.all(np.diff(asked[1:]) < 0.0)
    assert asked[-1] < 1.01

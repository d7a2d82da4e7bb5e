"""The least objective on a ray, as planes have it."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from gapcut.learners.scaling import LONGEST, Ray
from gapcut.oracles.base import OraclePlanes


@pytest.mark.parametrize("seed", range(20))
def test_the_best_factor_is_that_of_a_grid(seed: int) -> None:
    rng = np.random.default_rng(seed)
    n, dim, C = int(rng.integers(1, 6)), 4, float(10.0 ** rng.uniform(-2, 3))
    w = rng.normal(size=dim)
    ray = Ray(SimpleNamespace(C=C), w)
    kept = []
    for _ in range(3):
        planes, losses = rng.normal(size=(n, dim)) + 0.5 * w, rng.random(n)
        kept.append((planes, losses))
        ray.add(OraclePlanes(planes, losses, losses))
        factor, least = ray.best()

        def value(a: float) -> float:
            slack = np.max([loss - a * (h @ w) for h, loss in kept], axis=0)
            return 0.5 * a * a * float(w @ w) + C * float(np.maximum(slack, 0.0).mean())

        grid = [value(a) for a in np.linspace(0.0, LONGEST, 2001)]
        assert value(factor) == pytest.approx(least, rel=1e-9)
        assert least <= min(grid) + 1e-6 * (1.0 + C)

"""toulbar2 in a child process against enumeration, and the traps its wrapper avoids."""

from __future__ import annotations

import math

import numpy as np
import pytest

from gapcut.engines import Deadline
from gapcut.inference import Energy
from gapcut.inference.methods.exact import toulbar2
from tiny_energies import INF, KINDS, disjoint_union, minimum, random_graph, start, tiny_energy

pytest.importorskip("pytoulbar2")
FOREVER = Deadline(None)


def check_toulbar2(seed: int, count: int) -> None:
    """Twenty tiny energies a call: the minimum of their union is the sum of their minima."""
    rng = np.random.default_rng(seed)
    for i in range(count // 20):
        energies = [tiny_energy(rng, list(KINDS)[int(rng.integers(len(KINDS)))]) for _ in range(60)]
        best = [minimum(energy) for energy in energies]
        chosen = [k for k in range(60) if best[k] < INF or i % 10 == 9][:20]
        union = disjoint_union([energies[k] for k in chosen])
        least = math.fsum([best[k] for k in chosen if best[k] < INF])
        least = INF if any(best[k] == INF for k in chosen) else least
        found, stopped = toulbar2(union, start(union), FOREVER)
        assert not stopped
        assert found.bound <= least
        if least < INF:
            assert union.energy(found.labels) == pytest.approx(least, abs=1e-9)
            assert found.bound == pytest.approx(least, abs=1e-9)
        else:
            assert found.bound == INF


def test_toulbar2_agrees_with_enumeration() -> None:
    check_toulbar2(1, 200)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(5))
def test_toulbar2_agrees_with_enumeration_at_length(seed: int) -> None:
    check_toulbar2(200 + seed, 1000)


def test_large_costs_do_not_overflow_and_models_do_not_mix() -> None:
    """Costs of 1e13; one model after the other equals the second one alone."""
    huge = Energy([[1e13, -1e13], [0.0, 1e-3]], [(0, 1)], [np.zeros((2, 2))])
    found, _ = toulbar2(huge, start(Energy([[1e13, -1e13], [0.0, 1e-3]])), FOREVER)
    assert (found.labels.tolist(), found.value) == ([1, 0], -1e13)
    rng = np.random.default_rng(8)
    a, b = random_graph(rng, 12, 3, 0.4), random_graph(rng, 10, 3, 0.4)
    alone = toulbar2(b, start(b), FOREVER)[0]
    toulbar2(a, start(a), FOREVER)
    again = toulbar2(b, start(b), FOREVER)[0]
    assert (alone.value, alone.bound) == (again.value, again.bound)

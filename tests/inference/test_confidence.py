"""How sure a labelling is of each node."""

import itertools

import numpy as np
import pytest

from gapcut.inference import Energy
from gapcut.inference.confidence import fit_temperature, flip_energies, label_probabilities


@pytest.mark.parametrize("seed", range(8))
def test_flip_energies_are_differences_of_energies(seed, monkeypatch):
    monkeypatch.setattr("gapcut.inference.confidence._EDGES_AT_ONCE", 4)
    rng = np.random.default_rng(seed)
    n, k = int(rng.integers(1, 7)), int(rng.integers(2, 4))
    pairs = [p for p in itertools.product(range(n), repeat=2) if p[0] != p[1]]
    edges = np.array(pairs)[rng.random(len(pairs)) < 0.6] if pairs else np.zeros((0, 2), int)
    energy = Energy(rng.normal(size=(n, k)), edges.reshape(-1, 2), rng.normal(size=(len(edges), k, k)))
    labels = rng.integers(0, k, n)
    found = flip_energies(energy, labels)
    for u, c in itertools.product(range(n), range(k)):
        other = labels.copy()
        other[u] = c
        assert found[u, c] == pytest.approx(energy.energy(other) - energy.energy(labels), abs=1e-9)


def test_the_temperature_that_made_the_labels_is_found():
    rng = np.random.default_rng(0)
    flips = rng.exponential(3.0, (20_000, 4))
    chances = label_probabilities(flips, 2.0)
    assert np.allclose(chances.sum(axis=1), 1)
    truth = (rng.random((20_000, 1)) > np.cumsum(chances, axis=1)).sum(axis=1)
    assert fit_temperature(flips, truth, np.ones(20_000)) == pytest.approx(2.0, rel=0.13)
    assert fit_temperature(flips, np.full(20_000, -1), np.ones(20_000)) == 1.0

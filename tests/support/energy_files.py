"""Energies to write and read back, and what a refusal must look like. Imported by tests of inference/files."""

from __future__ import annotations

import itertools
import math
from pathlib import Path

import numpy as np
import pytest

from gapcut import Energy, EnergyFileError, read_energy, write_energy

INF = math.inf


def any_energy(seed: int, integers: bool = False) -> Energy:
    """Label counts 1-4, edges in both directions and repeated, cliques, forbidden entries, values of all sizes."""
    rng = np.random.default_rng(seed)
    labels = rng.integers(1, 5, int(rng.integers(1, 6)))

    def values(shape):
        if integers:
            drawn = rng.integers(0, 9, shape).astype(float)
        else:
            drawn = rng.normal(size=shape) * 10.0 ** rng.integers(-8, 9, shape)
        return np.where(rng.random(shape) < 0.2, INF, drawn)

    count = int(rng.integers(0, 6)) if len(labels) > 1 else 0
    edges = [tuple(rng.choice(len(labels), 2, replace=False).tolist()) for _ in range(count)]
    tables = [values((labels[u], labels[v])) for u, v in edges]
    cliques = []
    for _ in range(int(rng.integers(0, 3)) if len(labels) > 2 else 0):
        nodes = rng.permutation(len(labels))[: int(rng.integers(3, len(labels) + 1))]
        cliques.append((nodes, values(tuple(labels[nodes]))))
    return Energy(
        [values(k) for k in labels], np.array(edges, dtype=int).reshape(-1, 2), tables, cliques=cliques
    )


def all_energies(energy: Energy) -> list[float]:
    return [energy.energy(y) for y in itertools.product(*[range(k) for k in energy.n_labels])]


def round_trip(energy: Energy, path: Path) -> Energy:
    write_energy(energy, path)
    return read_energy(path)


def write(path: Path, text: str) -> Path:
    path.write_text(text)
    return path


def complaint(path: Path, **options) -> str:
    with pytest.raises(EnergyFileError) as caught:
        read_energy(path, **options)
    message = str(caught.value)
    assert "\n" not in message
    assert message.startswith(str(options.get("evidence", path)))
    return message

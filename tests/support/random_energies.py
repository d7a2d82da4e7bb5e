"""Small random energies whose linear relaxation HiGHS solves in no time: graph x tables, two to six labels."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from gapcut import Energy
from gapcut.typing import FloatArray, IntArray

Graph = Callable[[np.random.Generator], IntArray]
Tables = Callable[[np.random.Generator, int, int], FloatArray]


def grid(rng: np.random.Generator) -> IntArray:
    """(E, 2) 4-connected, 5 to 9 nodes a side."""
    number = np.arange(int(rng.integers(25, 82)))
    side = int(np.sqrt(len(number)))
    square = number[: side * side].reshape(side, side)
    across = np.stack([square[:, :-1].ravel(), square[:, 1:].ravel()], 1)
    return np.concatenate([across, np.stack([square[:-1].ravel(), square[1:].ravel()], 1)])


def sparse(rng: np.random.Generator) -> IntArray:
    """(E, 2) 20 to 50 nodes, about four neighbours each."""
    n = int(rng.integers(20, 51))
    upper = np.stack(np.triu_indices(n, 1), 1)
    return upper[rng.random(len(upper)) < 4.0 / n]


def dense(rng: np.random.Generator) -> IntArray:
    """(E, 2) 8 to 14 nodes, all or most pairs."""
    n = int(rng.integers(8, 15))
    upper = np.stack(np.triu_indices(n, 1), 1)
    return upper[rng.random(len(upper)) < rng.uniform(0.6, 1.0)]


def potts(rng: np.random.Generator, n_edges: int, n_labels: int) -> FloatArray:
    """(E, K, K) strengths of either sign."""
    return rng.normal(size=(n_edges, 1, 1)) * (1.0 - np.eye(n_labels))


def truncated_linear(rng: np.random.Generator, n_edges: int, n_labels: int) -> FloatArray:
    """(E, K, K) strength x min(|k - l|, 2), three of four attractive."""
    distance = np.abs(np.subtract.outer(np.arange(n_labels), np.arange(n_labels)))
    strength = rng.random((n_edges, 1, 1)) * np.where(rng.random((n_edges, 1, 1)) < 0.75, 1.0, -1.0)
    return strength * np.minimum(distance, 2)


def any_table(rng: np.random.Generator, n_edges: int, n_labels: int) -> FloatArray:
    """(E, K, K) normal entries."""
    return rng.normal(size=(n_edges, n_labels, n_labels))


GRAPHS: dict[str, Graph] = {"grid": grid, "sparse": sparse, "dense": dense}
TABLES: dict[str, Tables] = {"Potts": potts, "truncated linear": truncated_linear, "random": any_table}
FAMILIES = tuple(f"{graph}, {tables}" for graph in GRAPHS for tables in TABLES)


def random_energy(family: str, seed: int) -> Energy:
    """One energy of a family ``"graph, tables"``: normal unaries; the tables' weight and the label count vary."""
    rng = np.random.default_rng([FAMILIES.index(family), seed])
    graph, tables = family.split(", ")
    edges = GRAPHS[graph](rng)
    n_labels = int(rng.integers(2, 7))
    n_nodes = int(edges.max()) + 1
    weight = float(rng.choice([0.4, 1.0, 2.0]))
    return Energy(
        rng.normal(size=(n_nodes, n_labels)), edges, weight * TABLES[tables](rng, len(edges), n_labels)
    )

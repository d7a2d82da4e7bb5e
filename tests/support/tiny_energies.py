"""Tiny random energies with everything an energy may hold, and their minima. Imported by tests of inference."""

from __future__ import annotations

import itertools
import math

import numpy as np

from gapcut.inference import Energy
from gapcut.inference.methods.parts import Known

INF = math.inf
KINDS = {
    "normal": lambda rng, shape: rng.normal(size=shape),
    "ties": lambda rng, shape: rng.integers(-2, 3, shape).astype(float),
    "forbidden": lambda rng, shape: np.where(rng.random(shape) < 0.15, INF, rng.normal(size=shape)),
    "mostly forbidden": lambda rng, shape: np.where(
        rng.random(shape) < 0.35, INF, rng.integers(-2, 3, shape)
    ),
}


def tiny_energy(rng: np.random.Generator, kind: str) -> Energy:
    """Label counts 1-3, isolated nodes, edges repeated in both directions, cliques of one to four nodes."""
    n = int(rng.integers(1, 6))
    labels = rng.integers(1, 4, n)
    values = KINDS[kind]
    edges = [rng.choice(n, 2, replace=False) for _ in range(rng.integers(0, 6))] if n > 1 else []
    scopes = [rng.choice(n, rng.integers(1, min(n, 4) + 1), replace=False) for _ in range(rng.integers(0, 4))]
    return Energy(
        [values(rng, k) for k in labels],
        np.array(edges, dtype=int).reshape(-1, 2),
        [values(rng, (labels[u], labels[v])) for u, v in edges],
        [(nodes, values(rng, tuple(labels[nodes]))) for nodes in scopes],
    )


def minimum(energy: Energy) -> float:
    """min U by enumeration; every energy is the exact sum of its terms, rounded once."""
    return min(energy.energy(y) for y in itertools.product(*[range(k) for k in energy.n_labels]))


def disjoint_union(energies: list[Energy]) -> Energy:
    """One energy whose components are the given ones: its minimum is the sum of theirs."""
    unaries, edges, tables, cliques, first = [], [], [], [], 0
    for energy in energies:
        unaries += [energy.unary(u) for u in range(energy.n_nodes)]
        edges += [energy.edges[e] + first for e in range(energy.n_edges)]
        tables += [energy.table(e) for e in range(energy.n_edges)]
        cliques += [(nodes + first, table) for nodes, table in map(energy.clique, range(energy.n_cliques))]
        first += energy.n_nodes
    return Energy(unaries, np.array(edges, dtype=int).reshape(-1, 2), tables, cliques)


def start(energy: Energy) -> Known:
    """What is known before any method ran: the labels of least unaries, and the bound without edges."""
    labels = np.asarray(energy.native.unary_labels(), dtype=np.int64)
    return Known(labels, energy.energy(labels), energy.independent_bound())


def random_graph(rng: np.random.Generator, n: int, k: int, density: float, scale: float = 1.0) -> Energy:
    """Normal tables on the edges of a random graph: relaxations are rarely tight."""
    edges = [(u, v) for u in range(n) for v in range(u) if rng.random() < density]
    return Energy(rng.normal(size=(n, k)), edges, scale * rng.normal(size=(len(edges), k, k)))

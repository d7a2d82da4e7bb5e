"""Energies as learning makes them, with a known planting: the generator of ``learned_energies.py``."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gapcut import Energy
from gapcut.typing import FloatArray, IntArray

EDGE_FEATURES = 12
NEIGHBOURS = 3
"""Labels that may follow a label along an edge; their pairs alone have weights, as in trained models, where
2-10 % of the pairwise weights are not zero."""
TYPICAL = 2
"""Edge features that tell a pair."""


@dataclass(frozen=True)
class Clarity:
    """``noise`` of the unaries (standard deviation; the planted label is ahead by 1), and the probabilities
    that an edge has a feature typical of its planted pair (``hit``), or any other (``false``)."""

    noise: float
    hit: float
    false: float


CLEAR = Clarity(0.7, 0.8, 0.1)
FAINT = Clarity(1.0, 0.6, 0.25)


def planted_energy(
    n_nodes: int, n_edges: int, n_labels: int, seed: int, clarity: Clarity = CLEAR
) -> tuple[Energy, IntArray]:
    """A random graph, planted labels, noisy unaries and tables ``-w . phi``.

    Each label has ``NEIGHBOURS`` labels that may follow it, and such a pair ``TYPICAL`` features with
    ``w[k, l, d] > 0``; all other weights are 0. About nine of ten edges join a pair that may follow each
    other. Edge features are absent (0) or uniform in (0, 1), unaries ``-[k = planted] + noise * normal``, as
    ``clarity`` says. Returns the energy and the (V,) planted labels.
    """
    rng = np.random.default_rng(seed)
    planted = rng.integers(0, n_labels, n_nodes)
    unaries = clarity.noise * rng.normal(size=(n_nodes, n_labels))
    unaries[np.arange(n_nodes), planted] -= 1.0
    weights = _weights(rng, n_labels)
    edges = _edges(rng, planted, n_edges, weights.any(axis=2))
    typical = weights[planted[edges[:, 0]], planted[edges[:, 1]]] > 0.0
    present = rng.random(typical.shape) < np.where(typical, clarity.hit, clarity.false)
    features = np.where(present, rng.random(typical.shape), 0.0)
    tables = -np.einsum("ed,kld->ekl", features, weights)
    return Energy(unaries, edges, tables), planted


def _weights(rng: np.random.Generator, n_labels: int) -> FloatArray:
    """(K, K, D) non-negative, not symmetric, mostly zero."""
    weights = np.zeros((n_labels, n_labels, EDGE_FEATURES))
    for k in range(n_labels):
        for follower in rng.choice(n_labels, min(NEIGHBOURS, n_labels), replace=False):
            features = rng.choice(EDGE_FEATURES, TYPICAL, replace=False)
            weights[k, follower, features] = rng.uniform(0.5, 1.5, TYPICAL)
    return weights


def _edges(rng: np.random.Generator, planted: IntArray, n_edges: int, follows: np.ndarray) -> IntArray:
    """(E, 2) different pairs of nodes, most of them with labels that may follow each other."""
    found: dict[tuple[int, int], None] = {}
    while len(found) < n_edges:
        for u, v in rng.integers(0, len(planted), (n_edges, 2)).tolist():
            if u != v and (v, u) not in found and (follows[planted[u], planted[v]] or rng.random() < 0.02):
                found[u, v] = None
    return np.array(list(found)[:n_edges], dtype=np.int64)

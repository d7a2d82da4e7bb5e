"""How sure a labelling is of each node, from energies."""

from __future__ import annotations

import numpy as np

from gapcut.classifiers import softmax
from gapcut.inference.energy import Energy
from gapcut.typing import FloatArray, IntArray

_EDGES_AT_ONCE = 4096
"""So that their tables stay in the cache."""
_TEMPERATURES = np.geomspace(1e-3, 1e3, 121)


def flip_energies(energy: Energy, labels: IntArray) -> FloatArray:
    """(V, K) energy of the labelling with one node's label changed and all others kept, less that of the labelling.

    Needs the same number K of labels at every node. The row of a node is 0 at its own label, and >= 0 where no single
    change is an improvement.
    """
    n, k = energy.n_nodes, int(energy.n_labels[0]) if energy.n_nodes else 0
    total = energy.unaries().reshape(n, k).copy()
    _, _, table_at, tables = energy.factor_arrays()
    u, v = energy.edges.T
    other = np.arange(k)[:, None]
    parts = np.empty((2, k, energy.n_edges))
    for i in range(0, energy.n_edges, _EDGES_AT_ONCE):
        some = slice(i, min(i + _EDGES_AT_ONCE, energy.n_edges))
        parts[0, :, some] = tables[table_at[some] + other * k + labels[v[some]]]
        parts[1, :, some] = tables[table_at[some] + labels[u[some]] * k + other]
    for node, part in zip((u, v), parts, strict=True):
        for c in range(k):
            total[:, c] += np.bincount(node, part[c], n)
    return total - total[np.arange(n), labels][:, None]


def label_probabilities(flips: FloatArray, temperature: float) -> FloatArray:
    """(V, K) softmax of the negative energies over the temperature."""
    return softmax(-flips / temperature)


def fit_temperature(flips: FloatArray, truth: IntArray, weights: FloatArray) -> float:
    """The temperature, of 121 between 0.001 and 1000 spaced evenly in the logarithm, that makes the true labels most
    likely (Guo et al., On calibration of modern neural networks, ICML 2017).

    As in Platt scaling, the other labels are taken for true with a share of 1 / (n + 2) together, n the number of
    nodes: labels that were all right on n nodes are no proof of certainty. Nodes with negative truth do not count.
    """
    known = truth >= 0
    flips, truth, weights = flips[known], truth[known], weights[known]
    if not len(truth):
        return 1.0
    rows, doubt = np.arange(len(truth)), 1.0 / (len(truth) + 2)
    losses = []
    for t in _TEMPERATURES:
        scaled = -flips / t
        top = scaled.max(axis=1)
        total = top + np.log(np.exp(scaled - top[:, None]).sum(axis=1))
        right = scaled[rows, truth]
        others = (scaled.sum(axis=1) - right) / max(1, flips.shape[1] - 1)
        losses.append(weights @ (total - (1.0 - doubt) * right - doubt * others))
    return float(_TEMPERATURES[int(np.argmin(losses))])

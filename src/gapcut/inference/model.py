"""The energy of a learned model on one graph."""

from __future__ import annotations

from gapcut import _core
from gapcut.inference.energy import Energy
from gapcut.typing import FloatArray, IntArray


def model_energy(
    nodes: _core.RowMatrix,
    edges: IntArray,
    edge_features: _core.RowMatrix,
    unary: FloatArray,
    pairwise: FloatArray,
) -> Energy:
    """``U = -f`` (formulation, section 1): unaries ``-X W'`` and tables ``-sum_d phi_d(e) W[:, :, d]``.

    ``nodes`` (V, Dn) and ``edge_features`` (E, De) model-ready features; ``edges`` (E, 2); ``unary`` (K, Dn);
    ``pairwise`` (K, K, De). Zero weights and zero features cost nothing.
    """
    return Energy(_core.unary_tables(nodes, unary), edges, _core.pairwise_tables(edge_features, pairwise))

"""The energy of a learned model on one graph."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np

from gapcut import _core
from gapcut.inference.energy import Energy
from gapcut.typing import FloatArray, IntArray


def model_energy(
    nodes: _core.RowMatrix,
    edges: IntArray,
    edge_features: _core.RowMatrix,
    unary: FloatArray,
    pairwise: FloatArray,
    cliques: Iterable[tuple[IntArray, FloatArray]] | None = None,
) -> Energy:
    """``U = -f`` (docs/mathematics.md, Model): unaries ``-X W'`` and tables ``-sum_d phi_d(e) W[:, :, d]``.

    ``nodes`` (V, Dn) and ``edge_features`` (E, De) model-ready features; ``edges`` (E, 2); ``unary`` (K, Dn);
    ``pairwise`` (K, K, De); ``cliques``: further terms, see :class:`CliqueWeights`. Zero weights and zero features cost
    nothing.
    """
    tables = _core.pairwise_tables(edge_features, pairwise)
    return Energy(_core.unary_tables(nodes, unary), edges, tables, cliques)


LARGEST_TABLE = 1_000_000
"""Entries of the table of one clique."""


@dataclass(frozen=True, eq=False)
class CliqueWeights:
    """Learned weights of one clique group: ``tuples`` (T, d) label codes, ``weights`` (T, D)."""

    tuples: IntArray
    weights: FloatArray

    @property
    def order(self) -> int:
        """d."""
        return int(self.tuples.shape[1])

    def terms(
        self, nodes: IntArray, features: FloatArray, n_labels: int
    ) -> Iterator[tuple[IntArray, FloatArray]]:
        """(nodes, table) of every clique that scores anything; ``nodes`` (M, d), ``features`` (M, D).

        Raises ValueError where a table over all labels would be too large.
        """
        used = np.flatnonzero(self.weights.any(axis=1))
        shape = (n_labels,) * self.order
        if len(nodes) and len(used) and n_labels**self.order > LARGEST_TABLE:
            raise ValueError(
                f"a table over {self.order} nodes of {n_labels} labels has {n_labels**self.order:,} entries, more than "
                f"{LARGEST_TABLE:,}: use cliques of fewer nodes"
            )
        places = np.ravel_multi_index(tuple(self.tuples[used].T), shape) if len(used) else used
        scores = np.einsum(
            "md,td->mt", features, self.weights[used]
        )  # no BLAS: its threads would order the sums
        for members, row in zip(nodes, scores, strict=True):
            if row.any():
                table = np.zeros(shape)
                table.flat[places] = -row
                yield members, table

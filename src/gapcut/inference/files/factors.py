"""Energies as files see them: a list of tables over any number of nodes each."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from gapcut.inference.energy import Energy
from gapcut.inference.files.errors import BadFactor
from gapcut.inference.files.flat import FlatFactors
from gapcut.typing import FloatArray

MOST_ENTRIES = 2**27
"""Tables of one file may hold so many entries together (1 GB); a file of a few bytes can ask for more."""

MOST_NODES_OF_A_TABLE = 32
"""NumPy arrays end at 64 dimensions (32 in older versions), and such tables at memory long before."""


@dataclass(frozen=True)
class Factor:
    """``table[y_scope[0], y_scope[1], ...]``, one axis per node of ``scope``; a constant for an empty scope."""

    scope: tuple[int, ...]
    table: FloatArray


class FactorGraph:
    """Label counts of all nodes, and the factors added so far. ``BadFactor`` says what is wrong with one."""

    def __init__(self, n_labels: Sequence[int]) -> None:
        self.n_labels = tuple(n_labels)
        self.factors: list[Factor] = []
        self._room = MOST_ENTRIES
        for u, count in enumerate(self.n_labels):
            if count < 1:
                raise BadFactor(f"node {u} has {count} labels, expected at least 1")
        self._take(sum(self.n_labels), "the nodes")

    def shape(self, scope: Sequence[int], stored: bool = False) -> tuple[int, ...]:
        """Shape of a table over ``scope``; to be asked before a table is made, since it keeps count of memory; not of
        tables that are ``stored`` already."""
        for u in scope:
            if not 0 <= u < len(self.n_labels):
                last = len(self.n_labels) - 1
                raise BadFactor(f"node {u} does not exist, the nodes are 0..{last}")
        if len(set(scope)) < len(scope):
            raise BadFactor(f"a node stands twice in the scope {', '.join(map(str, scope))}")
        if len(scope) > MOST_NODES_OF_A_TABLE:
            raise BadFactor(
                f"a term over {len(scope)} nodes is too large for a table: write it as terms over at most "
                f"{MOST_NODES_OF_A_TABLE}"
            )
        shape = tuple(self.n_labels[u] for u in scope)
        if not stored:
            self._take(math.prod(shape), f"the table over nodes {', '.join(map(str, scope))}")
        return shape

    def add(self, scope: Sequence[int], table: FloatArray) -> None:
        """Add a table of ``shape(scope)``."""
        self.factors.append(Factor(tuple(scope), table))

    def _take(self, entries: int, what: str) -> None:
        self._room -= entries
        if self._room < 0:
            raise BadFactor(
                f"with {what} the tables hold more than {MOST_ENTRIES:,} entries, too many to read"
            )

    def flat(self) -> FlatFactors:
        """All factors in flat arrays; a table that was added many times is stored once."""
        _, first, which = np.unique(
            [id(f.table) for f in self.factors], return_index=True, return_inverse=True
        )
        tables = [self.factors[i].table for i in first.tolist()]
        sizes = np.array([table.size for table in tables], dtype=np.int64)
        orders = np.array([len(f.scope) for f in self.factors], dtype=np.int64)
        return FlatFactors(
            np.array(self.n_labels, dtype=np.int64),
            np.concatenate([[0], np.cumsum(orders)]),
            np.array([u for f in self.factors for u in f.scope], dtype=np.int64),
            (np.cumsum(sizes) - sizes)[which],
            np.concatenate([table.ravel() for table in tables]) if tables else np.zeros(0),
        )

    def energy(self, forbidden_from: float = math.inf) -> Energy:
        """See :class:`FlatFactors`."""
        return self.flat().forbid_from(forbidden_from).energy()


def factors_of(energy: Energy) -> Iterator[Factor]:
    """The unaries of all nodes, then the edges, then the cliques."""
    for u in range(energy.n_nodes):
        yield Factor((u,), energy.unary(u))
    for e, (u, v) in enumerate(energy.edges.tolist()):
        yield Factor((u, v), energy.table(e))
    for c in range(energy.n_cliques):
        nodes, table = energy.clique(c)
        yield Factor(tuple(nodes.tolist()), table)


def name_of(factor: Factor) -> str:
    """How messages call a factor."""
    kind = {1: "unary of node", 2: "table of edge"}.get(len(factor.scope), "table of clique")
    return f"{kind} {', '.join(map(str, factor.scope))}"

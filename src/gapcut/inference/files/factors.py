"""Energies as files see them: a list of tables over any number of nodes each."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from gapcut.inference.energy import Energy
from gapcut.inference.files.errors import BadFactor
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

    def shape(self, scope: Sequence[int]) -> tuple[int, ...]:
        """Shape of a table over ``scope``; to be asked before a table is made, since it keeps count of memory."""
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

    def forbid_from(self, bound: float) -> None:
        """Replace entries by +inf that alone make every labeling cost ``bound`` or more.

        Such an entry plus the least that all others can add, ``sum min(0, their minimum)``, reaches
        ``bound``. Where all costs are >= 0 that is: entries >= bound.
        """
        least = [min(0.0, float(f.table.min())) if f.table.size else 0.0 for f in self.factors]
        total = math.fsum(least)
        for i, factor in enumerate(self.factors):
            hard = factor.table + (total - least[i]) >= bound
            if hard.any():
                self.factors[i] = Factor(factor.scope, np.where(hard, np.inf, factor.table))

    def energy(self) -> Energy:
        """Constants go to node 0, terms of one node to its unaries; the rest in order, as edges and cliques."""
        unaries = [np.zeros(count) for count in self.n_labels]
        pairs = [f for f in self.factors if len(f.scope) == 2]
        for factor in self.factors:
            if len(factor.scope) == 1:
                unaries[factor.scope[0]] += factor.table
        constant = math.fsum(float(f.table) for f in self.factors if not f.scope)
        if constant != 0.0:
            if not unaries:
                raise BadFactor(f"a constant {constant:g} without any node cannot be kept")
            unaries[0] += constant
        larger = [(f.scope, f.table) for f in self.factors if len(f.scope) > 2]
        edges = np.array([f.scope for f in pairs], dtype=np.int64).reshape(-1, 2)
        try:
            return Energy(unaries, edges, [f.table for f in pairs], cliques=larger or None)
        except ValueError as error:
            raise BadFactor(str(error)) from None


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

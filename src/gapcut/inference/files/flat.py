"""Factors in flat arrays: how large files become an energy without a Python object for every function."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from gapcut.inference.cliques import PackedCliques
from gapcut.inference.energy import Energy
from gapcut.inference.files.errors import BadFactor
from gapcut.inference.packing import exact_sum, spans
from gapcut.typing import FloatArray, IntArray


@dataclass(frozen=True)
class FlatFactors:
    """``labels`` (V,) counts; factor f is over ``members[at[f]:at[f + 1]]``, its row-major table begins at
    ``table_at[f]`` of ``entries``, where tables may be shared. Requires :func:`scopes_are_good`."""

    labels: IntArray
    at: IntArray
    members: IntArray
    table_at: IntArray
    entries: FloatArray

    def sizes(self) -> IntArray:
        """(F,) table entries of every factor."""
        return table_sizes(self.labels, self.at, self.members)

    def forbid_from(self, bound: float) -> FlatFactors:
        """With +inf in place of entries that alone make every labeling cost ``bound`` or more.

        Such an entry plus the least that all others can add, ``sum min(0, their minimum)``, reaches ``bound``. Where
        all costs are >= 0 that is: entries >= bound.
        """
        stored, first, which = np.unique(self.table_at, return_index=True, return_inverse=True)
        if not len(stored) or bound == math.inf:
            return self
        sizes = self.sizes()[first]
        entries = self.entries.copy()
        places = spans(stored, sizes)
        packed = entries[places]
        least = np.minimum(np.minimum.reduceat(packed, np.cumsum(sizes) - sizes), 0.0)
        total = exact_sum(least[which])
        packed[packed + np.repeat(total - least, sizes) >= bound] = np.inf
        entries[places] = packed
        return FlatFactors(self.labels, self.at, self.members, self.table_at, entries)

    def energy(self) -> Energy:
        """Constants go to node 0, terms of one node to its unaries; the rest in order, as edges and cliques."""
        orders, sizes = np.diff(self.at), self.sizes()
        unary_at = np.concatenate([[0], np.cumsum(self.labels)])
        unary = np.zeros(int(unary_at[-1]))
        single = np.flatnonzero(orders == 1)
        at = unary_at[self.members[self.at[single]]]
        np.add.at(unary, spans(at, sizes[single]), self.entries[spans(self.table_at[single], sizes[single])])
        constant = exact_sum(self.entries[self.table_at[orders == 0]])
        if constant != 0.0:
            if not len(self.labels):
                raise BadFactor(f"a constant {constant:g} without any node cannot be kept")
            unary[: self.labels[0]] += constant
        pairs = np.flatnonzero(orders == 2)
        stored, first, which = np.unique(self.table_at[pairs], return_index=True, return_inverse=True)
        kept = sizes[pairs][first]
        try:
            return Energy.checked(
                self.labels.astype(np.int32),
                unary_at,
                unary,
                self.members[self.at[pairs][:, None] + np.arange(2)].reshape(-1, 2),
                (np.cumsum(kept) - kept)[which],
                self.entries[spans(stored, kept)],
                self._cliques(np.flatnonzero(orders > 2), sizes),
            )
        except ValueError as error:
            raise BadFactor(str(error)) from None

    def _cliques(self, chosen: IntArray, sizes: IntArray) -> PackedCliques:
        orders, sizes = np.diff(self.at)[chosen], sizes[chosen]
        nodes = self.members[spans(self.at[:-1][chosen], orders)]
        at = np.concatenate([[0], np.cumsum(orders)]).astype(np.int64)
        counts = self.labels[nodes]
        strides = np.ones(len(nodes), dtype=np.int64)
        for back in range(2, int(orders.max(initial=1)) + 1):  # from the last member but one to the first
            there = np.flatnonzero(orders >= back)
            place = at[1:][there] - back
            strides[place] = strides[place + 1] * counts[place + 1]
        tables = self.entries[spans(self.table_at[chosen], sizes)]
        return PackedCliques(at, nodes, strides, np.cumsum(sizes) - sizes, tables)


def table_sizes(labels: IntArray, at: IntArray, members: IntArray) -> IntArray:
    """(F,) entries of a table over each scope; 1 for an empty one."""
    sizes = np.ones(len(at) - 1, dtype=np.int64)
    some = np.flatnonzero(np.diff(at))
    if len(some):
        sizes[some] = np.multiply.reduceat(labels[members], at[some])
    return sizes


def scopes_are_good(n_nodes: int, at: IntArray, members: IntArray) -> bool:
    """Whether all members are nodes, none of them twice in one scope."""
    if len(members) and not (members.min() >= 0 and members.max() < n_nodes):
        return False
    factor = np.repeat(np.arange(len(at) - 1), np.diff(at))
    order = np.lexsort((members, factor))
    same = (np.diff(members[order]) == 0) & (np.diff(factor[order]) == 0)
    return not bool(same.any())

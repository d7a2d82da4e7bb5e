"""What can be done exactly before a heavy solver: a smaller energy with the same minimum, in components.

Labels that are in no allowed labeling or dominated by another are removed (dead-end elimination); nodes with one label
are folded into their neighbours and into cliques, parallel edges joined, nodes with one neighbour eliminated by dynamic
programming; all of it again while it helps. What is left falls into components, each an energy of its own.

All sums are rounded down, so bounds of the parts hold for the whole.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from gapcut import _core
from gapcut.engines import Deadline
from gapcut.inference.cliques import pack_cliques
from gapcut.inference.energy import Energy
from gapcut.inference.packing import lower_sum, spans
from gapcut.typing import FloatArray, IntArray

ROUNDS = 4
"""Rounds of eliminating labels, then nodes, at most."""

DEAD_END_WORK = 100_000_000
"""Nodes whose comparison of labels would read more table entries than this keep their labels."""

Restore = Callable[[IntArray], IntArray]


@dataclass(frozen=True)
class Part:
    """One component: its energy, and its nodes in the core."""

    energy: Energy
    nodes: IntArray


@dataclass(frozen=True)
class Reduced:
    """``min U = constant + sum over parts of their minima``, up to rounding downwards; ``constant`` is +inf if every
    labeling is proven forbidden (there are no parts then)."""

    parts: list[Part]
    constant: float
    n_core: int
    restores: list[Restore]

    def labels(self, of_parts: list[IntArray]) -> IntArray:
        """(V,) the labeling of the given energy that these labelings of the parts stand for."""
        y = np.zeros(self.n_core, dtype=np.int64)
        for part, labels in zip(self.parts, of_parts, strict=True):
            y[part.nodes] = labels
        for restore in reversed(self.restores):
            y = restore(y)
        return y

    def bound(self, of_parts: list[float]) -> float:
        """Bound of the given energy, from bounds of the parts."""
        return lower_sum(np.array([self.constant, *of_parts]))


def reduce_energy(energy: Energy, clock: Deadline, dead_ends: bool = True) -> Reduced:
    """Reduce while it helps and time is left; at the least, components are split."""
    constants: list[float] = []
    restores: list[Restore] = []
    n_nodes = energy.n_nodes
    for _ in range(ROUNDS):
        before, began = _size(energy), clock.left
        if dead_ends:
            pruned = prune_labels(energy, clock)
            if pruned is None:
                return Reduced([], np.inf, n_nodes, [])
            energy, restore = pruned
            restores.append(restore)
        energy, constant, restore = eliminate_nodes(energy)
        constants.append(constant)
        restores.append(restore)
        if constant == np.inf:
            return Reduced([], np.inf, n_nodes, [])
        if not dead_ends or _size(energy) == before or _too_late(began, clock.left):
            break
    return Reduced(split(energy), lower_sum(np.array(constants)), energy.n_nodes, restores)


def _too_late(began: float | None, left: float | None) -> bool:
    """Whether a round that began and ended with these seconds left is too slow for another one."""
    return began is not None and left is not None and left < began - left


def _size(energy: Energy) -> tuple[int, int]:
    return energy.n_nodes, int(energy.n_labels.sum())


def prune_labels(energy: Energy, clock: Deadline) -> tuple[Energy, Restore] | None:
    """Without dead ends, and without one-label nodes in cliques; None if some node has no label left."""
    keep = np.asarray(_core.dead_ends(energy.factors(), clock.left, DEAD_END_WORK)).astype(bool)
    starts, _, _ = energy.segments()
    left = np.add.reduceat(keep, starts[:-1], dtype=np.int64) if len(keep) else np.zeros(0, dtype=np.int64)
    if not left.all():
        return None
    kept, first = np.flatnonzero(keep), np.cumsum(left) - left

    def restore(labels: IntArray) -> IntArray:
        return np.asarray(kept[first + labels] - starts[:-1])

    return _restrict(energy, keep, left), restore


def _restrict(energy: Energy, keep: NDArray[np.bool_], left: IntArray) -> Energy:
    """With the labels in ``keep`` only, ``left`` of them at each node."""
    touched = (left < energy.n_labels) | (left == 1)
    members = energy.cliques
    sliced = np.logical_or.reduceat(touched[members.nodes], members.at[:-1]) if len(members) else np.zeros(0)
    if not (left < energy.n_labels).any() and not np.any(sliced):
        return energy
    starts, _, _ = energy.segments()
    unary = energy.unaries()[keep]
    cliques: list[tuple[IntArray, FloatArray]] = []
    for c, cut in enumerate(sliced):
        nodes, table = energy.clique(c)
        if cut:
            nodes, table = _drop_fixed(
                nodes, table, [np.flatnonzero(keep[starts[u] : starts[u + 1]]) for u in nodes]
            )
        if len(nodes):
            cliques.append((nodes, table))
        else:
            unary[: left[0]] += float(table)
    table_at, tables = _kept_tables(energy, keep, left)
    larger = [clique for clique in cliques if len(clique[0]) > 2]
    labels = left.astype(np.int32)
    restricted = Energy.of_arrays(
        labels,
        np.concatenate([[0], np.cumsum(left)]),
        unary,
        energy.edges,
        table_at,
        tables,
        pack_cliques(larger),
    )
    return restricted.with_terms([clique for clique in cliques if len(clique[0]) <= 2])


def _kept_tables(energy: Energy, keep: NDArray[np.bool_], left: IntArray) -> tuple[IntArray, FloatArray]:
    """Tables of the labels kept; edges whose nodes lose none go on sharing theirs."""
    starts, _, _ = energy.segments()
    u, v = energy.edges.T
    cut = (left[u] < energy.n_labels[u]) | (left[v] < energy.n_labels[v])
    if not cut.any():
        return energy.table_at, energy.tables()
    sizes = energy.table_sizes()
    at = np.zeros(energy.n_edges, dtype=np.int64)
    stored, first, which = np.unique(energy.table_at[~cut], return_index=True, return_inverse=True)
    whole = sizes[~cut][first]
    at[~cut] = (np.cumsum(whole) - whole)[which]
    parts, end = [energy.tables()[spans(stored, whole)]], int(whole.sum())
    for some in _chunks(np.flatnonzero(cut), sizes):
        columns = energy.n_labels[v[some]]
        cell = spans(np.zeros(len(some), dtype=np.int64), sizes[some])
        k, label = np.divmod(cell, np.repeat(columns, sizes[some]))
        chosen = keep[np.repeat(starts[u[some]], sizes[some]) + k]
        chosen &= keep[np.repeat(starts[v[some]], sizes[some]) + label]
        parts.append(energy.tables()[spans(energy.table_at[some], sizes[some])[chosen]])
        smaller = left[u[some]] * left[v[some]]
        at[some] = end + np.cumsum(smaller) - smaller
        end += int(smaller.sum())
    return at, np.concatenate(parts)


def _chunks(edges: IntArray, sizes: IntArray) -> list[IntArray]:
    """Edges in order, so many at a time that their tables have about a million entries."""
    group = np.cumsum(sizes[edges]) >> 20
    return np.split(edges, np.flatnonzero(np.diff(group)) + 1)


def _drop_fixed(nodes: IntArray, table: FloatArray, kept: list[IntArray]) -> tuple[IntArray, FloatArray]:
    sliced = table[np.ix_(*kept)]
    free = np.array([len(k) > 1 for k in kept])
    return nodes[free], sliced.reshape([n for n in sliced.shape if n > 1])


def eliminate_nodes(energy: Energy) -> tuple[Energy, float, Restore]:
    """Without the nodes the core can fold or eliminate; what they add to the minimum; the way back."""
    held = np.zeros(energy.n_nodes, dtype=np.uint8)
    held[energy.cliques.nodes] = 1
    reduction = _core.Reduction(energy.native, held)
    core = np.asarray(reduction.core).astype(np.int64)
    if len(core) == energy.n_nodes and reduction.n_pairs == energy.n_edges:
        return energy, reduction.constant, lambda labels: labels
    low, high, entries = (np.asarray(x) for x in reduction.pairs())
    counts = energy.n_labels[core]
    sizes = energy.n_labels[low] * energy.n_labels[high]
    smaller = Energy.of_arrays(
        counts.astype(np.int32),
        np.concatenate([[0], np.cumsum(counts)]),
        np.asarray(reduction.unary()),
        np.searchsorted(core, np.stack([low, high], axis=1)).astype(np.int64),
        np.cumsum(sizes) - sizes,
        entries,
        energy.cliques.part(np.arange(energy.n_cliques), lambda nodes: np.searchsorted(core, nodes)),
    )

    def restore(labels: IntArray) -> IntArray:
        y = np.zeros(energy.n_nodes, dtype=np.int32)
        y[core] = labels
        return np.asarray(reduction.complete(y)).astype(np.int64)

    return smaller, reduction.constant, restore


def split(energy: Energy) -> list[Part]:
    """Connected components, by their first node."""
    if energy.n_nodes == 0:
        return []
    count, component = component_of(energy)
    if count == 1:
        return [Part(energy, np.arange(energy.n_nodes))]
    groups = grouped(energy, component, count)
    return [Part(energy.part(*group), group[0]) for group in groups]


def component_of(energy: Energy) -> tuple[int, IntArray]:
    """How many components, and (V,) the component of every node."""
    count, component = energy.factors().components()
    return count, np.asarray(component).astype(np.int64)


def grouped(energy: Energy, component: IntArray, count: int) -> list[tuple[IntArray, IntArray, IntArray]]:
    """Nodes, edges and cliques of each component, ascending."""

    def group(of: IntArray) -> list[IntArray]:
        ends = np.cumsum(np.bincount(of, minlength=count))
        return np.split(np.argsort(of, kind="stable"), ends[:-1])

    cliques = energy.cliques
    return list(
        zip(
            group(component),
            group(component[energy.edges[:, 0]]),
            group(component[cliques.nodes[cliques.at[:-1]]]),
            strict=True,
        )
    )

"""Folds: what is held out together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np

from gapcut.data import Graph, connected_parts
from gapcut.late import sparse as sp
from gapcut.typing import BoolArray, Float32Array, FloatArray, IntArray

FOLDS = 5

_MOST_WORK = 2_000_000_000
"""Graphs squared times columns, and a few, up to which graphs are put in an order of likeness; where there are more,
shuffling spreads them evenly enough."""


def node_folds(
    graphs: Sequence[Graph],
    labelled: BoolArray,
    seed: int,
    folds: int = FOLDS,
    sizes: Sequence[int] | None = None,
    rows: Float32Array | None = None,
) -> IntArray:
    """(V,) fold of each node of all graphs, from 0 on. ``sizes``: nodes of each, where they are known; ``rows`` (V, D)
    tell which graphs are alike.

    Whole graphs, shuffled, where two or more have labelled nodes (mask (V,) over all of them); graphs that are alike
    are spread over the folds: pages of one book that chance puts into one fold have no like left to be learned from,
    and what is said of them depends on chance. Otherwise the graph is cut in stretches of a breadth-first order with
    as many labelled nodes each, so that neighbours mostly share a fold.
    """
    sizes = [g.n_nodes for g in graphs] if sizes is None else sizes
    owner = np.repeat(np.arange(len(graphs)), sizes)
    known = np.unique(owner[labelled])
    if len(known) >= 2:
        fold = np.zeros(len(graphs), dtype=np.int64)
        rng, count = np.random.default_rng(seed), min(folds, len(known))
        if rows is None or len(known) ** 2 * (rows.shape[1] + 20) > _MOST_WORK:
            fold[rng.permutation(known)] = np.arange(len(known)) % count
        else:
            ends = np.cumsum([0, *sizes])
            means = [rows[ends[i] : ends[i + 1]].mean(axis=0, dtype=np.float64) for i in known.tolist()]
            fold[known[_by_likeness(np.stack(means))]] = _dealt(len(known), count, rng)
        return fold[owner]
    count = int(labelled.sum())
    order = np.argsort(
        np.concatenate([_places(g) for g in graphs]) + np.repeat(np.cumsum([0, *sizes])[:-1], sizes)
    )
    before = np.empty(len(owner), dtype=np.int64)
    before[order] = np.cumsum(labelled[order]) - labelled[order]
    return np.minimum(before, max(0, count - 1)) * min(folds, count) // max(1, count)


@dataclass(frozen=True, eq=False)
class FoldedNodes:
    """Of all graphs: (V,) the fold that a node is in, its weight, if any has one, and whether it is learned from."""

    fold: IntArray
    weights: FloatArray | None
    known: BoolArray

    @classmethod
    def of(cls, graphs: Sequence[Graph], codes: IntArray, rows: Float32Array, seed: int) -> Self:
        known = [(g.n_nodes, g.node_weights) for g in graphs]
        weights = None
        if any(own is not None for _, own in known):
            weights = np.concatenate([np.ones(size) if own is None else own for size, own in known])
        counts = codes >= 0 if weights is None else (codes >= 0) & (weights > 0.0)
        sizes = [size for size, _ in known]
        return cls(node_folds(graphs, counts, seed, sizes=sizes, rows=rows), weights, counts)


def _dealt(n: int, folds: int, rng: np.random.Generator) -> IntArray:
    """(n,) folds of things in an order: so many neighbours always into different ones, at random among them."""
    rounds = [rng.permutation(folds) for _ in range(0, n, folds)]
    return np.asarray(np.concatenate(rounds)[:n])


def _by_likeness(kinds: FloatArray) -> IntArray:
    """An order (n,) of rows (n, D) in which like ones are neighbours: from the most unlike one on always to the nearest
    that is left, in units of each column's spread. Sums are numpy's own, so that no number of threads changes it."""
    spread = kinds.std(axis=0)
    kinds = (kinds - kinds.mean(axis=0)) / np.where(spread > 0.0, spread, 1.0)
    left = np.ones(len(kinds), dtype=np.bool_)
    order = np.empty(len(kinds), dtype=np.int64)
    at = int((kinds**2).sum(axis=1).argmax())
    for place in range(len(kinds)):
        if place > 0:
            away = ((kinds - kinds[at]) ** 2).sum(axis=1)
            at = int(np.where(left, away, np.inf).argmin())
        order[place], left[at] = at, False
    return order


def _places(graph: Graph) -> IntArray:
    """(V,) place of each node in a breadth-first order, component by component."""
    from scipy.sparse.csgraph import breadth_first_order  # slow to import

    n = graph.n_nodes
    links = sp.csr_array((np.ones(graph.n_edges), (graph.edges[:, 0], graph.edges[:, 1])), shape=(n, n))
    component = connected_parts(graph)
    place = np.zeros(n, dtype=np.int64)
    done = 0
    for first in np.unique(component, return_index=True)[1].tolist():
        order = breadth_first_order(links, first, directed=False, return_predecessors=False)
        place[order] = done + np.arange(len(order))
        done += len(order)
    return place

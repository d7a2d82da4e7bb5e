"""Folds: what is held out together."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from gapcut.data import Graph, connected_parts
from gapcut.late import sparse as sp
from gapcut.typing import BoolArray, IntArray

FOLDS = 5


def node_folds(
    graphs: Sequence[Graph],
    labelled: BoolArray,
    seed: int,
    folds: int = FOLDS,
    sizes: Sequence[int] | None = None,
) -> IntArray:
    """(V,) fold of each node of all graphs, from 0 on. ``sizes``: nodes of each, where they are known.

    Whole graphs, shuffled, where two or more have labelled nodes (mask (V,) over all of them). Otherwise the graph is
    cut in stretches of a breadth-first order with as many labelled nodes each, so that neighbours mostly share a fold.
    """
    sizes = [g.n_nodes for g in graphs] if sizes is None else sizes
    owner = np.repeat(np.arange(len(graphs)), sizes)
    known = np.unique(owner[labelled])
    if len(known) >= 2:
        fold = np.zeros(len(graphs), dtype=np.int64)
        fold[np.random.default_rng(seed).permutation(known)] = np.arange(len(known)) % min(folds, len(known))
        return fold[owner]
    count = int(labelled.sum())
    order = np.argsort(
        np.concatenate([_places(g) for g in graphs]) + np.repeat(np.cumsum([0, *sizes])[:-1], sizes)
    )
    before = np.empty(len(owner), dtype=np.int64)
    before[order] = np.cumsum(labelled[order]) - labelled[order]
    return np.minimum(before, max(0, count - 1)) * min(folds, count) // max(1, count)


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

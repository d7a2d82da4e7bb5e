"""Where a data set is cut into shards: by what is in it alone, so that sums over it have the same bits wherever the
shards are, and however many threads or machines work on them."""

from __future__ import annotations

from typing import Final

import numpy as np

from gapcut import _core
from gapcut.typing import FloatArray

MOST: Final = 64
"""Shards, and so processes that can share a set."""

ONE: Final = 2e8
"""Work of an iteration, in instructions of AVX2, roughly, up to which a set is one shard: some 40 milliseconds, beside
which what it takes to ask processes of other machines would not be small."""

WORK: Final = 1e7
"""Of a shard, at least: enough to be shared out among threads, and little, so that processes get equal parts."""

SUMS: Final = 300
"""Numbers added for each weight of a gradient that a shard makes: as a part of its work they must be small too."""

MOST_COLUMNS: Final = 1024
"""Of nodes. Wider sets are one shard: their steps go through the features of all nodes several times."""


def shard_ends(core: _core.Problem, tables: bool = False) -> list[int]:
    """Graphs where shards of about equal work begin and end: shard i is ``[ends[i], ends[i + 1])``. ``tables``: an
    iteration works on all label pairs of every edge; else on as many as there are labels, about."""
    work = _work(core, tables)
    total = np.cumsum(work)
    if core.cliques or core.node_dim > MOST_COLUMNS or total[-1] < ONE:
        return [0, core.n_graphs]
    return _ends(work, total[-1] // max(WORK, float(SUMS * core.full_dim)))


def plane_ends(core: _core.Problem) -> list[int]:
    """The same for work on each graph alone, whose results no cut between them changes."""
    return _ends(_work(core, False), MOST)


def _ends(work: FloatArray, wanted: float) -> list[int]:
    """As many shards as are wanted, within bounds."""
    total, n = np.cumsum(work), len(work)
    count = int(np.clip(wanted, 1, min(MOST, n)))
    inner = np.searchsorted(total - 0.5 * work, total[-1] * np.arange(1, count) / count).tolist()
    return sorted({0, *inner, n})


def _work(core: _core.Problem, tables: bool) -> FloatArray:
    """(n,) of an iteration on each graph."""
    nodes, edges = np.diff(core.node_offset), np.diff(core.edge_offset)
    per_node, per_edge = 0.7 * core.node_dim + 20.0, 0.45 * core.edge_dim + 18.0
    pairs = core.n_labels if tables else 1
    work = core.n_labels * (nodes * per_node + pairs * edges * per_edge)
    for group in core.cliques:
        work += np.diff(group.offset) * group.n_tuples * (0.45 * group.dim + 18.0)
    return np.asarray(work, dtype=np.float64)

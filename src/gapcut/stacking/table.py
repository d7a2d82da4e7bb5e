"""What a base sees of a node: one row a node."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, Self, TypeAlias

import numpy as np

from gapcut.data import Graph
from gapcut.features.base import Columns
from gapcut.features.block import Block, blocks
from gapcut.features.incidence import incidence_sums
from gapcut.features.lift import halves, lifted
from gapcut.features.ranges import ColumnRanges
from gapcut.features.standardize import refuse_huge
from gapcut.typing import AnyArray, Float32Array, FloatArray, IntArray

BaseFeatures: TypeAlias = Literal["own", "edges", "context"]

_LARGEST = float(np.finfo(np.float32).max)
_MOST_WEIGHTS = 15
"""Edge columns that context is weighted by, at most."""


def node_rows(graphs: Sequence[Graph], edges: bool, count: int | None = None) -> Float32Array:
    """(V, D) a node's own features; with ``edges`` also, for its outgoing and then for its incoming edges, sums, means,
    maxima and minima of every edge feature and their number; sums over cliques at every place.

    Maximum and minimum over no edges are 0. ``count``: V, where it is known. Raises ValueError where sparse features
    would become too large.
    """
    count = sum(g.n_nodes for g in graphs) if count is None else count
    return stacked_rows((_rows(block, edges) for block in blocks(graphs)), count)


def stacked_rows(pieces: Iterable[Float32Array], count: int) -> Float32Array:
    """Tables below each other, ``count`` rows together, of which memory holds one beside the result."""
    whole, start = np.empty((count, 0), dtype=np.float32), 0
    for piece in pieces:
        if not start:
            whole = np.empty((count, piece.shape[1]), dtype=np.float32)
        whole[start : start + len(piece)] = piece
        start += len(piece)
    return whole


def row_width(raw: Columns, edges: bool) -> int:
    """D of :func:`node_rows` for graphs with these raw columns."""
    cliques = sum(order * len(names) for order, names in zip(raw.orders, raw.cliques, strict=True))
    return len(raw.node) + (2 * (4 * len(raw.edge) + 1) + cliques if edges else 0)


def _rows(block: Block, edges: bool) -> Float32Array:
    own = block.node_features
    if block.is_sparse:
        refuse_huge(block.n_nodes, block.node_dim, "a graph's node features", "base=None")
        own = own.toarray()
    parts = [own]
    if edges:
        sums = incidence_sums(block)
        width = block.edge_features.shape[1]
        for end in (0, 1):
            owner = block.edges[:, end]
            degree = np.bincount(owner, minlength=block.n_nodes)[:, None]
            own_sums = sums[:, end * width : (end + 1) * width]
            parts += [own_sums, own_sums / np.maximum(degree, 1), degree]
            parts += _extremes(block.edge_features, owner, block.n_nodes)
        parts.append(sums[:, 2 * width :])
    return _as_float32(np.hstack(parts))


def _as_float32(rows: FloatArray) -> Float32Array:
    return np.asarray(np.clip(rows, -_LARGEST, _LARGEST).astype(np.float32))


def _extremes(rows: FloatArray, owner: IntArray, n_nodes: int) -> list[FloatArray]:
    """Two (V, D): largest and smallest of the rows of each owner."""
    order = np.argsort(owner, kind="stable")
    owners, starts = np.unique(owner[order], return_index=True)
    out = []
    for reduce in (np.maximum.reduceat, np.minimum.reduceat):
        found = np.zeros((n_nodes, rows.shape[1]))
        if len(owners):
            found[owners] = reduce(rows[order], starts, axis=0)
        out.append(found)
    return out


@dataclass(frozen=True, eq=False)
class Context:
    """What a node's neighbours are taken for: by direction, the sums of their class distributions, and those weighted
    by edge columns: the positive (``part`` +1) or the negative part (-1) of column ``source`` over ``scale``, all (n,).

    (Auto-context: Tu and Bai, TPAMI 32(10), 2010.)
    """

    source: IntArray
    part: IntArray
    scale: FloatArray

    @classmethod
    def of(cls, graphs: Sequence[Graph]) -> Self:
        """By the edge columns that vary most over the graphs, relative to their largest absolute value."""
        width = graphs[0].edge_dim
        ranges = ColumnRanges.of((g.edge_features for g in graphs), width)
        scale = np.where(ranges.zero, 1.0, ranges.peak)
        spread = _deviations(graphs, scale)
        most = np.sort(np.argsort(-spread, kind="stable")[:_MOST_WEIGHTS])
        kept = [
            (i, part)
            for i in most[spread[most] > 0].tolist()
            for part in halves(ranges.low[i], ranges.high[i], "all")
        ]
        source, part = np.array(kept, dtype=np.int64).reshape(-1, 2).T
        return cls(source, part, scale[source])

    def width(self, n_classes: int) -> int:
        """Columns that :meth:`beside` adds."""
        return n_classes * (1 + 2 * (1 + len(self.source)))

    def beside(self, rows: Float32Array, graphs: Sequence[Graph], distributions: AnyArray) -> Float32Array:
        """The ``rows`` (V, D) of all nodes, what they were taken for (V, K), and what their neighbours were."""
        return np.hstack([rows, distributions, self.rows(graphs, distributions)])

    def rows(self, graphs: Sequence[Graph], distributions: AnyArray) -> Float32Array:
        """(V, D) for the class distributions (V, K) of all nodes."""
        return stacked_rows(self._each(graphs, distributions), len(distributions))

    def _each(self, graphs: Iterable[Graph], distributions: AnyArray) -> Iterator[Float32Array]:
        start = 0
        for block in blocks(graphs):
            yield self._of_block(block, distributions[start : start + block.n_nodes])
            start += block.n_nodes

    def _of_block(self, block: Block, distributions: AnyArray) -> Float32Array:
        weights = lifted(block.edge_features[:, self.source] / self.scale, self.part)
        weights = np.hstack([np.ones((block.n_edges, 1)), weights])
        ends, width = [], weights.shape[1] * distributions.shape[1]
        for end in (0, 1):
            other = distributions[block.edges[:, 1 - end]].astype(np.float64)
            products = (weights[:, :, None] * other[:, None, :]).reshape(block.n_edges, width)
            sums = np.zeros((block.n_nodes, width))
            order = np.argsort(block.edges[:, end], kind="stable")
            owners, starts = np.unique(block.edges[order, end], return_index=True)
            if len(owners):
                sums[owners] = np.add.reduceat(products[order], starts, axis=0)
            ends.append(sums)
        return _as_float32(np.hstack(ends))


def _deviations(graphs: Sequence[Graph], scale: FloatArray) -> FloatArray:
    """(D,) standard deviation of every edge column over ``scale``, in two passes; sums are made graph by graph."""
    count, mean, squares = 0, np.zeros(len(scale)), np.zeros(len(scale))
    for graph in graphs:
        count += graph.n_edges
        mean += (graph.edge_features / scale).sum(axis=0)
    mean /= max(1, count)
    for graph in graphs:
        squares += ((graph.edge_features / scale - mean) ** 2).sum(axis=0)
    return np.asarray(np.sqrt(squares / max(1, count)))

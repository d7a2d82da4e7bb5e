"""Terms over three parts of a bridge: chains of what rests on what, and supports in a row."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from gapcut.data import CliqueSet, GraphSet
from gapcut.scenes.experiment.folds import FoldGraphs
from gapcut.scenes.experiment.scans import BridgeScan
from gapcut.scenes.groups import group_order
from gapcut.scenes.labelling import SegmentedScan
from gapcut.scenes.labelling.graphs import RESTS
from gapcut.scenes.labelling.segments import SEGMENT_FEATURES
from gapcut.typing import BoolArray, FloatArray, IntArray

TRIPLES = ("chain", "supports")
"""Names of the groups of :func:`triples`, in their order."""

_TALL = 1.5  # times the length along the bridge
_HIGH = 2.0  # m, at least
_SHARED = 0.5  # of the narrower part's width


def with_triples(folds: Sequence[FoldGraphs], bridges: Sequence[BridgeScan]) -> list[FoldGraphs]:
    """The same graphs with the terms of their bridges; one feature, which is 1, and weights for all label tuples."""
    made = [triples(bridge.scan) for bridge in bridges]

    def joined(graphs: GraphSet, numbers: Sequence[int]) -> GraphSet:
        return GraphSet(g.replace(cliques=made[i]) for g, i in zip(graphs, numbers, strict=True))

    return [replace(f, training=joined(f.training, f.train), tests=joined(f.tests, f.test)) for f in folds]


def triples(scan: SegmentedScan) -> tuple[CliqueSet, ...]:
    """One group for each of ``TRIPLES``, found without labels; see :func:`chains` and :func:`supports`."""
    found = chains(scan), supports(scan)
    return tuple(CliqueSet(nodes, np.ones((len(nodes), 1))) for nodes in found)


def chains(scan: SegmentedScan) -> IntArray:
    """(M, 3) u, m, v: u rests on m, m on v."""
    edges = scan.contacts.edges[scan.contacts.lift > RESTS]
    first = np.searchsorted(edges[:, 0], edges[:, 1], "left")  # edges are sorted by their first node
    count = np.searchsorted(edges[:, 0], edges[:, 1], "right") - first
    upper = np.repeat(np.arange(len(edges)), count)
    lower = np.arange(len(upper)) - np.repeat(np.cumsum(count) - count, count) + np.repeat(first, count)
    found = np.column_stack([edges[upper], edges[lower, 1]])
    return np.asarray(found[found[:, 0] != found[:, 2]])


def supports(scan: SegmentedScan) -> IntArray:
    """(M, 3) u, m, v: a standing part m with the next ones before and behind it along the bridge (x), in its lane.

    A part stands if it is tall, something rests on it, and it reaches lower than most parts: columns, abutments. So
    a column has the columns or abutments on either side of it.
    """
    low, high = _boxes(scan)
    standing = np.flatnonzero(_stands(scan, high - low))
    low, high, middle = low[standing], high[standing], scan.table.shapes.centre[standing, 0]
    away = middle - middle[:, None]  # of the column from the row
    beside = _share(low[:, 1], high[:, 1]) & (np.abs(away) > (high - low)[:, :1])
    before = np.where(beside & (away < 0), -away, np.inf)
    behind = np.where(beside & (away > 0), away, np.inf)
    between = np.isfinite(before).any(axis=1) & np.isfinite(behind).any(axis=1)
    if not between.any():
        return np.empty((0, 3), dtype=np.int64)
    places = [before[between].argmin(axis=1), np.flatnonzero(between), behind[between].argmin(axis=1)]
    return np.asarray(standing[np.column_stack(places)])


def _stands(scan: SegmentedScan, extent: FloatArray) -> BoolArray:
    """(S,) see :func:`supports`; ``extent`` (S, 3) metres."""
    carries = np.zeros(scan.n_segments, dtype=np.bool_)
    carries[scan.contacts.edges[scan.contacts.lift > RESTS, 1]] = True
    bottom = scan.table.values[:, SEGMENT_FEATURES.index("height low")]
    tall = (extent[:, 2] > _TALL * extent[:, 0]) & (extent[:, 2] > _HIGH)
    return np.asarray(tall & carries & (bottom < np.median(bottom)))


def _boxes(scan: SegmentedScan) -> tuple[FloatArray, FloatArray]:
    """(S, 3) least and largest coordinates of each segment."""
    inside = scan.segment >= 0
    segment, xyz = scan.segment[inside], scan.xyz[inside]
    ordered = xyz[group_order(segment, scan.n_segments)]
    start = np.concatenate([[0], np.cumsum(np.bincount(segment, minlength=scan.n_segments))[:-1]])
    return np.minimum.reduceat(ordered, start), np.maximum.reduceat(ordered, start)


def _share(low: FloatArray, high: FloatArray) -> BoolArray:
    """(S, S) whether two intervals have at least half of the shorter one in common."""
    common = np.minimum(high[:, None], high) - np.maximum(low[:, None], low)
    return np.asarray(common >= _SHARED * np.minimum((high - low)[:, None], high - low))

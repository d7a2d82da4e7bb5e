"""Segmented scans as graphs for learning and labelling."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from gapcut.data import Graph
from gapcut.scenes.forest import segment_means
from gapcut.scenes.labelling.relations import EDGE_FEATURES, SEGMENT_FEATURES, relate
from gapcut.scenes.labelling.scene import CHANNELS, SegmentedScan
from gapcut.scenes.labelling.trees import TreeForest
from gapcut.typing import AnyArray, FloatArray


def scan_distribution(scan: SegmentedScan, forest: TreeForest, n_threads: int = 1) -> FloatArray:
    """(S, K) mean class distribution of each segment's sampled points."""
    found = forest.distributions(scan.forest_rows(), n_threads)
    return segment_means(found, scan.segment[scan.sample], scan.n_segments)


def scan_graph(
    scan: SegmentedScan, distribution: FloatArray, voxel: float, weight_power: float = 1.0
) -> Graph:
    """The graph of a scan: nodes are segments, with the most frequent known label of their points (None without any).

    Node features: class distribution, ``SEGMENT_FEATURES``, intensity and colour. A node weighs its number of points
    (labelled ones where some are) to the power ``weight_power``.
    """
    n_classes = distribution.shape[1]
    features, _ = relate(scan.contacts, scan.table, distribution, voxel, scan.channels)
    counts = scan.label_counts(n_classes)
    known = counts.sum(axis=1)
    labels: AnyArray | None = None
    if known.any():
        labels = np.full(scan.n_segments, None, dtype=object)
        labels[known > 0] = counts.argmax(axis=1)[known > 0].tolist()
    weight = np.where(known > 0, known, 1) if known.any() else scan.size
    return Graph(
        np.column_stack([distribution, scan.table.values, scan.channels]),
        scan.contacts.edges,
        features,
        labels,
        weight.astype(np.float64) ** weight_power,
        name=scan.name,
    )


def node_names(class_names: Sequence[str], channels: Sequence[str]) -> list[str]:
    """Names of the node features."""
    colours = [name for channel in channels for name in CHANNELS[channel]]
    return [*(f"p({name})" for name in class_names), *SEGMENT_FEATURES, *colours]


def edge_names(channels: Sequence[str]) -> list[str]:
    """Names of the edge features."""
    return [*EDGE_FEATURES, *(["likeness"] if channels else [])]

"""Segmented scans as graphs for learning and labelling: features of nodes, and of pairs that touch."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from gapcut.data import Graph
from gapcut.scenes.labelling.scene import CHANNELS, SegmentedScan
from gapcut.scenes.labelling.segments import SEGMENT_FEATURES, Contacts, SegmentShapes, SegmentTable
from gapcut.scenes.labelling.settings import GENERAL_EDGES, MEMBER_EDGES, SceneSettings
from gapcut.typing import AnyArray, FloatArray, IntArray

EDGE_FEATURES = GENERAL_EDGES + MEMBER_EDGES
"""Names of all edge features: what docs/scene-features.md lists, in that order."""

RESTS = 0.6
"""Least lift of a segment that rests on another: four fifths of the differences in height are upwards."""

LEAST_SHARE = 1e-3
"""Of a class in a distribution, where its logarithm is taken."""


def scan_graph(
    scan: SegmentedScan,
    distribution: FloatArray,
    settings: SceneSettings,
    weight_power: float = 1.0,
    classes: AnyArray | None = None,
) -> Graph:
    """The graph of a scan: nodes are segments, with the most frequent known label of their points (None without any).

    Nodes have what ``settings.nodes`` says of the class distribution (S, K), edges the features ``settings.edges``
    and, where there are channels, their likeness. A node weighs its number of points (labelled ones where some are)
    to the power ``weight_power``. Labels are codes, or ``classes`` of the codes.
    """
    n_classes = distribution.shape[1]
    p = np.clip(distribution, LEAST_SHARE, 1.0 - LEAST_SHARE)
    if settings.nodes == "belief":
        own = np.log(p)
    elif settings.nodes == "segment":
        own = np.column_stack([distribution, scan.table.values, scan.channels])
    else:
        own = np.column_stack([distribution, np.log(p / (1.0 - p))])
    counts = scan.label_counts(n_classes)
    known = counts.sum(axis=1)
    labels: AnyArray | None = None
    if known.any():
        names = np.arange(n_classes) if classes is None else classes
        labels = np.full(scan.n_segments, None, dtype=object)
        labels[known > 0] = names[counts.argmax(axis=1)[known > 0]].tolist()
    weight = np.where(known > 0, known, 1) if known.any() else scan.size
    return Graph(
        own,
        scan.contacts.edges,
        relate(scan.contacts, scan.table, distribution, settings, scan.channels),
        labels,
        weight.astype(np.float64) ** weight_power,
        name=scan.name,
    )


def node_names(class_names: Sequence[str], channels: Sequence[str], settings: SceneSettings) -> list[str]:
    """Names of the node features."""
    if settings.nodes == "belief":
        return [f"log p({name})" for name in class_names]
    beside = [f"log-odds({name})" for name in class_names]
    if settings.nodes == "segment":
        beside = [*SEGMENT_FEATURES, *(name for channel in channels for name in CHANNELS[channel])]
    return [*(f"p({name})" for name in class_names), *beside]


def edge_names(channels: Sequence[str], settings: SceneSettings) -> list[str]:
    """Names of the edge features."""
    return [*settings.edges, *(["likeness"] if channels else [])]


def relate(
    contacts: Contacts,
    table: SegmentTable,
    distribution: FloatArray,
    settings: SceneSettings,
    channels: FloatArray,
) -> FloatArray:
    """(E, F) features of the edges, all >= 0, named by :func:`edge_names`.

    ``distribution`` (S, K) class distribution of each segment; ``channels`` (S, C) colour and intensity in [0, 1].
    """
    found = _contact_features(contacts, table, settings.lengths["voxel"])
    found |= _shape_features(contacts, table)
    u, v = contacts.edges.T
    found["similarity"] = np.minimum(distribution[u], distribution[v]).sum(axis=1)
    columns = [found[name] for name in settings.edges]
    if channels.shape[1]:
        columns.append(1.0 - np.abs(channels[u] - channels[v]).mean(axis=1))
    return np.maximum(np.stack(columns, axis=1), 0.0)


def _contact_features(contacts: Contacts, table: SegmentTable, voxel: float) -> dict[str, FloatArray]:
    """How two segments touch, and which is the higher and the larger one."""
    u, v = contacts.edges.T
    total = np.maximum(np.bincount(u, contacts.size, len(table.values)), 1.0)
    rise = (table.mean_height[u] - table.mean_height[v]) / voxel
    count = np.maximum(table.shapes.count, 1).astype(np.float64)
    return {
        "contact length": np.log2(1.0 + contacts.size),
        "contact share": contacts.size / total[u],
        "on top of": contacts.above,
        "below": contacts.below,
        "beside": 1.0 - contacts.above - contacts.below,
        "gap": contacts.distance / contacts.cell,
        "higher": np.log2(1.0 + np.maximum(rise, 0.0)),
        "lower": np.log2(1.0 + np.maximum(-rise, 0.0)),
        "rests on": (contacts.lift > RESTS).astype(np.float64),
        "over": np.maximum(contacts.lift, 0.0),
        "under": np.maximum(-contacts.lift, 0.0),
        "size ratio": count[u] / (count[u] + count[v]),
    }


def _shape_features(contacts: Contacts, table: SegmentTable) -> dict[str, FloatArray]:
    """How the principal directions of two segments lie to each other."""
    u, v = contacts.edges.T
    shapes, linear, planar = table.shapes, table.values[:, 3], table.values[:, 4]
    flat = np.sqrt(planar[u] * planar[v])
    normals = _cosine(shapes.axes[u, 2], shapes.axes[v, 2])
    axes = _cosine(shapes.axes[u, 0], shapes.axes[v, 0])
    between = shapes.centre[v] - shapes.centre[u]
    between /= np.maximum(np.linalg.norm(between, axis=1, keepdims=True), 1e-9)
    return {
        "parallel": axes * np.sqrt(linear[u] * linear[v]),
        "perpendicular": np.sqrt(np.maximum(1.0 - normals**2, 0.0)) * flat,
        "coplanar": normals * flat * np.maximum(1.0 - _offset(shapes, u, v) / contacts.cell, 0.0),
        "direction consistency": axes,
        "perpendicularity": np.sqrt(np.maximum(1.0 - axes**2, 0.0)),
        "alignment": np.minimum(_cosine(between, shapes.axes[u, 0]), _cosine(between, shapes.axes[v, 0])),
        "normal consistency": normals,
    }


def _offset(shapes: SegmentShapes, u: IntArray, v: IntArray) -> FloatArray:
    """Larger distance of one segment's centre from the other's plane, metres."""
    between = shapes.centre[v] - shapes.centre[u]
    off = [np.abs(np.einsum("ij,ij->i", between, shapes.axes[s, 2])) for s in (u, v)]
    return np.asarray(np.maximum(*off))


def _cosine(a: AnyArray, b: AnyArray) -> FloatArray:
    return np.asarray(np.minimum(np.abs(np.einsum("ij,ij->i", a, b)), 1.0))

"""Graphs of described bridges: parts and what a forest says of them, touching parts and how they touch."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from gapcut.data import Graph, GraphSet
from gapcut.scenes.adjacency import EXTRA_FEATURES, PAPER_FEATURES
from gapcut.scenes.bridges import CLASSES
from gapcut.scenes.experiment.described import DescribedBridge
from gapcut.scenes.experiment.settings import ExperimentSettings
from gapcut.typing import FloatArray, IntArray

_LEAST = 1e-3  # of a probability, before its logarithm


def bridge_graphs(
    bridges: Sequence[DescribedBridge], beliefs: Sequence[FloatArray], settings: ExperimentSettings
) -> GraphSet:
    """One graph a bridge; node features are class distributions and their log-odds, node weights are points."""
    classes = np.array(CLASSES)
    return GraphSet(
        (
            Graph(
                node_features(p),
                b.edges,
                b.edge_features,
                classes[b.label],
                b.weight.astype(float),
                name=b.name,
            )
            for b, p in zip(bridges, beliefs, strict=True)
        ),
        node_feature_names=[
            f"{kind} {view} {name}"
            for kind in ("p", "log-odds")
            for view in settings.views
            for name in CLASSES
        ],
        edge_feature_names=PAPER_FEATURES + EXTRA_FEATURES if settings.extra else PAPER_FEATURES,
    )


def node_features(belief: FloatArray) -> FloatArray:
    """(V, 2 n): the distributions (V, n) and their log-odds, cut off at one in a thousand."""
    p = np.clip(belief, _LEAST, 1.0 - _LEAST)
    return np.concatenate([belief, np.log(p / (1.0 - p))], axis=1)


def likeliest(belief: FloatArray) -> IntArray:
    """(V,) the class of the largest mean probability of all forests."""
    return np.asarray(belief.reshape(len(belief), -1, len(CLASSES)).sum(axis=1).argmax(axis=1))


def edgeless(graphs: GraphSet) -> GraphSet:
    """The same parts without their edges."""
    return GraphSet(g.replace(edges=None, edge_features=None) for g in graphs)

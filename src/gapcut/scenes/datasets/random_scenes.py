"""Random scenes of bridge size: the workload on which speed is compared."""

from __future__ import annotations

import numpy as np

from gapcut.data import Graph, GraphSet
from gapcut.typing import FloatArray, IntArray

_ROOM = np.array([10.0, 10.0, 3.0])
_CENTRES_SEED = 100


def make_scenes(
    n_graphs: int = 20,
    n_nodes: int = 460,
    n_edges: int = 4500,
    n_labels: int = 11,
    *,
    noise: float = 1.0,
    seed: int = 0,
) -> GraphSet:
    """Scenes with classes that cluster in space and three edge features that depend on both labels.

    Nodes lie in a 10 x 10 x 3 room; the label is the nearest of ``n_labels`` fixed centres, heights counting more, with
    Gumbel noise. Node features: softmax of the noisy label. Edges: a random ``n_edges`` of the pairs (node, near
    neighbour). Edge features: "higher" by 0.3; a noisy value that the label pair decides; a coin that the label pair
    weighs. Equal seeds give equal numbers, on which recorded times and gaps rest: keep the order of the draws.
    """
    neighbours = int(np.ceil(n_edges / n_nodes)) if n_nodes else 0
    if min(n_graphs, n_nodes, n_edges, n_labels) < 1 or neighbours >= n_nodes:
        raise ValueError(f"no scene of {n_nodes} nodes has {n_edges} edges and {n_labels} labels")
    rng = np.random.default_rng(seed)
    affinity = rng.random((3, n_labels, n_labels)) ** 3
    centres = np.random.default_rng(_CENTRES_SEED).random((n_labels, 3)) * _ROOM
    scenes = []
    for i in range(n_graphs):
        position = rng.random((n_nodes, 3)) * _ROOM
        labels = _labels(rng, position, centres)
        edges = _edges(rng, position, neighbours, n_edges)
        logits = rng.normal(size=(n_nodes, n_labels)) * noise
        logits[np.arange(n_nodes), labels] += 1.5
        belief = np.exp(logits)
        belief /= belief.sum(1, keepdims=True)
        features = _edge_features(rng, position, labels, edges, affinity)
        scenes.append(Graph(belief, edges, features, labels, name=f"scene {i}"))
    return GraphSet(
        scenes,
        node_feature_names=[f"p({k})" for k in range(n_labels)],
        edge_feature_names=["higher", "affinity", "contact"],
    )


def _labels(rng: np.random.Generator, position: FloatArray, centres: FloatArray) -> IntArray:
    distance = ((position[:, None] - centres[None]) ** 2 * [1, 1, 6]).sum(-1)
    return np.asarray(np.argmin(distance + rng.gumbel(size=distance.shape) * 1.5, 1))


def _edges(rng: np.random.Generator, position: FloatArray, neighbours: int, n_edges: int) -> IntArray:
    distance = ((position[:, None] - position[None]) ** 2).sum(-1)
    np.fill_diagonal(distance, 1e9)
    nearest = np.argsort(distance, 1)[:, :neighbours]
    pairs = np.stack([np.repeat(np.arange(len(position)), neighbours), nearest.ravel()], axis=1)
    return pairs[rng.permutation(len(pairs))[:n_edges]]


def _edge_features(
    rng: np.random.Generator, position: FloatArray, labels: IntArray, edges: IntArray, affinity: FloatArray
) -> FloatArray:
    u, v = edges.T
    higher = position[u, 2] > position[v, 2] + 0.3
    valued = np.clip(affinity[1, labels[u], labels[v]] + 0.2 * rng.normal(size=len(edges)), 0, 1)
    contact = rng.random(len(edges)) < affinity[2, labels[u], labels[v]]
    return np.stack([higher, valued, contact], axis=1).astype(np.float64)

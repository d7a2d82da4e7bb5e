"""Small labelled graphs with something to learn: labels follow noisy node features, and neighbours tend to agree."""

from __future__ import annotations

import numpy as np

from gapcut import Graph, GraphSet, StructuredSVM


def sample_graph(rng: np.random.Generator, n_nodes: int = 12, n_labels: int = 3, noise: float = 0.7) -> Graph:
    """A chain with a few more edges; the label changes along it now and then."""
    change = rng.random(n_nodes) < 0.3
    labels = np.cumsum(change) % n_labels
    features = np.eye(n_labels)[labels] + noise * rng.normal(size=(n_nodes, n_labels))
    chain = np.stack([np.arange(n_nodes - 1), np.arange(1, n_nodes)], axis=1)
    more = rng.integers(n_nodes, size=(n_nodes // 3, 2))
    edges = np.concatenate([chain, more[more[:, 0] != more[:, 1]]])
    same = (labels[edges[:, 0]] == labels[edges[:, 1]]).astype(float)
    edge_features = np.stack([0.6 * same + 0.4 * rng.random(len(edges)), rng.random(len(edges))], axis=1)
    return Graph(features, edges, edge_features, labels=labels)


def sample_graphs(count: int = 6, seed: int = 0, **options: float) -> GraphSet:
    """Several of them."""
    rng = np.random.default_rng(seed)
    return GraphSet(sample_graph(rng, **options) for _ in range(count))  # type: ignore[arg-type]


def relabelled(graphs: GraphSet, names: list[object]) -> GraphSet:
    """The same graphs with label ``names[k]`` in place of ``k``."""
    return GraphSet(g.replace(labels=[names[int(k)] for k in g.labels]) for g in graphs)


def same_model(a: StructuredSVM, b: StructuredSVM) -> bool:
    """Whether both have the same weights, bit for bit."""
    return np.array_equal(a.unary_, b.unary_) and np.array_equal(a.pairwise_, b.pairwise_)

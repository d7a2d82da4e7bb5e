"""One-hot problems by enumeration: planes of all labelings of tiny graphs. Imported by tests of several rooms."""

from __future__ import annotations

import itertools

import numpy as np

from brute_oracle import Planes
from gapcut.problem import LearningProblem, learning_problem
from tiny import TinyGraph, joint_feature_map, label_loss, one_hot, random_costs, tiny_graph


def one_hot_planes(
    problem: LearningProblem, graph: TinyGraph, labels: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Planes (m, dim) and losses (m,) of every one-hot labeling."""
    K = problem.n_labels
    found = np.array(list(itertools.product(range(K), repeat=graph.n_nodes)))
    target = joint_feature_map(graph, one_hot(labels, K))
    planes = target - joint_feature_map(graph, one_hot(found, K))
    loss = label_loss(problem, graph, labels)
    return planes[:, problem.core.coordinates], loss[np.arange(graph.n_nodes), found].sum(axis=1)


def all_one_hot_planes(problem: LearningProblem, graphs: list[TinyGraph], labels: list[np.ndarray]) -> Planes:
    """The same for every graph."""
    return [one_hot_planes(problem, g, y) for g, y in zip(graphs, labels, strict=True)]


def forest(graph: TinyGraph, rng: np.random.Generator) -> TinyGraph:
    """The graph without edges that close a cycle; some of the edges left come a second time, either way."""
    group = np.arange(graph.n_nodes)
    kept = []
    for e, (u, v) in enumerate(graph.edges):
        if group[u] != group[v]:
            group[group == group[u]] = group[v]
            kept.append(e)
    edges, features = graph.edges[kept], graph.edge_features[kept]
    again = rng.random(len(kept)) < 0.3
    double = edges[again][:, ::-1] if rng.random() < 0.5 else edges[again]
    return TinyGraph(
        graph.node_features,
        np.concatenate([edges, double]),
        np.concatenate([features, rng.permutation(features[again])]),
        graph.node_weights,
    )


def tiny_one_hot(
    rng: np.random.Generator,
    n_graphs: int = 1,
    *,
    trees: bool = False,
    free: bool = True,
    C: float = 1.0,
    most: int = 300,
) -> tuple[LearningProblem, list[TinyGraph], list[np.ndarray]]:
    """A random problem of graphs with at most ``most`` labelings; ``free``: pairwise weights of any sign, and
    edge features too."""
    n_labels = int(rng.integers(1, 5))
    node_dim, edge_dim = int(rng.integers(1, 4)), int(rng.integers(1, 3))
    largest = 6 if n_labels == 1 else max(1, int(np.log(most) / np.log(n_labels)))
    graphs, labels = [], []
    for _ in range(n_graphs):
        graph = tiny_graph(
            rng, int(rng.integers(1, largest + 1)), int(rng.integers(0, 8)), node_dim, edge_dim
        )
        if free and rng.random() < 0.5:
            graph.edge_features = graph.edge_features * rng.choice(
                [-1.0, 1.0], size=graph.edge_features.shape
            )
        graphs.append(forest(graph, rng) if trees else graph)
        labels.append(rng.integers(n_labels, size=graph.n_nodes))
    lower = np.full(n_labels * node_dim + n_labels**2 * edge_dim, -np.inf) if free else None
    scale = float(rng.choice([1.0, 4.0, 100.0]))
    costs = random_costs(rng, n_labels)
    problem = learning_problem(
        graphs, labels, n_labels=n_labels, C=C, loss_scale=scale, lower=lower, costs=costs
    )
    return problem, graphs, labels


def random_weights(rng: np.random.Generator, problem: LearningProblem) -> np.ndarray:
    """Of many sizes, integers half of the time (ties), some zero, inside the box."""
    w = rng.normal(size=problem.dim) * 10.0 ** rng.choice([-6.0, 0.0, 0.0, 1.0, 6.0])
    if rng.random() < 0.4:
        w = np.round(3.0 * rng.normal(size=problem.dim))
    w[rng.random(problem.dim) < rng.choice([0.0, 0.3, 0.9])] = 0.0
    return problem.clamp(w)

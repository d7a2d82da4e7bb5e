"""Tiny random problems and their answers by enumeration. Imported by tests of several rooms."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from gapcut import CliqueSet
from gapcut.model.labels import LabelCoder
from gapcut.model.losses import cost_factors
from gapcut.problem import LearningProblem, learning_problem


@dataclass
class TinyGraph:
    """The attributes of a model-ready graph that packing reads."""

    node_features: np.ndarray
    edges: np.ndarray
    edge_features: np.ndarray
    node_weights: np.ndarray | None = None
    cliques: tuple[CliqueSet, ...] = ()

    @property
    def n_nodes(self) -> int:
        return self.node_features.shape[0]

    @property
    def n_edges(self) -> int:
        return len(self.edges)


def tiny_graph(
    rng: np.random.Generator, n_nodes: int, n_edges: int, node_dim: int, edge_dim: int
) -> TinyGraph:
    """Small-integer features half of the time (ties), repeated and reversed edges, isolated nodes."""
    nodes = rng.normal(size=(n_nodes, node_dim))
    edge_features = rng.random((n_edges, edge_dim)) * (rng.random((n_edges, edge_dim)) < 0.7)
    if rng.random() < 0.5:
        nodes, edge_features = np.round(nodes), np.round(2 * edge_features)
    edges = np.zeros((0, 2), dtype=np.int64)
    if n_nodes > 1 and n_edges:
        tail = rng.integers(n_nodes, size=n_edges)
        edges = np.stack([tail, (tail + 1 + rng.integers(n_nodes - 1, size=n_edges)) % n_nodes], axis=1)
    weights = rng.integers(0, 4, size=n_nodes).astype(float) if rng.random() < 0.3 else None
    return TinyGraph(nodes, edges, edge_features[: len(edges)], weights)


def tiny_problem(
    rng: np.random.Generator,
    n_graphs: int = 1,
    max_bits: int = 10,
    C: float = 1.0,
    loss_scale: float | None = None,
) -> tuple[LearningProblem, list[TinyGraph], list[np.ndarray]]:
    """A learning problem whose every graph has at most ``max_bits`` indicators."""
    n_labels = int(rng.integers(1, 5))
    node_dim, edge_dim = int(rng.integers(1, 3)), int(rng.integers(1, 3))
    graphs, labels = [], []
    for _ in range(n_graphs):
        n_nodes = int(rng.integers(1, max_bits // n_labels + 1))
        graphs.append(tiny_graph(rng, n_nodes, int(rng.integers(0, 7)), node_dim, edge_dim))
        labels.append(rng.integers(n_labels, size=n_nodes))
    scale = float(rng.choice([1.0, 4.0, 100.0])) if loss_scale is None else loss_scale
    costs = random_costs(rng, n_labels)
    problem = learning_problem(graphs, labels, n_labels=n_labels, C=C, loss_scale=scale, costs=costs)
    return problem, graphs, labels


def in_box(
    problem: LearningProblem,
    graphs: list[TinyGraph],
    labels: list[np.ndarray],
    lower: np.ndarray,
    upper: np.ndarray,
) -> LearningProblem:
    """The same problem with other bounds of the weights."""
    return learning_problem(
        graphs,
        labels,
        n_labels=problem.core.n_labels,
        C=problem.C,
        loss_scale=problem.loss_scale,
        costs=problem.costs,
        lower=lower,
        upper=upper,
    )


def frozen_and_bounded(
    rng: np.random.Generator,
) -> tuple[LearningProblem, list[TinyGraph], list[np.ndarray]]:
    """A tiny problem at C = 5 with some weights frozen and some bounded; pairwise ones are not negative."""
    problem, graphs, labels = tiny_problem(rng, n_graphs=2, max_bits=8, C=5.0)
    core = problem.core
    unary = core.n_labels * core.node_dim
    lower = np.concatenate([np.full(unary, -np.inf), np.zeros(core.full_dim - unary)])
    upper = np.full(core.full_dim, np.inf)
    frozen = rng.random(core.full_dim) < 0.3
    lower[frozen] = upper[frozen] = np.abs(rng.normal(size=frozen.sum()))
    upper[~frozen & (rng.random(core.full_dim) < 0.2)] = 0.5
    return in_box(problem, graphs, labels, lower, upper), graphs, labels


def clique_problem(
    rng: np.random.Generator,
    n_graphs: int = 1,
    max_bits: int = 12,
    C: float = 1.0,
    loss_scale: float | None = None,
) -> tuple[LearningProblem, list[TinyGraph], list[np.ndarray]]:
    """The same with one or two groups of cliques of three and four nodes, some of them empty, over all tuples, equal
    ones or a few; half of them with small whole features (ties) and zeros.
    """
    n_labels = int(rng.integers(2, 4))
    node_dim, edge_dim = int(rng.integers(1, 3)), int(rng.integers(0, 3))
    orders = [int(d) for d in rng.choice([3, 4], size=int(rng.integers(1, 3)))]
    dims = [int(d) for d in rng.integers(1, 3, size=len(orders))]
    tuples = [random_tuples(rng, d, n_labels) for d in orders]
    graphs, labels = [], []
    for _ in range(n_graphs):
        n_nodes = int(rng.integers(3, max_bits // n_labels + 1))
        graph = tiny_graph(rng, n_nodes, int(rng.integers(0, 5)), node_dim, edge_dim)
        graph.cliques = tuple(
            random_cliques(rng, n_nodes, d, dim) for d, dim in zip(orders, dims, strict=True)
        )
        graphs.append(graph)
        labels.append(rng.integers(n_labels, size=n_nodes))
    scale = float(rng.choice([1.0, 4.0, 100.0])) if loss_scale is None else loss_scale
    problem = learning_problem(graphs, labels, n_labels=n_labels, C=C, loss_scale=scale, tuples=tuples)
    return problem, graphs, labels


def random_tuples(rng: np.random.Generator, order: int, n_labels: int) -> np.ndarray:
    """(T, d) codes: all, equal ones, or a few, in any order."""
    kind = rng.random()
    if kind < 0.3:
        return np.repeat(np.arange(n_labels)[:, None], order, axis=1)
    everything = np.array(list(itertools.product(range(n_labels), repeat=order)))
    chosen = rng.permutation(len(everything))
    return everything[chosen if kind < 0.7 else chosen[:5]]


def random_cliques(rng: np.random.Generator, n_nodes: int, order: int, dim: int) -> CliqueSet:
    """Up to four, none where the graph has too few nodes."""
    count = int(rng.integers(0, 5)) if order <= n_nodes else 0
    nodes = np.array([rng.permutation(n_nodes)[:order] for _ in range(count)]).reshape(-1, order)
    features = rng.random((count, dim)) * (rng.random((count, dim)) < 0.8)
    return CliqueSet(nodes.astype(int), np.round(2 * features) if rng.random() < 0.5 else features)


def joint_feature_map(graph: TinyGraph, z: np.ndarray, tuples: Sequence[np.ndarray] = ()) -> np.ndarray:
    """Psi(x, z), full coordinates, for any (..., V, K) indicators: sums of z phi, of z_uk z_vl phi, and of the products
    of as many z as a clique has nodes.
    """
    unary = np.einsum("...uk,ud->...kd", z, graph.node_features)
    tail, head = z[..., graph.edges[:, 0], :], z[..., graph.edges[:, 1], :]
    pairwise = np.einsum(
        "...ekl,ed->...kld", tail[..., :, None] * head[..., None, :], graph.edge_features, optimize=True
    )
    lead = z.shape[:-2]
    parts = [unary.reshape(*lead, -1), pairwise.reshape(*lead, -1)]
    for cliques, rows in zip(graph.cliques, tuples, strict=True):
        for labels in rows:
            on = np.prod([z[..., cliques.nodes[:, j], k] for j, k in enumerate(labels)], axis=0)
            parts.append(on @ cliques.features)
    return np.concatenate(parts, axis=-1)


def one_hot(labels: np.ndarray, n_labels: int) -> np.ndarray:
    return np.eye(n_labels)[labels]


def node_loss(graph: TinyGraph, labels: np.ndarray, loss_scale: float) -> np.ndarray:
    """(V,) rho weight_u / (2 sum of weights)."""
    weights = np.ones(graph.n_nodes) if graph.node_weights is None else graph.node_weights
    return 0.5 * loss_scale * weights / weights.sum() if weights.sum() > 0 else np.zeros(graph.n_nodes)


def random_costs(rng: np.random.Generator, n_labels: int) -> np.ndarray | None:
    """(K, K) factors of the loss, a third of the time; the draws that follow from ``rng`` are the same either way."""
    own = rng.spawn(1)[0]
    if own.random() < 2 / 3:
        return None
    costs = own.integers(0, 4, size=(n_labels, n_labels)) * own.choice([1.0, 0.3])
    np.fill_diagonal(costs, 0.0)
    return cost_factors(costs, LabelCoder.given(range(n_labels)))


def indicator_loss(problem: LearningProblem, graph: TinyGraph, labels: np.ndarray) -> np.ndarray:
    """(V, K) what each wrong indicator costs."""
    loss = node_loss(graph, labels, problem.loss_scale)[:, None]
    return loss * (np.ones(problem.n_labels) if problem.costs is None else problem.costs[labels])


def label_loss(problem: LearningProblem, graph: TinyGraph, labels: np.ndarray) -> np.ndarray:
    """(V, K) what each label costs: its indicator and the one that is missing; 0 at the true one."""
    loss = indicator_loss(problem, graph, labels)
    own = np.take_along_axis(loss, labels[:, None], axis=1)
    return np.where(one_hot(labels, problem.n_labels) > 0, 0.0, loss + own)


def all_labelings(n_nodes: int, n_labels: int) -> np.ndarray:
    """(2^(V K), V, K) all of {0,1}^{V x K}."""
    bits = list(itertools.product([0.0, 1.0], repeat=n_nodes * n_labels))
    return np.array(bits).reshape(-1, n_nodes, n_labels)


def enumerated_planes(
    problem: LearningProblem, graph: TinyGraph, labels: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Planes (m, dim) and losses (m,) of every labeling of one graph."""
    truth = one_hot(labels, problem.n_labels)
    tuples = [group.tuples for group in problem.core.cliques]
    target = joint_feature_map(graph, truth, tuples)
    loss = indicator_loss(problem, graph, labels)
    labelings = all_labelings(graph.n_nodes, problem.n_labels)
    planes = target - joint_feature_map(graph, labelings, tuples)
    losses = (np.abs(labelings - truth) * loss).sum(axis=(1, 2))
    return planes[:, problem.core.coordinates], losses

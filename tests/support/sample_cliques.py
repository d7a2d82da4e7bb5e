"""Small labelled graphs in which a third node decides: y_3 = y_1 xor y_2, and the third is not seen."""

from __future__ import annotations

import numpy as np

from gapcut import CliqueSet, Graph, GraphSet


def xor_graph(
    rng: np.random.Generator, n_triples: int = 5, tuples: object = "all", quad: bool = True
) -> Graph:
    """Triples (seen, unseen, seen) without pairwise edges among them, a chain besides; a group of four nodes too."""
    seen = rng.integers(2, size=(n_triples, 2))
    labels = np.column_stack([seen[:, 0], seen[:, 0] ^ seen[:, 1], seen[:, 1]]).ravel()
    shown = np.eye(2)[labels] + 0.1 * rng.normal(size=(len(labels), 2))
    shown[1::3] = 0.0
    nodes = np.arange(3 * n_triples).reshape(-1, 3)
    chain = np.column_stack([nodes[:-1, 2], nodes[1:, 0]])
    features = np.column_stack([np.ones(n_triples), rng.random(n_triples)])
    groups = [CliqueSet(nodes, features, tuples)]
    if quad:
        groups.append(CliqueSet(np.column_stack([nodes[:-1], nodes[1:, 0]]), None, "equal"))
    return Graph(shown, chain, rng.random((len(chain), 1)), labels, cliques=groups)


def xor_graphs(count: int = 8, seed: int = 0, **options: object) -> GraphSet:
    rng = np.random.default_rng(seed)
    return GraphSet(xor_graph(rng, **options) for _ in range(count))  # type: ignore[arg-type]

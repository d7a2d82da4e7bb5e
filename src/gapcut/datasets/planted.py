"""Planted bridges: small made-up structures with known part names, for demonstrations and tests.

Look-alike parts (deck and footing, column and abutment, girder and pier cap, ...) have the same node features up to a
trace, so that nodes alone leave the label open; what rests on what and what lies beside what decides it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gapcut.data import Graph, GraphSet
from gapcut.datasets.structure import build_bridge
from gapcut.typing import AnyArray, FloatArray, IntArray


@dataclass(frozen=True)
class _Part:
    """A kind of part: which others it looks like, its main direction, its usual number of points (log10)."""

    looks: str
    direction: tuple[float, float, float]
    size: float


_X, _Y, _Z = (1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)
_PARTS = {
    "deck": _Part("slab", _X, 3.6),
    "footing": _Part("slab", _X, 3.6),
    "column": _Part("upright", _Z, 3.0),
    "abutment": _Part("upright", _Z, 3.0),
    "girder": _Part("beam", _X, 2.8),
    "pier cap": _Part("beam", _Y, 2.8),
    "connecting beam": _Part("beam", _Y, 2.8),
    "connection": _Part("small", _X, 1.8),
    "railing": _Part("small", _X, 1.8),
    "cable": _Part("upright", _Z, 3.0),
    "arch": _Part("beam", _X, 2.8),
}
PLANTED_CLASSES = tuple(_PARTS)
"""Names of the classes; ``n_labels`` takes the first ones."""

_RELATIONS = ("on top of", "beside")
_EDGE_FEATURES = (*_RELATIONS, "parallel", "perpendicular", "height difference", "size difference")
_OWN_TRACE = 0.4
"""How much a part's own class sticks out among its look-alikes, in logits."""
_LOOKS_TRACE = 4.0
"""How much the look-alikes stick out among all classes."""


def make_planted(
    n_graphs: int = 20,
    n_nodes: int = 60,
    n_edges: int | None = None,
    n_labels: int = len(_PARTS),
    *,
    noise: float = 1.0,
    hidden: float = 0.05,
    seed: int = 0,
) -> GraphSet:
    """Bridges of ``n_nodes`` parts each, labelled with the first ``n_labels`` of :data:`PLANTED_CLASSES`.

    Spans follow each other until the nodes are used up; parts of a class that is left out are skipped, and what rests
    on them rests on what they rest on. Edges lead from the higher part to the lower: contacts, of which a share
    ``hidden`` is missing and as many wrongly seen, filled up with near pairs to ``n_edges`` (default ``2 n_nodes``).
    Edge features: "on top of" and "beside" (0 or 1), "parallel" and "perpendicular" (0..1), height and size difference
    (signed). Node features: a belief over classes in which look-alikes share the mass, blurred by ``noise``, and the
    log of the size. Node weights: points of the part. Scene i depends on ``seed`` and i alone.
    """
    if not 2 <= n_labels <= len(_PARTS):
        raise ValueError(f"n_labels must be from 2 to {len(_PARTS)}, not {n_labels}")
    edges = min(2 * n_nodes, n_nodes * (n_nodes - 1) // 2) if n_edges is None else n_edges
    if n_graphs < 1 or n_nodes < 2 or not 0 <= edges <= n_nodes * (n_nodes - 1) // 2:
        raise ValueError(f"no {n_graphs} graphs of {n_nodes} nodes and {edges} edges")
    classes = PLANTED_CLASSES[:n_labels]
    return GraphSet(
        (
            _scene(np.random.default_rng([seed, i]), classes, n_nodes, edges, noise, hidden, f"bridge {i}")
            for i in range(n_graphs)
        ),
        node_feature_names=[*(f"p({name})" for name in classes), "log size"],
        edge_feature_names=_EDGE_FEATURES,
    )


def _scene(
    rng: np.random.Generator,
    classes: tuple[str, ...],
    n_nodes: int,
    n_edges: int,
    noise: float,
    hidden: float,
    name: str,
) -> Graph:
    bridge = build_bridge(classes, n_nodes, rng)
    order = rng.permutation(n_nodes)  # node numbers tell nothing about the structure
    rank = np.argsort(order)
    labels = np.array(bridge.names)[order]
    position = np.array(bridge.positions)[order] + 0.2 * rng.normal(size=(n_nodes, 3))
    size = np.array([_PARTS[label].size for label in labels]) + 0.3 * rng.normal(size=n_nodes)
    contacts = {(int(rank[u]), int(rank[v])): kind for (u, v), kind in bridge.contacts.items()}
    pairs, relations = _pairs(rng, position, contacts, n_edges, hidden)
    features = np.hstack([_beliefs(rng, labels, classes, noise), size[:, None]])
    observed = np.hstack([relations, _geometry(rng, labels, position, size, pairs)])
    return Graph(features, pairs, observed, labels, np.ceil(10.0**size), name=name)


def _beliefs(
    rng: np.random.Generator, labels: AnyArray, classes: tuple[str, ...], noise: float
) -> FloatArray:
    """(V, K) rows that sum to 1: what a classifier of single parts would believe."""
    looks = np.array([_PARTS[name].looks for name in classes])
    own = np.array([_PARTS[label].looks for label in labels])
    logits = _LOOKS_TRACE * (own[:, None] == looks) + _OWN_TRACE * (labels[:, None] == np.array(classes))
    weights = np.exp(logits + noise * rng.normal(size=logits.shape))
    return np.asarray(weights / weights.sum(axis=1, keepdims=True))


def _pairs(
    rng: np.random.Generator,
    position: FloatArray,
    contacts: dict[tuple[int, int], int],
    n_edges: int,
    hidden: float,
) -> tuple[IntArray, FloatArray]:
    """(E, 2) pairs, higher part first, and (E, 2) 0/1 relations as they are seen."""
    known = np.array(list(contacts), dtype=np.int64).reshape(-1, 2)
    kind = np.array(list(contacts.values()), dtype=np.int64)
    seen = np.flatnonzero(rng.random(len(known)) >= hidden)
    seen = rng.permutation(seen)[:n_edges]
    first, second = np.triu_indices(len(position), 1)
    free = np.ones((len(position), len(position)), dtype=bool)
    free[known[:, 0], known[:, 1]] = free[known[:, 1], known[:, 0]] = False
    distance = np.linalg.norm(position[first] - position[second], axis=1)
    near = np.argsort(np.where(free[first, second], distance, np.inf), kind="stable")[: n_edges - len(seen)]
    pairs = np.concatenate([known[seen], np.stack([first[near], second[near]], axis=1)])
    relations = np.zeros((len(pairs), len(_RELATIONS)))
    relations[np.arange(len(seen)), kind[seen]] = 1.0
    wrong = len(seen) + np.flatnonzero(rng.random(len(near)) < hidden)
    relations[wrong, rng.integers(len(_RELATIONS), size=len(wrong))] = 1.0
    swap = position[pairs[:, 0], 2] < position[pairs[:, 1], 2]
    return np.where(swap[:, None], pairs[:, ::-1], pairs), relations


def _geometry(
    rng: np.random.Generator, labels: AnyArray, position: FloatArray, size: FloatArray, pairs: IntArray
) -> FloatArray:
    """(E, 4) parallel, perpendicular, height difference, size difference."""
    direction = np.array([_PARTS[label].direction for label in labels]) + 0.3 * rng.normal(
        size=(len(labels), 3)
    )
    direction /= np.linalg.norm(direction, axis=1, keepdims=True)
    u, v = pairs.T
    cosine = np.abs((direction[u] * direction[v]).sum(axis=1)).clip(max=1.0)
    height = position[u, 2] - position[v, 2] + 0.5 * rng.normal(size=len(pairs))
    return np.stack([cosine, 1.0 - cosine, height, size[u] - size[v]], axis=1)

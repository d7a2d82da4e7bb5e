"""Why a segment has its label: the next best ones, and what its features, relations and neighbours say against them."""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from gapcut.data import Graph
from gapcut.files import blame, read_container, write_container
from gapcut.machine import Machine
from gapcut.typing import Float32Array, FloatArray, Int32Array, IntArray

_KIND = "reasons"
_OTHERS, _RELATIONS, _NEIGHBOURS = 3, 4, 3
_SPEAKING = {"constant": "touching at all"}
"""Names of feature steps that say little to a reader."""


@dataclass(frozen=True, eq=False)
class Reasons:
    """Of S segments, with all other segments' labels kept. Energies are the model's; what is positive speaks for the
    label and against the next best one.

    - ``labels`` (S,) codes; ``others`` (S, A) codes of the next best labels, best first; ``worse`` (S, A) how much
      higher the energy is with them (negative: the labelling is no optimum);
    - ``own`` (S,) the share of ``worse[:, 0]`` that the segment's own features have;
    - ``relations`` (S, R) the strongest edge features, numbers in ``names``, and their shares ``by_relation`` (S, R),
      of the edges' tables and of the sums over edges (``incidence``) together. ``own`` and the shares of all relations
      add up to ``worse[:, 0]``;
    - ``neighbours`` (S, N) the segments whose edges say most, -1 for none, and their shares ``by_neighbour`` (S, N),
      all features of their edges together, without the sums;
    - ``temperature`` of confidences, NaN where it is unknown.
    """

    names: tuple[str, ...]
    labels: Int32Array
    others: Int32Array
    worse: Float32Array
    own: Float32Array
    relations: Int32Array
    by_relation: Float32Array
    neighbours: Int32Array
    by_neighbour: Float32Array
    temperature: float = float("nan")

    @property
    def n_segments(self) -> int:
        return len(self.labels)

    def fit(self, segments: IntArray, labels: IntArray) -> bool:
        """Whether points (N,) of these segments (-1: of none) have the labels (N,) that this is about."""
        inside = segments >= 0
        return bool(
            segments.max(initial=-1) < self.n_segments
            and (self.labels[segments[inside]] == labels[inside]).all()
        )

    def renumbered(self, numbers: IntArray) -> Reasons:
        """Label ``numbers[code]`` instead of each code."""
        of = np.asarray(numbers, np.int32)
        return replace(self, labels=of[self.labels], others=of[self.others])

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write one checked file, whole or not at all."""
        known = self.temperature if np.isfinite(self.temperature) else None
        document = {"kind": _KIND, "names": list(self.names), "temperature": known}
        write_container(Path(path), {key: getattr(self, key) for key in (*_INTEGERS, *_ENERGIES)}, document)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Reasons:
        """Back from :meth:`save`. Raises :class:`gapcut.ModelFileError` for any other file."""
        arrays, document = read_container(Path(path))
        with blame(Path(path)):
            if document.get("kind") != _KIND:
                raise ValueError("no reasons of labels")
            known = document["temperature"]
            values: dict[str, Any] = {key: np.asarray(arrays[key], np.int32) for key in _INTEGERS}
            values |= {key: np.asarray(arrays[key], np.float32) for key in _ENERGIES}
            values["temperature"] = float("nan") if known is None else float(known)
            found = cls(tuple(map(str, document["names"])), **values)
            found._check()
            return found

    def _check(self) -> None:
        n = self.n_segments
        pairs = [(self.others, self.worse), (self.relations, self.by_relation)]
        pairs.append((self.neighbours, self.by_neighbour))
        if any(a.shape != b.shape or a.shape[:1] != (n,) or a.ndim != 2 for a, b in pairs):
            raise ValueError("shapes do not fit each other")
        if self.own.shape != (n,) or self.labels.shape != (n,):
            raise ValueError("shapes do not fit each other")
        if (
            (self.relations >= len(self.names)).any()
            or (self.relations < 0).any()
            or (self.neighbours >= n).any()
        ):
            raise ValueError("numbers beyond the names or segments")


_INTEGERS = ("labels", "others", "relations", "neighbours")
_ENERGIES = ("worse", "own", "by_relation", "by_neighbour")


def explain(
    learner: Machine, graph: Graph, labels: IntArray, flips: FloatArray, temperature: float = float("nan")
) -> Reasons:
    """Reasons of the ``labels`` (V,), codes, of a graph with dense features and no cliques.

    ``flips`` (V, K) of :func:`gapcut.inference.confidence.flip_energies`, K >= 2; ``temperature`` of the confidences.
    """
    rows = np.arange(len(flips))
    masked = flips.copy()
    masked[rows, labels] = np.inf
    others = np.argsort(masked, axis=1, kind="stable")[:, : min(_OTHERS, flips.shape[1] - 1)]
    rival = others[:, 0]
    ready = learner.pipeline_.transform(graph)
    tail, head = _edge_shares(learner.pairwise_, ready, labels, rival)
    shares = _sum_shares(learner, ready, labels, rival)
    for d in range(shares.shape[1]):
        for end, part in zip(ready.edges.T, (tail, head), strict=True):
            shares[:, d] += np.bincount(end, part[:, d], len(rows))
    relations = np.argsort(-np.abs(shares), axis=1, kind="stable")[:, :_RELATIONS]
    neighbours, by_neighbour = _neighbours(ready.edges, tail.sum(axis=1), head.sum(axis=1), len(rows))
    return Reasons(
        names=tuple(_SPEAKING.get(name, name) for name in learner.pipeline_.edge_names),
        labels=np.asarray(labels, np.int32),
        others=others.astype(np.int32),
        worse=np.take_along_axis(flips, others, axis=1).astype(np.float32),
        own=(flips[rows, rival] - shares.sum(axis=1)).astype(np.float32),
        relations=relations.astype(np.int32),
        by_relation=np.take_along_axis(shares, relations, axis=1).astype(np.float32),
        neighbours=neighbours,
        by_neighbour=by_neighbour,
        temperature=temperature,
    )


def _edge_shares(
    pairwise: FloatArray, ready: Graph, labels: IntArray, rival: IntArray
) -> tuple[FloatArray, FloatArray]:
    """(E, D) of each edge and feature, for its first and for its second node: what the pair of labels scores above
    the pair with that node's rival."""
    u, v = ready.edges.T
    kept = pairwise[labels[u], labels[v]]
    parts = (kept - pairwise[rival[u], labels[v]], kept - pairwise[labels[u], rival[v]])
    return parts[0] * ready.edge_features, parts[1] * ready.edge_features


def _sum_shares(learner: Machine, ready: Graph, labels: IntArray, rival: IntArray) -> FloatArray:
    """(V, D) what the sums over the outgoing and incoming edges of each feature, which are node features, score."""
    pipeline = learner.pipeline_
    width = ready.edge_features.shape[1]
    if "incidence" not in pipeline.steps:
        return np.zeros((ready.n_nodes, width))
    sums = slice(len(pipeline.node_names) - 2 * width, len(pipeline.node_names))
    weights = learner.unary_[:, sums]
    both = (weights[labels] - weights[rival]) * np.asarray(ready.node_features)[:, sums]
    return np.asarray(both[:, :width] + both[:, width:])


def _neighbours(
    edges: IntArray, tail: FloatArray, head: FloatArray, n: int
) -> tuple[Int32Array, Float32Array]:
    """(V, N) the neighbours whose edges say most, strongest first, and how much; -1 and 0 where there are fewer."""
    u, v = edges.T
    pair, place = np.unique(np.concatenate([u * n + v, v * n + u]), return_inverse=True)
    share = np.bincount(place, np.concatenate([tail, head]), len(pair))
    node, other = pair // max(n, 1), pair % max(n, 1)
    order = np.lexsort((-np.abs(share), node))
    node, other, share = node[order], other[order], share[order]
    rank = np.arange(len(node)) - np.searchsorted(node, node)
    first = rank < _NEIGHBOURS
    found = np.full((n, _NEIGHBOURS), -1, np.int32)
    energies = np.zeros((n, _NEIGHBOURS), np.float32)
    found[node[first], rank[first]] = other[first]
    energies[node[first], rank[first]] = share[first]
    return found, energies

"""The weights of a model that count most, as plain data for tables."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from gapcut.typing import AnyArray, FloatArray


@dataclass(frozen=True)
class PairWeight:
    """One pairwise weight: how much an edge's ``feature`` speaks for the labels ``tail`` -> ``head``."""

    tail: object
    head: object
    feature: str
    weight: float


def strongest_pairs(
    pairwise: FloatArray, classes: AnyArray, edge_names: Sequence[str], count: int
) -> list[PairWeight]:
    """The ``count`` pairwise weights of largest absolute value, strongest first, zeros left out."""
    order = np.argsort(-np.abs(pairwise), axis=None, kind="stable")[:count]
    labels = classes.tolist()
    rows = []
    for flat in order:
        k, m, d = (int(i) for i in np.unravel_index(flat, pairwise.shape))
        if pairwise[k, m, d] != 0.0:
            rows.append(PairWeight(labels[k], labels[m], edge_names[d], float(pairwise[k, m, d])))
    return rows


@dataclass(frozen=True)
class TupleWeight:
    """One weight of a clique group: how much a clique's ``feature`` speaks for these labels of its nodes."""

    group: int
    labels: tuple[object, ...]
    feature: str
    weight: float


def strongest_tuples(
    cliques: Sequence[tuple[AnyArray, FloatArray]], names: Sequence[Sequence[str]], count: int
) -> list[TupleWeight]:
    """The ``count`` largest weights of all clique groups, strongest first, zeros left out. ``cliques``: (T, d) labels
    and (T, D) weights of each group."""
    rows = [
        TupleWeight(g, tuple(tuples[t].tolist()), columns[d], float(weights[t, d]))
        for g, ((tuples, weights), columns) in enumerate(zip(cliques, names, strict=True))
        for t, d in np.argwhere(weights != 0.0)
    ]
    return sorted(rows, key=lambda row: -abs(row.weight))[:count]

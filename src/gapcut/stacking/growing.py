"""Growing a base: its rounds, each held out fold by fold and then made of all nodes, and the time that takes."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from gapcut.classifiers import Classifier, ProbabilityEstimator, TreeForest, kept, out_of_fold
from gapcut.data import Graph
from gapcut.stacking.base import ROUNDS, Base, BaseKind, log_of, mean_of
from gapcut.stacking.folds import FOLDS, FoldedNodes
from gapcut.stacking.table import BaseFeatures, Context, node_rows
from gapcut.typing import AnyArray, Float32Array, FloatArray, IntArray

_TIMED = 3000
"""Labelled nodes of the graphs on which the time of trees is measured, about."""
_TREES, _LEAST_TREES, _GROWN, _ROWS = 150, 50, 1_500_000, 60_000
"""Trees of a forest; fewer where trees times nodes would be more than ``_GROWN``, and each on so many nodes at most."""
_AT_ONCE = 1 << 15
_LATER = 0.5
"""Part of the trees that rounds after the first have: they start from what is nearly right."""


def fit_base(
    base: BaseKind,
    features: BaseFeatures,
    graphs: Sequence[Graph],
    codes: IntArray,
    n_classes: int,
    seed: int = 0,
    n_threads: int = 1,
) -> Base:
    """Fit on the nodes of all graphs that have a code: ``codes`` (V,), negative elsewhere. Folds are made of whole
    graphs where there are two or more (:func:`node_folds`); node weights count where the estimator takes them. Memory
    holds a row of each node, and of graphs that are read as they are asked for a few at a time.

    Columns of trees that see edges stand alone: they have seen all that node features tell, and weights of these beside
    them go wrong on graphs unlike the training graphs."""
    start = time.monotonic()
    rows, columns = _varying(node_rows(graphs, features != "own", len(codes)))
    alone = isinstance(base, str) and features != "own"
    nodes = FoldedNodes.of(graphs, codes, rows, seed)
    own, said = _grown(base, rows, nodes, codes, n_classes, seed, n_threads)
    first: BaseFeatures = "own" if features == "own" else "edges"
    seconds = time.monotonic() - start
    found = Base(
        first, columns, None, (own,), n_classes, log_of(said), alone, said=said, nodes=nodes, seconds=seconds
    )
    return add_context(found, base, graphs, codes, seed, n_threads) if features == "context" else found


def add_context(
    found: Base,
    base: BaseKind,
    graphs: Sequence[Graph],
    codes: IntArray,
    seed: int = 0,
    n_threads: int = 1,
) -> Base:
    """What :func:`fit_base` makes with ``features="context"``, from what it made of the same with "edges"."""
    assert found.features == "edges"
    assert found.said is not None
    assert found.nodes is not None
    start = time.monotonic() - found.seconds
    rows = _chosen(node_rows(graphs, True, len(codes)), found.columns)
    context, nodes = Context.of(graphs), found.nodes
    rounds, said, held_out = list(found.rounds), found.said, [found.held_out]
    for _ in range(len(rounds), ROUNDS["context"]):
        table = context.beside(rows, graphs, said)
        later, said = _grown(base, table, nodes, codes, found.n_classes, seed, n_threads, later=True)
        del table
        rounds.append(later)
        held_out.append(log_of(said))
    return replace(
        found,
        features="context",
        context=context,
        rounds=tuple(rounds),
        held_out=mean_of(held_out),
        mean=True,
        said=said,
        nodes=None,
        seconds=time.monotonic() - start,
    )


def _grown(
    base: BaseKind,
    table: Float32Array,
    nodes: FoldedNodes,
    codes: IntArray,
    n_classes: int,
    seed: int,
    n_threads: int,
    *,
    later: bool = False,
) -> tuple[Classifier, Float32Array]:
    """A round, the first or a later one: the classifier of all rows that have a code and a weight, and the held-out
    probabilities of all."""

    def learn(used: AnyArray) -> Classifier:
        known = used & nodes.known
        estimator = _trees(int(known.sum()), seed, n_threads, later) if isinstance(base, str) else base
        return _fit(estimator, table, codes, nodes.weights, known, n_classes)

    said = out_of_fold(nodes.fold, n_classes, _predictor(learn, table, n_threads))
    return learn(np.ones(len(codes), dtype=np.bool_)), said


def seconds_of_trees(
    features: BaseFeatures, graphs: Sequence[Graph], codes: IntArray, seed: int, n_threads: int
) -> float:
    """About what :func:`fit_base` takes for "trees": a few are grown on some graphs and timed; the time to grow one
    goes as ``n log n`` in its nodes.
    """
    ends = np.cumsum([graph.n_nodes for graph in graphs])
    labelled = np.concatenate([[0], np.cumsum(codes >= 0)])[ends]
    count = int(np.searchsorted(labelled, _TIMED)) + 1
    some, n_nodes, n_known = graphs[:count], int(ends[min(count, len(ends)) - 1]), int((codes >= 0).sum())
    start = time.monotonic()
    rows, _ = _varying(node_rows(some, features != "own"))
    prepared = (time.monotonic() - start) * int(ends[-1]) / n_nodes
    known = codes[:n_nodes] >= 0
    size = max(2, int(known.sum()))
    estimator = _trees(n_known, seed, n_threads)
    trees, few = estimator.n_estimators, 2 * n_threads
    start = time.monotonic()
    estimator.set_params(n_estimators=few).fit(np.asfortranarray(rows[known]), codes[:n_nodes][known])
    larger = n_known * np.log(max(2, n_known)) / (size * np.log(size))
    grown = float((time.monotonic() - start) * larger * trees / few)
    rounds = 1.0 + _LATER * (ROUNDS[features] - 1)
    return prepared + rounds * FOLDS * grown  # folds of all but one in FOLDS, and one of all


def seconds_with_context(found: Base, graphs: Sequence[Graph]) -> float:
    """About what :func:`fit_base` takes with "context", for an estimator whose first round is ``found``: later ones
    take as much, and more by the columns that they have more."""
    columns = len(found.columns)
    later = columns + Context.of(graphs).width(found.n_classes)
    return found.seconds * (1.0 + (ROUNDS["context"] - 1) * later / columns)


def _varying(rows: Float32Array) -> tuple[Float32Array, IntArray]:
    """The columns that are not constant, at least one, and their numbers."""
    spread = rows.max(axis=0, initial=-np.inf) > rows.min(axis=0, initial=np.inf)
    columns = np.flatnonzero(spread).astype(np.int64)
    if not len(columns):  # classifiers want one
        return np.zeros((len(rows), 1), dtype=np.float32), np.zeros(1, dtype=np.int64)
    return _chosen(rows, columns), columns


def _chosen(rows: Float32Array, columns: IntArray) -> Float32Array:
    """These columns, without a copy if they are all."""
    return rows if len(columns) == rows.shape[1] else rows[:, columns]


def _predictor(
    learn: Callable[[AnyArray], Classifier], table: Float32Array, n_threads: int
) -> Callable[[AnyArray], Callable[[IntArray], AnyArray]]:
    def learned(used: AnyArray) -> Callable[[IntArray], AnyArray]:
        classifier = learn(used)
        return lambda asked: classifier.probabilities(table[asked], n_threads)

    return learned


def _fit(
    base: ProbabilityEstimator,
    table: Float32Array,
    codes: IntArray,
    weights: FloatArray | None,
    used: AnyArray,
    n_classes: int,
) -> Classifier:
    from sklearn.base import clone  # slow to import
    from sklearn.utils.validation import has_fit_parameter

    seen = np.unique(codes[used])
    if len(seen) < 2:  # nothing to tell apart
        sure = np.full(n_classes, 1.0 / n_classes) if not len(seen) else np.eye(n_classes)[seen[0]]
        return TreeForest.constant(sure, table.shape[1])
    estimator: Any = clone(base)
    takes_weights = weights is not None and has_fit_parameter(estimator, "sample_weight")
    more = {"sample_weight": weights[used]} if weights is not None and takes_weights else {}
    by_column = "min_samples_leaf" in estimator.get_params()  # as trees read them
    places = np.flatnonzero(used)
    rows = np.empty((len(places), table.shape[1]), dtype=table.dtype, order="F" if by_column else "C")
    for start in range(0, len(places), _AT_ONCE):  # one copy of them, never two
        rows[start : start + _AT_ONCE] = table[places[start : start + _AT_ONCE]]
    return kept(estimator.fit(rows, codes[used], **more), n_classes)


def _trees(n_nodes: int, seed: int, n_threads: int, later: bool = False) -> Any:
    """Extremely randomised trees (Geurts et al., Machine Learning 63, 2006) with pure leaves."""
    from sklearn.ensemble import ExtraTreesClassifier

    count = min(_TREES, max(_LEAST_TREES, _GROWN // max(1, n_nodes)))
    if later:
        count = int(_LATER * count)
    most = _ROWS if n_nodes > _ROWS else None
    return ExtraTreesClassifier(
        count, bootstrap=most is not None, max_samples=most, random_state=seed, n_jobs=n_threads
    )

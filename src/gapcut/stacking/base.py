"""A base: a classifier of single nodes whose log-probabilities join the node features of a graph.

The training graphs get those of classifiers that have not seen them (:func:`gapcut.classifiers.out_of_fold`), new
graphs those of one that has seen all training graphs.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Literal, TypeAlias, get_args

import numpy as np

from gapcut.classifiers import (
    Classifier,
    InMemory,
    ProbabilityEstimator,
    TreeForest,
    from_arrays,
    kept,
    out_of_fold,
)
from gapcut.data import Graph
from gapcut.features.base import Columns
from gapcut.features.intercept import append_columns
from gapcut.stacking.folds import FOLDS, node_folds
from gapcut.stacking.table import BaseFeatures, Context, node_rows, row_width
from gapcut.typing import AnyArray, BoolArray, Float32Array, FloatArray, IntArray

BaseKind: TypeAlias = Literal["trees"] | ProbabilityEstimator
"""What a base is made of."""
BaseChoice: TypeAlias = Literal["auto"] | BaseKind

_LEAST = 1e-3
"""Probabilities are at least this before their logarithm."""
_LOWEST = float(np.log(_LEAST))
_TIMED = 3000
"""Labelled nodes of the graphs on which the time of trees is measured, about."""
_TREES, _LEAST_TREES, _GROWN, _ROWS = 150, 50, 1_500_000, 60_000
"""Trees of a forest; fewer where trees times nodes would be more than ``_GROWN``, and each on so many nodes at most."""
_AT_ONCE = 1 << 15
_LATER, _LEAST_LATER = 0.5, 40
"""Part of the trees that rounds after the first have, and how many at least: they start from what is nearly right."""
_ROUNDS: dict[str, int] = {"own": 1, "edges": 1, "context": 3}
_CONTEXT = ("source", "part", "scale")
_State = tuple[dict[str, AnyArray], dict[str, Any]]


@dataclass(frozen=True, eq=False)
class Base:
    """A fitted base of ``n_classes`` classes.

    ``features``: see :class:`gapcut.StructuredSVM`; ``columns``: those of :func:`node_rows` that vary in training;
    ``context`` where there is more than one of the ``rounds``, each of which sees what the one before said of a node
    and of its neighbours. ``held_out`` (V, K): log-probabilities of the training graphs' nodes by classifiers that have
    not seen them: the columns that the learning problem was made of.
    """

    prefix: ClassVar[str] = "base."

    features: BaseFeatures
    columns: IntArray
    context: Context | None
    rounds: tuple[Classifier, ...]
    n_classes: int
    held_out: Float32Array
    alone: bool = False
    """Whether the columns stand in place of the node features, scaled to [0, 1] as those of edges are."""
    said: Float32Array | None = None
    """(V, K) probabilities that ``held_out`` has the logarithms of, not clipped; None in a base from a file."""
    nodes: _Nodes | None = None
    """For later rounds; None in a base that has them all, or from a file."""
    seconds: float = 0.0
    """Wall clock that its rounds took; 0 in a base from a file."""

    def log_probabilities(self, graphs: Sequence[Graph], n_threads: int = 1) -> Float32Array:
        """(V, K) of all nodes of graphs that were not trained on, clipped at a thousandth."""
        rows = node_rows(graphs, self.features != "own")[:, self.columns]
        first, *more = self.rounds
        found = first.probabilities(rows, n_threads)
        for later in more:
            found = later.probabilities(_with_context(rows, found, graphs, self.context), n_threads)
        return _log(found)

    def join(self, ready: Sequence[Graph], columns: Float32Array) -> list[Graph]:
        """Graphs after the feature steps, with the columns (V, K) of all their nodes on the right of their own, or
        ``alone`` beside a column of ones. Raises ValueError where there are more or fewer nodes.
        """
        if sum(graph.n_nodes for graph in ready) != len(columns):
            raise ValueError(f"the base has columns for {len(columns)} nodes, but the graphs have others")
        out, start = [], 0
        for graph in ready:
            own = columns[start : start + graph.n_nodes].astype(np.float64)
            start += graph.n_nodes
            beside = np.ones((graph.n_nodes, 1)) if self.alone else graph.node_features
            scaled = 1.0 - own / _LOWEST if self.alone else own
            out.append(graph.with_features(node_features=append_columns(beside, scaled)))
        return out

    def columns_after(self, steps: Sequence[str], classes: Sequence[object]) -> tuple[str, ...]:
        """Names of the node columns that :meth:`join` makes of those after the feature ``steps``."""
        return (*(("1",) if self.alone else steps), *(f"log p({label})" for label in classes))

    @property
    def description(self) -> str:
        """What it is made of, in words."""
        last = self.rounds[-1]
        name = type(last.estimator).__name__ if isinstance(last, InMemory) else last.description
        return f"{name} on {len(self.columns):,} columns ({self.features})"

    def to_state(self) -> _State:
        """Arrays, and a document for JSON. Raises ValueError for an estimator that is kept in memory only."""
        arrays: dict[str, AnyArray] = {"columns": self.columns, "held_out": self.held_out}
        kinds = []
        for i, classifier in enumerate(self.rounds):
            if isinstance(classifier, InMemory):
                raise ValueError(
                    f"a base of the kind {type(classifier.estimator).__name__} cannot be saved: without pickle only "
                    "trees, forests, histogram boosting and logistic regression can; use one of these, or base=None"
                )
            arrays |= {f"{i}.{key}": value for key, value in classifier.to_arrays().items()}
            kinds.append([classifier.kind, classifier.n_features])
        if self.context is not None:
            arrays |= {name: getattr(self.context, name) for name in _CONTEXT}
        document = {"features": self.features, "classes": self.n_classes, "rounds": kinds}
        return arrays, document | ({"alone": True} if self.alone else {})

    @classmethod
    def from_state(cls, arrays: Mapping[str, AnyArray], document: Mapping[str, Any], raw: Columns) -> Base:
        """Back, checked, for graphs with these raw columns. Raises ValueError and its kin for anything that
        :meth:`to_state` does not make.
        """
        left = dict(arrays)
        features, n_classes, alone = document["features"], document["classes"], document.get("alone", False)
        named = features in get_args(BaseFeatures) and type(alone) is bool
        if not named or type(n_classes) is not int or n_classes < 1:
            raise ValueError("the base's features or classes are unknown")
        columns, held_out = left.pop("columns"), left.pop("held_out")
        if (
            columns.dtype != np.int64
            or columns.ndim != 1
            or not _among(columns, row_width(raw, features != "own"))
        ):
            raise ValueError("the base's columns are no column numbers")
        if (
            held_out.dtype != np.float32
            or held_out.shape[1:] != (n_classes,)
            or not np.isfinite(held_out).all()
        ):
            raise ValueError("the base's held-out columns are no table of finite numbers")
        context = None
        if _ROUNDS[features] > 1:
            context = _checked_context({name: left.pop(name) for name in _CONTEXT}, len(raw.edge))
        rounds = []
        for i, (kind, width) in enumerate(document["rounds"]):
            prefix = f"{i}."
            own = {key: left.pop(key) for key in list(left) if key.startswith(prefix)}
            rounds.append(
                from_arrays(kind, {k.removeprefix(prefix): a for k, a in own.items()}, int(width), n_classes)
            )
        widths = [len(columns)] + [len(columns) + _context_width(context, n_classes)] * (
            _ROUNDS[features] - 1
        )
        if left or [c.n_features for c in rounds] != widths:
            raise ValueError("the base's classifiers do not fit its features")
        return cls(features, columns, context, tuple(rounds), n_classes, held_out, alone)


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
    nodes = _Nodes.of(graphs, codes, rows, seed)
    own, said = _grown(base, rows, nodes, codes, n_classes, seed, n_threads)
    first: BaseFeatures = "own" if features == "own" else "edges"
    seconds = time.monotonic() - start
    found = Base(first, columns, None, (own,), n_classes, _log(said), alone, said, nodes, seconds)
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
    rounds, said = list(found.rounds), found.said
    for _ in range(len(rounds), _ROUNDS["context"]):
        table = _with_context(rows, said, graphs, context)
        later, said = _grown(base, table, nodes, codes, found.n_classes, seed, n_threads, later=True)
        del table
        rounds.append(later)
    return replace(
        found,
        features="context",
        context=context,
        rounds=tuple(rounds),
        held_out=_log(said),
        said=said,
        nodes=None,
        seconds=time.monotonic() - start,
    )


@dataclass(frozen=True, eq=False)
class _Nodes:
    """Of all graphs: (V,) the fold that a node is in, its weight, if any has one, and whether it is learned from."""

    fold: IntArray
    weights: FloatArray | None
    known: BoolArray

    @classmethod
    def of(cls, graphs: Sequence[Graph], codes: IntArray, rows: Float32Array, seed: int) -> _Nodes:
        known = [(g.n_nodes, g.node_weights) for g in graphs]
        weights = None
        if any(own is not None for _, own in known):
            weights = np.concatenate([np.ones(size) if own is None else own for size, own in known])
        counts = codes >= 0 if weights is None else (codes >= 0) & (weights > 0.0)
        sizes = [size for size, _ in known]
        return cls(node_folds(graphs, counts, seed, sizes=sizes, rows=rows), weights, counts)


def _grown(
    base: BaseKind,
    table: Float32Array,
    nodes: _Nodes,
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
    rounds = 1.0 + _LATER * (_ROUNDS[features] - 1)
    return prepared + rounds * FOLDS * grown  # folds of all but one in FOLDS, and one of all


def seconds_with_context(found: Base, graphs: Sequence[Graph]) -> float:
    """About what :func:`fit_base` takes with "context", for an estimator whose first round is ``found``: later ones
    take as much, and more by the columns that they have more."""
    columns = len(found.columns)
    later = columns + _context_width(Context.of(graphs), found.n_classes)
    return found.seconds * (1.0 + (_ROUNDS["context"] - 1) * later / columns)


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
        count = min(count, max(_LEAST_LATER, int(_LATER * count)))
    most = _ROWS if n_nodes > _ROWS else None
    return ExtraTreesClassifier(
        count, bootstrap=most is not None, max_samples=most, random_state=seed, n_jobs=n_threads
    )


def _with_context(
    rows: Float32Array, said: Float32Array, graphs: Sequence[Graph], context: Context | None
) -> Float32Array:
    assert context is not None
    return np.hstack([rows, said, context.rows(graphs, said)])


def _context_width(context: Context | None, n_classes: int) -> int:
    return 0 if context is None else n_classes * (1 + 2 * (1 + len(context.source)))


def _checked_context(arrays: dict[str, AnyArray], n_edge_columns: int) -> Context:
    source, part, scale = (arrays[name] for name in _CONTEXT)
    typed = [array.dtype for array in (source, part, scale)] == [np.int64, np.int64, np.float64]
    if not typed or source.ndim != 1 or not source.shape == part.shape == scale.shape:
        raise ValueError("the base's context is no three rows of numbers")
    sound = (abs(part) == 1) & np.isfinite(scale) & (scale > 0)
    if not (_among(source, n_edge_columns) and sound.all()):
        raise ValueError("the base's context does not fit the edge features")
    return Context(source, part, scale)


def _among(places: IntArray, count: int) -> bool:
    return bool(((places >= 0) & (places < count)).all())


def _log(probabilities: Float32Array) -> Float32Array:
    return np.log(np.maximum(probabilities, np.float32(_LEAST)))

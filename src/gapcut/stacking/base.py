"""A base: a classifier of single nodes whose log-probabilities join the node features of a graph.

The training graphs get those of classifiers that have not seen them (:func:`gapcut.classifiers.out_of_fold`), new
graphs those of one that has seen all training graphs.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, TypeAlias, get_args

import numpy as np

from gapcut.classifiers import Classifier, InMemory, ProbabilityEstimator, from_arrays
from gapcut.data import Graph
from gapcut.features.base import Columns
from gapcut.features.intercept import append_columns
from gapcut.stacking.folds import FoldedNodes
from gapcut.stacking.table import BaseFeatures, Context, node_rows, row_width
from gapcut.typing import AnyArray, Float32Array, IntArray

BaseKind: TypeAlias = Literal["trees"] | ProbabilityEstimator
"""What a base is made of."""
BaseChoice: TypeAlias = Literal["auto"] | BaseKind

_LEAST = 1e-3
"""Probabilities are at least this before their logarithm."""
_LOWEST = float(np.log(_LEAST))
ROUNDS: dict[str, int] = {"own": 1, "edges": 1, "context": 3}
"""Classifiers one after another, by what they see."""
_CONTEXT = ("source", "part", "scale")
_FLAGS = ("alone", "mean")
_State = tuple[dict[str, AnyArray], dict[str, Any]]


@dataclass(frozen=True, eq=False)
class Base:
    """A fitted base of ``n_classes`` classes.

    ``features``: see :class:`gapcut.StructuredSVM`; ``columns``: those of :func:`node_rows` that vary in training;
    ``context`` where there is more than one of the ``rounds``, each of which sees what the one before said of a node
    and of its neighbours. ``held_out`` (V, K): log-probabilities of the training graphs' nodes by classifiers that have
    not seen them, the means over the rounds: the columns that the learning problem was made of.
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
    mean: bool = False
    """Whether the columns are the means over all rounds; in files of before they are those of the last."""
    said: Float32Array | None = None
    """(V, K) held-out probabilities of the last round, not clipped; None in a base from a file."""
    nodes: FoldedNodes | None = None
    """For later rounds; None in a base that has them all, or from a file."""
    seconds: float = 0.0
    """Wall clock that its rounds took; 0 in a base from a file."""

    def by_round(self, graphs: Sequence[Graph], n_threads: int = 1) -> list[Float32Array]:
        """What each round says of all nodes of graphs that were not trained on: log-probabilities (V, K), clipped at a
        thousandth."""
        rows = node_rows(graphs, self.features != "own")[:, self.columns]
        first, *more = self.rounds
        found = [first.probabilities(rows, n_threads)]
        for later in more:
            assert self.context is not None
            found.append(later.probabilities(self.context.beside(rows, graphs, found[-1]), n_threads))
        return [log_of(said) for said in found]

    def log_probabilities(self, graphs: Sequence[Graph], n_threads: int = 1) -> Float32Array:
        """(V, K) of all nodes of graphs that were not trained on: the columns of :meth:`join`."""
        found = self.by_round(graphs, n_threads)
        return mean_of(found) if self.mean else found[-1]

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
        return arrays, document | {name: True for name in _FLAGS if getattr(self, name)}

    @classmethod
    def from_state(cls, arrays: Mapping[str, AnyArray], document: Mapping[str, Any], raw: Columns) -> Base:
        """Back, checked, for graphs with these raw columns. Raises ValueError and its kin for anything that
        :meth:`to_state` does not make.
        """
        left = dict(arrays)
        features, n_classes = document["features"], document["classes"]
        flags = {name: document.get(name, False) for name in _FLAGS}
        named = features in get_args(BaseFeatures) and all(type(flag) is bool for flag in flags.values())
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
        if ROUNDS[features] > 1:
            context = _checked_context({name: left.pop(name) for name in _CONTEXT}, len(raw.edge))
        rounds = []
        for i, (kind, width) in enumerate(document["rounds"]):
            prefix = f"{i}."
            own = {key: left.pop(key) for key in list(left) if key.startswith(prefix)}
            rounds.append(
                from_arrays(kind, {k.removeprefix(prefix): a for k, a in own.items()}, int(width), n_classes)
            )
        more = 0 if context is None else context.width(n_classes)
        widths = [len(columns)] + [len(columns) + more] * (ROUNDS[features] - 1)
        if left or [c.n_features for c in rounds] != widths:
            raise ValueError("the base's classifiers do not fit its features")
        return cls(features, columns, context, tuple(rounds), n_classes, held_out, **flags)


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


def log_of(probabilities: Float32Array) -> Float32Array:
    """Logarithms, clipped at a thousandth."""
    return np.log(np.maximum(probabilities, np.float32(_LEAST)))


def mean_of(rounds: Sequence[Float32Array]) -> Float32Array:
    """What rounds say together: the mean (V, K) of their log-probabilities. Each errs in its own way on graphs unlike
    those of training, the first least sure, the last most."""
    return np.asarray(np.mean(rounds, axis=0, dtype=np.float32)) if len(rounds) > 1 else rounds[0]

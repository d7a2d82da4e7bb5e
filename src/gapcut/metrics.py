"""Scores of labelings: accuracy, precision, recall and F1 of every class, their means, and the confusion matrix."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from gapcut.data import Graph, as_graphs
from gapcut.model.labels import UNKNOWN, UNLABELLED, LabelCoder
from gapcut.typing import AnyArray, FloatArray

_SCORES = ("accuracy", "macro_precision", "macro_recall", "macro_f1")


@dataclass(frozen=True)
class ClassScore:
    """Scores of one class; ``support`` is the weight of its nodes. 0 where a ratio has no denominator."""

    label: object
    precision: float
    recall: float
    f1: float
    support: float


@dataclass(frozen=True, eq=False)
class Scores:
    """Node-weighted scores of predicted labels against true ones.

    ``confusion`` (L, L): weight of the nodes of true label ``labels[i]`` predicted as ``labels[j]``.
    ``labels`` are the model's classes in their order, then labels of the data the model does not know. Means
    over classes ("macro") count the labels that occur among the true or the predicted ones.
    """

    labels: tuple[object, ...]
    confusion: FloatArray
    classes: tuple[ClassScore, ...]
    weighted: bool = False
    """Whether some graph has node weights, so that nodes count more or less than 1."""

    @property
    def nodes(self) -> float:
        """Weight of all nodes that have a true label."""
        return float(self.confusion.sum())

    @property
    def accuracy(self) -> float:
        """Weight of the nodes labelled right over the weight of all; NaN without any labelled node."""
        return float(np.trace(self.confusion) / self.nodes) if self.nodes > 0 else float("nan")

    @property
    def macro_precision(self) -> float:
        """Mean precision of the classes that occur, each counting the same; NaN where none does."""
        return self._macro([c.precision for c in self.classes])

    @property
    def macro_recall(self) -> float:
        """Mean recall of the classes that occur."""
        return self._macro([c.recall for c in self.classes])

    @property
    def macro_f1(self) -> float:
        """Mean F1 of the classes that occur."""
        return self._macro([c.f1 for c in self.classes])

    @property
    def never_predicted(self) -> tuple[object, ...]:
        """Labels that some node has and none was given."""
        given = self.confusion.sum(axis=0)
        return tuple(
            c.label for c, weight in zip(self.classes, given, strict=True) if c.support > 0 and not weight > 0
        )

    def _macro(self, values: list[float]) -> float:
        occurs = self.confusion.sum(axis=0) + self.confusion.sum(axis=1) > 0
        return float(np.mean(np.array(values)[occurs])) if occurs.any() else float("nan")


def score_labels(
    truth: Sequence[AnyArray | None],
    predicted: Sequence[AnyArray],
    classes: AnyArray,
    weights: Sequence[FloatArray | None] | None = None,
) -> Scores:
    """Scores of labelings, one (V,) array per graph; nodes without a true label are left out.

    ``weights``: node weights per graph (None: every node counts 1). Raises ValueError where lengths differ.
    """
    coder = _with_unknown_labels(LabelCoder(classes), truth)
    size = coder.n_labels
    confusion = np.zeros((size, size))
    for i, (true, given) in enumerate(zip(truth, predicted, strict=True)):
        if true is not None and len(true) != len(given):
            raise ValueError(f"graph {i} has {len(true)} labels but {len(given)} predictions")
        rows = coder.encode(true, len(given), f"graph {i}")
        columns = coder.encode(given, len(given), f"prediction of graph {i}")
        node_weights = None if weights is None else weights[i]
        weight = np.ones(len(given)) if node_weights is None else np.asarray(node_weights, dtype=np.float64)
        seen = rows != UNLABELLED
        np.add.at(confusion, (rows[seen], columns[seen]), weight[seen])
    weighted = weights is not None and any(w is not None for w in weights)
    return confusion_scores(coder.classes.tolist(), confusion, weighted)


def expected_calibration_error(
    graphs: Iterable[Graph], probabilities: Sequence[FloatArray], classes: AnyArray, bins: int = 10
) -> float:
    """Mean distance between how sure a model is and how often it is right, over labelled nodes by their weights.

    Nodes are put in ``bins`` of equal width by their largest probability; the error is the mean over bins, by the
    weight of their nodes, of ``|share that is right - mean of the largest probabilities|`` (Guo et al., On calibration
    of modern neural networks, ICML 2017). ``probabilities``: (V, K) for each graph. NaN without any labelled node.
    """
    calibration = Calibration(classes, bins)
    calibration.add(graphs, probabilities)
    return calibration.error


class Calibration:
    """:func:`expected_calibration_error` of graphs that come in turn: three numbers a labelled node are kept."""

    def __init__(self, classes: AnyArray, bins: int = 10) -> None:
        self._coder, self._bins = LabelCoder(classes), bins
        self._rows: list[FloatArray] = []

    def add(self, graphs: Iterable[Graph], probabilities: Sequence[FloatArray]) -> None:
        """More graphs, with (V, K) for each."""
        for graph, p in zip(graphs, probabilities, strict=True):
            known = graph.labelled
            codes = self._coder.encode(graph.labels, graph.n_nodes, graph.name or "graph", known=False)
            weight = np.ones(graph.n_nodes) if graph.node_weights is None else graph.node_weights
            self._rows.append(np.stack([p.max(axis=1), p.argmax(axis=1) == codes, weight])[:, known])

    @property
    def error(self) -> float:
        """Of all graphs so far."""
        sure, right, weight = np.concatenate([np.empty((3, 0)), *self._rows], axis=1)
        place = np.minimum((sure * self._bins).astype(np.int64), self._bins - 1)
        excess, total = np.bincount(place, weight * (right - sure), self._bins), float(weight.sum())
        return float(np.abs(excess).sum()) / total if total > 0 else float("nan")


def confusion_scores(labels: Sequence[object], confusion: FloatArray, weighted: bool = False) -> Scores:
    """Scores from a confusion matrix (L, L) of ``labels`` in that order, such as a sum of several."""
    per_class = tuple(_class_score(label, confusion, k) for k, label in enumerate(labels))
    return Scores(tuple(labels), confusion, per_class, weighted)


def pooled_scores(parts: Sequence[Scores]) -> Scores:
    """Scores of all nodes together, such as those of all folds: the sum of the confusion matrices, by label."""
    labels = list(dict.fromkeys(label for part in parts for label in part.labels))
    confusion = np.zeros((len(labels), len(labels)))
    for part in parts:
        place = [labels.index(label) for label in part.labels]
        confusion[np.ix_(place, place)] += part.confusion
    return confusion_scores(labels, confusion, any(part.weighted for part in parts))


@dataclass(frozen=True)
class GraphScorer:
    """``GridSearchCV(svm, grid, scoring=GraphScorer("macro_f1")).fit(graphs)``: a score of lists of graphs.

    ``score``: "accuracy", "macro_f1", "macro_precision" or "macro_recall", all by node weights; ``label``: the F1 of
    this class alone. Raises ValueError for another score, and for graphs without labels.
    """

    score: str = "accuracy"
    label: Hashable | None = None

    def __post_init__(self) -> None:
        if self.score not in _SCORES:
            raise ValueError(f"score={self.score!r} must be one of {', '.join(_SCORES)}")

    def __call__(self, estimator: Any, X: Iterable[Any], y: Sequence[Any] | None = None) -> float:
        graphs = as_graphs(X, y)
        found = score_graphs(graphs, estimator.predict(graphs), estimator.classes_)
        if not found.nodes > 0:
            raise ValueError("no labelled node with a positive weight to score on: give labels")
        if self.label is None:
            return float(getattr(found, self.score))
        return next((c.f1 for c in found.classes if c.label == self.label), 0.0)


def score_graphs(graphs: Iterable[Graph], predicted: Sequence[AnyArray], classes: AnyArray) -> Scores:
    """Scores of labelings of graphs against the graphs' own labels, by their node weights; see :func:`score_labels`."""
    pairs = [(g.labels, g.node_weights) for g in graphs]
    return score_labels([y for y, _ in pairs], predicted, classes, [w for _, w in pairs])


def _with_unknown_labels(coder: LabelCoder, truth: Sequence[AnyArray | None]) -> LabelCoder:
    unknown = [
        np.asarray(y, dtype=object)[coder.encode(y, len(y), "", known=False) == UNKNOWN]
        for y in truth
        if y is not None
    ]
    if not any(len(y) for y in unknown):
        return coder
    return LabelCoder.given([*coder.classes.tolist(), *LabelCoder.found(unknown).classes.tolist()])


def _class_score(label: object, confusion: FloatArray, k: int) -> ClassScore:
    hit, predicted, support = confusion[k, k], confusion[:, k].sum(), confusion[k].sum()
    return ClassScore(
        label=label,
        precision=float(hit / predicted) if predicted > 0 else 0.0,
        recall=float(hit / support) if support > 0 else 0.0,
        f1=float(2 * hit / (predicted + support)) if predicted + support > 0 else 0.0,
        support=float(support),
    )


__all__ = [
    "ClassScore",
    "GraphScorer",
    "Scores",
    "confusion_scores",
    "expected_calibration_error",
    "pooled_scores",
    "score_graphs",
    "score_labels",
]

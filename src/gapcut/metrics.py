"""Scores of labelings: accuracy, precision, recall and F1 of every class, their means, and the confusion matrix."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from gapcut.data import Graph
from gapcut.model.labels import UNKNOWN, UNLABELLED, LabelCoder
from gapcut.typing import AnyArray, FloatArray


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


def confusion_scores(labels: Sequence[object], confusion: FloatArray, weighted: bool = False) -> Scores:
    """Scores from a confusion matrix (L, L) of ``labels`` in that order, such as a sum of several."""
    per_class = tuple(_class_score(label, confusion, k) for k, label in enumerate(labels))
    return Scores(tuple(labels), confusion, per_class, weighted)


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


__all__ = ["ClassScore", "Scores", "confusion_scores", "score_graphs", "score_labels"]

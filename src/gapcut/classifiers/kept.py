"""Fitted classifiers of scikit-learn as values: as plain arrays where their kind is known, else in memory only."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

import numpy as np

from gapcut.classifiers.boosting import BoostedTrees
from gapcut.classifiers.forest import TreeForest
from gapcut.classifiers.linear import LinearScores, spread
from gapcut.typing import AnyArray, Float32Array


@runtime_checkable
class ProbabilityEstimator(Protocol):
    """A classifier in the manner of scikit-learn that tells probabilities."""

    def fit(self, X: Any, y: Any) -> Any: ...

    def predict_proba(self, X: Any) -> Any: ...


@dataclass(frozen=True, eq=False)
class InMemory:
    """A fitted estimator as it is: no file can hold it."""

    estimator: Any
    n_classes: int

    @property
    def n_features(self) -> int:
        return int(self.estimator.n_features_in_)

    def probabilities(self, rows: AnyArray, n_threads: int = 1) -> Float32Array:
        """(M, K) class distributions of the rows (M, n_features)."""
        if not len(rows):
            return np.empty((0, self.n_classes), dtype=np.float32)
        return spread(
            self.estimator.predict_proba(rows), self.estimator.classes_.astype(np.int64), self.n_classes
        )


Kept = TreeForest | BoostedTrees | LinearScores
"""What files hold."""
Classifier = Kept | InMemory


def kept(estimator: Any, n_classes: int) -> Classifier:
    """A fitted estimator, whose classes are among 0 .. n_classes - 1, as a value.

    Trees, forests, histogram boosting and logistic regression (also after a ``StandardScaler`` in a pipeline) become
    arrays.
    """
    import sklearn.ensemble as ensemble  # slow to import, and models of a file do without
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import Pipeline
    from sklearn.preprocessing import StandardScaler
    from sklearn.tree import DecisionTreeClassifier, ExtraTreeClassifier

    kind = type(estimator)  # exactly: a subclass may predict otherwise
    forests = (ensemble.ExtraTreesClassifier, ensemble.RandomForestClassifier)
    if kind in (*forests, DecisionTreeClassifier, ExtraTreeClassifier):
        return TreeForest.of_sklearn(estimator, n_classes)
    if kind is ensemble.HistGradientBoostingClassifier:
        return BoostedTrees.of_sklearn(estimator, n_classes) or InMemory(estimator, n_classes)
    if kind is LogisticRegression and (len(estimator.classes_) == 2 or estimator.solver != "liblinear"):
        return LinearScores.of_sklearn(estimator, n_classes)
    if kind is Pipeline and len(estimator) == 2 and type(estimator[0]) is StandardScaler:
        last = kept(estimator[1], n_classes)
        if isinstance(last, LinearScores):
            zero, one = np.zeros(last.n_features), np.ones(last.n_features)
            scaler = estimator[0]
            mean, scale = (
                (scaler.mean_ if scaler.with_mean else zero),
                (scaler.scale_ if scaler.with_std else one),
            )
            return last.after(mean, scale)
    return InMemory(estimator, n_classes)


def from_arrays(kind: str, arrays: Mapping[str, AnyArray], n_features: int, n_classes: int) -> Kept:
    """Back from a file, checked. Raises ValueError for anything that is no classifier of that many classes."""
    if kind == TreeForest.kind:
        forest = TreeForest.from_arrays(arrays, n_features)
        if forest.n_classes != n_classes:
            raise ValueError(f"the forest tells {forest.n_classes} classes apart, not {n_classes}")
        return forest
    if kind == BoostedTrees.kind:
        return BoostedTrees.from_arrays(arrays, n_features, n_classes)
    if kind == LinearScores.kind:
        return LinearScores.from_arrays(arrays, n_features, n_classes)
    raise ValueError(f"unknown kind of classifier {kind!r:.40}")

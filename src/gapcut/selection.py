"""Choosing C: cross-validation in which every fold is trained once along all values of C.

scikit-learn's GridSearchCV clones the estimator for every fit, so nothing can be carried from C to C there; here each
fold shares its feature steps, its packed graphs and the state of the learner.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from copy import copy
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.model_selection import check_cv

from gapcut.data import as_graphs
from gapcut.estimator import StructuredSVM
from gapcut.machine import label_set
from gapcut.typing import FloatArray


@dataclass(frozen=True, eq=False)
class PathScores:
    """``scores`` and ``gaps`` (certified, relative) are (values of C, folds)."""

    C_values: FloatArray
    scores: FloatArray
    gaps: FloatArray

    @property
    def mean(self) -> FloatArray:
        """(values of C,) mean score over folds."""
        return np.asarray(self.scores.mean(axis=1))

    @property
    def best_C(self) -> float:
        """The C of the highest mean score; the smallest among equals."""
        ranked = sorted(zip(-self.mean, self.C_values, strict=True))
        return float(ranked[0][1])


def cross_validate_path(
    estimator: StructuredSVM,
    X: Iterable[Any],
    C_values: Sequence[float],
    y: Sequence[Any] | None = None,
    *,
    cv: Any = 5,
    groups: Any = None,
) -> PathScores:
    """Node-weighted accuracy on held-out graphs for every C and fold.

    ``cv``, ``groups``: as in scikit-learn (a number of folds, a splitter, or pairs of index arrays). The estimator
    stays as it is. Unless it names ``classes``, every fold is trained with the labels of all graphs, so that one whose
    training graphs lack a label is scored like the others. ValueError where a fold cannot be made or ``C_values`` is
    empty.
    """
    graphs = as_graphs(X, y)
    if estimator.classes is None:
        estimator = copy(estimator).set_params(classes=label_set(graphs))
    scores, gaps = [], []
    for train, test in check_cv(cv).split(np.arange(len(graphs)), groups=groups):
        fitted = estimator.fit_path(graphs[train], C_values)
        scores.append([svm.score(graphs[test]) for svm in fitted])
        gaps.append([svm.certificate_.relative_gap for svm in fitted])
    known = min(map(len, scores))  # fewer than asked for where memory ended a path, which says so
    values = np.asarray(C_values, dtype=np.float64)[:known]
    return PathScores(values, np.array([s[:known] for s in scores]).T, np.array([g[:known] for g in gaps]).T)


__all__ = ["PathScores", "cross_validate_path"]

"""Logistic regression as plain arrays."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from gapcut.typing import AnyArray, Float32Array, FloatArray, IntArray


@dataclass(frozen=True, eq=False)
class LinearScores:
    """Softmax of ``rows @ weights.T + bias``: ``weights`` (k, n_features) and ``bias`` (k,) of the ``classes`` (k,);
    classes of 0 .. n_classes - 1 that are not among them have probability 0."""

    kind: ClassVar[str] = "linear"

    weights: FloatArray
    bias: FloatArray
    classes: IntArray
    n_classes: int

    @classmethod
    def of_sklearn(cls, regression: Any, n_classes: int) -> LinearScores:
        """From a fitted ``LogisticRegression`` whose classes are among 0 .. n_classes - 1."""
        weights, bias = np.asarray(regression.coef_, float), np.asarray(regression.intercept_, float)
        if len(weights) == 1:  # two classes: the score of the second against the first
            weights, bias = np.vstack([np.zeros_like(weights), weights]), np.append(0.0, bias)
        return cls(
            weights,
            np.broadcast_to(bias, len(weights)).copy(),
            regression.classes_.astype(np.int64),
            n_classes,
        )

    def after(self, mean: FloatArray, scale: FloatArray) -> LinearScores:
        """The same of rows before they were standardised by ``(rows - mean) / scale``."""
        weights = self.weights / scale
        return LinearScores(weights, self.bias - weights @ mean, self.classes, self.n_classes)

    @property
    def description(self) -> str:
        """In words."""
        return "logistic regression"

    @property
    def n_features(self) -> int:
        return int(self.weights.shape[1])

    def probabilities(self, rows: AnyArray, n_threads: int = 1) -> Float32Array:
        """(M, K) class distributions of the rows (M, n_features)."""
        # einsum adds in an order of its own: a product of BLAS differs with its number of threads
        scores = np.einsum("md,kd->mk", np.asarray(rows, dtype=np.float64), self.weights) + self.bias
        return spread(softmax(scores), self.classes, self.n_classes)

    def to_arrays(self) -> dict[str, AnyArray]:
        """What :meth:`from_arrays` takes."""
        return {"weights": self.weights, "bias": self.bias, "classes": self.classes}

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, AnyArray], n_features: int, n_classes: int) -> LinearScores:
        """Checked: raises ValueError for arrays that are no such scores."""
        if set(arrays) != {"weights", "bias", "classes"}:
            raise ValueError(f"the regression's arrays are {sorted(arrays)}, not bias, classes, weights")
        classes = checked_classes(arrays["classes"], n_classes)
        for key, shape in (("weights", (len(classes), n_features)), ("bias", (len(classes),))):
            array = arrays[key]
            if array.dtype != np.float64 or array.shape != shape or not np.isfinite(array).all():
                raise ValueError(f"array {key!r} of the regression is not finite of shape {shape}")
        return cls(arrays["weights"], arrays["bias"], classes, n_classes)


def softmax(scores: FloatArray) -> FloatArray:
    """Rows of ``exp(scores)`` over their sums."""
    weight = np.exp(scores - scores.max(axis=1, keepdims=True, initial=-np.inf))
    return np.asarray(weight / weight.sum(axis=1, keepdims=True))


def spread(probabilities: AnyArray, classes: IntArray, n_classes: int) -> Float32Array:
    """(M, n_classes) with the columns (M, k) at their classes, and 0 elsewhere."""
    out = np.zeros((len(probabilities), n_classes), dtype=np.float32)
    out[:, classes] = probabilities
    return out


def checked_classes(classes: AnyArray, n_classes: int) -> IntArray:
    """The classes of a file. Raises ValueError unless they are ascending among 0 .. n_classes - 1, two or more."""
    legal = classes.dtype == np.int64 and classes.ndim == 1 and len(classes) >= 2
    if not legal or classes[0] < 0 or classes[-1] >= n_classes or (np.diff(classes) <= 0).any():
        raise ValueError("the base's classes are not classes of the model")
    return classes

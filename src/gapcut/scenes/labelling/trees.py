"""A random forest as plain arrays: saved without pickle, evaluated in the core."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from gapcut import _core
from gapcut.scenes.shot import Float32Array
from gapcut.typing import AnyArray, FloatArray, Int32Array

_DTYPES = {
    "root": np.int32,
    "feature": np.int32,
    "left": np.int32,
    "right": np.int32,
    "threshold": np.float64,
    "value": np.float32,
}


@dataclass(frozen=True, eq=False)
class TreeForest:
    """Trees one after the other, nodes numbered through: a row of ``n_features`` values goes from a node on to
    ``left`` where ``row[feature] <= threshold``, else to ``right``; a node with ``feature`` -1 is a leaf and its row
    of ``value`` (nodes, K) the class distribution. ``root``: the first node of each tree."""

    root: Int32Array
    feature: Int32Array
    left: Int32Array
    right: Int32Array
    threshold: FloatArray
    value: Float32Array
    n_features: int

    @classmethod
    def of_sklearn(cls, forest: Any, n_classes: int) -> TreeForest:
        """From a fitted ``RandomForestClassifier`` whose classes are among 0 .. n_classes - 1."""
        known = forest.classes_.astype(np.int64)
        parts: dict[str, list[AnyArray]] = {key: [] for key in _DTYPES}
        start = 0
        for tree in (estimator.tree_ for estimator in forest.estimators_):
            leaf = tree.children_left < 0
            value = np.zeros((tree.node_count, n_classes))
            value[:, known] = tree.value[:, 0, :] / tree.value[:, 0, :].sum(axis=1, keepdims=True)
            value[~leaf] = 0.0
            parts["root"].append(np.array([start]))
            parts["feature"].append(np.where(leaf, -1, tree.feature))
            parts["left"].append(np.where(leaf, 0, tree.children_left + start))
            parts["right"].append(np.where(leaf, 0, tree.children_right + start))
            parts["threshold"].append(np.where(leaf, 0.0, tree.threshold))
            parts["value"].append(np.minimum(value, 1.0))
            start += tree.node_count
        arrays = {key: np.concatenate(part).astype(_DTYPES[key]) for key, part in parts.items()}
        return cls(**arrays, n_features=int(forest.n_features_in_))

    @property
    def n_classes(self) -> int:
        return int(self.value.shape[1])

    def distributions(self, rows: AnyArray, n_threads: int = 1) -> Float32Array:
        """(M, K) mean class distribution of the leaves that the rows (M, n_features) end in."""
        values = np.ascontiguousarray(rows, dtype=np.float32)
        if values.ndim != 2 or values.shape[1] != self.n_features:
            raise ValueError(
                f"rows have shape {values.shape}, but the forest takes {self.n_features} features"
            )
        out: Float32Array = _core.forest_distributions(
            self.root, self.feature, self.left, self.right, self.threshold, self.value, values, n_threads
        )
        return out

    def to_arrays(self) -> dict[str, AnyArray]:
        """What :meth:`from_arrays` takes."""
        return {key: getattr(self, key) for key in _DTYPES}

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, AnyArray], n_features: int) -> TreeForest:
        """Checked: raises ValueError for arrays that are no forest."""
        if set(arrays) != set(_DTYPES):
            raise ValueError(f"the forest's arrays are {sorted(arrays)}, not {sorted(_DTYPES)}")
        for key, kind in _DTYPES.items():
            if arrays[key].dtype != kind or arrays[key].ndim != (2 if key == "value" else 1):
                raise ValueError(f"array {key!r} of the forest has another type or shape")
        forest = cls(**{key: np.ascontiguousarray(arrays[key]) for key in _DTYPES}, n_features=n_features)
        forest.distributions(np.zeros((1, n_features), dtype=np.float32))
        return forest

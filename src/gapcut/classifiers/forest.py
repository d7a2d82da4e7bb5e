"""Decision trees as plain arrays (no pickle), evaluated in the core."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from gapcut import _core
from gapcut.typing import AnyArray, Float32Array, FloatArray, Int32Array

_DTYPES = {
    "root": np.int32,
    "feature": np.int32,
    "left": np.int32,
    "right": np.int32,
    "threshold": np.float64,
    "value": np.float32,
}


@dataclass(frozen=True, eq=False)
class Trees:
    """Trees one after the other, nodes numbered through: a row of ``n_features`` values goes from a node on to
    ``left`` where ``row[feature] <= threshold``, else to ``right``; a node with ``feature`` -1 is a leaf and its row
    of ``value`` (nodes, L) what it says. ``root``: the first node of each tree."""

    root: Int32Array
    feature: Int32Array
    left: Int32Array
    right: Int32Array
    threshold: FloatArray
    value: Float32Array
    n_features: int

    @classmethod
    def joined(cls, trees: list[dict[str, AnyArray]], n_features: int) -> Trees:
        """From the arrays of single trees: all but ``root``, each numbered from 0; ``left`` < 0 at leaves."""
        starts = np.cumsum([0, *(len(tree["feature"]) for tree in trees)])[:-1]
        parts: dict[str, list[AnyArray]] = {key: [] for key in _DTYPES}
        for start, tree in zip(starts.tolist(), trees, strict=True):
            leaf = tree["left"] < 0
            parts["root"].append(np.array([start]))
            parts["feature"].append(np.where(leaf, -1, tree["feature"]))
            parts["left"].append(np.where(leaf, 0, tree["left"] + start))
            parts["right"].append(np.where(leaf, 0, tree["right"] + start))
            parts["threshold"].append(np.where(leaf, 0.0, tree["threshold"]))
            parts["value"].append(np.where(leaf[:, None], tree["value"], 0.0))
        arrays = {key: np.concatenate(part).astype(_DTYPES[key]) for key, part in parts.items()}
        return cls(**arrays, n_features=n_features)

    def means(self, rows: AnyArray, n_threads: int = 1) -> Float32Array:
        """(M, L) mean value of the leaves that the rows (M, n_features) end in; the same for any ``n_threads``."""
        values = np.ascontiguousarray(rows, dtype=np.float32)
        if values.ndim != 2 or values.shape[1] != self.n_features:
            raise ValueError(f"rows have shape {values.shape}, but the trees take {self.n_features} features")
        out: Float32Array = self._packed.means(values, n_threads)
        return out

    @cached_property
    def _packed(self) -> _core.Forest:
        """As the core asks them, which takes longer to make than some rows take. Raises ValueError for arrays that are
        no trees."""
        arrays = (self.root, self.feature, self.left, self.right, self.threshold, self.value)
        return _core.Forest(*arrays, self.n_features)

    def __getstate__(self) -> dict[str, Any]:
        """Without what is made of the arrays."""
        return {**self.to_arrays(), "n_features": self.n_features}

    def to_arrays(self) -> dict[str, AnyArray]:
        """What :meth:`from_arrays` takes."""
        return {key: getattr(self, key) for key in _DTYPES}

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, AnyArray], n_features: int) -> Trees:
        """Checked: raises ValueError for arrays that are no trees (every index in range, children after their parent,
        so that every walk ends)."""
        if set(arrays) != set(_DTYPES):
            raise ValueError(f"the forest's arrays are {sorted(arrays)}, not {sorted(_DTYPES)}")
        for key, kind in _DTYPES.items():
            if arrays[key].dtype != kind or arrays[key].ndim != (2 if key == "value" else 1):
                raise ValueError(f"array {key!r} of the forest has another type or shape")
        trees = cls(**{key: np.ascontiguousarray(arrays[key]) for key in _DTYPES}, n_features=n_features)
        _ = trees._packed  # the core checks them
        return trees


@dataclass(frozen=True, eq=False)
class TreeForest:
    """Trees whose leaves hold class distributions."""

    kind: ClassVar[str] = "forest"

    trees: Trees

    @classmethod
    def of_sklearn(cls, forest: Any, n_classes: int) -> TreeForest:
        """From a fitted forest or tree of scikit-learn whose classes are among 0 .. n_classes - 1."""
        known = forest.classes_.astype(np.int64)
        found = []
        for tree in (grown.tree_ for grown in getattr(forest, "estimators_", [forest])):
            value = np.zeros((tree.node_count, n_classes))
            value[:, known] = tree.value[:, 0, :] / tree.value[:, 0, :].sum(axis=1, keepdims=True)
            found.append(
                {
                    "feature": tree.feature,
                    "left": tree.children_left,
                    "right": tree.children_right,
                    "threshold": tree.threshold,
                    "value": np.minimum(value, 1.0),
                }
            )
        return cls(Trees.joined(found, int(forest.n_features_in_)))

    @classmethod
    def constant(cls, distribution: FloatArray, n_features: int) -> TreeForest:
        """The forest that says ``distribution`` (K,) of every row."""
        leaf = {"feature": np.array([-1]), "left": np.array([-1]), "right": np.array([-1])}
        return cls(Trees.joined([leaf | {"threshold": np.zeros(1), "value": distribution[None]}], n_features))

    @property
    def description(self) -> str:
        """In words."""
        return f"{len(self.trees.root):,} trees"

    @property
    def n_features(self) -> int:
        return self.trees.n_features

    @property
    def n_classes(self) -> int:
        return int(self.trees.value.shape[1])

    def probabilities(self, rows: AnyArray, n_threads: int = 1) -> Float32Array:
        """(M, K) mean class distribution of the leaves that the rows (M, n_features) end in."""
        return self.trees.means(rows, n_threads)

    def to_arrays(self) -> dict[str, AnyArray]:
        """What :meth:`from_arrays` takes."""
        return self.trees.to_arrays()

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, AnyArray], n_features: int) -> TreeForest:
        """Checked: raises ValueError for arrays that are no forest."""
        forest = cls(Trees.from_arrays(arrays, n_features))
        if not ((forest.trees.value >= 0) & (forest.trees.value <= 1)).all():
            raise ValueError("a leaf of the forest holds no shares")
        return forest

"""Boosted trees as plain arrays."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from gapcut.classifiers.forest import Trees
from gapcut.classifiers.linear import checked_classes, softmax, spread
from gapcut.typing import AnyArray, Float32Array, FloatArray, IntArray


@dataclass(frozen=True, eq=False)
class BoostedTrees:
    """Scores ``baseline[k] + sum of the leaf values of the k-th trees``, and their softmax.

    ``trees`` (leaf values of one column) come in rounds, each with one tree for every of the ``classes`` (k,) in turn;
    with two classes there is one tree a round, and the score of the first class is 0. Classes of 0 .. n_classes - 1
    that are not among them have probability 0.
    """

    kind: ClassVar[str] = "boosting"

    trees: Trees
    baseline: FloatArray
    classes: IntArray
    n_classes: int

    @classmethod
    def of_sklearn(cls, boosting: Any, n_classes: int) -> BoostedTrees | None:
        """From a fitted ``HistGradientBoostingClassifier``; None where a split is on categories."""
        found = []
        for tree in (tree for one_round in boosting._predictors for tree in one_round):
            nodes = tree.nodes
            if nodes["is_categorical"].any():
                return None
            leaf = nodes["is_leaf"].astype(bool)
            # Features are finite numbers (graphs hold no others), so where missing ones go does not matter.
            left, right = (np.where(leaf, -1, nodes[side].astype(np.int64)) for side in ("left", "right"))
            cut = np.clip(nodes["num_threshold"], *_FINITE)
            found.append(
                {
                    **{"feature": nodes["feature_idx"], "left": left, "right": right},
                    **{"threshold": cut, "value": nodes["value"][:, None]},
                }
            )
        return cls(
            Trees.joined(found, int(boosting.n_features_in_)),
            np.asarray(boosting._baseline_prediction, dtype=np.float64).ravel(),
            boosting.classes_.astype(np.int64),
            n_classes,
        )

    @property
    def description(self) -> str:
        """In words."""
        return f"boosting of {len(self.trees.root):,} trees"

    @property
    def n_features(self) -> int:
        return self.trees.n_features

    def probabilities(self, rows: AnyArray, n_threads: int = 1) -> Float32Array:
        """(M, K) class distributions of the rows (M, n_features)."""
        width = len(self.baseline)
        values = np.ascontiguousarray(rows, dtype=np.float32)
        scores = np.zeros((len(values), len(self.classes)))
        for k in range(width):
            turns = Trees(
                **{**self.trees.to_arrays(), "root": self.trees.root[k::width]}, n_features=self.n_features
            )
            means = turns.means(values, n_threads)[:, 0].astype(np.float64)
            scores[:, k - width] = self.baseline[k] + len(turns.root) * means
        return spread(softmax(scores), self.classes, self.n_classes)

    def to_arrays(self) -> dict[str, AnyArray]:
        """What :meth:`from_arrays` takes."""
        return {**self.trees.to_arrays(), "baseline": self.baseline, "classes": self.classes}

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, AnyArray], n_features: int, n_classes: int) -> BoostedTrees:
        """Checked: raises ValueError for arrays that are no such trees."""
        own = {key: arrays[key] for key in ("baseline", "classes")}
        trees = Trees.from_arrays({key: a for key, a in arrays.items() if key not in own}, n_features)
        classes, baseline = checked_classes(own["classes"], n_classes), own["baseline"]
        width = 1 if len(classes) == 2 else len(classes)
        if baseline.dtype != np.float64 or baseline.shape != (width,) or not np.isfinite(baseline).all():
            raise ValueError("the boosting's baseline is no row of finite numbers, one a class")
        if len(trees.root) % width or trees.value.shape[1] != 1:
            raise ValueError("the boosting's trees do not come in rounds of one a class")
        return cls(trees, baseline, classes, n_classes)


_FINITE = (-np.finfo(np.float64).max, np.finfo(np.float64).max)
"""A split that only missing values take has an infinite threshold."""

"""A random forest over points: grown by scikit-learn, kept as plain arrays (no pickle), evaluated in the core.

What a model is trained on must come from forests that have not seen it: a forest is sure of points it was grown on, and
edges learned beside such features would count for little.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from gapcut import _core
from gapcut.engines import thread_count
from gapcut.scenes.groups import segment_means
from gapcut.scenes.labelling.scene import Say, SegmentedScan
from gapcut.scenes.labelling.settings import TrainingOptions
from gapcut.scenes.shot import Float32Array
from gapcut.typing import AnyArray, BoolArray, FloatArray, Int32Array, IntArray

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

    def of_segments(self, scan: SegmentedScan, n_threads: int = 1) -> FloatArray:
        """(S, K) mean class distribution of each segment's described points."""
        return segment_means(
            self.distributions(scan.forest_rows(), n_threads), scan.sample_segment, scan.n_segments
        )

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


def grow_forest(
    scans: Sequence[SegmentedScan],
    n_classes: int,
    options: TrainingOptions,
    used: Sequence[BoolArray] | None = None,
) -> TreeForest:
    """A forest on described, labelled points of the scans; ``used``: (R,) which of them, default all.

    Raises ValueError where no point is labelled.
    """
    from sklearn.ensemble import (
        RandomForestClassifier,  # takes a second to import, and labelling does without
    )

    rng = np.random.default_rng(options.seed)
    usable, codes = [], []
    for i, scan in enumerate(scans):
        code = scan.labels[scan.kept[scan.sample]]
        rows = np.flatnonzero(code >= 0 if used is None else (code >= 0) & used[i])
        usable.append(rows)
        codes.append(code[rows])
    counts = np.bincount(np.concatenate(codes), minlength=n_classes)
    if np.count_nonzero(counts) == 0:
        raise ValueError("no labelled point is left to grow the forest on")
    chance = drawing_chances(counts, options.rows, options.balance)
    x, y = [], []
    for scan, rows, code in zip(scans, usable, codes, strict=True):
        drawn = rng.random(len(rows)) < chance[code]
        x.append(scan.forest_rows(rows[drawn]))
        y.append(code[drawn])
    forest = RandomForestClassifier(
        n_estimators=options.n_trees,
        min_samples_leaf=options.least_leaf,
        random_state=options.seed,
        n_jobs=options.n_jobs,
    ).fit(np.concatenate(x), np.concatenate(y), _row_weights(np.concatenate(y), options.tree_balance))
    return TreeForest.of_sklearn(forest, n_classes)


def _row_weights(codes: IntArray, power: float) -> FloatArray | None:
    """Mean 1 over the classes that occur; None: all rows alike."""
    if power == 0.0:
        return None
    size = np.bincount(codes)
    weight = np.maximum(size, 1.0) ** -power
    return np.asarray(weight[codes] / weight[size > 0].mean())


def drawing_chances(counts: IntArray, rows: float, balance: float) -> FloatArray:
    """(K,) chance of a point of each class to be drawn: see ``TrainingOptions``."""
    wanted = counts.astype(np.float64) ** (1.0 - balance) * (counts > 0)
    return np.asarray(np.minimum(1.0, rows * wanted / wanted.sum() / np.maximum(counts, 1)))


def out_of_fold(
    scans: Sequence[SegmentedScan],
    folds: Sequence[IntArray],
    n_classes: int,
    options: TrainingOptions,
    say: Say | None = None,
) -> list[FloatArray]:
    """(S, K) class distributions of every scan's segments by forests that were grown on segments of other folds only.

    ``folds`` (S,) fold of each segment of each scan, from 0 on: one a scan, or shares of all scans' segments.
    """
    of_point = [fold[scan.sample_segment] for scan, fold in zip(scans, folds, strict=True)]
    out = [np.empty((len(fold), n_classes), dtype=np.float32) for fold in of_point]
    n_folds = 1 + max(int(fold.max()) for fold in folds)
    for k in range(n_folds):
        if say is not None:
            say(f"forest {k + 1} of {n_folds} for what is held out")
        forest = grow_forest(scans, n_classes, options, [fold != k for fold in of_point])
        for values, scan, fold in zip(out, scans, of_point, strict=True):
            rows = np.flatnonzero(fold == k)
            if len(rows):
                values[rows] = forest.distributions(scan.forest_rows(rows), thread_count(options.n_jobs))
    return [
        segment_means(v, scan.sample_segment, scan.n_segments) for v, scan in zip(out, scans, strict=True)
    ]

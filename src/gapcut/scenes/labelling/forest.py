"""A forest over points: grown by scikit-learn, kept as plain arrays."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from gapcut.classifiers import TreeForest, out_of_fold
from gapcut.engines import thread_count
from gapcut.scenes.groups import segment_means
from gapcut.scenes.labelling.scene import Say, SegmentedScan
from gapcut.scenes.labelling.settings import TrainingOptions
from gapcut.typing import AnyArray, BoolArray, FloatArray, IntArray


def of_segments(forest: TreeForest, scan: SegmentedScan, n_threads: int = 1) -> FloatArray:
    """(S, K) mean class distribution of each segment's described points."""
    return segment_means(
        forest.probabilities(scan.forest_rows(), n_threads), scan.sample_segment, scan.n_segments
    )


def grow_forest(
    scans: Sequence[SegmentedScan],
    n_classes: int,
    options: TrainingOptions,
    used: Sequence[BoolArray] | None = None,
) -> TreeForest:
    """A forest on described, labelled points of the scans; ``used``: (R,) which of them, default all.

    Raises ValueError where no point is labelled.
    """
    from sklearn.ensemble import (  # takes a second to import, and labelling does without
        ExtraTreesClassifier,
        RandomForestClassifier,
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
    kind = ExtraTreesClassifier if options.trees == "extra" else RandomForestClassifier
    forest = kind(
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


def held_out_distributions(
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
    ends = np.cumsum([len(fold) for fold in of_point])[:-1]

    def grow(seen: BoolArray) -> Callable[[IntArray], AnyArray]:
        forest = grow_forest(scans, n_classes, options, np.split(seen, ends))

        def distributions(rows: IntArray) -> AnyArray:
            asked = np.zeros(len(seen), dtype=np.bool_)
            asked[rows] = True
            parts = [
                scan.forest_rows(np.flatnonzero(part))
                for scan, part in zip(scans, np.split(asked, ends), strict=True)
            ]
            return forest.probabilities(np.concatenate(parts), thread_count(options.n_jobs))

        return distributions

    def tell(k: int, n_folds: int) -> None:
        if say is not None:
            say(f"forest {k} of {n_folds} for what is held out")

    values = np.split(out_of_fold(np.concatenate(of_point), n_classes, grow, tell), ends)
    return [
        segment_means(v, scan.sample_segment, scan.n_segments) for v, scan in zip(values, scans, strict=True)
    ]

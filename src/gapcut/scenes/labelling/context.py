"""What a segment is, judged by what it touches: a second forest, over segments.

Trees answer with shares of training segments, so no number of neighbours takes them out of the range of training, and
all that is said of neighbours is a mean by share of contact.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy.sparse import csr_array

from gapcut.classifiers import TreeForest
from gapcut.engines import thread_count
from gapcut.scenes.labelling.graphs import LEAST_SHARE
from gapcut.scenes.labelling.scene import SegmentedScan
from gapcut.scenes.labelling.settings import TrainingOptions
from gapcut.typing import FloatArray


def context_features(scan: SegmentedScan, beliefs: FloatArray) -> FloatArray:
    """(S, 5 K + 17 or more) of each segment: its class distribution (S, K) and features; the mean distribution of what
    touches it, of what lies on it, of what it lies on, and of what touches these; shares of its contact where something
    lies on it, and where it lies on something; how much higher (m) and larger (octaves) the others are in the mean. All
    means are by places in contact."""
    contacts, n = scan.contacts, scan.n_segments
    u, v = contacts.edges.T
    all_places = np.maximum(np.bincount(u, contacts.size, n), 1e-9)

    def over(places: FloatArray) -> tuple[csr_array, FloatArray]:
        total = np.bincount(u, places, n)
        shares = places / np.maximum(total, 1e-9)[u]
        return csr_array((shares, (u, v)), shape=(n, n)), total / all_places

    beside, _ = over(contacts.size)
    under_me, rests = over(contacts.size * contacts.above)
    on_me, carries = over(contacts.size * contacts.below)
    around = beside @ beliefs
    height, points = scan.table.mean_height, scan.table.values[:, -1]
    alone = [beliefs, scan.table.values, scan.channels]
    near = [around, on_me @ beliefs, under_me @ beliefs, beside @ around, carries, rests]
    return np.column_stack([*alone, *near, beside @ height - height, beside @ points - points])


def grow_context(
    scans: Sequence[SegmentedScan], beliefs: Sequence[FloatArray], n_classes: int, options: TrainingOptions
) -> TreeForest:
    """Extremely randomised trees on labelled segments of scans, whose beliefs (S, K) are of forests that have not seen
    them. Segments and classes weigh as ``options.weight_power`` and ``options.context_balance`` say.

    Raises ValueError where no segment is labelled.
    """
    from sklearn.ensemble import ExtraTreesClassifier  # takes a second to import

    counts = [scan.label_counts(n_classes) for scan in scans]
    known = [count.sum(axis=1) > 0 for count in counts]
    rows = [context_features(s, p)[k] for s, p, k in zip(scans, beliefs, known, strict=True)]
    count = np.concatenate([c[k] for c, k in zip(counts, known, strict=True)])
    if not len(count):
        raise ValueError("no labelled segment is left to grow the forest on")
    code, weight = count.argmax(axis=1), count.sum(axis=1) ** options.weight_power
    total = np.bincount(code, weight, n_classes)
    forest = ExtraTreesClassifier(
        n_estimators=options.n_trees,
        min_samples_leaf=options.least_leaf,
        max_features=0.3,
        random_state=options.seed,
        n_jobs=options.n_jobs,
    ).fit(np.concatenate(rows), code, weight * total[code] ** -options.context_balance)
    return TreeForest.of_sklearn(forest, n_classes)


def of_context(
    forest: TreeForest, scan: SegmentedScan, beliefs: FloatArray, n_threads: int = 1
) -> FloatArray:
    """(S, K) what is believed of each segment: the geometric mean, normalised, of the ``beliefs`` of the first forest
    and of what the second one makes of them. The first is sure of large segments, of which the second has seen few:
    the ground is one in a scan."""
    second = forest.probabilities(context_features(scan, beliefs), n_threads)
    both = np.sqrt(np.maximum(beliefs, LEAST_SHARE) * np.maximum(second, LEAST_SHARE))
    return np.asarray(both / both.sum(axis=1, keepdims=True))


def held_out_context(
    scans: Sequence[SegmentedScan],
    fold: Sequence[int],
    beliefs: Sequence[FloatArray],
    n_classes: int,
    options: TrainingOptions,
) -> list[FloatArray]:
    """:func:`of_context` of every scan by a second forest that was grown on the scans of other folds only."""
    out: list[FloatArray] = list(beliefs)
    for f in sorted(set(fold)):
        others = [i for i in range(len(scans)) if fold[i] != f]
        forest = grow_context([scans[i] for i in others], [beliefs[i] for i in others], n_classes, options)
        for i in range(len(scans)):
            if fold[i] == f:
                out[i] = of_context(forest, scans[i], beliefs[i], thread_count(options.n_jobs))
    return out

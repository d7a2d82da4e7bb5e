"""What a segment is, judged by what it touches: a second forest, over segments.

Trees answer with shares of training segments, so no number of neighbours takes them out of the range of training, and
all that is said of neighbours is a mean by share of contact.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

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


@dataclass(frozen=True, eq=False)
class Context:
    """The second ``forest``, and ``share`` (K,) in [0, 0.5] of what it says of each class in what is believed."""

    forest: TreeForest
    share: FloatArray

    def beliefs(self, scan: SegmentedScan, alone: FloatArray, n_threads: int = 1) -> FloatArray:
        """(S, K) what is believed of each segment: the weighted geometric mean, normalised, of what the first forest
        says, ``alone`` (S, K), and of what the second one makes of it. The first is sure of large segments, of which
        the second has seen few (the ground is one in a scan), and of rare classes, of which it has seen few points, but
        many more than the second has seen segments."""
        second = self.forest.probabilities(context_features(scan, alone), n_threads)
        both = np.log(np.maximum(alone, LEAST_SHARE)) * (1.0 - self.share)
        both += np.log(np.maximum(second, LEAST_SHARE)) * self.share
        both = np.exp(both)
        return np.asarray(both / both.sum(axis=1, keepdims=True))


def grow_context(
    scans: Sequence[SegmentedScan], beliefs: Sequence[FloatArray], n_classes: int, options: TrainingOptions
) -> Context:
    """Extremely randomised trees on labelled segments of scans, whose beliefs (S, K) are of forests that have not seen
    them. Segments and classes weigh as ``options.weight_power`` and ``options.context_balance`` say; the share of a
    class with n of the segments is half of n / (n + ``options.context_support``).

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
    support = np.bincount(code, minlength=n_classes)
    share = 0.5 * support / np.maximum(support + options.context_support, 1.0)
    return Context(TreeForest.of_sklearn(forest, n_classes), share)


def held_out_context(
    scans: Sequence[SegmentedScan],
    fold: Sequence[int],
    beliefs: Sequence[FloatArray],
    n_classes: int,
    options: TrainingOptions,
) -> list[FloatArray]:
    """:meth:`Context.beliefs` of every scan by a second forest that was grown on the scans of other folds only."""
    out: list[FloatArray] = list(beliefs)
    for f in sorted(set(fold)):
        others = [i for i in range(len(scans)) if fold[i] != f]
        context = grow_context([scans[i] for i in others], [beliefs[i] for i in others], n_classes, options)
        for i in range(len(scans)):
            if fold[i] == f:
                out[i] = context.beliefs(scans[i], beliefs[i], thread_count(options.n_jobs))
    return out

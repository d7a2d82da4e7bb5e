"""A random forest over points, and the mean class distribution it gives each segment: node features of a scene."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from sklearn.ensemble import RandomForestClassifier

from gapcut.scenes.shot import Float32Array
from gapcut.typing import AnyArray, FloatArray, IntArray

_CHUNK = 100_000


class Described(Protocol):
    """Points with features: a :class:`gapcut.scenes.points.PointDescriber`, or features kept from one."""

    @property
    def n_points(self) -> int: ...

    def values(self, at: IntArray | None = None) -> Float32Array:
        """(M, F) features of the points ``at``, of all without it."""


@dataclass(frozen=True)
class PointForest:
    """Settings of the forest: ``n_trees`` grown to at most ``max_depth`` on ``per_class`` points of each class (fewer
    where there are not as many), drawn evenly from all scenes; leaves hold at least ``least_leaf`` points."""

    n_trees: int = 100
    max_depth: int | None = 25
    least_leaf: int = 3
    per_class: int = 4000
    seed: int = 0
    n_jobs: int | None = None

    def train(self, scenes: Sequence[Described], labels: Sequence[AnyArray], n_classes: int) -> TrainedForest:
        """Train on the labelled points of ``scenes``.

        ``labels[i]`` (N_i,) in [0, n_classes), negative for points to leave out (unlabelled, terrain).

        Raises ValueError where labels and points differ in number, a label is too large or nothing is labelled.
        """
        if len(scenes) != len(labels):
            raise ValueError(f"{len(scenes)} scenes but labels of {len(labels)}")
        values = [np.asarray(y) for y in labels]
        for i, (scene, y) in enumerate(zip(scenes, values, strict=True)):
            if y.shape != (scene.n_points,):
                raise ValueError(f"scene {i} has {scene.n_points} points but labels of shape {y.shape}")
            if y.size and y.max() >= n_classes:
                raise ValueError(f"scene {i} has label {y.max()}, but there are {n_classes} classes")
        rows = balanced_sample(values, n_classes, self.per_class, np.random.default_rng(self.seed))
        x = np.concatenate([scene.values(r) for scene, r in zip(scenes, rows, strict=True)])
        y = np.concatenate([v[r] for v, r in zip(values, rows, strict=True)])
        if not len(y):
            raise ValueError("no point of any scene is labelled")
        forest = RandomForestClassifier(
            n_estimators=self.n_trees,
            max_depth=self.max_depth,
            min_samples_leaf=self.least_leaf,
            class_weight="balanced",
            random_state=self.seed,
            n_jobs=self.n_jobs,
        )
        return TrainedForest(forest.fit(x, y), n_classes)


@dataclass(frozen=True, eq=False)
class TrainedForest:
    """A forest that was trained; classes that were not among its points get probability 0."""

    forest: RandomForestClassifier
    n_classes: int

    def probabilities(self, scene: Described, at: IntArray | None = None) -> Float32Array:
        """(M, n_classes) class distribution of the points ``at``, of all without it; rows add up to 1."""
        rows = np.arange(scene.n_points) if at is None else np.asarray(at, dtype=np.int64)
        out = np.zeros((len(rows), self.n_classes), dtype=np.float32)
        known = self.forest.classes_.astype(np.int64)
        for i in range(0, len(rows), _CHUNK):
            some = self.forest.predict_proba(scene.values(rows[i : i + _CHUNK]))
            out[i : i + _CHUNK, known] = some
        return out

    def segment_distributions(
        self,
        scene: Described,
        segments: AnyArray,
        n_segments: int,
        per_segment: int | None = 200,
        seed: int = 0,
    ) -> FloatArray:
        """(n_segments, n_classes) mean distribution over at most ``per_segment`` random points a segment (None: all).

        ``segments`` (N,) segment of each point, negative for none. Raises ValueError for a segment without points.
        """
        ids = np.asarray(segments, dtype=np.int64)
        if ids.shape != (scene.n_points,):
            raise ValueError(f"{scene.n_points} points but segments of shape {ids.shape}")
        rows = at_most(ids, per_segment, np.random.default_rng(seed))
        return segment_means(self.probabilities(scene, rows), ids[rows], n_segments)


def segment_means(values: AnyArray, segments: AnyArray, n_segments: int) -> FloatArray:
    """(n_segments, F) mean of the rows of ``values`` (M, F) by segment (M,), negative segments left out.

    Raises ValueError for a segment without rows.
    """
    ids = np.asarray(segments, dtype=np.int64)
    if ids.size and ids.max() >= n_segments:
        raise ValueError(f"segment {ids.max()} is beyond the {n_segments} segments announced")
    inside = np.flatnonzero(ids >= 0)
    counts = np.bincount(ids[inside], minlength=n_segments)
    if not counts.all():
        raise ValueError(f"segment {int(np.argmin(counts))} has no points: leave it out of the graph")
    columns = [
        np.bincount(ids[inside], weights=column[inside], minlength=n_segments)
        for column in np.asarray(values).T
    ]
    return np.asarray(np.stack(columns, axis=1) / counts[:, None])


def balanced_sample(
    labels: Sequence[AnyArray], n_classes: int, per_class: int, rng: np.random.Generator
) -> list[IntArray]:
    """Rows of each scene, ascending: of every class ``per_class`` points in all, as evenly over the scenes as they
    have them."""
    rows: list[list[IntArray]] = [[] for _ in labels]
    for c in range(n_classes):
        have = [np.flatnonzero(np.asarray(y) == c) for y in labels]
        share = _even_shares([len(h) for h in have], per_class)
        for mine, h, n in zip(rows, have, share, strict=True):
            mine.append(rng.choice(h, size=n, replace=False))
    return [np.sort(np.concatenate(mine)) if mine else np.empty(0, dtype=np.int64) for mine in rows]


def _even_shares(have: list[int], wanted: int) -> list[int]:
    """As even as possible, none above what there is, ``wanted`` in all if there are as many."""
    shares = [0] * len(have)
    left = wanted
    for done, i in enumerate(sorted(range(len(have)), key=lambda j: have[j])):
        shares[i] = min(have[i], left // (len(have) - done))
        left -= shares[i]
    return shares


def at_most(ids: IntArray, n: int | None, rng: np.random.Generator) -> IntArray:
    """Rows with an id, at most ``n`` random ones of each."""
    inside = np.flatnonzero(ids >= 0)
    if n is None or not len(inside):
        return inside
    shuffled = rng.permutation(inside)
    order = shuffled[np.argsort(ids[shuffled], kind="stable")]
    start = np.flatnonzero(np.diff(ids[order], prepend=-1))
    rank = np.arange(len(order)) - np.repeat(start, np.diff(start, append=len(order)))
    return np.sort(order[rank < n])

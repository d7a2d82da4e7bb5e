"""Class distributions of parts by forests that have seen neither the part nor the fold's test bridges.

A forest is sure about points it was grown on, and edges learned beside such features would count for little. So with
many bridges the training bridges get their distributions from forests of the other groups of bridges; with few, where
a type may occur once, from forests of the other parts.

One forest for SHOT (as in the paper) and one for shapes and heights: in a single forest the 352 values of SHOT would
crowd out the few others.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from gapcut.scenes.bridges import CLASSES
from gapcut.scenes.experiment.described import DescribedBridge
from gapcut.scenes.experiment.settings import ExperimentSettings
from gapcut.scenes.experiment.store import Arrays, digest, kept
from gapcut.scenes.forest import PointForest, TrainedForest, segment_means
from gapcut.scenes.shot import Float32Array
from gapcut.typing import AnyArray, FloatArray, IntArray

_LAYOUT = 3
_SHARES = 4  # of the parts, one at a time kept from a forest

Found = dict[int, FloatArray]


class Beliefs:
    """Distributions from forests that are grown when first asked for, and kept.

    ``cache``: folder to keep them in; ``seed`` and ``jobs`` (threads) of the forests.
    """

    def __init__(
        self,
        bridges: Sequence[DescribedBridge],
        settings: ExperimentSettings,
        seed: int = 0,
        jobs: int = 1,
        cache: Path | None = None,
    ) -> None:
        self.bridges, self.settings, self.seed, self.jobs = bridges, settings, seed, jobs
        self._cache = cache
        self._known: dict[tuple[tuple[int, ...], tuple[int, ...]], Found] = {}

    def of_fold(
        self, train: Sequence[int], test: Sequence[int], groups: Sequence[Sequence[int]]
    ) -> tuple[list[FloatArray], list[FloatArray]]:
        """Distributions of the training and of the test bridges, (V, 11 views) each.

        ``groups`` of bridges, one of which at a time is kept from a forest; none: shares of the parts are.
        """
        tests = self._of_others(train, test)
        inner: Found = {} if groups else self._of_other_parts(train)
        for group in groups:
            held = sorted(set(group) & set(train))
            if held:
                found = self._of_others([i for i in train if i not in held], [*held, *test])
                inner |= {i: found[i] for i in held}
        return [inner[i] for i in train], [tests[i] for i in test]

    def held_out(self, groups: Sequence[Sequence[int]]) -> list[FloatArray]:
        """Distributions of all bridges, each by a forest of the bridges of the other groups."""
        everything = range(len(self.bridges))
        found: Found = {}
        for group in groups:
            found |= self._of_others([i for i in everything if i not in group], group)
        return [found[i] for i in everything]

    def _of_others(self, grown: Sequence[int], asked: Sequence[int]) -> Found:
        """Distributions of the bridges ``asked``, by forests of the bridges ``grown``."""
        key = (tuple(sorted(grown)), tuple(sorted(asked)))
        if key not in self._known:
            views = [
                self._kept([view, "bridges", *key], self._maker(view, *key)) for view in self.settings.views
            ]
            parts = [np.concatenate(same, axis=1) for same in zip(*views, strict=True)]
            self._known[key] = dict(zip(key[1], parts, strict=True))
        return self._known[key]

    def _maker(self, view: str, grown: Sequence[int], asked: Sequence[int]) -> Callable[[], list[FloatArray]]:
        def make() -> list[FloatArray]:
            forest = self._grow(view, grown, [np.ones(len(self.bridges[i].node), bool) for i in grown])
            return [
                segment_means(
                    forest.probabilities(self._points(view, i)),
                    self.bridges[i].node,
                    len(self.bridges[i].part),
                )
                for i in asked
            ]

        return make

    def _of_other_parts(self, train: Sequence[int]) -> Found:
        """Distributions of all training parts, each by forests that have not seen the part."""
        views = [
            self._kept([view, "parts", train], lambda view=view: self._other_parts(view, train))  # type: ignore[misc]
            for view in self.settings.views
        ]
        return {i: np.concatenate(same, axis=1) for i, *same in zip(train, *views, strict=True)}

    def _other_parts(self, view: str, train: Sequence[int]) -> list[FloatArray]:
        rng = np.random.default_rng([self.seed, 11])
        shares = [rng.permutation(len(self.bridges[i].part)) % _SHARES for i in train]
        of_point = [share[self.bridges[i].node] for share, i in zip(shares, train, strict=True)]
        values = [np.zeros((len(n), len(CLASSES)), dtype=np.float32) for n in of_point]
        for k in range(_SHARES):
            forest = self._grow(view, train, [share != k for share in of_point])
            for out, share, i in zip(values, of_point, train, strict=True):
                rows = np.flatnonzero(share == k)
                out[rows] = forest.probabilities(self._points(view, i), rows)
        return [
            segment_means(out, self.bridges[i].node, len(self.bridges[i].part))
            for out, i in zip(values, train, strict=True)
        ]

    def _grow(self, view: str, grown: Sequence[int], used: Sequence[AnyArray]) -> TrainedForest:
        """A forest of the points ``used`` (a mask each) of the bridges ``grown``."""
        s = self.settings
        trainer = PointForest(
            n_trees=s.n_trees,
            per_class=s.per_class,
            least_leaf=s.least_leaf,
            seed=self.seed,
            n_jobs=self.jobs,
        )
        labels = [
            np.where(mask, self.bridges[i].label[self.bridges[i].node], -1)
            for i, mask in zip(grown, used, strict=True)
        ]
        return trainer.train([self._points(view, i) for i in grown], labels, len(CLASSES))

    def _points(self, view: str, i: int) -> _Points:
        return _Points(getattr(self.bridges[i], view))

    def _kept(self, what: list[object], make: Callable[[], list[FloatArray]]) -> list[FloatArray]:
        s = self.settings
        keys = [bridge.key for bridge in self.bridges]
        name = digest("forest", _LAYOUT, what, keys, self.seed, s.n_trees, s.per_class, s.least_leaf)
        path = None if self._cache is None else self._cache / f"forest-{name}.npz"
        return kept(path, make, _pack, _unpack)


@dataclass(frozen=True, eq=False)
class _Points:
    """Kept features, as a forest asks for them."""

    kept: npt.NDArray[np.float16]

    @property
    def n_points(self) -> int:
        return len(self.kept)

    def values(self, at: IntArray | None = None) -> Float32Array:
        return np.asarray(self.kept if at is None else self.kept[at], dtype=np.float32)


def _pack(found: list[FloatArray]) -> Arrays:
    return {f"{i:04d}": values for i, values in enumerate(found)}


def _unpack(arrays: Arrays) -> list[FloatArray]:
    return [np.asarray(arrays[key]) for key in sorted(arrays)]

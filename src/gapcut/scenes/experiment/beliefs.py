"""Class distributions of parts by forests that have seen neither the part's bridge nor the fold's test bridges.

Two forests, one on SHOT (as in the paper) and one on shapes and heights: in one forest the 352 values of SHOT would
crowd out the few others.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import numpy.typing as npt

from gapcut.scenes.bridges import CLASSES
from gapcut.scenes.experiment.described import DescribedBridge
from gapcut.scenes.experiment.settings import ExperimentSettings
from gapcut.scenes.experiment.store import Arrays, digest, kept
from gapcut.scenes.forest import PointForest, segment_means
from gapcut.scenes.shot import Float32Array
from gapcut.typing import FloatArray, IntArray

Numbers = tuple[int, ...]

VIEWS = ("shot", "shape")
"""Features of points, a forest each."""


@dataclass(frozen=True)
class Beliefs:
    """Forests grown when first asked for, and kept: one for every set of bridges that is left out.

    ``cache``: folder of the distributions; ``seed`` and ``jobs`` (threads) of the forests.
    """

    bridges: Sequence[DescribedBridge]
    settings: ExperimentSettings
    seed: int = 0
    jobs: int = 1
    cache: Path | None = None
    _known: dict[Numbers, dict[int, FloatArray]] = field(default_factory=dict, repr=False)

    def of_fold(
        self, train: Sequence[int], test: Sequence[int], groups: Sequence[Sequence[int]]
    ) -> tuple[list[FloatArray], list[FloatArray]]:
        """Distributions of the training and of the test bridges of a fold, (V, 22) each: by SHOT, then by shape.

        Test bridges: a forest of the training bridges. Training bridges of a group of ``groups``: a forest of the
        training bridges of all other groups, because a forest is sure about points it was grown on, and edges
        learned from those would count for little.
        """
        everything = sorted({*train, *test})
        tests = self._without(everything, test)
        inner: dict[int, FloatArray] = {}
        for group in groups:
            held = sorted(set(group) & set(train))
            if held:
                found = self._without(everything, [*test, *held])
                inner |= {i: found[i] for i in held}
        return [inner[i] for i in train], [tests[i] for i in test]

    def held_out(self, groups: Sequence[Sequence[int]]) -> list[FloatArray]:
        """Distributions of all bridges, each by a forest of the bridges of the other groups."""
        everything = range(len(self.bridges))
        found: dict[int, FloatArray] = {}
        for group in groups:
            found |= self._without(everything, group)
        return [found[i] for i in everything]

    def _without(self, everything: Sequence[int], out: Sequence[int]) -> dict[int, FloatArray]:
        """Distributions of the bridges left out, by a forest of the others."""
        left = tuple(sorted(set(out)))
        if left not in self._known:
            grown = [i for i in everything if i not in left]
            s = self.settings
            keys = [self.bridges[i].key for i in (*grown, -1, *left) if i >= 0]
            name = digest("forest", 2, keys, len(grown), self.seed, s.n_trees, s.per_class, s.least_leaf)
            path = None if self.cache is None else self.cache / f"forest-{name}.npz"
            found = kept(path, self._maker(grown, left), _pack, _unpack)
            self._known[left] = dict(zip(left, found, strict=True))
        return self._known[left]

    def _maker(self, grown: Sequence[int], left: Numbers) -> Callable[[], list[FloatArray]]:
        def make() -> list[FloatArray]:
            known, unknown = ([self.bridges[i] for i in some] for some in (grown, left))
            return [
                np.concatenate(two, axis=1)
                for two in zip(*(self._means(known, unknown, view) for view in VIEWS), strict=True)
            ]

        return make

    def _means(
        self, known: Sequence[DescribedBridge], unknown: Sequence[DescribedBridge], view: str
    ) -> list[FloatArray]:
        """(V, 11) mean distributions of the parts of ``unknown`` by a forest of ``known``."""
        s = self.settings
        trainer = PointForest(
            n_trees=s.n_trees,
            per_class=s.per_class,
            least_leaf=s.least_leaf,
            seed=self.seed,
            n_jobs=self.jobs,
        )
        points = [_Points(getattr(b, view)) for b in known]
        forest = trainer.train(points, [b.label[b.node] for b in known], len(CLASSES))
        return [
            segment_means(forest.probabilities(_Points(getattr(b, view))), b.node, len(b.part))
            for b in unknown
        ]


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

"""Every figure of the bridge experiment."""

from __future__ import annotations

from dataclasses import dataclass, field

from gapcut.features.pipeline import EdgeLift
from gapcut.scenes.scanner import ScannerSettings


@dataclass(frozen=True)
class ExperimentSettings:
    """How bridges are scanned, described, and learned from.

    Parts
        ``scanner``; ``tolerance`` m between touching parts (at least two voxels of the scan); ``per_part`` random
        points of a part that are described; ``shot_radius`` and ``shape_radii`` m of their features; ``extra``: edge
        features beyond the three of the paper.
    Forests
        ``views``: features of points, a forest each, "shot" or "shape" or both; ``n_trees``, ``per_class`` points
        of each class, ``least_leaf`` points in a leaf.
    Learning
        ``C``; ``edge_lift`` as in :class:`gapcut.features.FeaturePipeline`; ``by_points``: a part costs as much as
        it has points when it is labelled wrong, else all parts cost the same.
    Folds
        ``n_bridges`` in all, of which every fold tests five in a row, or, where ``train`` is given, one fold that
        trains on the first ``train`` and tests the others.
    """

    scanner: ScannerSettings = field(default_factory=ScannerSettings)
    tolerance: float = 0.2
    per_part: int = 30
    shot_radius: float = 1.0
    shape_radii: tuple[float, ...] = (0.3, 0.8, 2.0, 5.0)
    extra: bool = True
    views: tuple[str, ...] = ("shot",)
    n_trees: int = 50
    per_class: int = 1500
    least_leaf: int = 3
    C: float = 1.0
    edge_lift: EdgeLift = "auto"
    by_points: bool = False
    n_bridges: int = 25
    train: int | None = None

    @classmethod
    def quick(cls) -> ExperimentSettings:
        """One fold: ten bridges to train, one of each type to test, coarse scans."""
        scanner = ScannerSettings(angular_step=0.4, max_stations=8, points=60_000, spacing=12.0)
        return cls(scanner, per_part=20, n_trees=40, per_class=1000, n_bridges=15, train=10)

    def folds(self) -> list[tuple[list[int], list[int]]]:
        """Numbers of the training and of the test bridges of each fold. Raises ValueError for fewer than two."""
        everything = range(self.n_bridges)
        if self.train is not None:
            if not 2 <= self.train < self.n_bridges:
                raise ValueError(f"{self.train} of {self.n_bridges} bridges to train: need 2 and one to test")
            return [(list(everything[: self.train]), list(everything[self.train :]))]
        if self.n_bridges < 10:
            raise ValueError(f"{self.n_bridges} bridges make no two folds of five: ask for 10 or more")
        tests = [list(everything[i : i + 5]) for i in range(0, self.n_bridges, 5)]
        return [([i for i in everything if i not in test], test) for test in tests]

    def groups(self) -> list[list[int]]:
        """Groups of bridges of which one at a time is kept from a forest: the test bridges of every fold. None where
        there are fewer than three folds: types that occur once must not be kept from a forest."""
        tests = [test for _, test in self.folds()]
        return tests if len(tests) > 2 else []

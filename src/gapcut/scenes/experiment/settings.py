"""Every figure of the bridge experiment."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from gapcut.scenes.bridges import CLASSES, LABELS
from gapcut.scenes.bridges.difficulty import difficulty as named
from gapcut.scenes.labelling import SceneSettings, SegmentedScan, TrainingOptions
from gapcut.scenes.labelling.settings import MEMBER_EDGES
from gapcut.scenes.scanner import ScannerSettings
from gapcut.typing import IntArray

PAPER_EDGES = MEMBER_EDGES[:3]
"""On top of (here "rests on"), direction consistency, perpendicularity: Li and Huber (2017), section 5."""

VIEWS = {"shot": ("shot",), "shape": ("shape", "segment"), "both": ("shot", "shape", "segment")}
"""What the forest sees of a point, by name."""

PARTS = SceneSettings(
    segments="given",
    points=VIEWS["shot"],
    nodes="log-odds",
    edges=(*MEMBER_EDGES, "gap", "size ratio"),
    voxel=0.2,
    cell=0.2,
    shot_radius=1.0,
    per_segment=30,
)
"""Parts are the segments, the forest sees SHOT, nodes know class distributions and their log-odds."""

LEARNING = TrainingOptions(
    trees="random",
    n_trees=50,
    rows=16_500,
    balance=1.0,
    tree_balance=1.0,
    least_leaf=3,
    class_balance=0.0,
    weight_power=0.0,
    own="learned",
    oracle="cut",
    degree_scale="none",
    incidence=True,
)
"""Forests see 1,500 points of each class, fewer of rare ones, which weigh more; all classes and parts cost the same."""

_RAW = 5  # points of a scan as measured, for each that descriptions see
_SHARES = 4  # of the parts, one at a time kept from a forest
_SHOT_VOXELS, _CELL_VOXELS = 3.5, 1.6  # at least: fewer voxels hold too few points


@dataclass(frozen=True)
class ExperimentSettings:
    """How bridges are scanned, described, and learned from.

    ``n_bridges`` in all, of which every fold tests five in a row, or, where ``train`` is given, one fold that trains on
    the first ``train`` and tests the others; ``difficulty`` of the bridges.
    """

    scanner: ScannerSettings = field(default_factory=ScannerSettings)
    scene: SceneSettings = PARTS
    training: TrainingOptions = LEARNING
    n_bridges: int = 25
    train: int | None = None
    difficulty: str = "plain"

    @property
    def classes(self) -> tuple[str, ...]:
        """Of the nodes: those of parts, and of surroundings where there are any."""
        return CLASSES if named(self.difficulty) is None else LABELS

    def of_difficulty(self, difficulty: str) -> ExperimentSettings:
        """The same for bridges of that difficulty; bridges as one finds them are scanned from fewer stations, and as
        densely as scanners do. Raises ValueError for a name that there is none of."""
        if named(difficulty) is None:
            return replace(self, difficulty=difficulty)
        scanner = replace(
            self.scanner,
            max_stations=max(4, self.scanner.max_stations // 3),
            least_gain=2 * self.scanner.least_gain,
            terrain_margin=6.0,
            raw_points=_RAW * self.scanner.points,
        )
        rows = self.training.rows * len(LABELS) // len(CLASSES)  # as many of each class
        return replace(
            self, difficulty=difficulty, scanner=scanner, training=replace(self.training, rows=rows)
        )

    @classmethod
    def quick(cls) -> ExperimentSettings:
        """One fold: ten bridges to train, one of each type to test, coarse scans."""
        full = cls()
        return replace(
            full,
            scanner=ScannerSettings(angular_step=0.4, max_stations=8, points=60_000, spacing=12.0),
            scene=replace(full.scene, per_segment=20),
            training=replace(full.training, n_trees=40, rows=11_000),
            n_bridges=15,
            train=10,
        )

    def scene_of(self, voxel: float) -> SceneSettings:
        """For a scan of one point a ``voxel`` (m): with enough voxels in descriptors and contacts, every length set."""
        size = self.scene.scaled(voxel / 2).lengths
        wide = replace(
            self.scene,
            voxel=max(size["voxel"], voxel),
            cell=max(size["cell"], _CELL_VOXELS * voxel),
            shot_radius=max(size["shot_radius"], _SHOT_VOXELS * voxel),
        )
        return wide.scaled(voxel / 2)

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

    def held_out(self, numbers: Sequence[int], scans: Sequence[SegmentedScan]) -> list[IntArray]:
        """Folds of the segments of training bridges ``numbers``, for their class distributions: bridges that are
        tested together are in one; with fewer than three folds, where a type may occur once, shares of the parts."""
        if len(self.folds()) > 2:
            groups = sorted({i // 5 for i in numbers})
            return [np.full(s.n_segments, groups.index(i // 5)) for i, s in zip(numbers, scans, strict=True)]
        rng = np.random.default_rng([self.training.seed, 11])
        return [rng.permutation(scan.n_segments) % _SHARES for scan in scans]

"""How scans become graphs, and how a model is learned from them."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass, fields
from typing import Any, Literal

from gapcut.features.pipeline import DegreeScale
from gapcut.scenes.points import point_spacing
from gapcut.scenes.regions import RegionSettings
from gapcut.typing import FloatArray

GENERAL_EDGES = (
    *("contact length", "contact share", "on top of", "below", "beside", "gap"),
    *("parallel", "perpendicular", "coplanar", "higher", "lower", "size ratio", "similarity"),
)
"""What is known of every pair of segments that touch."""

MEMBER_EDGES = (
    *("rests on", "direction consistency", "perpendicularity"),
    *("over", "under", "alignment", "normal consistency"),
)
"""More about pairs of whole members, such as beams; the first three are those of Li and Huber (2017), section 5."""


@dataclass(frozen=True)
class SceneSettings:
    """How scans become graphs; saved with the model. Lengths are metres; None is derived by :meth:`scaled`.

    - ``segments``: "grown" from the points, or "given": those that scans carry (true parts, say), where points without
      a segment are surroundings only and nothing is thinned;
    - ``points``: what the forest sees of a point: its "shape" at several scales with height and channels, the features
      of its "segment", its "shot" descriptor;
    - ``nodes``: what nodes know: their "belief", the logarithm of the class distribution; or the distribution with
      features of the "segment", or with its "log-odds";
    - ``edges``: names of the edge features, of :data:`gapcut.scenes.labelling.graphs.EDGE_FEATURES`;

    - ``voxel``: one point a voxel is worked with (all points get labels), default twice the point spacing;
    - ``angle`` degrees, ``offset``, ``extent``, ``least``: of region growing
      (:class:`gapcut.scenes.regions.RegionSettings`), default 1 voxel and 10 voxels;
    - ``cell``: segments with points in one cube of this size or in touching ones are neighbours, default 2.5 voxels;
    - ``ground_cell``, ``ground_window``: of the ground below the points, default 10 and 200 voxels;
    - ``neighbours``: points of a neighbourhood whose shape is taken, at each of ``scales`` (multiples of the voxel);
    - ``shot_radius``: of the descriptor, default 5 voxels;
    - ``per_segment``: points of a segment that the forest looks at.
    """

    segments: str = "grown"
    points: tuple[str, ...] = ("shape", "segment")
    nodes: str = "belief"
    edges: tuple[str, ...] = GENERAL_EDGES

    voxel: float | None = None
    angle: float = 15.0
    offset: float | None = None
    extent: float | None = None
    least: int = 5
    cell: float | None = None
    ground_cell: float | None = None
    ground_window: float | None = None
    neighbours: int = 16
    scales: tuple[float, ...] = (1.0, 2.0, 4.0, 8.0)
    shot_radius: float | None = None
    per_segment: int = 32

    def __post_init__(self) -> None:
        for f in fields(self):
            value = getattr(self, f.name)
            for part in value if isinstance(value, tuple) else (value,):
                known = _CHOICES.get(f.name)
                if known is not None and part not in known:
                    raise ValueError(f"scene setting {f.name}={part!r}: use {', '.join(known)}")
                if known is None and part is not None and not (part > 0 and math.isfinite(part)):
                    raise ValueError(f"scene setting {f.name}={value} must be positive")
        if not self.points or not self.edges:
            raise ValueError("scenes need at least one kind of point feature and one edge feature")
        if self.neighbours < 4 or not self.scales or list(self.scales) != sorted(set(self.scales)):
            raise ValueError("scenes need at least 4 neighbours and one ascending scale")

    def scaled(self, spacing: float) -> SceneSettings:
        """With every length set, from the distance between neighbouring points."""
        voxel = 2.0 * spacing if self.voxel is None else self.voxel
        default = {
            "offset": voxel,
            "extent": 10.0 * voxel,
            "cell": 2.5 * voxel,
            "ground_cell": 10.0 * voxel,
            "ground_window": 200.0 * voxel,
            "shot_radius": 5.0 * voxel,
        }
        given = {key: value for key, value in asdict(self).items() if value is not None}
        return SceneSettings(**{**default, **given, "voxel": voxel})

    def for_scans(self, scans: list[FloatArray]) -> SceneSettings:
        """With every length set, from the median of the scans' point spacings."""
        spacings = sorted(point_spacing(xyz) for xyz in scans)
        return self.scaled(spacings[len(spacings) // 2])

    @property
    def lengths(self) -> dict[str, float]:
        """The lengths by name; raises ValueError while one is not set."""
        found = {key: getattr(self, key) for key in _LENGTHS}
        missing = [key for key, value in found.items() if value is None]
        if missing:
            raise ValueError(f"scene setting {missing[0]} is not set: call scaled(spacing) first")
        return found

    @property
    def regions(self) -> RegionSettings:
        """Of region growing, on thinned points."""
        size = self.lengths
        return RegionSettings(
            angle=self.angle,
            offset=size["offset"],
            reach=3.0 * size["voxel"],
            extent=size["extent"],
            least=self.least,
        )

    def to_state(self) -> dict[str, Any]:
        """JSON-able."""
        return {
            key: list(value) if isinstance(value, tuple) else value for key, value in asdict(self).items()
        }

    @classmethod
    def from_state(cls, state: dict[str, Any]) -> SceneSettings:
        """Back from JSON. Raises TypeError, ValueError for anything else."""
        values: dict[str, Any] = {k: tuple(v) if isinstance(v, list) else v for k, v in state.items()}
        return cls(**values)


_LENGTHS = ("voxel", "offset", "extent", "cell", "ground_cell", "ground_window", "shot_radius")
_CHOICES = {
    "segments": ("grown", "given"),
    "points": ("shape", "segment", "shot"),
    "nodes": ("belief", "segment", "log-odds"),
    "edges": (*GENERAL_EDGES, *MEMBER_EDGES),
}


@dataclass(frozen=True)
class TrainingOptions:
    """``n_trees`` grown on at most ``rows`` points, drawn so that a class with m points has a share in proportion to
    m to the power ``1 - balance`` (0: as they come, 1: all classes alike), where each weighs as the number drawn of its
    class to the power ``-tree_balance`` (1: rare classes count as much as others), ``least_leaf`` points a leaf;
    ``folds`` that the class distributions of the training scans are made in; ``C`` of the learner, or, where another
    one of ``C_values`` is clearly better by the folds, that; its ``gap``; ``class_balance``: classes weigh in the loss
    as their points to the power ``-class_balance``; ``weight_power``: segments weigh as their points to this power;
    ``context_balance``: classes weigh in the second forest as their points to the power ``-context_balance``;
    ``context_support``: segments of a class at which the second forest has half of the say that it has at many;
    ``channels`` to use, "echoes" among them (None: intensity and colour, each if every scan has it).

    ``trees``: "extra", extremely randomised ones (Geurts et al. 2006; a quarter of the time), or "random", of a random
    forest. ``oracle``, ``degree_scale`` and ``incidence``: of the learner. By default a segment has one label, and
    nothing grows with the number of its neighbours: a pair weighs one over the larger number of neighbours, and nodes
    get no sums. ``own``: "fixed", a segment's belief counts as it is, and how far relations change it is learned; or
    "learned", what a segment's features say is learned anew."""

    trees: Literal["extra", "random"] = "extra"
    n_trees: int = 60
    rows: int = 60_000
    balance: float = 0.5
    tree_balance: float = 0.0
    least_leaf: int = 2
    folds: int = 5
    C: float = 1.0
    C_values: tuple[float, ...] = (0.1, 1.0)
    gap: float = 1e-2
    class_balance: float = 0.5
    weight_power: float = 0.5
    context_balance: float = 0.5
    context_support: float = 50.0
    own: Literal["fixed", "learned"] = "fixed"
    oracle: Literal["lp", "cut"] = "lp"
    degree_scale: DegreeScale = "larger"
    incidence: bool = False
    channels: tuple[str, ...] | None = None
    time_limit: float | None = None
    seed: int = 0
    n_jobs: int | None = 1

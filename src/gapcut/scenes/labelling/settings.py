"""The sizes that a scene is cut up and measured with: all derived from one length, the voxel."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass, fields
from typing import Any

from gapcut.scenes.points import point_spacing
from gapcut.scenes.regions import RegionSettings
from gapcut.typing import FloatArray


@dataclass(frozen=True)
class SceneSettings:
    """How scans become graphs. Lengths are metres; None is derived by :meth:`scaled`.

    - ``voxel``: one point a voxel is worked with (all points get labels), default twice the point spacing;
    - ``angle`` degrees, ``offset``, ``extent``, ``least``: of region growing
      (:class:`gapcut.scenes.regions.RegionSettings`), default 1 voxel and 10 voxels;
    - ``cell``: segments with points in one cube of this size or in touching ones are neighbours, default 2.5 voxels;
    - ``ground_cell``, ``ground_window``: of the ground below the points, default 10 and 200 voxels;
    - ``neighbours``: points of a neighbourhood whose shape is taken, at each of ``scales`` (multiples of the voxel);
    - ``per_segment``: points of a segment that the forest looks at.
    """

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
    per_segment: int = 32

    def __post_init__(self) -> None:
        for f in fields(self):
            value = getattr(self, f.name)
            for part in value if isinstance(value, tuple) else (value,):
                if part is not None and not (part > 0 and math.isfinite(part)):
                    raise ValueError(f"scene setting {f.name}={value} must be positive")
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
        return {**asdict(self), "scales": list(self.scales)}

    @classmethod
    def from_state(cls, state: dict[str, Any]) -> SceneSettings:
        """Back from JSON. Raises TypeError, ValueError for anything else."""
        return cls(**{**state, "scales": tuple(float(s) for s in state["scales"])})


_LENGTHS = ("voxel", "offset", "extent", "cell", "ground_cell", "ground_window")

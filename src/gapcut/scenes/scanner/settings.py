"""How the virtual scanner measures: every figure with its unit."""

from __future__ import annotations

from dataclasses import dataclass, fields
from itertools import pairwise


@dataclass(frozen=True)
class ScannerSettings:
    """A phase-shift terrestrial laser scanner of the 120 m class (figures as in data sheets of such instruments).

    Stations
        ``instrument_height`` m above the ground or the deck; at most ``max_stations``, placed one after the other
        where most new surface is seen, until a further one sees less than ``least_gain`` of all; ``spacing`` m
        between the places tried; ``clearance`` m free around an instrument; ``on_deck`` allows stations on decks.
    Rays
        ``angular_step`` degrees both ways; ``lowest`` degrees is the lower end of the field of view (a blind disc
        stays under the instrument), the upper end is the zenith; returns between ``min_range`` and ``max_range`` m,
        where ``max_range`` is as far as a matt target of 10 % reflectance is seen head-on.
    Beam
        ``divergence`` half-angle in milliradians and ``waist`` radius in mm where it leaves; a beam that meets several
        surfaces returns the power-weighted mean of those within ``pulse`` m of the strongest (mixed pixels).
    Errors
        range noise of ``range_noise`` mm + ``range_noise_ppm`` millionths of the range (standard deviation, for 50 %
        reflectance head-on; it grows as the inverse root of the signal, at most three times); no return for angles of
        incidence beyond ``last_incidence`` degrees, all returns below ``full_incidence``, in between by chance;
        ``registration_shift`` mm and ``registration_turn`` degrees: standard deviation of each station's pose on each
        axis.
    Result
        at most ``points`` points: the voxel size follows from it but is at least ``min_voxel`` m;
        ``terrain_margin`` m around the structure (seen from above) in which terrain is kept, None for no terrain;
        terrain is thinned to voxels ``terrain_thinning`` times as large;
        parts with fewer than ``least_points`` points are left out and reported. With ``raw_points``, up to as many
        are drawn at random of all that were measured (of terrain the square of ``terrain_thinning`` times fewer) in
        place of one per voxel: dense near the stations, sparse far away, as scanners give them.
    """

    instrument_height: float = 1.7
    max_stations: int = 24
    least_gain: float = 0.006
    spacing: float = 7.0
    clearance: float = 0.6
    on_deck: bool = True
    angular_step: float = 0.12
    lowest: float = -60.0
    min_range: float = 0.6
    max_range: float = 120.0
    divergence: float = 0.15
    waist: float = 1.6
    pulse: float = 0.5
    range_noise: float = 1.5
    range_noise_ppm: float = 20.0
    full_incidence: float = 75.0
    last_incidence: float = 87.0
    registration_shift: float = 2.0
    registration_turn: float = 0.003
    points: int = 450_000
    min_voxel: float = 0.02
    terrain_margin: float | None = 3.0
    terrain_thinning: float = 3.0
    least_points: int = 10
    raw_points: int | None = None

    def __post_init__(self) -> None:
        """Raises ValueError naming the setting that makes no sense."""
        for f in fields(self):
            value = getattr(self, f.name)
            if value is not None and f.name != "lowest" and not value >= 0.0:
                raise ValueError(f"scanner setting {f.name}={value} must not be negative")
        if self.raw_points == 0:
            raise ValueError(
                "scanner setting raw_points must be greater than zero, or None for one point per voxel"
            )
        positive = ("points", "max_stations", "spacing", "angular_step", "max_range", "min_voxel")
        for name in positive:
            if not getattr(self, name) > 0:
                raise ValueError(f"scanner setting {name} must be greater than zero")
        ordered = {
            "terrain_thinning": (1.0, self.terrain_thinning),
            "full_incidence, last_incidence": (self.full_incidence, self.last_incidence, 90.0),
            "min_range, max_range": (self.min_range, self.max_range),
            "lowest": (-90.0, self.lowest, 89.0),
        }
        for name, values in ordered.items():
            if any(a > b for a, b in pairwise(values)):
                raise ValueError(f"scanner setting {name}: {values} must ascend")

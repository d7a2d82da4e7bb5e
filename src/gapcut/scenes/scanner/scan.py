"""From a bridge to a registered, thinned, labelled scan of it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace

import numpy as np
from scipy.ndimage import distance_transform_edt

from gapcut.scenes.bridges.model import LABELS, Bridge
from gapcut.scenes.groups import voxel_sample
from gapcut.scenes.scanner.beam import Returns, scan_station
from gapcut.scenes.scanner.rays import GROUND, RayScene
from gapcut.scenes.scanner.settings import ScannerSettings
from gapcut.scenes.scanner.stations import place_stations, targets
from gapcut.typing import AnyArray, FloatArray, IntArray

Progress = Callable[[int, int], None]
_CELL = 1.0  # metres: raster of the structure's outline as seen from above
_FIRST_SHARE = 8.0  # of rays that hit the structure, at least an eighth: rows kept of the sweeps


@dataclass(frozen=True, eq=False)
class Scan:
    """Points of all stations in one frame, thinned to one per voxel, or a share of them as they were measured.

    ``xyz`` (N, 3) m; ``part`` (N,) true part id, -1 for terrain; ``label`` (N,) index in ``LABELS``, -1 for terrain;
    ``station`` (N,) row of ``stations`` (S, 3), the instrument centres as registered; ``intensity`` (N,) of about 0 to
    1, reflectance times cosine of incidence; ``voxel`` m, of a share the one that would leave as many points as are
    asked for; ``unseen`` ids of solids without points or with too few (their points are left out); ``counts`` id ->
    points, left-out solids as they were; ``origin`` (3,) what is to be added to places for those on earth.
    """

    name: str
    xyz: FloatArray
    part: IntArray
    label: IntArray
    station: IntArray
    intensity: FloatArray
    stations: FloatArray
    voxel: float
    unseen: tuple[int, ...]
    counts: dict[int, int]
    origin: FloatArray = field(default_factory=lambda: np.zeros(3))

    @property
    def n_points(self) -> int:
        return len(self.xyz)

    def unseen_by_class(self, bridge: Bridge) -> dict[str, tuple[int, int]]:
        """Class -> (parts left out, parts of the class), for classes that the bridge has."""
        gone = set(self.unseen)
        out: dict[str, tuple[int, int]] = {}
        for part in bridge.parts:
            left, of = out.get(part.label, (0, 0))
            out[part.label] = (left + (part.id in gone), of + 1)
        return out


def scan_bridge(
    bridge: Bridge,
    seed: int = 0,
    settings: ScannerSettings | None = None,
    *,
    stations: AnyArray | None = None,
    reflectance: AnyArray | None = None,
    progress: Progress | None = None,
) -> Scan:
    """Scan a bridge with a virtual terrestrial laser scanner.

    Equal arguments give equal scans. ``stations`` (S, 3): instrument centres, instead of the automatic ones;
    ``reflectance`` (n_parts,) in (0, 1] in the order of ``bridge.parts``, instead of random ones that tell nothing
    about classes; ``progress(done, of)`` is called after each station.

    Raises ImportError without embreex, ValueError for a bridge without parts, for part ids that repeat, and where
    no point comes back.
    """
    s = settings or ScannerSettings()
    _check(bridge)
    plan, survey, thin = np.random.default_rng([seed, 0]), np.random.SeedSequence([seed, 1]), seed
    scene = RayScene(bridge)
    centres = place_stations(bridge, scene, s, plan) if stations is None else _rows(stations)
    shine = _reflectance(bridge, reflectance, plan)
    outline = _Outline(bridge, s.terrain_margin, plan)
    first = _first_voxel(bridge, s)
    share = _Share(s, len(centres), seed)
    pieces, poses = [], []
    for i, child in enumerate(survey.spawn(len(centres))):
        rng = np.random.default_rng(child)
        sweep = scan_station(scene, centres[i], shine, s, rng)
        if s.raw_points is None:
            piece = _join([outline.keep(r[_thin_rows(r, first, s, thin)]) for r in sweep])
        else:
            piece = _join([outline.keep(r[share.draw(r)]) for r in sweep])
        pose = _pose(centres[i], s, rng)
        pieces.append(Returns(pose(piece.xyz), piece.part, piece.intensity))
        poses.append(pose(centres[i][None])[0])
        if progress is not None:
            progress(i + 1, len(centres))
    station = np.repeat(np.arange(len(pieces)), [len(p.part) for p in pieces])
    found = _join(pieces)
    if s.raw_points is None:
        rows, voxel = _fitting_voxel(found, first, s, thin)
    else:
        rows = share.rest(len(found.part))
        _, voxel = _fitting_voxel(found[rows], first, s, thin)
    return _finish(bridge, found[rows], station[rows], np.array(poses), voxel, s)


def thin_scan(scan: Scan, seed: int, settings: ScannerSettings) -> Scan:
    """A scan of ``raw_points`` with one point per voxel, solids with too few points left out again."""
    points = Returns(scan.xyz, scan.part, scan.intensity)
    rows = _thin_rows(points, scan.voxel, settings, seed)
    found = np.bincount(scan.part[rows][scan.part[rows] >= 0], minlength=len(scan.counts))
    few = found < max(1, settings.least_points)
    rows = rows[(scan.part[rows] < 0) | ~few[scan.part[rows]]]
    arrays = {name: getattr(scan, name)[rows] for name in ("xyz", "part", "label", "station", "intensity")}
    return replace(scan, **arrays, unseen=tuple(int(i) for i in np.flatnonzero(few)))


def _check(bridge: Bridge) -> None:
    ids = [part.id for part in bridge.solids]
    if not bridge.parts:
        raise ValueError(f"bridge {bridge.name} has no parts to scan")
    if sorted(ids) != list(range(len(ids))):
        raise ValueError(f"bridge {bridge.name}: part ids must be 0 to {len(ids) - 1}, each once")


def _rows(stations: AnyArray) -> FloatArray:
    rows = np.asarray(stations, dtype=np.float64)
    if rows.ndim != 2 or rows.shape[1] != 3 or not len(rows) or not np.isfinite(rows).all():
        raise ValueError(f"stations have shape {rows.shape}, need (S, 3) finite instrument centres")
    return rows


def _reflectance(bridge: Bridge, given: AnyArray | None, rng: np.random.Generator) -> FloatArray:
    """By part id, the terrain last."""
    drawn = np.clip(rng.normal(0.45, 0.06, size=bridge.n_parts + 1), 0.2, 0.9)
    others = np.clip(rng.normal(0.45, 0.06, size=len(bridge.surroundings)), 0.2, 0.9)
    drawn = np.concatenate([drawn[:-1], others, drawn[-1:]])
    if given is not None:
        values = np.asarray(given, dtype=np.float64)
        if values.shape != (bridge.n_parts,) or not np.all((values > 0) & (values <= 1)):
            raise ValueError(f"reflectance must be {bridge.n_parts} numbers in (0, 1], one for each part")
        drawn[[part.id for part in bridge.parts]] = values
    return drawn


class _Outline:
    """The structure as seen from above, widened: terrain beyond it is left out."""

    def __init__(self, bridge: Bridge, margin: float | None, rng: np.random.Generator) -> None:
        self._margin = margin
        if margin is None:
            return
        some = targets(bridge, rng, 400).points[:, :2]
        self._low = some.min(axis=0) - margin - 2 * _CELL
        cells = np.ceil((some.max(axis=0) + margin + 2 * _CELL - self._low) / _CELL).astype(np.int64)
        self._mask = np.zeros(cells, dtype=bool)
        self._mask[tuple(np.floor((some - self._low) / _CELL).astype(np.int64).T)] = True
        self._mask = distance_transform_edt(~self._mask) * _CELL <= margin

    def keep(self, r: Returns) -> Returns:
        ground = r.part == GROUND
        if self._margin is None:
            return r[~ground]
        cell = np.floor((r.xyz[:, :2] - self._low) / _CELL).astype(np.int64)
        near = ((cell >= 0) & (cell < self._mask.shape)).all(axis=1)
        near[near] = self._mask[tuple(cell[near].T)]
        return r[~ground | near]


def _pose(
    centre: FloatArray, s: ScannerSettings, rng: np.random.Generator
) -> Callable[[FloatArray], FloatArray]:
    """The station's registration error: a small turn about its centre and a shift."""
    shift = 1e-3 * s.registration_shift * rng.normal(size=3)
    x, y, z = np.radians(s.registration_turn) * rng.normal(size=3)
    turn = np.eye(3) + np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])  # angles this small need no more
    return lambda xyz: (xyz - centre) @ turn.T + centre + shift


def _first_voxel(bridge: Bridge, s: ScannerSettings) -> float:
    """Surely finer than the final voxel: a fraction of what the whole surface would need."""
    t = bridge.mesh.triangles
    area = np.linalg.norm(np.cross(t[:, 1] - t[:, 0], t[:, 2] - t[:, 0]), axis=1).sum() / 2
    return max(s.min_voxel, 0.35 * float(np.sqrt(area / s.points)))


def _join(pieces: list[Returns]) -> Returns:
    if not pieces:
        return Returns(np.empty((0, 3)), np.empty(0, dtype=np.int64), np.empty(0))
    return Returns(*(np.concatenate([getattr(p, f) for p in pieces]) for f in Returns.__dataclass_fields__))


def _thin_rows(r: Returns, voxel: float, s: ScannerSettings, seed: int) -> IntArray:
    """One point of each voxel, of terrain one of each larger voxel."""
    ground = r.part == GROUND
    rows = []
    for mask, size in ((~ground, voxel), (ground, voxel * s.terrain_thinning)):
        some = np.flatnonzero(mask)
        rows.append(some[voxel_sample(r.xyz[some], size, seed)])
    return np.sort(np.concatenate(rows))


def _fitting_voxel(r: Returns, voxel: float, s: ScannerSettings, seed: int) -> tuple[IntArray, float]:
    """Rows kept and the voxel size that brings their number below the upper bound, to about nine tenths of it."""
    rows = _thin_rows(r, voxel, s, seed)
    while len(rows) > s.points:
        # On surfaces the number goes with the square of the size.
        voxel *= max(1.02, float(np.sqrt(len(rows) / (0.9 * s.points))))
        rows = rows[_thin_rows(r[rows], voxel, s, seed)]
    return rows, voxel


class _Share:
    """Draws points at random: first some of each sweep, so that few need to be kept, then as many as are asked for."""

    def __init__(self, s: ScannerSettings, stations: int, seed: int) -> None:
        self._rng = np.random.default_rng([seed, 2])
        self._most = s.raw_points or 0
        rays = stations * 360.0 * (90.0 - s.lowest) / s.angular_step**2
        self._share = min(1.0, _FIRST_SHARE * self._most / rays)
        self._of_terrain = self._share / s.terrain_thinning**2

    def draw(self, r: Returns) -> IntArray:
        """Rows of a sweep."""
        chance = np.where(r.part == GROUND, self._of_terrain, self._share)
        return np.flatnonzero(self._rng.random(len(chance)) < chance)

    def rest(self, n: int) -> IntArray:
        """Rows of n points of all sweeps."""
        return np.sort(self._rng.permutation(n)[: self._most])


def _finish(
    bridge: Bridge, points: Returns, station: IntArray, stations: FloatArray, voxel: float, s: ScannerSettings
) -> Scan:
    solids = bridge.solids
    found = np.bincount(points.part[points.part >= 0], minlength=len(solids))
    if not found[: bridge.n_parts].any():
        raise ValueError(
            f"bridge {bridge.name}: no point of it came back; check the stations and the range limits"
        )
    few = found < max(1, s.least_points)
    keep = (points.part < 0) | ~few[points.part]
    points, station = points[keep], station[keep]
    classes = np.full(len(solids) + 1, -1, dtype=np.int64)
    for solid in solids:
        classes[solid.id] = LABELS.index(solid.label)
    return Scan(
        name=bridge.name,
        xyz=points.xyz,
        part=points.part,
        label=classes[points.part],
        station=station,
        intensity=points.intensity,
        stations=stations,
        voxel=voxel,
        unseen=tuple(int(i) for i in np.flatnonzero(few)),
        counts={i: int(n) for i, n in enumerate(found)},
        origin=np.asarray(bridge.origin, dtype=np.float64),
    )

"""A scan labelled tile by tile: what each tile does alone and what all decide together, in turn."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from gapcut.engines import free_bytes
from gapcut.inference import Solution
from gapcut.scenes.clouds import CloudFileError, label_names_path
from gapcut.scenes.clouds.labelled import write_added
from gapcut.scenes.labelling import SceneModel
from gapcut.scenes.labelling.inventory import Inventory
from gapcut.scenes.labelling.model import Decision
from gapcut.scenes.labelling.reasons import Reasons
from gapcut.scenes.labelling.scene import Say, Stopwatch
from gapcut.scenes.tiles import merge, steps
from gapcut.scenes.tiles.columns import Labelled, write_columns
from gapcut.scenes.tiles.cut import Points, cut
from gapcut.scenes.tiles.grid import Tile, TileGrid
from gapcut.scenes.tiles.needs import Needs, tile_size
from gapcut.scenes.tiles.plan import Plan, Scratch, Stamp, TileOptions, known_key, raw_name, stamp
from gapcut.scenes.tiles.pool import Run, processes
from gapcut.scenes.tiles.strips import Around, Outside
from gapcut.scenes.tiles.survey import ScanFile, Survey, survey
from gapcut.typing import AnyArray, IntArray
from gapcut.version import __version__

HALO = 170
"""Voxels around a tile that it sees, where nothing else is asked for."""
_CELLS = 64  # voxels a square that points are counted in
_ROOM = 768 * 2.0**20  # bytes of what was read, until it is cut into tiles
_SHARES = {"thin": 0.1, "grow": 0.35, "describe": 0.35, "rate": 0.1, "place": 0.1, "list": 0.3}
"""Of the work on a tile without a table of segments, as measured."""


@dataclass(frozen=True, eq=False)
class TiledScan:
    """What is told of a labelled scan: ``found`` counts of its labels and so on; numbers of kept points, segments,
    edges; ``solution`` of the energy of the whole scan; ``strange`` and ``reasons`` as of
    :class:`gapcut.scenes.labelling.LabelledScan`; ``inventory`` of the segments, if it was asked for; what was seen of
    files beside it (None: nothing was to be seen); what it took."""

    found: Labelled
    n_kept: int
    n_segments: int
    n_edges: int
    solution: Solution[IntArray]
    reasons: Reasons
    strange: float
    inventory: Inventory | None
    needs: Needs
    outside: Outside | None
    seconds: dict[str, float]
    cpu_seconds: dict[str, float]


def label_tiled(
    target: str | PathLike[str],
    scan: ScanFile,
    model: str | PathLike[str],
    options: TileOptions | None = None,
    *,
    time_limit: float | None = 300.0,
    say: Say | None = None,
    announce: Callable[[Needs], None] | None = None,
    listed: bool = False,
    around: Around | None = None,
) -> TiledScan:
    """Label a file into another one, as ``SceneModel.label`` and ``write_labelled`` would.

    Regions, features and the energy are those of the whole scan, put together from tiles that see ``options.halo``
    metres around them: labels differ where a neighbourhood reaches farther. Memory is that of a tile in each process,
    some 30 bytes a point, later 6 kilobytes a segment; LAS and LAZ are read in parts, other formats whole. What is
    found is kept in the folder ``<target>.tiles`` until the end: a run that was killed goes on where it was.
    ``announce`` hears what is needed before the work. ``model`` is a file. ``listed``: whether an inventory of the
    segments is asked for. ``around``: the files beside it, whose points are seen, too, and not labelled; points are
    then told apart by their places, so that two files see the same ones where they meet. Raises ValueError, OSError: a
    model of given segments, a missing channel, damaged files.
    """
    wanted, tell, clock = options or TileOptions(), say or (lambda line: None), Stopwatch()
    scene_model = _of_grown_segments(Path(model))
    clock.begin("reading")
    tell("reading ...")
    files = _stamps(scan)
    points = _read(scan, scene_model, wanted, around)
    plan, needs = _planned(points, scene_model, Path(model), wanted, Scratch(scratch_path(target)), around)
    if announce is not None:
        announce(needs)
    plan.scratch.open(_key(scan, files, points, plan, around))
    plan = cut(points, plan)
    _unchanged(scan, files)
    with processes(wanted.jobs) as run:
        work = _Work(plan, run, clock, _Progress(plan, tell, listed))
        made, strange, n_edges = _labels(work, scene_model, time_limit, tell, listed)
    clock.begin("writing")
    tell("writing ...")
    found = _write(target, plan, scan, files, points.seen, scene_model, made)
    rows = merge.gather_segments(plan, made.labels, made.confidence, scene_model.names) if listed else []
    clock.begin(None)
    n_kept, outside = merge.own_kept(plan), points.outside
    plan.scratch.remove()
    return TiledScan(
        found=found,
        n_kept=n_kept,
        n_segments=found.segments,
        n_edges=n_edges,
        solution=made.solution,
        reasons=made.reasons,
        strange=strange,
        inventory=Inventory(rows, points.seen.crs) if listed else None,
        needs=needs,
        outside=None if outside is None or around is None else outside.without(around.changed()),
        seconds=clock.seconds,
        cpu_seconds=clock.cpu,
    )


def scratch_path(target: str | PathLike[str]) -> Path:
    """Where what is found is kept until the scan is written."""
    return Path(f"{target}.tiles")


def _of_grown_segments(path: Path) -> SceneModel:
    model = steps.model_of(path)
    if model.settings.segments == "given":
        raise ValueError(f"{path} takes segments as given: such scans are not cut into tiles")
    return model


def _room(wanted: TileOptions) -> float:
    """Bytes for what the first reading finds."""
    return min(_ROOM, free_bytes() / 4 if wanted.room is None else wanted.room)


def _stamps(scan: ScanFile) -> list[Stamp]:
    """Of all files that the labels depend on."""
    names = label_names_path(scan.path)
    return [stamp(path) for path in ([scan.path, names] if names.is_file() else [scan.path])]


def _unchanged(scan: ScanFile, files: list[Stamp]) -> None:
    """What was found in a file is not of the points that it holds now: raises CloudFileError."""
    if _stamps(scan) != files:
        raise CloudFileError(
            scan.path, "was changed while it was labelled: label it again when it is complete"
        )


def _read(scan: ScanFile, model: SceneModel, wanted: TileOptions, around: Around | None) -> Points:
    """The file, and what it sees of its neighbours."""
    cell = _CELLS * model.settings.lengths["voxel"]
    seen, parts = survey(scan, cell, model.channels, _room(wanted))
    seen.check(scan, model.channels)
    if around is None:
        return Points(scan, seen, parts)
    outside = around.outside(seen, model.channels, cell)
    return Points(scan, replace(seen, common=around.common_shift(seen)), parts, outside)


def _planned(
    points: Points,
    model: SceneModel,
    model_path: Path,
    wanted: TileOptions,
    scratch: Scratch,
    around: Around | None,
) -> tuple[Plan, Needs]:
    """How the points are to be cut, and what that needs."""
    voxel, seen, whole = model.settings.lengths["voxel"], points.seen, points.all_of_them
    halo = wanted.halo or HALO * voxel
    grid = TileGrid.of_size(wanted.tile or tile_size(whole, halo), voxel)
    plan = Plan(
        scratch=scratch,
        model=model_path,
        settings=model.settings,
        channels=model.channels,
        intensities=seen.intensities,
        shift=tuple(seen.shift.tolist()),
        grid=grid,
        halo=halo,
        tiles=(),
        n_rows=whole.n_points,
        n_own=seen.n_points,
        by_place=around is not None,
    )
    return plan, replace(Needs.of(whole, grid, halo, wanted.jobs), points=seen.n_points)


def _key(
    scan: ScanFile, files: list[Stamp], points: Points, plan: Plan, around: Around | None
) -> dict[str, Any]:
    """Of the folder of what is found, which another run of the same work may have begun. ``files`` as they were before
    they were read."""
    said = {"gapcut": __version__, "tile": plan.grid.size, "halo": plan.halo, "invalid": scan.invalid}
    # a list of pairs: earlier labels are kept as places in the classes file, so its order counts
    classes = None if scan.classes is None else list(scan.classes.numbers.items())
    said |= {"columns": scan.columns, "classes": classes}
    if around is not None and points.outside is not None:
        said |= {"around": around.described(), "lacked": sorted(points.outside.lacked)}
    return known_key(plan.model, files, said)


def _labels(
    work: _Work, model: SceneModel, limit: float | None, tell: Say, listed: bool
) -> tuple[Decision, float, int]:
    """As :func:`_decide` says, and every point has its segment, which is ``listed`` or not."""
    table = work.until_table()
    tell("inference ...")
    found = _decide(work.plan, model, table, work.clock, limit)
    work.step("place", steps.place_tile)
    if listed:
        work.step("list", steps.list_tile)
    return found


def _decide(
    plan: Plan, model: SceneModel, table: dict[str, AnyArray], clock: Stopwatch, limit: float | None
) -> tuple[Decision, float, int]:
    """Labels of all segments by one energy; the share of points that training has not seen the like of; edges."""
    distribution, rows = merge.distributions(plan, len(model.numbers))
    contacts = merge.contacts(plan, table)
    owner, none = np.empty(0, dtype=np.int64), np.empty((0, 0), dtype=np.float32)
    whole = steps.scan_of(plan, table, owner, none, contacts)
    made = model.decide(whole, distribution, clock, limit)
    return made, model.familiar.strange_among(rows), len(contacts.edges)


def _write(
    target: str | PathLike[str],
    plan: Plan,
    scan: ScanFile,
    files: list[Stamp],
    seen: Survey,
    model: SceneModel,
    made: Decision,
) -> Labelled:
    """The scan with its labels, of all points that its file holds."""
    _unchanged(scan, files)
    found, addition = write_columns(plan, scan, seen, model, made.labels, made.confidence)
    with warnings.catch_warnings():
        write_added(target, scan.path, addition, invalid=scan.invalid, columns=scan.columns)
    return found


@dataclass(frozen=True)
class _Work:
    """The steps of a scan, each done where it is not done yet."""

    plan: Plan
    run: Run
    clock: Stopwatch
    progress: _Progress

    def until_table(self) -> dict[str, AnyArray]:
        """Everything before the labels; the table of all segments."""
        self.step("thin", steps.thin_tile)
        self.together("ground", merge.number_kept)
        self.step("grow", steps.grow_tile)
        self.together("joined", merge.join_seams)
        self.step("describe", steps.describe_tile)
        self.together("table", merge.gather_table)
        self.step("rate", steps.rate_tile)
        return self.plan.scratch.load("table")

    def step(self, name: str, work: Callable[[Plan, Tile], None]) -> None:
        """On every tile."""
        self.clock.begin(_TOLD[name])
        left = [tile for tile in self.plan.tiles if not self.plan.scratch.has(_LEAVES[name], tile)]
        self.progress.begin(name, left)
        spent = self.run(partial(timed, work, self.plan), left, self.progress.done)
        self.clock.begin(None)
        self.clock.cpu[_TOLD[name]] = spent

    def together(self, leaves: str, work: Callable[[Plan], None]) -> None:
        """On all of them, by this process."""
        self.clock.begin("seams")
        if not self.plan.scratch.has(leaves):
            work(self.plan)


_TOLD = {
    "thin": "thinning",
    "grow": "segments",
    "describe": "features",
    "rate": "forest",
    "place": "labels of points",
    "list": "table of segments",
}
_LEAVES = {
    "thin": "kept",
    "grow": "grown",
    "describe": "described",
    "rate": "rated",
    "place": "placed",
    "list": "listed",
}


def timed(work: Callable[[Plan, Tile], None], plan: Plan, tile: Tile) -> float:
    """Do it; CPU seconds that it took."""
    start = time.process_time()
    work(plan, tile)
    return time.process_time() - start


class _Progress:
    """Says which tile of which step was done, and how long the rest will take, by the points that are left."""

    def __init__(self, plan: Plan, say: Say, listed: bool) -> None:
        size = plan.record.itemsize
        self._points = {t: (plan.scratch.root / raw_name(t)).stat().st_size / size for t in plan.tiles}
        self._whole = sum(share for step, share in _SHARES.items() if step != "list" or listed)
        self._say, self._start, self._done, self._skipped = say, time.monotonic(), 0.0, 0.0
        self._step, self._n, self._count, self._each = "", 0, 0, 0.0

    def begin(self, step: str, left: Sequence[Tile]) -> None:
        """A step, on the tiles where it is not done."""
        whole = sum(self._points.values())
        mine = sum(self._points[t] for t in left)
        self._skipped += _SHARES[step] * (whole - mine) / whole
        self._step, self._n, self._count = step, len(left), 0
        self._each = _SHARES[step] * mine / whole / max(1, len(left))

    def done(self) -> None:
        """One more tile."""
        self._count += 1
        self._done += self._each
        rest = max(0.0, self._whole - self._done - self._skipped)
        seconds = (time.monotonic() - self._start) * rest / max(self._done, 1e-9)
        self._say(f"{_TOLD[self._step]}, tile {self._count} of {self._n}; about {spelled(seconds)} left ...")


def spelled(seconds: float) -> str:
    """As people say it."""
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"

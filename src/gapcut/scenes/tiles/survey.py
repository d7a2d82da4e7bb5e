"""A first reading of a file: what of its labelling depends on all of its points."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from gapcut.scenes.clouds import ClassMap, CloudFileError, PointCloud
from gapcut.scenes.clouds.files import Invalid, blamed, read_parts
from gapcut.scenes.clouds.names import COLOURS, meanings
from gapcut.scenes.clouds.table import Table, from_table, whole_colours
from gapcut.scenes.labelling.model import TRUTH
from gapcut.scenes.labelling.scene import ECHOES, IntensityRange, known_echoes, raw_channel
from gapcut.typing import AnyArray, Float32Array, FloatArray, IntArray

_SMALL_COLOUR = 255
_FEW = 1 << 16


@dataclass(frozen=True)
class ScanFile:
    """A point cloud file and how to read it."""

    path: Path
    invalid: Invalid = "error"
    columns: Sequence[str] | None = None
    classes: ClassMap | None = None

    def parts(self, top_colour: int | None = None) -> Iterator[PointCloud]:
        """The cloud in parts, in order. ``top_colour``: the largest of all, where more than 255 means 16 bits."""
        for table in read_parts(self.path, self.columns):
            yield self.cloud(_eight_bits(table, top_colour))

    def tables(self) -> Iterator[Table]:
        """The columns, in the same parts."""
        yield from read_parts(self.path, self.columns)

    def cloud(self, table: Table) -> PointCloud:
        """Of a part."""
        with blamed(self.path):
            return from_table(table, self.path.stem, self.invalid)


@dataclass(frozen=True, eq=False)
class Part:
    """What tiles take of a part of a file: ``xyz`` (N, 3), ``channels`` (N, C) as they are in the file, NaN where
    unknown, and the labels that become ``truth`` and ``original`` (N,), None where there are none."""

    xyz: FloatArray
    channels: Float32Array
    truth: IntArray | None
    original: IntArray | None

    @classmethod
    def of(cls, cloud: PointCloud, channels: Sequence[str], classes: ClassMap | None) -> Part:
        """Of a cloud, which has the colours of the whole one."""
        original = None if classes is None else cloud.labels
        return cls(cloud.xyz, raw_channels(cloud, channels), labels_before(cloud, classes).labels, original)

    @property
    def nbytes(self) -> int:
        return sum(a.nbytes for a in (self.xyz, self.channels, self.truth, self.original) if a is not None)


@dataclass(frozen=True, eq=False)
class Survey:
    """What all points of a file have in common: their number; ``low`` and ``high`` (3,); ``intensities`` (None: none,
    or all are 0); ``top_colour``, the largest value (None: no colours, or all are 0); the distinct labels that become
    ``truth`` (None: nothing does), with ``names``; ``original``: whether a file of classes made them of others; points
    by square of ``cell`` metres; the coordinate system ``crs``; whether points say which echo they are."""

    n_points: int
    low: FloatArray
    high: FloatArray
    intensities: IntensityRange | None
    top_colour: int | None
    truth: IntArray | None
    names: Mapping[int, str]
    original: bool
    squares: Mapping[tuple[int, int], int]
    cell: float
    crs: str | None
    echoes: bool
    common: tuple[float, float, float] | None = None

    @property
    def shift(self) -> FloatArray:
        """(3,) as :attr:`gapcut.scenes.clouds.PointCloud.shift` of all points, or what several files have in
        ``common``."""
        if self.common is not None:
            return np.asarray(self.common)
        return PointCloud(np.stack([self.low, self.high])).shift

    def check(self, scan: ScanFile, channels: Sequence[str]) -> None:
        """Raises ValueError naming a channel that is missing."""
        there = {"intensity": self.intensities is not None, "colour": self.top_colour is not None}
        there["echoes"] = self.echoes
        check_channels(scan, channels, {name for name, is_there in there.items() if is_there})


def survey(
    scan: ScanFile, cell: float, channels: Sequence[str], room: float = 0.0
) -> tuple[Survey, list[Part] | None]:
    """Read a file once; ``cell`` metres of the squares that points are counted in; ``channels`` of the model. Beside
    the survey the parts of the file, so that it need not be read again, if they take no more than ``room`` bytes;
    never with colours, which only the largest of all parts tells how to read."""
    kept: list[Part] | None = None if "colour" in channels else []
    n, low, high = 0, np.full(3, np.inf), np.full(3, -np.inf)
    values, counts = np.empty(0), np.empty(0, dtype=np.int64)
    top: int | None = None
    crs: str | None = None
    echoes = set[str]()
    truth, names, original = None, dict[int, str](), False
    places = dict[tuple[int, int], int]()
    for table in scan.tables():
        top = max((t for t in (top, _top_colour(table)) if t is not None), default=None)
        cloud = scan.cloud(table)
        n += cloud.n_points
        low, high = np.minimum(low, cloud.xyz.min(axis=0)), np.maximum(high, cloud.xyz.max(axis=0))
        if "intensity" in channels and cloud.intensity is not None:
            values, counts = _counted(values, counts, cloud.intensity)
        if kept is not None:
            kept.append(Part.of(cloud, channels, scan.classes))
            room -= kept[-1].nbytes
            kept = kept if room >= 0.0 else None
        before = labels_before(cloud, scan.classes)
        if before.labels is not None or TRUTH in cloud.added:
            found = np.empty(0, dtype=np.int64) if before.labels is None else before.labels
            truth = np.union1d(found, np.empty(0, dtype=np.int64) if truth is None else truth)
        original |= scan.classes is not None and "label" not in cloud.added and cloud.labels is not None
        names |= dict(before.label_names)
        crs = crs or cloud.crs
        echoes |= known_echoes(cloud)
        count_squares(places, cloud.xyz, cell)
    if not n:
        raise CloudFileError(scan.path, "holds no points")
    known = bool(values[np.isfinite(values)].any()) if scan.path.suffix.lower() in (".las", ".laz") else True
    seen = Survey(
        n_points=n,
        low=low,
        high=high,
        intensities=IntensityRange.of(values, counts) if known else None,
        top_colour=top,
        truth=truth,
        names=names,
        original=original,
        squares=places,
        cell=cell,
        crs=crs,
        echoes=echoes == set(ECHOES),
    )
    return seen, kept


def check_channels(scan: ScanFile, channels: Sequence[str], have: Collection[str]) -> None:
    """Raises ValueError naming a channel of the model that a file has not."""
    for channel in channels:
        if channel not in have:
            raise ValueError(f"{scan.path.stem} has no {channel}, but the model was trained with it")


def known_channels(scan: ScanFile, cloud: PointCloud) -> set[str]:
    """What part of a file says of its points: intensity, colour, and those of ``ECHOES``. Of LAS, zeros say nothing."""
    las, have = scan.path.suffix.lower() in (".las", ".laz"), known_echoes(cloud)
    for name in ("intensity", "colour"):
        column = raw_channel(cloud, name)
        if column is not None and (column[np.isfinite(column)].any() if las else np.isfinite(column).any()):
            have.add(name)
    return have


def raw_channels(cloud: PointCloud, channels: Sequence[str]) -> Float32Array:
    """(N, C) as they are in the file, NaN where unknown."""
    given = [raw_channel(cloud, name) for name in channels]
    columns = [np.full(cloud.n_points, np.nan) if column is None else column for column in given]
    return np.column_stack([np.empty((cloud.n_points, 0)), *columns]).astype(np.float32)


def count_squares(squares: dict[tuple[int, int], int], xyz: FloatArray, cell: float) -> None:
    """Add points (N, 3) to the numbers of those in each square of ``cell`` metres."""
    at, of = distinct_pairs(np.floor(xyz[:, :2] / cell).astype(np.int64))
    for (i, j), count in zip(at.tolist(), np.bincount(of).tolist(), strict=True):
        squares[i, j] = squares.get((i, j), 0) + count


def squares_near(squares: Iterable[tuple[int, int]], rings: int) -> frozenset[tuple[int, int]]:
    """With those up to so many squares away."""
    across = range(-rings, rings + 1)
    wide = {(i + step, j) for i, j in squares for step in across}
    return frozenset((i, j + step) for i, j in wide for step in across)


def distinct_pairs(pairs: IntArray) -> tuple[IntArray, IntArray]:
    """The different rows of (N, 2) whole numbers, ascending, and (N,) which of them each row is."""
    first, second = pairs[:, 0] - pairs[:, 0].min(), pairs[:, 1] - pairs[:, 1].min()
    width = int(second.max()) + 1
    key = first * width + second
    n_keys = (int(first.max()) + 1) * width
    if n_keys <= max(_FEW, 4 * len(key)):  # counted, not sorted
        keys = np.flatnonzero(np.bincount(key, minlength=n_keys))
        number = np.empty(n_keys, dtype=np.int64)
        number[keys] = np.arange(len(keys))
        of = number[key]
    else:
        keys, of = np.unique(key, return_inverse=True)
    low = pairs[:, 0].min(), pairs[:, 1].min()
    return np.column_stack([keys // width, keys % width]) + low, of


def labels_before(cloud: PointCloud, classes: ClassMap | None) -> PointCloud:
    """The cloud with the labels that are its truth: none that we gave it, but what was ``truth`` then."""
    if "label" not in cloud.added:
        return cloud if classes is None else classes.ours(cloud)
    return cloud.replace(labels=cloud.extra[TRUTH] if TRUTH in cloud.added else None)


def top_colour(scan: ScanFile) -> int | None:
    """The largest value of a file, which is read for it; None without colours, or where all are 0."""
    return max((t for t in map(_top_colour, scan.tables()) if t is not None), default=None)


def _counted(values: FloatArray, counts: IntArray, more: FloatArray) -> tuple[FloatArray, IntArray]:
    """Distinct values and how often each occurs, with more of them."""
    new, often = np.unique(more, return_counts=True)
    both, at = np.unique(np.concatenate([values, new]), return_inverse=True)
    return both, np.bincount(at, np.concatenate([counts, often]), len(both)).astype(np.int64)


def _top_colour(table: Table) -> int | None:
    chosen = meanings(table.columns, table.said.added)
    if not all(name in chosen for name in COLOURS):
        return None
    top = int(_colours(table, chosen).max())
    return None if table.las and not top else top


def _colours(table: Table, chosen: Mapping[str, str]) -> AnyArray:
    return whole_colours(np.stack([table.columns[chosen[name]] for name in COLOURS], axis=1))


def _eight_bits(table: Table, top: int | None) -> Table:
    """Colours as the cloud of all parts would have them, which knows the largest one."""
    if top is None or top <= _SMALL_COLOUR:
        return table
    chosen = meanings(table.columns, table.said.added)
    rgb = (_colours(table, chosen) >> 8).astype(np.uint8)
    new = {chosen[name]: rgb[:, i] for i, name in enumerate(COLOURS)}
    return replace(table, columns={**table.columns, **new})

"""Strips of a file's points that its neighbours see, each in a file of its own: read once for all neighbours."""

from __future__ import annotations

import hashlib
import json
import os
import secrets
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import IO, Any

import numpy as np

from gapcut.scenes.clouds import CloudFileError
from gapcut.scenes.labelling.scene import ECHOES
from gapcut.scenes.tiles.folder import Box, Extent
from gapcut.scenes.tiles.plan import channel_width, stamp
from gapcut.scenes.tiles.survey import (
    ScanFile,
    Survey,
    check_channels,
    count_squares,
    distinct_pairs,
    known_channels,
    raw_channels,
    squares_near,
    top_colour,
)
from gapcut.typing import AnyArray, FloatArray
from gapcut.version import __version__

FOLDER = ".gapcut-seams"
"""In the folder of the results, until the end of the run."""
ALONE = "its header's box is not that of its points"
_SLACK = 0.05  # metres that a header's box may be too small
_MOST_SQUARES = 15_000  # from the origin: of 64 voxels, of which a million can be told apart
_AT_ONCE = 200_000
_CHANGED = "was changed while the folder was labelled: label it again when it is complete"


@dataclass(frozen=True)
class Neighbour:
    """A file that others see, and what was known of it."""

    scan: ScanFile
    extent: Extent

    def changed(self) -> bool:
        """Whether it is another file now, or none."""
        try:
            return stamp(self.scan.path) != self.extent.stamp
        except OSError:
            return True

    def lies(self, low: FloatArray, high: FloatArray) -> bool:
        """Whether points from ``low`` to ``high`` are not in the box of its header."""
        inside = (low >= np.asarray(self.extent.box[0]) - _SLACK) & (
            high <= np.asarray(self.extent.box[1]) + _SLACK
        )
        return not inside[:2].all()


@dataclass(frozen=True)
class Around:
    """What a file sees of others: ``own`` as it was looked at, its ``neighbours``, by name; ``halo`` metres around its
    box; the ``shift`` of all files that hang together; the ``folder`` of the strips."""

    own: Neighbour
    neighbours: tuple[Neighbour, ...]
    halo: float
    shift: tuple[float, float, float]
    folder: Path

    def described(self) -> list[Any]:
        """JSON-able: all that the labels depend on besides the file itself."""
        others = [(n.scan.path.name, n.extent.digest, n.extent.box) for n in self.neighbours]
        return [self.halo, self.shift, self.own.extent.box, others]

    def strip(self, neighbour: Neighbour) -> Path:
        """Where the points of a neighbour are that this file sees."""
        return strip_path(self.folder, neighbour, self.own)

    def common_shift(self, seen: Survey) -> tuple[float, float, float] | None:
        """What a file that was read has in common with the others; None if its points are too far from it, as where
        a header lies."""
        far = np.maximum(np.abs(seen.low - self.shift), np.abs(seen.high - self.shift)).max()
        return None if far > _MOST_SQUARES * seen.cell else self.shift

    def outside(self, seen: Survey, channels: Sequence[str], cell: float) -> Outside:
        """The points of the neighbours that a file which was read sees: those of strips that are not there are read
        from the neighbours."""
        if self.own.extent.believed and self.own.lies(seen.low, seen.high):
            return Outside(
                (), {n.scan.path.name: f"{self.own.scan.path.name}: {ALONE}" for n in self.neighbours}
            )
        lacked, strips = dict[str, str](), []
        for neighbour in self.neighbours:
            leave_strips(self.folder, neighbour, [self.own], self.halo, channels)
            reason, strip = _CHANGED if neighbour.changed() else None, self.strip(neighbour)
            reason = reason or said_of(strip)["refused"]
            if reason is None:
                strips.append(strip)
            else:
                lacked[neighbour.scan.path.name] = reason
        return Outside.of(tuple(strips), lacked, seen, channels, cell, self.halo)

    def changed(self) -> dict[str, str]:
        """Neighbours that are other files now."""
        return {n.scan.path.name: _CHANGED for n in self.neighbours if n.changed()}


@dataclass(frozen=True)
class Outside:
    """Points of neighbours, in ``strips`` of records of ``xyz`` and ``channels``: ``n_points`` in ``squares`` of
    ``cell`` metres within ``near``, the squares that a halo around the file's own ones reaches; ``lacked``: the
    neighbours that are not among them, and why."""

    strips: tuple[Path, ...]
    lacked: dict[str, str]
    channels: tuple[str, ...] = ()
    cell: float = 1.0
    near: frozenset[tuple[int, int]] = frozenset()
    n_points: int = 0
    squares: dict[tuple[int, int], int] | None = None
    low: tuple[float, ...] = ()
    high: tuple[float, ...] = ()

    @classmethod
    def of(
        cls,
        strips: tuple[Path, ...],
        lacked: dict[str, str],
        seen: Survey,
        channels: Sequence[str],
        cell: float,
        halo: float,
    ) -> Outside:
        """Counted."""
        near = squares_near(seen.squares, int(np.ceil(halo / cell)))
        found = cls(strips, lacked, tuple(channels), cell, near)
        n, low, high = 0, np.full(3, np.inf), np.full(3, -np.inf)
        squares = dict[tuple[int, int], int]()
        for part in found.parts():
            n += len(part)
            low, high = np.minimum(low, part["xyz"].min(axis=0)), np.maximum(high, part["xyz"].max(axis=0))
            count_squares(squares, part["xyz"], cell)
        ends = tuple(low.tolist()), tuple(high.tolist())
        return cls(strips, lacked, tuple(channels), cell, near, n, squares, *ends)

    def without(self, changed: dict[str, str]) -> Outside:
        """As it is known after the work: what was seen of neighbours that are others now is of the past."""
        return replace(self, lacked={**changed, **self.lacked})

    def parts(self) -> Iterator[AnyArray]:
        """The records, in the order of the strips; none is empty."""
        dtype = record_of(self.channels)
        for strip in self.strips:
            with open(strip, "rb") as file:
                file.readline()
                while len(part := np.fromfile(file, dtype=dtype, count=_AT_ONCE)):
                    of, which = distinct_pairs(np.floor(part["xyz"][:, :2] / self.cell).astype(np.int64))
                    inside = np.array([(i, j) in self.near for i, j in of.tolist()])[which]
                    if inside.any():
                        yield part[inside]


def strip_path(folder: Path, source: Neighbour, target: Neighbour) -> Path:
    """By a hash of both names, which may be long."""
    names = json.dumps([source.scan.path.name, target.scan.path.name])
    return folder / f"{hashlib.sha256(names.encode()).hexdigest()[:32]}.strip"


def said_of(strip: Path) -> dict[str, Any]:
    """What a strip was made of, and why it holds no points, if it is ``refused``."""
    with open(strip, "rb") as file:
        return dict(json.loads(file.readline()))


def record_of(channels: Sequence[str]) -> np.dtype[Any]:
    """Of a point in a strip."""
    return _record(channel_width(channels))


def _record(width: int) -> np.dtype[Any]:
    return np.dtype([("xyz", "<f8", (3,)), ("channels", "<f4", (width,))])


def leave_strips(
    folder: Path, source: Neighbour, targets: Sequence[Neighbour], halo: float, channels: Sequence[str]
) -> None:
    """Read a file once and leave what others see of it, where that is not there yet. A file that cannot be read, has
    not what the model wants or is not what it was leaves strips that say so."""
    left = []
    for target in targets:
        path, box = strip_path(folder, source, target), target.extent.box
        key = {"gapcut": __version__, "source": list(source.extent.stamp), "box": box, "halo": halo}
        key |= {"channels": channels, "invalid": source.scan.invalid, "columns": source.scan.columns}
        key |= {"classes": None if source.scan.classes is None else dict(source.scan.classes.numbers)}
        if not _is_there(path, key):
            left.append(_Strip(path, key, box, halo))
    if not left:
        return
    folder.mkdir(exist_ok=True)
    try:
        refused = None
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # whoever labels the file says it
                _fill(left, source, channels)
        except (CloudFileError, ValueError, OSError, ImportError) as error:
            if any(strip.failed for strip in left):
                raise  # the disk, not the file
            refused = str(error).removeprefix(f"{source.scan.path}: ")
        for strip in left:
            strip.end(refused)
    finally:
        for strip in left:
            strip.temporary.unlink(missing_ok=True)


def forget_refused(folder: Path) -> None:
    """Strips without points that another run left: whatever the matter was, it may be over."""
    for path in folder.glob("*.strip"):
        try:
            refused = said_of(path)["refused"] is not None
        except (OSError, ValueError, KeyError):
            refused = True
        if refused:
            path.unlink(missing_ok=True)


def remove_strips(folder: Path) -> None:
    """All that runs left in the folder of strips, and the folder, unless it holds anything else."""
    for path in [*folder.glob("*.strip"), *folder.glob(".*.strip.part")]:
        path.unlink(missing_ok=True)
    with suppress(OSError):
        folder.rmdir()


def _is_there(path: Path, key: dict[str, Any]) -> bool:
    try:
        return bool(said_of(path)["key"] == json.loads(json.dumps(key)))
    except (OSError, ValueError, KeyError, TypeError):
        return False


def _fill(strips: Sequence[_Strip], source: Neighbour, channels: Sequence[str]) -> None:
    low, high, have = np.full(3, np.inf), np.full(3, -np.inf), set[str]()
    if source.changed():
        raise CloudFileError(source.scan.path, _CHANGED)
    top = top_colour(source.scan) if "colour" in channels else None
    for strip in strips:
        strip.begin()
    for cloud in source.scan.parts(top):
        low, high = np.minimum(low, cloud.xyz.min(axis=0)), np.maximum(high, cloud.xyz.max(axis=0))
        have |= known_channels(source.scan, cloud)
        values = raw_channels(cloud, channels)
        for strip in strips:
            strip.add(cloud.xyz, values)
    if source.changed():
        raise CloudFileError(source.scan.path, _CHANGED)
    if source.extent.believed and source.lies(low, high):
        raise CloudFileError(source.scan.path, f"{ALONE}: correct the header, and label it again")
    check_channels(source.scan, channels, have | ({"echoes"} if have.issuperset(ECHOES) else set()))


class _Strip:
    """One that is being written: whole under its name, or not there."""

    def __init__(self, path: Path, key: dict[str, Any], box: Box, halo: float) -> None:
        self.path, self._key, self.failed = path, key, False
        self.temporary = path.with_name(f".{path.stem}-{secrets.token_hex(4)}.strip.part")
        self._low = np.asarray(box[0])[:2] - halo
        self._high = np.asarray(box[1])[:2] + halo

    def begin(self, refused: str | None = None) -> None:
        head = json.dumps({"key": self._key, "refused": refused}).encode()
        self._write("wb", lambda file: file.write(head + b"\n"))

    def add(self, xyz: FloatArray, channels: AnyArray) -> None:
        """The points that are in the halo."""
        at = xyz[:, :2]
        near = np.flatnonzero(((at >= self._low) & (at <= self._high)).all(axis=1))
        if len(near):
            records = np.empty(len(near), dtype=_record(channels.shape[1]))
            records["xyz"], records["channels"] = xyz[near], channels[near]
            self._write("ab", records.tofile)

    def end(self, refused: str | None) -> None:
        """On the disk, under its name."""
        if refused is not None:
            self.begin(refused)
        self._write("ab", lambda file: os.fsync(file.fileno()))
        os.replace(self.temporary, self.path)

    def _write(self, mode: str, write: Callable[[IO[bytes]], object]) -> None:
        """A file is open only while it is written to: it may have hundreds of neighbours."""
        self.failed = True
        with open(self.temporary, mode) as file:
            write(file)
            file.flush()
        self.failed = False

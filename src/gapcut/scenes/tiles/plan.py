"""What the steps on a tile have in common, and the scratch folder that holds what they found."""

from __future__ import annotations

import json
import math
import os
import re
import shutil
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

import numpy as np

from gapcut.files import write_atomically
from gapcut.scenes.labelling.scene import CHANNELS, IntensityRange
from gapcut.scenes.labelling.settings import SceneSettings
from gapcut.scenes.tiles.grid import Tile, TileGrid, snapped
from gapcut.typing import AnyArray, BoolArray, FloatArray, Int32Array

_STATE = "state.json"
_KEYS = {"gapcut", "model", "scans", "tile", "halo", "classes"}
_HEAD = '{"classes": '
_TILE = r"_-?\d+_-?\d+"
_FILES = re.compile(
    rf"\.?(points{_TILE}\.bin|(kept|rim|heights|grown|described|rated|placed|listed){_TILE}\.arrays"
    r"|(cut|ground|joined|table)\.arrays"
    r"|(before_original|before_truth|confidence|cube|drawn|label|las|number|own|point_segment|segment|truth)\.npy)"
    r"(\.[0-9a-f-]+\.part)?"
)


@dataclass(frozen=True)
class TileOptions:
    """``tile`` metres of a tile's edge (None: such that one holds a million points), ``halo`` metres around it (None:
    170 voxels), ``jobs`` processes, ``room`` in bytes for what was read until it is cut (None: a quarter of the memory
    that is free)."""

    tile: float | None = None
    halo: float | None = None
    jobs: int = 1
    room: float | None = None

    def __post_init__(self) -> None:
        for name, value in (("tile", self.tile), ("halo", self.halo)):
            if value is not None and not (0 < value < float("inf")):
                raise ValueError(f"{name}={value} must be a positive number of metres")


@dataclass(frozen=True)
class Scratch:
    """A folder of arrays, each whole or not there: by step and tile, or of the whole scan."""

    root: Path

    def open(self, key: dict[str, Any]) -> bool:
        """Make the folder, or keep what a run of the same ``key`` left in it (True). Raises ValueError for a folder
        that holds anything else."""
        state = self.root / _STATE
        if self.root.exists() and any(self.root.iterdir()) and not self._is_ours():
            raise ValueError(f"{self.root} exists and is no scratch folder of gapcut: remove or rename it")
        text = json.dumps(key, sort_keys=True)
        if state.is_file() and state.read_text(encoding="utf-8") == text:
            return True
        self.remove()
        self.root.mkdir()
        state.write_text(text, encoding="utf-8")
        return False

    def _is_ours(self) -> bool:
        """Whether a run left what the folder holds: by the keys of its state, or, where a kill cut that short, by the
        names of all files."""
        state = self.root / _STATE
        if not state.is_file():
            return False
        content = state.read_bytes()
        try:
            said = json.loads(content)
        except ValueError:
            head = _HEAD.encode()
            names = [path.name for path in self.root.iterdir() if path != state]
            return content[: len(head)] == head[: len(content)] and all(map(_FILES.fullmatch, names))
        return isinstance(said, dict) and said.keys() >= _KEYS

    def remove(self) -> None:
        """With all that is in it; the state last, by which a later run knows what a kill left."""
        if self._is_ours():
            for path in self.root.iterdir():
                if path.name != _STATE and path.is_file():
                    path.unlink(missing_ok=True)
        shutil.rmtree(self.root, ignore_errors=True)

    def place(self, step: str, tile: Tile | None = None) -> Path:
        """Of a file."""
        return self.root / (f"{step}.arrays" if tile is None else f"{step}_{tile[0]}_{tile[1]}.arrays")

    def has(self, step: str, tile: Tile | None = None) -> bool:
        """Whether a step is done."""
        return self.place(step, tile).is_file()

    def save(self, step: str, tile: Tile | None = None, /, **arrays: AnyArray) -> None:
        """The arrays of a step, which is done then."""
        write_atomically(self.place(step, tile), lambda file: _write(file, arrays))

    def load(self, step: str, tile: Tile | None = None, /, *names: str) -> dict[str, AnyArray]:
        """What was saved, or the arrays of those names. Raises ValueError that names the file if it is damaged."""
        path = self.place(step, tile)
        with open(path, "rb") as file:
            try:
                stored = json.loads(file.readline())
                found = {name: _read(file, not names or name in names) for name in stored}
                return {name: found[name] for name in names or stored}
            except (ValueError, KeyError, TypeError) as error:
                raise ValueError(
                    f"{path} is damaged ({error}): remove the folder {self.root} and label the scan again"
                ) from error

    def column(self, name: str, dtype: Any = None, length: int | None = None) -> AnyArray:
        """An array in a file, mapped: made with ``dtype`` and ``length``, else as it is, to read and write."""
        path = self.root / f"{name}.npy"
        if length is None:
            return np.asarray(np.lib.format.open_memmap(path, mode="r+"))
        return np.asarray(np.lib.format.open_memmap(path, mode="w+", dtype=dtype, shape=(length,)))

    def settle(self, *names: str) -> None:
        """Columns are on the disk, before a step that is done says so: else a loss of power could leave old ones."""
        for name in names:
            column = np.lib.format.open_memmap(self.root / f"{name}.npy", mode="r+")
            column.flush()

    def settle_points(self, tiles: Iterable[Tile]) -> None:
        """The same of the tiles' points."""
        for tile in tiles:
            with open(self.root / raw_name(tile), "rb+") as file:
                os.fsync(file.fileno())


def _write(file: IO[bytes], arrays: dict[str, AnyArray]) -> None:
    """A line of their names, then array by array as NumPy writes one: an archive would take sums of every byte."""
    file.write(json.dumps(list(arrays)).encode() + b"\n")
    for array in arrays.values():
        np.lib.format.write_array(file, np.asarray(array, order="C"), allow_pickle=False)


def _read(file: IO[bytes], wanted: bool) -> AnyArray:
    """The next array, or an empty one in the place of one that is not wanted."""
    if wanted:
        return np.asarray(np.lib.format.read_array(file, allow_pickle=False))
    np.lib.format.read_magic(file)
    shape, _, dtype = np.lib.format.read_array_header_1_0(file)
    file.seek(math.prod(shape) * dtype.itemsize, os.SEEK_CUR)
    return np.empty(0)


@dataclass(frozen=True)
class Plan:
    """``scratch``; ``model`` file; ``settings`` of the model, every length set; ``channels``, scaled by
    ``intensities``; ``grid`` in coordinates less ``shift``; ``halo`` in metres; the ``tiles`` that hold points;
    ``n_rows`` points that are worked with, the first ``n_own`` of them to be labelled. ``by_place``: others may be of
    files beside it, and points are told apart by their places, not by their rows."""

    scratch: Scratch
    model: Path
    settings: SceneSettings
    channels: tuple[str, ...]
    intensities: IntensityRange | None
    shift: tuple[float, float, float]
    grid: TileGrid
    halo: float
    tiles: tuple[Tile, ...]
    n_rows: int
    n_own: int
    by_place: bool = False

    @property
    def record(self) -> np.dtype[Any]:
        """Of a point in a tile's file."""
        own = [("xyz", "<f8", (3,)), ("row", "<i8"), ("channels", "<f4", (self.n_channels,))]
        return np.dtype(own)

    @property
    def n_channels(self) -> int:
        return channel_width(self.channels)

    def local(self, xyz: FloatArray) -> FloatArray:
        """(N, 3) places of a file in the coordinates of the tiles."""
        local = xyz - np.asarray(self.shift)
        return snapped(local) if self.by_place else local

    def points(self, tile: Tile) -> AnyArray:
        """The points of a tile as they were read, by row."""
        return np.fromfile(self.scratch.root / raw_name(tile), dtype=self.record)

    def view(self, tile: Tile, halo: float | None = None) -> View:
        """The kept points of a tile and of its halo, by number."""
        reach = self.halo if halo is None else halo
        number_of, parts = self.scratch.column("number"), []
        for other in self.grid.around(tile, reach, self.tiles):
            kept = self.scratch.load("kept" if other == tile else "rim", other)
            height = self.scratch.load("heights", other, "own" if other == tile else "rim")
            margin = self.grid.margin(tile, kept["xyz"], reach)
            near = np.flatnonzero(margin >= 0)
            columns = number_of[kept["row"]], kept["xyz"], kept["channels"], margin, *height.values()
            parts.append([np.full(len(near), other == tile), *(column[near] for column in columns)])
        own, number, xyz, channels, margins, heights = (np.concatenate(c) for c in zip(*parts, strict=True))
        order = np.argsort(number, kind="stable")  # which merges what ascends already, as each part does
        return View(*(c[order] for c in (number, xyz, channels, own, margins, heights)))


@dataclass(frozen=True, eq=False)
class View:
    """M kept points that a tile sees: ``number`` (M,) among all that are kept, ascending; ``xyz`` (M, 3) local;
    ``channels`` (M, C) in [0, 1]; ``own`` (M,) whether a point is of the tile itself; ``margin`` (M,) metres to where
    the view ends; ``height`` (M,) above ground."""

    number: Int32Array
    xyz: FloatArray
    channels: FloatArray
    own: BoolArray
    margin: FloatArray
    height: FloatArray


def channel_width(channels: Sequence[str]) -> int:
    """Columns of these channels together."""
    return sum(len(CHANNELS[name]) for name in channels)


def raw_name(tile: Tile) -> str:
    """Of the file of a tile's points."""
    return f"points_{tile[0]}_{tile[1]}.bin"


Stamp = tuple[str, int, int]
"""A file as it is now: its place, its size, and when it was changed."""


def stamp(path: Path) -> Stamp:
    """Of a file."""
    now = path.stat()
    return str(path.resolve()), now.st_size, now.st_mtime_ns


def known_key(model: Path, scans: Sequence[Stamp], said: dict[str, Any]) -> dict[str, Any]:
    """What a scratch folder is for: the model's bytes, the scans' sizes and times of change, and all that is said."""
    import hashlib

    return {"model": hashlib.sha256(model.read_bytes()).hexdigest(), "scans": scans, **said}

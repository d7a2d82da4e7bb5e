"""Read and write point clouds by the ending of the file's name."""

from __future__ import annotations

from collections.abc import Callable
from os import PathLike
from pathlib import Path
from typing import IO, Literal

from gapcut.files import write_atomically
from gapcut.scenes.clouds import e57, las, npz, pcd, ply, text
from gapcut.scenes.clouds.cloud import PointCloud
from gapcut.scenes.clouds.errors import CloudError, CloudFileError
from gapcut.scenes.clouds.names import from_json
from gapcut.scenes.clouds.table import Table, from_table

_TEXT = (".xyz", ".txt", ".asc", ".pts", ".csv")
_READERS: dict[str, Callable[[Path], Table]] = {
    **{
        ".las": las.read,
        ".laz": las.read,
        ".ply": ply.read,
        ".pcd": pcd.read,
        ".e57": e57.read,
        ".npz": npz.read,
    },
    **dict.fromkeys(_TEXT, text.read),
}
_WRITERS: dict[str, Callable[[IO[bytes], PointCloud], None]] = {
    ".las": lambda file, cloud: las.write(file, cloud, compress=False),
    ".laz": lambda file, cloud: las.write(file, cloud, compress=True),
    ".ply": ply.write,
    ".pcd": pcd.write,
    ".npz": npz.write,
    **dict.fromkeys(_TEXT, text.write),
    ".csv": lambda file, cloud: text.write(file, cloud, separator=","),
}
READABLE = tuple(_READERS)
WRITABLE = tuple(_WRITERS)


def clouds_in(folder: Path) -> list[Path]:
    """The files of a folder with a known ending, by name, without text files that begin with prose."""
    known = sorted(p for p in folder.iterdir() if p.suffix.lower() in READABLE and p.is_file())
    return [p for p in known if p.suffix.lower() not in _TEXT or not text.is_prose(p)]


def read_cloud(
    path: str | PathLike[str], *, need_labels: bool = False, invalid: Literal["error", "drop"] = "error"
) -> PointCloud:
    """The cloud in a file: .las .laz .ply .pcd .e57 .npz, or text (.xyz .txt .asc .pts .csv).

    Names of labels come from the header, else from ``<path>.labels.json`` beside the file (``{"0": "ground", ...}``).
    ``invalid="drop"`` leaves out points that are not finite; ``need_labels`` refuses a cloud without any label.
    Raises FileNotFoundError, ImportError naming what to install, or CloudFileError: one line with the path.
    """
    place = Path(path)
    reader = _READERS.get(place.suffix.lower())
    if reader is None:
        raise CloudFileError(path, f"unknown kind of point cloud {place.suffix!r}: use {' '.join(READABLE)}")
    return read_with(reader, place, need_labels=need_labels, invalid=invalid)


def read_with(
    reader: Callable[[Path], Table], path: Path, *, need_labels: bool = False, invalid: str = "error"
) -> PointCloud:
    """``read_cloud`` with the reader of one format."""
    if path.is_dir():
        raise CloudFileError(path, "is a folder: give the name of a file in it")
    if not path.exists():
        raise FileNotFoundError(f"{path}: no such file")
    if invalid not in ("error", "drop"):
        raise ValueError(f"invalid={invalid!r}: use 'error' or 'drop'")
    if path.stat().st_size == 0:
        raise CloudFileError(path, "is empty (0 bytes)")
    try:
        cloud = from_table(_with_sidecar(reader(path), path), path.stem, invalid)
    except (ImportError, PermissionError):
        raise
    except CloudError as error:
        raise CloudFileError(path, str(error)) from None
    except BaseException as error:
        if not _is_damage(error):
            raise
        reason = " ".join(str(error).split())[:120] or type(error).__name__
        raise CloudFileError(path, f"cannot be read, it is cut short or damaged ({reason})") from None
    if need_labels and cloud.labels is None:
        raise CloudFileError(path, "holds no labels: a column 'label' (LAS: or classification) is needed")
    return cloud


def write_cloud(path: str | PathLike[str], cloud: PointCloud) -> None:
    """Write a cloud in the format of the name's ending (not .e57); the file appears whole or not at all.

    Every format keeps coordinates to 1 mm or better, labels, segments, colour, intensity, extras, names of labels.
    Raises OSError or CloudFileError: one line with the path; a file that was there stays as it was.
    """
    place = Path(path)
    writer = _WRITERS.get(place.suffix.lower())
    if writer is None:
        raise CloudFileError(path, f"cannot write {place.suffix!r} files: use {' '.join(WRITABLE)}")
    write_with(writer, place, cloud)


def write_with(writer: Callable[[IO[bytes], PointCloud], None], path: Path, cloud: PointCloud) -> None:
    """``write_cloud`` with the writer of one format."""
    if not path.parent.is_dir():
        raise FileNotFoundError(f"{path.parent}: no such folder to write {path.name} to")
    try:
        write_atomically(path, lambda file: writer(file, cloud))
    except CloudError as error:
        raise CloudFileError(path, str(error)) from None


def _is_damage(error: BaseException) -> bool:
    """Whether a reader stumbled over its file: any error, also a panic of the LAZ library (no Exception)."""
    return isinstance(error, Exception) or type(error).__name__ == "PanicException"


def _with_sidecar(table: Table, path: Path) -> Table:
    beside = path.with_name(path.name + ".labels.json")
    if table.label_names or not beside.is_file():
        return table
    try:
        label_names, crs = from_json(beside.read_text(encoding="utf-8"))
    except ValueError as error:
        raise CloudError(f"has names of labels in {beside.name} that cannot be read: {error}") from None
    return Table(table.columns, label_names, table.crs or crs)

"""Read and write point clouds by the ending of the file's name."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from os import PathLike
from pathlib import Path
from typing import IO, Literal

from gapcut.files import write_atomically
from gapcut.scenes.clouds import e57, las, las_write, npz, pcd, ply, text
from gapcut.scenes.clouds.cloud import PointCloud
from gapcut.scenes.clouds.errors import CloudError, CloudFileError
from gapcut.scenes.clouds.names import Said
from gapcut.scenes.clouds.table import Table, from_table, to_table

TEXT = (".xyz", ".txt", ".asc", ".pts", ".csv")
Invalid = Literal["error", "drop"]
_READERS: dict[str, Callable[[Path], Table]] = {
    **{
        ".las": las.read,
        ".laz": las.read,
        ".ply": ply.read,
        ".pcd": pcd.read,
        ".e57": e57.read,
        ".npz": npz.read,
    },
    **dict.fromkeys(TEXT, text.read),
}
WRITERS: dict[str, Callable[[IO[bytes], Table], None]] = {
    ".las": lambda file, table: las_write.write(file, table, compress=False),
    ".laz": lambda file, table: las_write.write(file, table, compress=True),
    ".ply": ply.write,
    ".pcd": pcd.write,
    ".npz": npz.write,
    **dict.fromkeys(TEXT, text.write),
    ".csv": lambda file, table: text.write(file, table, separator=","),
    ".pts": lambda file, table: text.write(file, table, counted=True),
}
READABLE = tuple(_READERS)
WRITABLE = tuple(WRITERS)


def clouds_in(folder: Path) -> tuple[list[Path], list[Path]]:
    """The files of a folder with a known ending, by name, and those that are left out: of other endings, and text that
    begins with prose."""
    files = sorted(p for p in folder.iterdir() if p.is_file())
    clouds = [p for p in files if p.suffix.lower() in READABLE and not (is_text(p) and text.is_prose(p))]
    return clouds, [p for p in files if p not in clouds]


def is_text(path: Path) -> bool:
    """Whether a file is read as lines of numbers, by its ending."""
    return path.suffix.lower() in TEXT


def read_cloud(
    path: str | PathLike[str],
    *,
    need_labels: bool = False,
    invalid: Invalid = "error",
    columns: Sequence[str] | None = None,
) -> PointCloud:
    """The cloud in a file: .las .laz .ply .pcd .e57 .npz, or text (.xyz .txt .asc .pts .csv).

    Names of labels come from the header, else from ``<path>.labels.json`` beside the file (``{"0": "ground", ...}``).
    ``invalid="drop"`` leaves out points whose places are not finite; ``need_labels`` refuses a cloud without any label;
    ``columns`` names those of a text file, whatever its header says. Raises FileNotFoundError, ImportError naming what
    to install, or CloudFileError: one line with the path.
    """
    place = Path(path)
    if invalid not in ("error", "drop"):
        raise ValueError(f"invalid={invalid!r}: use 'error' or 'drop'")
    table = read_table(place, columns)
    with blamed(place):
        cloud = from_table(table, place.stem, invalid)
    if need_labels and cloud.labels is None:
        raise CloudFileError(path, "holds no labels: a column 'label' (LAS: or classification) is needed")
    return cloud


def read_table(path: Path, columns: Sequence[str] | None = None) -> Table:
    """The columns of a file as they are in it, and what its header says. Raises as :func:`read_cloud`."""
    reader = _reader_for(path, columns)
    with blamed(path):
        return _with_sidecar(reader(path), path)


def read_parts(path: Path, columns: Sequence[str] | None = None) -> Iterator[Table]:
    """The same in parts, in order: LAS and LAZ 200,000 points at a time (with standard dimensions that hold zeros
    only), any other format whole."""
    reader = _reader_for(path, columns)
    with blamed(path):
        if reader is las.read:
            yield from (_with_sidecar(part, path) for part in las.read_parts(path))
        else:
            yield _with_sidecar(reader(path), path)


def _reader_for(path: Path, columns: Sequence[str] | None) -> Callable[[Path], Table]:
    """By the ending, after a look at the file."""
    reader = _READERS.get(path.suffix.lower())
    if reader is None and columns is None:
        raise CloudFileError(path, f"unknown kind of point cloud {path.suffix!r}: use {' '.join(READABLE)}")
    if columns is not None and path.suffix.lower() in set(READABLE) - set(TEXT):
        raise CloudFileError(
            path, f"names its columns itself: only text files take others ({' '.join(TEXT)})"
        )
    if path.is_dir():
        raise CloudFileError(path, "is a folder: give the name of a file in it")
    if not path.exists():
        raise FileNotFoundError(f"{path}: no such file")
    if path.stat().st_size == 0:
        raise CloudFileError(path, "is empty (0 bytes)")
    return partial(text.read, columns=columns) if reader is None or columns is not None else reader


def write_cloud(path: str | PathLike[str], cloud: PointCloud) -> None:
    """Write a cloud in the format of the name's ending (not .e57); the file appears whole or not at all.

    Every format keeps coordinates to 1 mm or better, labels, segments, colour, intensity, extras, names of labels.
    Raises OSError or CloudFileError: one line with the path; a file that was there stays as it was.
    """
    place = Path(path)
    writer = writer_for(place)
    write_with(lambda file: writer(file, to_table(cloud)), place)


def writer_for(path: Path) -> Callable[[IO[bytes], Table], None]:
    """By the ending. Raises CloudFileError for one that is not written."""
    writer = WRITERS.get(path.suffix.lower())
    if writer is None:
        raise CloudFileError(path, f"cannot write {path.suffix!r} files: use {' '.join(WRITABLE)}")
    return writer


def write_with(writer: Callable[[IO[bytes]], None], path: Path) -> None:
    """The file that ``writer`` writes, whole or not at all. Raises as :func:`write_cloud`."""
    if not path.parent.is_dir():
        raise FileNotFoundError(f"{path.parent}: no such folder to write {path.name} to")
    try:
        write_atomically(path, writer)
    except CloudFileError:
        raise
    except CloudError as error:
        raise CloudFileError(path, str(error)) from None


@contextmanager
def blamed(path: Path) -> Iterator[None]:
    """Whatever goes wrong with the content of a file is told in one line that begins with its path."""
    try:
        yield
    except (ImportError, PermissionError, CloudFileError):
        raise
    except CloudError as error:
        raise CloudFileError(path, str(error)) from None
    except BaseException as error:
        if not _is_damage(error):
            raise
        reason = " ".join(str(error).split())[:120] or type(error).__name__
        raise CloudFileError(path, f"cannot be read, it is cut short or damaged ({reason})") from None


def _is_damage(error: BaseException) -> bool:
    """Whether a reader stumbled over its file: any error, also a panic of the LAZ library (no Exception)."""
    return isinstance(error, Exception) or type(error).__name__ == "PanicException"


def label_names_path(path: Path) -> Path:
    """Where names of a cloud's labels are read, if its own format has none."""
    return path.with_name(f"{path.name}.labels.json")


def _with_sidecar(table: Table, path: Path) -> Table:
    beside = label_names_path(path)
    if table.said.label_names or not beside.is_file():
        return table
    try:
        said = Said.from_json(beside.read_text(encoding="utf-8"))
    except ValueError as error:
        raise CloudError(f"has names of labels in {beside.name} that cannot be read: {error}") from None
    return replace(table, said=Said(said.label_names, table.said.crs or said.crs, table.said.added))

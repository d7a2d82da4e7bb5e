"""A labelled scan as a file: the source with labels added, in its own format as it is, else column by column."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from os import PathLike
from pathlib import Path
from typing import IO

from gapcut.scenes.clouds import las_labelled, las_write, npz, pcd, ply, text
from gapcut.scenes.clouds.addition import Addition
from gapcut.scenes.clouds.class_map import ClassMap
from gapcut.scenes.clouds.cloud import PointCloud
from gapcut.scenes.clouds.errors import CloudError, CloudFileError
from gapcut.scenes.clouds.files import Invalid, is_text, read_table, write_with, writer_for
from gapcut.scenes.clouds.table import to_table
from gapcut.typing import BoolArray

_ADDERS: dict[str, Callable[[Path, IO[bytes], Addition], None]] = {
    ".las": partial(las_labelled.add, compress=False),
    ".laz": partial(las_labelled.add, compress=True),
    ".ply": ply.add,
    ".pcd": pcd.add,
    ".npz": npz.add,
}
_FITS = {".las": las_write.fit, ".laz": las_write.fit, ".ply": ply.fit, ".npz": npz.fit}
_KINDS = {".laz": ".las", ".xyz": ".txt", ".asc": ".txt"}
"""The other kinds of text have a separator (.csv) or a first line (.pts) of their own."""


def check_labelled(target: str | PathLike[str], source: str | PathLike[str], cloud: PointCloud) -> None:
    """Before the work: whether the format of ``target`` can keep the ``cloud`` of ``source``. Raises CloudFileError."""
    place = Path(target)
    writer_for(place)
    fit = _FITS.get(place.suffix.lower())
    if fit is None or _kind(place) == _kind(Path(source)):
        return
    try:
        with _once_said():
            fit(to_table(cloud))
    except CloudError as error:
        raise CloudFileError(place, str(error)) from None


def write_labelled(
    target: str | PathLike[str],
    source: str | PathLike[str],
    labelled: PointCloud,
    *,
    invalid: Invalid = "error",
    columns: Sequence[str] | None = None,
    classes: ClassMap | None = None,
) -> None:
    """Write ``source`` with what ``labelled.added`` names of the labelled cloud, point by point; it was read from it,
    with ``invalid`` and ``columns``. ``classes``: what the classification of a LAS file becomes.

    In the format of the source everything else stays as it is in the file; another format keeps every column under its
    name. The file appears whole or not at all. Raises OSError or CloudFileError: one line with the path.
    """
    write_added(
        target, source, lambda rows: Addition.of(labelled, rows, classes), invalid=invalid, columns=columns
    )


def write_added(
    target: str | PathLike[str],
    source: str | PathLike[str],
    added: Callable[[BoolArray | None], Addition],
    *,
    invalid: Invalid = "error",
    columns: Sequence[str] | None = None,
) -> None:
    """The same with what ``added`` gives for the mask of the points that are kept (None: all)."""
    place, given = Path(target), Path(source)
    writer = writer_for(place)
    same = _kind(place) == _kind(given)
    table = None
    if not same or (invalid == "drop" and _kind(given) != ".las"):
        with _once_said():
            table = read_table(given, columns)
    addition = added(None if table is None or invalid == "error" else table.valid())

    def write(file: IO[bytes]) -> None:
        if same and is_text(given):
            with _once_said():
                text.add(given, file, addition, columns)
        elif same:
            _ADDERS[place.suffix.lower()](given, file, addition)
        else:
            assert table is not None
            whole = addition.to_table(table)
            if _kind(place) == ".las":
                las_write.write(file, whole, place.suffix.lower() == ".laz", addition.las)
            else:
                writer(file, whole)

    write_with(write, place)


@contextmanager
def _once_said() -> Iterator[None]:
    """Warnings that reading the source gave, or that writing will give, are not repeated."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


def _kind(path: Path) -> str:
    """The ending that stands for a format."""
    return _KINDS.get(path.suffix.lower(), path.suffix.lower())

"""Find and read the files of a data set."""

from __future__ import annotations

from os import PathLike
from pathlib import Path

from gapcut.data.npz import GraphFileError, read_arrays
from gapcut.typing import AnyArray

Root = str | PathLike[str]


def file_of(root: Root, name: str) -> Path:
    """The path of a file of the data set; FileNotFoundError says which folder was looked in."""
    path = Path(root) / name
    if not path.is_file():
        raise FileNotFoundError(f"{path}: no such file; pass the folder that holds {name}")
    return path


def arrays_of(root: Root, name: str, *needed: str) -> dict[str, AnyArray]:
    """The arrays of an ``.npz`` of the data set, all of ``needed`` among them."""
    path = file_of(root, name)
    arrays = read_arrays(path)
    for array in needed:
        if array not in arrays:
            raise GraphFileError(f"{path}: no array {array!r} in this file")
    return arrays

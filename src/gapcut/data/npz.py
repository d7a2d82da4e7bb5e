"""Arrays of an ``.npz`` file, numbers and strings only, read under a cap on what they may unpack to.

A small file can unpack to any size, and nothing in it can be believed. Nothing is unpickled; sizes are checked before
memory is taken, and only what the headers say is read.
"""

from __future__ import annotations

import ast
import math
import os
import re
import struct
import sys
import zipfile
import zlib
from pathlib import Path
from typing import IO, Any

import numpy as np

from gapcut.typing import AnyArray

_TIMES, _FREE = 50, 64 << 20
_LONGEST_HEADER = 1 << 16
_PIECE = 1 << 20
_PER_STRING = 64
"""Bytes of a Python string beyond its characters."""

_DAMAGE = (
    *(OSError, EOFError, zipfile.BadZipFile, zlib.error, struct.error, RuntimeError),
    *(ValueError, KeyError, IndexError, TypeError, OverflowError, SyntaxError, MemoryError),
)
"""What zipfile and numpy raise on a file that was cut, altered or made up."""


class GraphFileError(ValueError):
    """One line: which file, what is wrong with it."""


def unpack_limit(path: Path, limit: int | None = None) -> int:
    """Bytes that a file may unpack to: ``limit``, or 50 times its size and 64 MiB."""
    return _TIMES * path.stat().st_size + _FREE if limit is None else limit


def unpacked_bytes(path: Path, limit: int | None = None) -> int:
    """What an ``.npz`` says that it unpacks to, :func:`unpack_limit` at most; 0 of what is no such file."""
    try:
        with zipfile.ZipFile(path) as archive:
            return min(sum(entry.file_size for entry in archive.infolist()), unpack_limit(path, limit))
    except _DAMAGE:
        return 0


def read_arrays(path: Path, limit: int | None = None) -> dict[str, AnyArray]:
    """All arrays of an ``.npz``; GraphFileError names the file and the array.

    ``limit``: the most bytes that they may take, see :func:`unpack_limit`; a number counts at least 8 bytes, since it
    becomes float64, and a string 64 more than its characters.
    """
    if not path.is_file():
        raise GraphFileError(f"{path}: not a regular file")
    if not zipfile.is_zipfile(path):
        raise GraphFileError(f"{path}: not an .npz file, or cut short")
    left, arrays = unpack_limit(path, limit), {}
    try:
        with zipfile.ZipFile(path) as archive:
            entries = archive.infolist()
            if len(entries) != _entries(path, len(entries)):
                raise GraphFileError(f"{path}: damaged .npz file (its directory is incomplete)")
            for entry in entries:
                name = entry.filename.removesuffix(".npy")
                arrays[name] = _read_entry(archive, entry, path, left)
                left -= _cost(arrays[name].dtype, arrays[name].shape)
    except _DAMAGE as error:
        if isinstance(error, GraphFileError):
            raise
        raise GraphFileError(f"{path}: damaged .npz file ({one_line(error)})") from None
    return arrays


def one_line(error: BaseException) -> str:
    """What an exception says, or its kind if it says nothing."""
    return " ".join(str(error).split())[:200] or type(error).__name__


def _entries(path: Path, default: int) -> int:
    """Number of entries by the end record of the zip file, which zipfile does not compare with its directory."""
    with path.open("rb") as stream:
        stream.seek(-22, os.SEEK_END)
        record = stream.read()
    return int.from_bytes(record[10:12], "little") if record.startswith(b"PK\5\6") else default


def _read_entry(archive: zipfile.ZipFile, entry: zipfile.ZipInfo, path: Path, left: int) -> AnyArray:
    name = entry.filename.removesuffix(".npy")
    if name == entry.filename:
        raise GraphFileError(f"{path}: {name!r:.80} is not an array of numbers or strings")
    try:
        if entry.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
            raise ValueError("its compression is not that of .npz files")
        with archive.open(entry) as stream:
            dtype, shape, fortran = _header(stream)
            if dtype.kind not in "biufU":
                what = "holds pickled Python objects, which are never read" if dtype.kind == "O" else ""
                raise GraphFileError(
                    f"{path}: array {name!r} {what or 'is not an array of numbers or strings'}"
                )
            if _cost(dtype, shape) > left:
                raise GraphFileError(
                    f"{path}: array {name!r} cannot be read (with it the file unpacks to more than its limit: if you "
                    "trust it, raise unpack_limit)"
                )
            return _data(stream, dtype, shape, fortran)
    except _DAMAGE as error:
        if isinstance(error, GraphFileError):
            raise
        raise GraphFileError(f"{path}: array {name!r} cannot be read ({one_line(error)})") from None


def _cost(dtype: np.dtype[Any], shape: tuple[int, ...]) -> int:
    each = dtype.itemsize + _PER_STRING if dtype.kind == "U" else max(8, dtype.itemsize)
    return each * math.prod(max(1, n) for n in shape)


def _header(stream: IO[bytes]) -> tuple[np.dtype[Any], tuple[int, ...], bool]:
    """Type, shape and order; never longer than ``_LONGEST_HEADER``, and a literal of the expected form only."""
    start = stream.read(8)
    if start[:6] != b"\x93NUMPY" or start[6] not in (1, 2, 3):
        raise ValueError("it does not start as an .npy file")
    width = "<H" if start[6] == 1 else "<I"
    (length,) = struct.unpack(width, stream.read(struct.calcsize(width)))
    if length > _LONGEST_HEADER:
        raise ValueError("its header is too long")
    text = stream.read(length).decode("utf-8" if start[6] == 3 else "latin1")
    try:
        found = ast.literal_eval(re.sub(r"(\d)L\b", r"\1", text).strip())  # Python 2 wrote 3L
    except (ValueError, SyntaxError, RecursionError, MemoryError, TypeError):
        raise ValueError("its header is damaged") from None
    if not isinstance(found, dict) or set(found) != {"descr", "fortran_order", "shape"}:
        raise ValueError("its header is damaged")
    shape, descr = found["shape"], found["descr"]
    if not isinstance(shape, tuple) or not all(type(n) is int and 0 <= n < 2**62 for n in shape):
        raise ValueError("its header names no legal shape")
    if not isinstance(descr, str) and not isinstance(descr, list):
        raise ValueError("its header names no legal type")
    return np.dtype(descr), shape, found["fortran_order"] is True


def _data(stream: IO[bytes], dtype: np.dtype[Any], shape: tuple[int, ...], fortran: bool) -> AnyArray:
    array: AnyArray = np.empty(shape[::-1] if fortran else shape, dtype=dtype)
    rest = memoryview(array.reshape(-1).view(np.uint8)) if array.nbytes else memoryview(b"")
    while len(rest):
        piece = stream.read(min(_PIECE, len(rest)))
        if not piece:
            raise EOFError(f"{len(rest)} bytes are missing")
        rest[: len(piece)] = piece
        rest = rest[len(piece) :]
    if stream.read(1):
        raise ValueError("it is longer than its header says")
    if dtype.kind == "U" and array.nbytes:
        characters = array.reshape(-1).view(np.dtype(np.uint32).newbyteorder(dtype.byteorder))
        if (characters > sys.maxunicode).any():
            raise ValueError("it holds characters that do not exist")
    return array.T if fortran else array

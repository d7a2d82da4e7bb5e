"""The bytes of a file, unpacked within limits."""

from __future__ import annotations

import lzma
import stat
import zlib
from pathlib import Path
from typing import Any

from gapcut.inference.files.errors import EnergyFileError

MOST_TIMES, MOST_BYTES = 50, 2**26
"""A packed file may unpack to so many times its size, or to 64 MiB; beyond, it is made to fill memory."""

_PIECE = 2**20


def contents(path: Path) -> bytes:
    """The file's bytes, unpacked if its name ends with .gz or .xz. ``EnergyFileError`` for what is no file of its own,
    such as a device, and for packed data that are cut, damaged or unpack to too much; ``OSError`` as ``open``."""
    mode = path.stat().st_mode
    if not (stat.S_ISREG(mode) or stat.S_ISDIR(mode)):
        raise EnergyFileError(path, "not a regular file but a device, pipe or socket")
    data = path.read_bytes()
    kind = path.suffix.lower()
    if kind not in (".gz", ".xz"):
        return data
    try:
        return b"".join(_pieces(data, kind, path))
    except (EOFError, zlib.error, lzma.LZMAError) as error:
        raise EnergyFileError(
            path, f"not a complete {'gzip' if kind == '.gz' else 'xz'} file: {error}"
        ) from None


def _pieces(data: bytes, kind: str, path: Path) -> list[bytes]:
    limit = max(MOST_TIMES * len(data), MOST_BYTES)
    pieces: list[bytes] = []
    size = 0
    while data:  # members one after the other
        unpacker = _unpacker(kind)
        while not unpacker.eof:
            piece = unpacker.decompress(data, _PIECE)
            data = getattr(unpacker, "unconsumed_tail", b"")
            size += len(piece)
            if size > limit:
                raise EnergyFileError(
                    path,
                    f"unpacks to more than {limit // 2**20} MiB, {MOST_TIMES} times its size: unpack it yourself",
                )
            if not piece and not data and not unpacker.eof:
                raise EOFError("its end is missing")
            pieces.append(piece)
        data = unpacker.unused_data.lstrip(b"\0")
    return pieces


def _unpacker(kind: str) -> Any:
    return zlib.decompressobj(wbits=31) if kind == ".gz" else lzma.LZMADecompressor()

"""A checked container of arrays and one JSON document: a safetensors file with a digest over every byte.

The JSON text is the only entry of ``__metadata__`` and starts with ``{"sha256":"<64 hex digits>"``: SHA-256
of the whole file with those digits as zeros. Nothing in the file is executed or unpickled.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import stat
import struct
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import safetensors
import safetensors.numpy

from gapcut.files.atomic import write_atomically
from gapcut.typing import AnyArray

_KEY = "gapcut"
_MARK = b'\\"sha256\\":\\"'  # as it stands in the header: JSON inside a JSON string
_ZEROS = "0" * 64
_LARGEST_HEADER = 100_000_000  # bytes; the limit of the safetensors format
_KINDS = "fbiu"


class ModelFileError(ValueError):
    """A file is not a gapcut model, or was damaged or altered; the message says which and names the file."""


def write_container(path: Path, arrays: Mapping[str, AnyArray], document: Mapping[str, Any]) -> None:
    """Write ``arrays`` and ``document`` to ``path``, whole or not at all.

    Raises ValueError if the document holds what JSON cannot (NaN, infinity, objects); OSError if writing
    fails.
    """
    text = json.dumps({"sha256": _ZEROS, **document}, separators=(",", ":"), allow_nan=False)
    ordered = {name: np.ascontiguousarray(arrays[name]) for name in sorted(arrays)}
    blank = bytearray(safetensors.numpy.save(ordered, metadata={_KEY: text}))
    start = _digest_start(blank)
    blank[start : start + 64] = hashlib.sha256(blank).hexdigest().encode()
    write_atomically(path, lambda file: file.write(blank))


def read_container(path: Path) -> tuple[dict[str, AnyArray], dict[str, Any]]:
    """Arrays and document of a file written by :func:`write_container`.

    Raises ModelFileError if the file is anything else, or if any byte of it changed; FileNotFoundError and
    PermissionError as they are.
    """
    content = bytearray(_read_all(path))
    header = _header(path, content)
    metadata = header.get("__metadata__")
    text = metadata.get(_KEY) if isinstance(metadata, dict) else None
    if not isinstance(text, str):
        raise ModelFileError(f"{path}: this is a safetensors file, but not a gapcut model")
    _check_digest(path, content)
    document = _parse(path, text)
    try:
        arrays = safetensors.numpy.load(bytes(content))
    except (
        safetensors.SafetensorError,
        ValueError,
        KeyError,
        TypeError,
        OverflowError,
        MemoryError,
    ) as error:
        raise ModelFileError(f"{path}: the arrays cannot be read ({_one_line(error)})") from None
    for name, array in arrays.items():
        if array.dtype.kind not in _KINDS:
            raise ModelFileError(f"{path}: array {name!r} has the type {array.dtype}, which no model holds")
    return arrays, document


@contextmanager
def blame(path: Path) -> Iterator[None]:
    """Anything that goes wrong while a document is taken apart is the file's fault: hostile values reach
    every room.
    """
    try:
        yield
    except ModelFileError:
        raise
    except (
        ValueError,
        TypeError,
        KeyError,
        IndexError,
        AttributeError,
        ArithmeticError,
        RecursionError,
    ) as error:
        reason = " ".join(str(error).split())[:200]
        raise ModelFileError(f"{path}: not a valid model ({reason or type(error).__name__})") from None


def _read_all(path: Path) -> bytes:
    """All bytes, once the first eight say that they can be a safetensors file (so that nothing large is read
    in vain).
    """
    if path.is_dir():
        raise ModelFileError(f"{path}: a folder is not a model file")
    with open(path, "rb") as file:
        info = os.fstat(file.fileno())
        if not stat.S_ISREG(info.st_mode):
            raise ModelFileError(f"{path}: not a regular file")
        prefix = file.read(8)
        length = struct.unpack("<Q", prefix)[0] if len(prefix) == 8 else 0
        if not 2 <= length <= min(_LARGEST_HEADER, info.st_size - 8):
            raise ModelFileError(
                f"{path}: not a gapcut model, or cut short (its header does not fit the file)"
            )
        return prefix + file.read()


def _header(path: Path, content: bytearray) -> dict[str, Any]:
    length = struct.unpack("<Q", content[:8])[0]
    return _parse(path, bytes(content[8 : 8 + length]))


def _parse(path: Path, text: str | bytes) -> dict[str, Any]:
    try:
        document = json.loads(text, parse_constant=_refuse_constant)
    except (ValueError, RecursionError) as error:
        raise ModelFileError(
            f"{path}: not a gapcut model, or damaged (its header is no JSON: {_one_line(error)})"
        ) from None
    if not isinstance(document, dict):
        raise ModelFileError(f"{path}: not a gapcut model (its header is no JSON object)")
    return document


def _check_digest(path: Path, content: bytearray) -> None:
    try:
        start = _digest_start(content)
    except ValueError:
        raise ModelFileError(f"{path}: not a gapcut model, or damaged (no checksum)") from None
    claimed = bytes(content[start : start + 64])
    blank = bytearray(content)
    blank[start : start + 64] = _ZEROS.encode()
    if not re.fullmatch(rb"[0-9a-f]{64}", claimed) or hashlib.sha256(blank).hexdigest().encode() != claimed:
        raise ModelFileError(
            f"{path}: the file was damaged or altered (its checksum does not match): copy it again"
        )


def _digest_start(content: bytearray) -> int:
    return content.index(_MARK) + len(_MARK)


def _refuse_constant(name: str) -> float:
    raise ValueError(f"{name} is not JSON")


def _one_line(error: BaseException) -> str:
    return " ".join(str(error).split())[:200] or type(error).__name__

"""Files made hostile: bytes changed, and archives rebuilt with odd headers, types and shapes."""

from __future__ import annotations

import io
import struct
import zipfile
from typing import Any

import numpy as np

_DESCRS = (
    "<f8",
    "<f4",
    "|i1",
    "|u1",
    "<u8",
    "<i8",
    "<f2",
    "|b1",
    "<U1",
    "<U9999999",
    "|S5",
    "|O",
    "<c16",
    "<M8[s]",
    "",
    "x",
)
_SHAPES = (
    "()",
    "(0,)",
    "(3,)",
    "(4, 1)",
    "(4, 1, 1)",
    "(9999999999,)",
    "(0, 9999999999999)",
    "(-1,)",
    "(3.5,)",
    "(True,)",
    "3",
)
_HEADERS = (
    "{",
    "[" * 5000,
    "{'a': 1}",
    "(" * 900 + ")" * 900,
    "'''",
    "{'descr': [('a', '<f8')], 'fortran_order': False, 'shape': (3,)}",
    "\0\xff",
)
_VALUES: tuple[Any, ...] = (np.nan, np.inf, -1, 0, 1, 2**31, 2**40, 2**62, 255)


def mutated(whole: bytes, rng: np.random.Generator) -> bytes:
    """One of some hundred kinds of damage to an ``.npz``."""
    kind = rng.integers(4)
    if kind == 0:
        return _bytes_changed(whole, rng)
    with zipfile.ZipFile(io.BytesIO(whole)) as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    chosen = list(parts)[int(rng.integers(len(parts)))]
    if kind == 1:
        parts[chosen] = _with_header(parts[chosen], rng)
    elif kind == 2:
        parts[chosen] = _other_values(parts[chosen], rng)
    elif rng.random() < 0.3:
        del parts[chosen]
    else:
        parts[chosen] = _bytes_changed(parts[chosen], rng)
    stream = io.BytesIO()
    methods = [zipfile.ZIP_DEFLATED] * 8 + [zipfile.ZIP_STORED, zipfile.ZIP_BZIP2]
    with zipfile.ZipFile(stream, "w", methods[int(rng.integers(10))]) as archive:
        for name, content in parts.items():
            archive.writestr(name, content)
    return stream.getvalue()


def _bytes_changed(whole: bytes, rng: np.random.Generator) -> bytes:
    altered = bytearray(whole)
    for _ in range(int(rng.integers(1, 4))):
        if altered:
            altered[int(rng.integers(len(altered)))] = int(rng.integers(256))
    return bytes(altered[: int(rng.integers(len(altered) + 1))] if rng.random() < 0.1 else altered)


def _with_header(content: bytes, rng: np.random.Generator) -> bytes:
    def pick(options: tuple[str, ...]) -> str:
        return options[int(rng.integers(len(options)))]

    made = f"{{'descr': {pick(_DESCRS)!r}, 'fortran_order': {pick(('True', 'False', '1'))}, 'shape': {pick(_SHAPES)}}}"
    header = (made if rng.random() < 0.8 else pick(_HEADERS)).encode("latin1")
    zeros = bytes(int(rng.choice([0, 32, 1 << 20, 96 << 20], p=[0.5, 0.3, 0.15, 0.05])))
    if rng.random() < 0.05:
        return b"\x93NUMPY\2\0" + struct.pack("<I", len(zeros)) + zeros
    return b"\x93NUMPY\1\0" + struct.pack("<H", len(header)) + header + (zeros or content[128:])


def _other_values(content: bytes, rng: np.random.Generator) -> bytes:
    array = np.array(np.load(io.BytesIO(content)))
    choice = rng.integers(4)
    if choice == 0 and array.size and array.dtype.kind in "iuf":
        with np.errstate(all="ignore"):
            array.flat[int(rng.integers(array.size))] = np.asarray(
                _VALUES[int(rng.integers(len(_VALUES)))]
            ).astype(array.dtype)
    elif choice == 1:
        kinds = ["u1", "i8", "u8", "f4", "f8", "U4", "?", "f2"]
        try:
            with np.errstate(all="ignore"):
                array = array.astype(kinds[int(rng.integers(len(kinds)))])
        except ValueError:
            array = array[:0]
    elif choice == 2:
        array = array.reshape(-1)[: int(rng.integers(array.size + 1))]
    else:
        array = np.repeat(array[None] if rng.random() < 0.3 or not array.ndim else array, 2, axis=0)
    stream = io.BytesIO()
    np.save(stream, array)
    return stream.getvalue()

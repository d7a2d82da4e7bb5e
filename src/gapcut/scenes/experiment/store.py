"""Results kept on disk: a file is whole or absent, its name says what it was made from, damaged ones are made anew."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any, TypeVar, get_origin, get_type_hints
from zipfile import BadZipFile

import numpy as np

from gapcut.files import write_arrays, write_atomically
from gapcut.scenes.bridges import Bridge
from gapcut.typing import AnyArray

T = TypeVar("T")


def digest(*parts: Any) -> str:
    """16 hexadecimal digits of JSON-able values and arrays."""
    sum_ = hashlib.sha256()
    for part in parts:
        if isinstance(part, np.ndarray):
            sum_.update(f"{part.dtype}{part.shape}".encode())
            sum_.update(np.ascontiguousarray(part).tobytes())
        else:
            sum_.update(json.dumps(part, sort_keys=True).encode())
    return sum_.hexdigest()[:16]


def bridge_digest(bridge: Bridge) -> str:
    """What a scanner can see of a bridge: other geometry or classes give another digest."""
    meshes = (bridge.mesh, bridge.terrain, *(thing.mesh for thing in bridge.surroundings))
    arrays = [array for mesh in meshes for array in (mesh.vertices, mesh.faces)]
    around = [[thing.label for thing in bridge.surroundings], bridge.origin] if bridge.surroundings else []
    return digest(bridge.name, *arrays, bridge.face_parts, bridge.labels, *around)


def kept(path: Path | None, kind: type[T], make: Callable[[], T]) -> T:
    """The value in the file at ``path``; without a file (or with a damaged one) it is made and written there.

    ``kind``: a frozen dataclass of arrays, numbers, text, tuples and dictionaries of integers, and others of its sort.
    """
    if path is not None and path.is_file():
        try:
            with np.load(path, allow_pickle=False) as arrays:
                return _unpacked(kind, {key: arrays[key] for key in arrays})
        except (OSError, ValueError, KeyError, TypeError, EOFError, BadZipFile):
            pass
    made = make()
    if path is not None:
        flat = dict(_packed(made))
        write_atomically(path, lambda file: write_arrays(file, flat, compressed=False))
    return made


def _packed(value: Any, prefix: str = "") -> Iterator[tuple[str, AnyArray]]:
    for f in fields(value):
        part = getattr(value, f.name)
        if is_dataclass(part):
            yield from _packed(part, f"{prefix}{f.name}.")
        elif isinstance(part, dict):
            yield prefix + f.name, np.array(json.dumps(list(part.items())))
        else:
            yield prefix + f.name, np.asarray(part)


def _unpacked(kind: type[T], arrays: Mapping[str, AnyArray], prefix: str = "") -> T:
    values: dict[str, Any] = {}
    for name, hint in get_type_hints(kind).items():
        key = prefix + name
        if is_dataclass(hint):
            values[name] = _unpacked(hint, arrays, f"{key}.")  # type: ignore[arg-type]
        elif get_origin(hint) is dict:
            values[name] = dict(json.loads(str(arrays[key])))
        elif get_origin(hint) is tuple:
            values[name] = tuple(arrays[key].tolist())
        else:
            values[name] = arrays[key] if arrays[key].ndim else arrays[key].item()
    return kind(**values)

"""Results kept on disk: a file is whole or absent, its name says what it was made from, damaged ones are made anew."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TypeVar
from zipfile import BadZipFile

import numpy as np

from gapcut.files import write_atomically
from gapcut.scenes.bridges import Bridge
from gapcut.scenes.scanner import Scan
from gapcut.typing import AnyArray

T = TypeVar("T")
Arrays = Mapping[str, AnyArray]


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
    meshes = (bridge.mesh, bridge.terrain)
    arrays = [array for mesh in meshes for array in (mesh.vertices, mesh.faces)]
    return digest(bridge.name, *arrays, bridge.face_parts, bridge.labels)


def kept(
    path: Path | None, make: Callable[[], T], pack: Callable[[T], Arrays], unpack: Callable[[Arrays], T]
) -> T:
    """What the file at ``path`` holds; without a file (or with a damaged one) it is made and written there."""
    if path is not None and path.is_file():
        try:
            with np.load(path, allow_pickle=False) as arrays:
                return unpack({key: arrays[key] for key in arrays})
        except (OSError, ValueError, KeyError, TypeError, EOFError, BadZipFile):
            pass
    made = make()
    if path is not None:
        arrays_ = dict(pack(made))
        write_atomically(path, lambda file: np.savez(file, allow_pickle=False, **arrays_))
    return made


def pack_scan(scan: Scan) -> Arrays:
    """A scan as arrays: coordinates and intensities unchanged, numbers of parts and stations in fewer bytes."""
    return {
        "name": np.asarray(scan.name),
        "xyz": scan.xyz,
        "part": scan.part.astype(np.int32),
        "label": scan.label.astype(np.int8),
        "station": scan.station.astype(np.int16),
        "intensity": scan.intensity,
        "stations": scan.stations,
        "voxel": np.asarray(scan.voxel),
        "unseen": np.asarray(scan.unseen, dtype=np.int64),
        "counts": np.asarray([scan.counts[i] for i in range(len(scan.counts))], dtype=np.int64),
    }


def unpack_scan(arrays: Arrays) -> Scan:
    """The scan of :func:`pack_scan`."""
    return Scan(
        name=str(arrays["name"]),
        xyz=arrays["xyz"],
        part=arrays["part"].astype(np.int64),
        label=arrays["label"].astype(np.int64),
        station=arrays["station"].astype(np.int64),
        intensity=arrays["intensity"],
        stations=arrays["stations"],
        voxel=float(arrays["voxel"]),
        unseen=tuple(int(i) for i in arrays["unseen"]),
        counts={i: int(n) for i, n in enumerate(arrays["counts"])},
    )

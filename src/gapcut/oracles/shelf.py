"""Arrays under numbers, in memory or in a file each."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping, Sequence
from typing import IO, Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

Arrays: TypeAlias = tuple[NDArray[np.float32], ...]


class Shelf:
    """What is kept under a number comes back as it was; from files, which have no name, as views that are not to be
    changed."""

    def __init__(self, arrays: Mapping[int, Arrays] | None = None) -> None:
        self._folder: str | None = None
        self._held: dict[int, Arrays | _OnDisk] = dict(arrays or {})

    def replace(self, arrays: Mapping[int, Arrays] | None) -> None:
        """These and no others, where they are kept now."""
        self._held = {}
        for number, held in (arrays or {}).items():
            self[number] = held

    def move_to(self, folder: str) -> None:
        """Files of this folder from now on."""
        self._folder = folder
        for number in list(self._held):
            self[number] = self[number]

    def __setitem__(self, number: int, arrays: Arrays) -> None:
        self._held[number] = arrays if self._folder is None else _OnDisk(arrays, self._folder)

    def __getitem__(self, number: int) -> Arrays:
        found = self._held[number]
        return found if isinstance(found, tuple) else found.arrays()

    def forget_all_but(self, numbers: Sequence[int]) -> None:
        """Others are not asked for any more."""
        self._held = {number: found for number, found in self._held.items() if number in numbers}

    def all(self) -> dict[int, Arrays]:
        """All that is kept."""
        return {number: self[number] for number in self._held}


class _OnDisk:
    def __init__(self, arrays: Arrays, folder: str) -> None:
        self._file: IO[Any] = tempfile.TemporaryFile(dir=folder)  # noqa: SIM115  # open as long as this lives
        self._shapes = [array.shape for array in arrays]
        for array in arrays:
            self._file.write(memoryview(np.ascontiguousarray(array)).cast("B") if array.size else b"")
        self._file.flush()

    def arrays(self) -> Arrays:
        found, at = [], 0
        for shape in self._shapes:
            size = int(np.prod(shape))
            empty = np.zeros(shape, dtype=np.float32)
            found.append(np.memmap(self._file, np.float32, "r", at, shape) if size else empty)
            at += 4 * size
        return tuple(found)

"""NumPy's archives of arrays (``.npz``), of plain data only."""

from __future__ import annotations

import zipfile
from collections.abc import Mapping
from typing import IO

import numpy as np

from gapcut.typing import AnyArray


def write_arrays(file: IO[bytes], arrays: Mapping[str, AnyArray], *, compressed: bool = True) -> None:
    """What ``np.load(..., allow_pickle=False)`` reads; raises ValueError for an array of Python objects.

    The same bytes as ``np.savez(..., allow_pickle=False)``, which before NumPy 2.1 stores that option as an array.
    """
    kind = zipfile.ZIP_DEFLATED if compressed else zipfile.ZIP_STORED
    with zipfile.ZipFile(file, "w", kind) as archive:
        for name, array in arrays.items():
            with archive.open(f"{name}.npy", "w", force_zip64=True) as entry:
                np.lib.format.write_array(entry, np.asanyarray(array), allow_pickle=False)

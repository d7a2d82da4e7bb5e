"""What a command reads and what it writes: nothing that is read or precious is replaced, and no result is lost."""

from __future__ import annotations

import os
import tempfile
import zipfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, TypeVar

from cyclopts import Parameter

from gapcut.cli.exits import Rescued
from gapcut.files import try_to_write

Result = TypeVar("Result")

Force = Annotated[
    bool,
    Parameter(name="--force", negative="", help="Replace files of another kind; never those that are read."),
]


@dataclass(frozen=True)
class Kind:
    """A kind of file that commands write: its ``name`` and how to know one; an empty file is of any."""

    name: str
    known: Callable[[Path], bool]

    def fits(self, path: Path) -> bool:
        with suppress(OSError, ValueError, zipfile.BadZipFile):
            return path.stat().st_size == 0 or self.known(path)
        return False


_MAGIC = {
    **{".png": b"\x89PNG", ".html": b"<!doctype html", ".json": b"{", ".md": b"#"},
    **{".glb": b"glTF", ".ply": b"ply", ".ifc": b"ISO-10303-21"},
    **{".las": b"LASF", ".laz": b"LASF", ".pcd": b"#", ".npz": b"PK"},
    **{".csv": b"graph,name,node,label", ".parquet": b"PAR1"},
}


_FILES = {
    *_MAGIC,
    *(".gapcut", ".feather", ".gz", ".h5", ".hdf5", ".npy", ".pickle", ".pkl", ".tsv", ".txt", ".zip"),
}


def called_like_a_file(folder: Path) -> bool:
    """Whether a folder that is not there yet would have the name of a file."""
    return folder.suffix.lower() in _FILES and not folder.is_dir()


def _head(path: Path) -> bytes:
    with open(path, "rb") as file:
        return file.read(4096)


def _archive(name: str, *arrays: str) -> Kind:
    """An ``.npz`` with these arrays."""

    def known(path: Path) -> bool:
        with zipfile.ZipFile(path) as archive:
            return {f"{array}.npy" for array in arrays} <= set(archive.namelist())

    return Kind(name, known)


def summary_path(labelled: Path) -> Path:
    """Where ``label`` writes the summary of a labelled scan, and ``report`` reads it."""
    return labelled.with_name(f"{labelled.name}.run.json")


def segments_path(labelled: Path, ending: str) -> Path:
    """Where ``label`` writes the table of a labelled scan's segments."""
    return labelled.with_name(f"{labelled.name}.segments.{ending}")


def reasons_path(labelled: Path) -> Path:
    """Where ``label`` writes why the segments of a scan have their labels, and ``report`` reads it."""
    return labelled.with_name(f"{labelled.name}.reasons")


def graphs_path(proof: Path) -> Path:
    """Where the graphs that a proof is about are written."""
    return proof.with_name(f"{proof.stem}.graphs.npz")


MODEL = Kind("model", lambda path: _head(path)[8:].startswith(b'{"__metadata__":{"gapcut"'))
REASONS = Kind("file of reasons", MODEL.known)
CHECKPOINT = _archive("checkpoint", "meta", "best_weights")
PROOF = _archive("proof", "header", "unary", "class_weight")
GRAPHS = _archive("graph set", "node_offset", "edge_offset", "edges")
LABELS = _archive("file of labels and bounds", "labels", "energy", "bound", "gap", "status")
LABELING = Kind("labeling", lambda path: all(line.isdigit() for line in _head(path).splitlines()))
PICTURE = Kind("PNG picture", lambda path: _head(path).startswith(_MAGIC[".png"]))
SEGMENTS = Kind(
    "table of segments",
    lambda path: (
        _head(path).startswith((b"segment,label,", b"SQLite format 3\0", b"  0\nSECTION"))
        and ".segments." in path.name
    ),
)
LABELLED_SCAN = Kind(
    "scan labelled by gapcut (no summary beside it)", lambda path: summary_path(path).is_file()
)


def kind_of_ending(path: Path) -> Kind:
    """Of models, pages, pictures, tables and scans: known by their first bytes."""
    ending = path.suffix.lower()
    if ending == ".gapcut":
        return MODEL
    return Kind(f"{ending} file", lambda found: _head(found).startswith(_MAGIC.get(ending, b"")))


def report_files(folder: Path) -> list[Path]:
    """What the report of an experiment may write over in a folder: its fixed names, pictures and graphs."""
    fixed = ("report.html", "results.md", "results.json", "model.gapcut")
    return [*(folder / name for name in fixed), *folder.glob("*.png"), *folder.glob("fold-*.npz")]


def check_outputs(
    writes: Mapping[Path, Kind],
    reads: Iterable[Path | None] = (),
    force: bool = False,
    folder: Path | None = None,
) -> None:
    """Called before the work: every file that it will write can be written, and loses nothing.

    ``reads``: files and folders (with the files in them) that the command reads; none of them is written over, under
    whatever name or link. Other files are replaced if they are of the kind that is written, or with ``force``.
    ``folder``: where all files go; unlike that of a single file, it may be absent. Raises ValueError, OSError.
    """
    if folder is not None:
        _check_folder(folder)
    given = [source for source in reads if source is not None]
    sources: set[tuple[int, int]] | None = None  # looked at once, where an output is there
    for path, kind in writes.items():
        if folder is None and not path.parent.is_dir():
            raise ValueError(f"{path.parent}: no such folder to write {path.name} to")
        if path.exists():
            if not path.is_file():
                raise ValueError(f"{path} is not a file: name a file to write")
            if sources is None:
                sources = {_identity(source) for source in _files(given) if source.exists()}
            if _identity(path) in sources:
                raise ValueError(f"{path} is read by this command: name another file to write")
            if not (force or kind.fits(path)):
                raise ValueError(
                    f"{path} exists and is no {kind.name}: name another file, or add --force to replace it"
                )
        if folder is None or path.parent.is_dir():
            try_to_write(path)


def write_result(path: Path, save: Callable[[Path], Result]) -> Result:
    """``save(path)``, file or folder. Where that fails, the result goes to a new folder in the system's temporary
    folder or, failing that, at home, and Rescued says where.
    """
    try:
        return save(path)
    except OSError as error:
        reason = error.strerror or str(error)
    for place in (None, os.path.expanduser("~")):
        with suppress(OSError):
            refuge = Path(tempfile.mkdtemp(prefix="gapcut-", dir=place))
            if _saved(refuge / path.name, save):
                raise Rescued(f"{path}: {reason}: the result was saved as {refuge / path.name} instead")
    raise OSError(f"{path}: {reason}: the result could not be saved elsewhere either")


def _saved(path: Path, save: Callable[[Path], object]) -> bool:
    try:
        save(path)
    except OSError:
        with suppress(OSError):
            path.parent.rmdir()
        return False
    return True


def _check_folder(folder: Path) -> None:
    if folder.exists() and not folder.is_dir():
        raise ValueError(f"{folder} is not a folder: name a folder to write to")
    if called_like_a_file(folder):
        raise ValueError(
            f"{folder}: a folder is written here, and its name ends like that of a {folder.suffix} file: name a folder"
        )
    nearest = next(place for place in (folder, *folder.absolute().parents) if place.exists())
    try_to_write(nearest / "gapcut")


def _identity(path: Path) -> tuple[int, int]:
    """The same for all names and links of a file."""
    found = path.stat()
    return found.st_dev, found.st_ino


def _files(sources: Iterable[Path]) -> Iterator[Path]:
    for source in sources:
        yield from source.iterdir() if source.is_dir() else (source,)

"""Writing graphs in parts (:mod:`gapcut.data.parts`), a part at a time."""

from __future__ import annotations

import contextlib
import hashlib
import io
import os
import sys
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any, Self

from gapcut.data import archive
from gapcut.data.archive import Contents
from gapcut.data.graph import Graph
from gapcut.data.npz import GraphFileError
from gapcut.data.parts import (
    INDEX,
    KIND,
    VERSION,
    Index,
    Part,
    Shared,
    counts,
    fitted,
    is_part,
    is_parts,
    joined,
    part_path,
    read_index,
)
from gapcut.files import digest, json_text, write_arrays, write_bytes, write_text

PART_BYTES = 64 << 20
"""Of a part's arrays in memory, about, unless something else is asked for."""


class PartWriter:
    """Writes graphs to a folder as they come, a part at a time; :meth:`close` makes them count. A part is as large as
    ``part_bytes`` allow, or a graph alone. A context manager, which lets go of the folder, and removes it again if it
    made it and nothing is in it.

    A folder that has an index is gone on with if ``append``, else refused, as is one with other ``.npz`` files. One
    writer at a time: it locks the folder, and GraphFileError is raised while another has the lock. Where folders cannot
    be locked (Windows, some network file systems), GraphFileError is raised before a part or the index is written if
    the index is another than in the beginning: what the index names is not written over, but two that write before
    either has ended may spoil each other's parts. Raises ValueError, naming the folder, for graphs that do not fit
    those before.
    """

    def __init__(self, folder: Path, append: bool = False, part_bytes: int = PART_BYTES) -> None:
        if part_bytes < 1:
            raise ValueError(f"part_bytes={part_bytes} must be a number of bytes")
        if folder.exists() and not folder.is_dir():
            raise NotADirectoryError(f"{folder} is a file: name a folder")
        self._folder, self._limit = folder, part_bytes
        self._index: Index | None = None
        self._before: str | None = None
        self._waiting: list[Contents] = []
        self._bytes = 0
        self._made = not folder.exists()
        folder.mkdir(exist_ok=True)
        self._lock = _locked(folder)
        try:
            self._begin(append)
        except BaseException:
            self._let_go()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._let_go()

    def add(self, contents: Contents) -> None:
        """More graphs, which fit each other."""
        shared = Shared.of(contents)
        if self._index is None or not (self._index.parts or self._waiting):
            self._index = Index(shared)
        elif len(contents.graphs):
            self._widen(shared)
            contents = fitted(contents, self._index.shared)
            wrong = Shared.of(contents).differs(self._index.shared, "the graphs before them")
            if wrong is not None:
                raise ValueError(f"{self._folder}: the graphs to add have {wrong}: all need the same")
        for g, graph in enumerate(contents.graphs):
            size = graph_bytes(graph)
            if self._waiting and self._bytes + size > self._limit:
                self._flush()
            self._waiting.append(_rows(contents, slice(g, g + 1)))
            self._bytes += size

    def close(self) -> Index:
        """Write what is left, then the index."""
        if self._index is None:
            self._index = Index(Shared.of(Contents([], {}, None, None)))
        if self._waiting:
            self._flush()
        self._check_unchanged()
        write_text(self._folder / INDEX, json_text({"kind": KIND, "version": VERSION, **asdict(self._index)}))
        return self._index

    def _begin(self, append: bool) -> None:
        if is_parts(self._folder):
            if not append:
                raise FileExistsError(
                    f"{self._folder} has graphs already: append to them, or name another folder"
                )
            self._index, self._before = read_index(self._folder), digest(self._folder / INDEX)
        elif any(not is_part(p.name) for p in self._folder.glob("*.npz")):
            raise FileExistsError(f"{self._folder} has other .npz files: name another folder")

    def _let_go(self) -> None:
        if self._made:
            with contextlib.suppress(OSError):  # not empty
                self._folder.rmdir()
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None

    def _check_unchanged(self) -> None:
        path = self._folder / INDEX
        if (digest(path) if path.exists() else None) != self._before:
            raise GraphFileError(f"{path}: changed by another writer meanwhile: append again")

    def _widen(self, new: Shared) -> None:
        """Graphs before, if none has an edge or none a clique group, take the columns or groups of the new ones, as in
        a GraphSet. Readers fit the parts that are written to the index."""
        assert self._index is not None
        shared = self._index.shared
        bare = not shared.edge_features and shared.edge_feature_names is None
        if bare and new.edge_features and not (self._index.total("edges") or _edges(self._waiting)):
            names = new.edge_feature_names
            shared = replace(shared, edge_features=new.edge_features, edge_feature_names=names)
        if new.cliques and not shared.cliques:
            shared = replace(shared, cliques=new.cliques)
        if shared is not self._index.shared:
            self._index = replace(self._index, shared=shared)
            self._waiting = [fitted(contents, shared) for contents in self._waiting]

    def _flush(self) -> None:
        self._check_unchanged()  # another's part may have the next number
        assert self._index is not None
        contents = joined(self._waiting, self._folder)
        stream = io.BytesIO()
        write_arrays(stream, archive.to_arrays(contents), compressed=False)
        content = stream.getvalue()
        write_bytes(part_path(self._folder, len(self._index.parts)), content)
        part = Part(*counts(contents.graphs), hashlib.sha256(content).hexdigest())
        self._index = replace(self._index, parts=(*self._index.parts, part))
        self._waiting, self._bytes = [], 0


def graph_bytes(graph: Graph) -> int:
    """Of a graph's arrays."""
    nodes: Any = graph.node_features
    tables = (nodes.data, nodes.indices, nodes.indptr) if graph.is_sparse else (nodes,)
    rest = (graph.edges, graph.edge_features, *(a for c in graph.cliques for a in (c.nodes, c.features)))
    return sum(int(table.nbytes) for table in (*tables, *rest))


def _locked(folder: Path) -> int | None:
    """The folder, open and locked until it is closed, also by the end of the process; None where that cannot be."""
    if sys.platform == "win32":
        return None
    import fcntl  # not there on Windows

    descriptor = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(descriptor)
        raise GraphFileError(f"{folder}: another writer is at work in it: append when it has ended") from None
    except OSError:
        os.close(descriptor)
        return None
    return descriptor


def _edges(pieces: list[Contents]) -> int:
    return sum(graph.n_edges for piece in pieces for graph in piece.graphs)


def _rows(contents: Contents, rows: slice) -> Contents:
    extras = {name: values[rows] for name, values in contents.extras.items()}
    return replace(contents, graphs=contents.graphs[rows], extras=extras)

"""Writing graphs in parts (:mod:`gapcut.data.parts`), a part at a time."""

from __future__ import annotations

import hashlib
import io
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import numpy as np

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
from gapcut.files import digest, json_text, write_bytes, write_text

PART_BYTES = 64 << 20
"""Of a part's arrays in memory, about, unless something else is asked for."""


class PartWriter:
    """Writes graphs to a folder as they come, a part at a time; :meth:`close` makes them count. A part is as large as
    ``part_bytes`` allow, or a graph alone.

    A folder that has an index is gone on with if ``append``, else refused, as is one with other ``.npz`` files. One
    writer at a time: one that finds another index in the end than in the beginning raises GraphFileError, and what it
    wrote does not count. Raises ValueError, naming the folder, for graphs that do not fit those before.
    """

    def __init__(self, folder: Path, append: bool = False, part_bytes: int = PART_BYTES) -> None:
        if part_bytes < 1:
            raise ValueError(f"part_bytes={part_bytes} must be a number of bytes")
        if folder.exists() and not folder.is_dir():
            raise NotADirectoryError(f"{folder} is a file: name a folder")
        self._folder, self._limit, self._index, self._before = folder, part_bytes, None, None
        if is_parts(folder):
            if not append:
                raise FileExistsError(f"{folder} has graphs already: append to them, or name another folder")
            self._index, self._before = read_index(folder), digest(folder / INDEX)
        elif folder.is_dir() and any(not is_part(p.name) for p in folder.glob("*.npz")):
            raise FileExistsError(f"{folder} has other .npz files: name another folder")
        folder.mkdir(exist_ok=True)
        self._waiting: list[Contents] = []
        self._bytes = 0

    def add(self, contents: Contents) -> None:
        """More graphs, which fit each other."""
        shared = Shared.of(contents)
        if self._index is None or not (self._index.parts or self._waiting):
            self._index = Index(shared)
        elif len(contents.graphs):
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
        path = self._folder / INDEX
        if (digest(path) if path.exists() else None) != self._before:
            raise GraphFileError(f"{path}: changed by another writer meanwhile: append again")
        write_text(path, json_text({"kind": KIND, "version": VERSION, **asdict(self._index)}))
        return self._index

    def _flush(self) -> None:
        assert self._index is not None
        contents = joined(self._waiting, self._folder)
        stream = io.BytesIO()
        np.savez(stream, allow_pickle=False, **archive.to_arrays(contents))
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


def _rows(contents: Contents, rows: slice) -> Contents:
    extras = {name: values[rows] for name, values in contents.extras.items()}
    return replace(contents, graphs=contents.graphs[rows], extras=extras)

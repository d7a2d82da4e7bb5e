"""Graphs that stay on disk: a folder of parts as a sequence that holds one part at a time."""

from __future__ import annotations

import operator
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from os import PathLike
from pathlib import Path
from typing import Any, SupportsIndex, overload

import numpy as np

from gapcut.data import archive, parts
from gapcut.data.graph import Graph
from gapcut.data.graph_set import GraphSet
from gapcut.data.npz import GraphFileError
from gapcut.data.part_writer import PART_BYTES, PartWriter
from gapcut.typing import IntArray


class GraphFolder(Sequence[Graph]):
    """Graphs of a folder written by :meth:`GraphSet.save_parts`, read a part at a time, in order.

    Memory holds the part at work. A part is compared with the SHA-256 of the index when it is first read, and again
    where size or time of its file changed since. What is appended later is not seen. ``select``: a boolean per-graph
    array; the other graphs are left out. ``unpack_limit``: of each part, as for :meth:`GraphSet.load`. Raises
    FileNotFoundError, or GraphFileError naming the part that is missing, damaged or another.
    """

    def __init__(
        self, path: str | PathLike[str], *, select: str | None = None, unpack_limit: int | None = None
    ) -> None:
        self._path, self._select, self._limit = Path(path), select, unpack_limit
        self._index = parts.read_index(self._path)
        self._seen: dict[int, tuple[int, int]] = {}
        self._held: tuple[int, GraphSet] | None = None
        self._ends: list[int] | None = None

    @property
    def n_parts(self) -> int:
        """How many parts the index counts."""
        return len(self._index.parts)

    def total(self, what: str) -> int:
        """``graphs``, ``nodes``, ``edges`` or ``cliques`` of all parts, as the index counts them."""
        return self._index.total(what)

    @property
    def array_bytes(self) -> int:
        """What features, edges and labels of all graphs take in memory, about; sparse ones take less."""
        shared, word = self._index.shared, 8
        a_node, an_edge = shared.node_features + 1, shared.edge_features + 2
        widest = max((order + columns for order, columns, _ in shared.cliques), default=0)
        counts = ((a_node, "nodes"), (an_edge, "edges"), (widest, "cliques"))
        return word * sum(columns * self.total(what) for columns, what in counts)

    @property
    def extras(self) -> tuple[str, ...]:
        """Names of the per-graph arrays; the parts have them."""
        return tuple(self._index.shared.arrays)

    @property
    def node_feature_names(self) -> tuple[str, ...] | None:
        """Of the node feature columns of all graphs; None where they have none."""
        names = self._index.shared.node_feature_names
        return None if names is None else tuple(names)

    @property
    def edge_feature_names(self) -> tuple[str, ...] | None:
        """Of the edge feature columns of all graphs; None where they have none."""
        names = self._index.shared.edge_feature_names
        return None if names is None else tuple(names)

    def part(self, number: int) -> GraphSet:
        """The graphs of a part, which stay in memory until another one is asked for. IndexError where there is none."""
        if not 0 <= number < self.n_parts:
            raise IndexError(f"part {number} of {self.n_parts}")
        if self._held is None or self._held[0] != number:
            self._held = None  # two are never in memory
            self._held = (number, self._read(number))
        return self._held[1]

    def parts(self) -> Iterator[GraphSet]:
        """All parts, in order."""
        return (self.part(number) for number in range(self.n_parts))

    def __iter__(self) -> Iterator[Graph]:
        for part in self.parts():
            yield from part

    def some(self, numbers: Iterable[int]) -> Iterator[Graph]:
        """The graphs of these numbers, ascending; parts without any are not read."""
        return (self[number] for number in numbers)

    def samples(self, count: int) -> Iterator[GraphSet]:
        """:func:`sample_of` all graphs, a part at a time."""
        numbers, ends = sample_numbers(len(self), count), self._offsets()
        for number, (start, end) in enumerate(pairwise(ends)):
            own = numbers[(numbers >= start) & (numbers < end)] - start
            if len(own):
                yield self.part(number)[own]

    def sample(self, count: int) -> GraphSet:
        """The same together in memory."""
        return GraphSet(graph for part in self.samples(count) for graph in part)

    def __len__(self) -> int:
        return self._offsets()[-1]

    @overload
    def __getitem__(self, index: int) -> Graph: ...
    @overload
    def __getitem__(self, index: slice) -> GraphSet: ...
    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice):
            return GraphSet(self[i] for i in range(*index.indices(len(self))))
        place = operator.index(index) if isinstance(index, SupportsIndex) else index
        place = place + len(self) if place < 0 else place
        if not 0 <= place < len(self):
            raise IndexError(f"graph {index} of {len(self)}")
        number = int(np.searchsorted(self._offsets(), place, side="right")) - 1
        return self.part(number)[place - self._offsets()[number]]

    def append(self, graphs: Iterable[Graph], part_bytes: int = PART_BYTES) -> GraphFolder:
        """Write more graphs behind those that are there; the folder with them. See :class:`PartWriter`."""
        more = graphs if isinstance(graphs, GraphSet) else GraphSet(graphs)
        more.append_parts(self._path, part_bytes)
        return GraphFolder(self._path, select=self._select, unpack_limit=self._limit)

    def __repr__(self) -> str:
        counts = ", ".join(f"{self._index.total(what)} {what}" for what in ("graphs", "nodes", "edges"))
        chosen = f", those of {self._select!r}" if self._select else ""
        return f"GraphFolder({str(self._path)!r}, {self.n_parts} parts, {counts}{chosen})"

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_held": None}

    def _read(self, number: int) -> GraphSet:
        path = parts.part_path(self._path, number)
        try:
            now = path.stat()
        except FileNotFoundError:
            raise GraphFileError(f"{path}: missing, but {parts.INDEX} counts it") from None
        stamp = (now.st_size, now.st_mtime_ns)
        found = parts.read_part(self._path, self._index, number, self._limit, self._seen.get(number) == stamp)
        self._seen[number] = stamp
        graphs = GraphSet(**vars(found))
        return graphs if self._select is None else graphs.select(self._select)

    def _offsets(self) -> list[int]:
        """First graph of each part, and one past the last."""
        if self._ends is None:
            given = (part.graphs for part in self._index.parts)
            sizes = given if self._select is None else (len(part) for part in self.parts())
            self._ends = [0]
            for size in sizes:
                self._ends.append(self._ends[-1] + size)
        return self._ends


def sample_numbers(total: int, count: int) -> IntArray:
    """So many of ``total`` graphs, ascending: the first of a random order that is always the same."""
    return np.sort(np.random.default_rng(0).permutation(total)[:count])


def sample_of(graphs: GraphSet, count: int | None) -> GraphSet:
    """So many of the graphs, or all."""
    return graphs if count is None else graphs[sample_numbers(len(graphs), count)]


def each_set(path: Path, select: str | None = None, unpack_limit: int | None = None) -> Iterator[GraphSet]:
    """The graphs of a file, or of a folder a file or a part at a time, in the order of :meth:`GraphSet.load`. Of a
    folder of single files, each set has the columns of its file: none where that has no edges, even if others have."""
    if not path.is_dir():
        yield GraphSet.load(path, select, unpack_limit)
        return
    if parts.is_parts(path):
        yield from GraphFolder(path, select=select, unpack_limit=unpack_limit).parts()
        return
    for found in archive.load_each(path, unpack_limit):
        graphs = GraphSet(**vars(found))
        yield graphs if select is None else graphs.select(select)


def graph_files(path: Path) -> list[Path]:
    """The file, or those of a folder: its parts, or its ``.npz`` files in the order of their names. ValueError where
    there are none."""
    if not path.exists():
        raise FileNotFoundError(f"{path}: no such file or folder")
    if not path.is_dir():
        return [path]
    if parts.is_parts(path):
        return [parts.part_path(path, number) for number in range(GraphFolder(path).n_parts)]
    found = sorted(path.glob("*.npz"))
    if not found:
        raise GraphFileError(f"{path}: no .npz file in this folder")
    return found


def load_graph_file(path: Path, unpack_limit: int | None = None) -> GraphSet:
    """Graphs of one of :func:`graph_files`: a part is compared with its index, a file of one graph needs no offsets."""
    if parts.is_parts(path.parent) and parts.is_part(path.name):
        return GraphFolder(path.parent, unpack_limit=unpack_limit).part(parts.part_number(path.name))
    return GraphSet(**vars(archive.load_single(path, unpack_limit)))


def save_in_parts(
    sets: Iterable[GraphSet], folder: Path, append: bool = False, part_bytes: int = PART_BYTES
) -> GraphFolder:
    """:meth:`GraphSet.save_parts` of the graphs of several sets, of which memory holds one and a part."""
    with PartWriter(folder, append, part_bytes) as writer:
        for graphs in sets:
            writer.add(graphs.contents)
        writer.close()
    return GraphFolder(folder)

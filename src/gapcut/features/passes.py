"""Blocks that steps go through several times: in memory, or read anew; and what is kept so that few passes do."""

from __future__ import annotations

import tempfile
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Protocol, TypeAlias

import numpy as np

from gapcut.data import Graph
from gapcut.features.block import Block, blocks
from gapcut.features.ranges import ColumnRanges, Ranges, Side
from gapcut.late import is_sparse
from gapcut.late import sparse as sp
from gapcut.typing import AnyArray, IntArray

Table: TypeAlias = tuple[Any, IntArray]
"""Rows of a block, one a node, and where those of each graph begin and end."""

MakeTable: TypeAlias = Callable[[Block], Table]


class Change(Protocol):
    """A fitted step, as far as passes know it."""

    def transform(self, block: Block) -> Block:
        """The block after it."""

    def ranges_after(self, known: Ranges) -> Ranges:
        """What is known of the columns after it."""


class Passes(ABC):
    """The blocks of all training graphs, as the steps so far have made them."""

    _known = Ranges()

    @abstractmethod
    def __iter__(self) -> Iterator[Block]:
        """A pass."""

    @abstractmethod
    def tables(self, make: MakeTable) -> Iterable[Table]:
        """What ``make`` says of each block, to be gone through several times. Where blocks are read, it is kept in a
        file by the next pass over them, whatever that is for: ask for it before."""

    @abstractmethod
    def apply(self, step: Change) -> None:
        """The blocks are others from now on."""

    def rows(self, side: Side) -> int:
        """Nodes, or edges, of all blocks."""
        self.ranges(side)
        return self._known.rows[side]

    @property
    def sparse(self) -> bool:
        """Whether node features of any block are."""
        self.ranges("node")
        return self._known.sparse

    def ranges(self, side: Side) -> ColumnRanges:
        """Of the columns of nodes or of edges. Those of all sides are found in one pass."""
        if self._known.of[side] is None:
            self._known = Ranges.seen(self)
        found = self._known.of[side]
        assert found is not None
        return found

    def clique_ranges(self) -> tuple[ColumnRanges, ...]:
        """Of the columns of each clique group."""
        if self._known.cliques is None:
            self._known = Ranges.seen(self)
        assert self._known.cliques is not None
        return self._known.cliques


class Kept(Passes):
    """Blocks of some graphs, in memory."""

    def __init__(self, graphs: Sequence[Graph]) -> None:
        self._blocks = list(blocks(graphs))

    def __iter__(self) -> Iterator[Block]:
        return iter(self._blocks)

    def tables(self, make: MakeTable) -> Iterable[Table]:
        return [make(block) for block in self._blocks]

    def apply(self, step: Change) -> None:
        for i, block in enumerate(self._blocks):
            self._blocks[i] = step.transform(block)
        self._known = step.ranges_after(self._known)


class Replayed(Passes):
    """Blocks of graphs that are not kept: read, and changed as before, in every pass."""

    def __init__(self, graphs: Iterable[Graph]) -> None:
        self._graphs = graphs
        self._steps: list[Change] = []
        self._waiting: list[_OnDisk] = []

    def __iter__(self) -> Iterator[Block]:
        waiting, self._waiting = self._waiting, []
        for block in blocks(self._graphs):
            for step in self._steps:
                block = step.transform(block)
            for tables in waiting:
                tables.add(block)
            yield block
        for tables in waiting:
            tables.finish()

    def tables(self, make: MakeTable) -> Iterable[Table]:
        self._waiting.append(_OnDisk(self, make))
        return self._waiting[-1]

    def apply(self, step: Change) -> None:
        assert not self._waiting  # they would see other blocks
        self._steps.append(step)
        self._known = step.ranges_after(self._known)


class _OnDisk:
    """Tables in a file without a name, in the folder for temporary files."""

    def __init__(self, blocks: Iterable[Block], make: MakeTable) -> None:
        self._blocks, self._make = blocks, make
        self._file = tempfile.TemporaryFile()  # noqa: SIM115  # open as long as this lives
        self._shapes: list[tuple[tuple[int, int] | None, list[tuple[tuple[int, ...], np.dtype[Any]]]]] = []
        self.full = False

    def add(self, block: Block) -> None:
        """The table of another block, behind those that are there."""
        table, offset = self._make(block)
        sparse = is_sparse(table)
        arrays = [table.data, table.indices, table.indptr, offset] if sparse else [table, offset]
        self._shapes.append((table.shape if sparse else None, [(a.shape, a.dtype) for a in arrays]))
        with _room():
            for array in arrays:
                self._file.write(_bytes_of(np.ascontiguousarray(array)))

    def finish(self) -> None:
        """All tables are there."""
        with _room():
            self._file.flush()
        self.full = True

    def __iter__(self) -> Iterator[Table]:
        if not self.full:
            for _ in self._blocks:
                pass
        self._file.seek(0)
        for shape, arrays in self._shapes:
            *table, offset = [self._read(*array) for array in arrays]
            yield (table[0] if shape is None else sp.csr_array(tuple(table), shape=shape)), offset

    def _read(self, shape: tuple[int, ...], kind: np.dtype[Any]) -> AnyArray:
        array = np.empty(shape, dtype=kind)
        if array.size and self._file.readinto(_bytes_of(array)) != array.nbytes:
            raise OSError(f"{tempfile.gettempdir()}: a temporary file has become shorter")
        return array


@contextmanager
def _room() -> Iterator[None]:
    try:
        yield
    except OSError as error:
        folder = tempfile.gettempdir()
        raise OSError(f"{folder} has no room for columns of nodes ({error}); TMPDIR names another") from None


def _bytes_of(array: AnyArray) -> memoryview:
    return memoryview(array.reshape(-1).view(np.uint8))

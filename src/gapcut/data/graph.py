"""One example: a graph with features and, for training, labels."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

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
    - ``name`` is what messages and reports call the graph.

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
    ) -> None:
        called = None if name is None else str(name).rstrip("\0") or None
        try:
            self._set(
                **_checked(node_features, edges, edge_features, labels, node_weights, cliques), name=called
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
        return Graph(**{argument: changes.get(argument, getattr(self, argument)) for argument in _ARGUMENTS})

    def with_features(
        self,
        node_features: Any = None,
        edge_features: Any = None,
        cliques: tuple[CliqueSet, ...] | None = None,
        *,
        checked: bool = False,
    ) -> Graph:
        """The same graph under other features (None keeps them). ``cliques``: those of this graph
        (:meth:`CliqueSet.with_features`). ``checked``: the arrays are float64, finite, read-only and of the right
        sizes, as those of feature steps are.
        """
        if checked:
            return self._with(node_features, edge_features, self.cliques if cliques is None else cliques)
        try:
            nodes = self.node_features if node_features is None else _node_features(node_features)
            if nodes.shape[0] != self.n_nodes:
                raise GraphError(
                    f"node_features has {nodes.shape[0]} rows, but the graph has {self.n_nodes} nodes"
                )
            rows = self.edge_features
            if edge_features is not None:
                rows = _edge_features(edge_features, self.n_edges)
        except GraphError as error:
            raise error.at(place(None, self.name)) from None
        return self._with(nodes, rows, self.cliques if cliques is None else cliques)

    def _with(self, nodes: Any, edges: FloatArray, cliques: tuple[CliqueSet, ...]) -> Graph:
        other = object.__new__(Graph)
        other._set(**{**self.__dict__, "node_features": nodes, "edge_features": edges, "cliques": cliques})
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
            name=self.name,
        )

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
        self._set(**state)

    def _set(self, **values: Any) -> None:
        self.__dict__.update(values)


_ARGUMENTS = ("node_features", "edges", "edge_features", "labels", "node_weights", "cliques", "name")


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


def connected_parts(graph: Graph) -> IntArray:
    """(V,) number of the connected part of each node, whatever the direction of edges."""
    from scipy.sparse.csgraph import connected_components  # slow to import

    n = graph.n_nodes
    links = sp.csr_array((np.ones(graph.n_edges), (graph.edges[:, 0], graph.edges[:, 1])), shape=(n, n))
    return np.asarray(connected_components(links, directed=False)[1], dtype=np.int64)


def all_forests(graphs: Sequence[Graph]) -> bool:
    """Whether no graph has a cycle; several edges between two nodes count as one."""
    from scipy.sparse.csgraph import connected_components  # slow to import

    starts = np.cumsum([0] + [g.n_nodes for g in graphs])
    edges = np.concatenate([g.edges + start for g, start in zip(graphs, starts[:-1], strict=True)])
    n_nodes = int(starts[-1])
    edges = np.unique(np.sort(edges, axis=1), axis=0)
    links = sp.csr_array((np.ones(len(edges)), (edges[:, 0], edges[:, 1])), shape=(n_nodes, n_nodes))
    components, _ = connected_components(links, directed=False)
    return bool(len(edges) == n_nodes - components)

"""networkx graphs: features, labels and weights are attributes of nodes and edges."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from gapcut.adapters.base import Arguments, GraphParts, column_names, dense, known, label_list, table
from gapcut.extras import needed
from gapcut.typing import AnyArray


def from_attributes(
    graph: Any,
    label: str | None,
    weight: str | None,
    node_features: Iterable[str] | None,
    edge_features: Iterable[str] | None,
) -> Arguments:
    """See :meth:`gapcut.Graph.from_networkx`."""
    position = {node: i for i, node in enumerate(graph.nodes)}
    links = list(graph.edges(data=True))
    of_nodes, of_edges = [data for _, data in graph.nodes(data=True)], [data for *_, data in links]
    own = [name for name in (label, weight) if name is not None]
    known(own, _attributes(of_nodes), "attributes of nodes")
    x, x_names = _features(of_nodes, node_features, own, list(position), "nodes")
    e, e_names = _features(of_edges, edge_features, [], [(u, v) for u, v, _ in links], "edges")
    arguments: Arguments = {
        "node_features": x,
        "edges": np.array([(position[u], position[v]) for u, v, _ in links], dtype=np.int64).reshape(-1, 2),
        "edge_features": e,
        "node_feature_names": x_names,
        "edge_feature_names": e_names,
        "name": graph.name or None,
    }
    if label is not None:
        arguments["labels"] = [data.get(label) for data in of_nodes]
    if weight is not None:
        arguments["node_weights"] = _column(of_nodes, weight, list(position), "nodes")
    return arguments


def to_networkx(graph: GraphParts, label: str, weight: str) -> Any:
    """See :meth:`gapcut.Graph.to_networkx`."""
    networkx = needed("networkx", "graphs of networkx need", "networkx")
    x, e = dense(graph.node_features), graph.edge_features
    names = column_names(graph.node_feature_names, "node", x.shape[1], (label, weight))
    edge_names = column_names(graph.edge_feature_names, "edge", e.shape[1], ())
    repeated = len(np.unique(graph.edges, axis=0)) < len(graph.edges)
    made = (networkx.MultiDiGraph if repeated else networkx.DiGraph)(name=graph.name or "")
    labels = label_list(graph)
    for node, row in enumerate(x.tolist()):
        attributes: dict[str, Any] = dict(zip(names, row, strict=True))
        if labels is not None and labels[node] is not None:
            attributes[label] = labels[node]
        if graph.node_weights is not None:
            attributes[weight] = float(graph.node_weights[node])
        made.add_nodes_from([(node, attributes)])
    rows = (dict(zip(edge_names, row, strict=True)) for row in e.tolist())
    made.add_edges_from((u, v, row) for (u, v), row in zip(graph.edges.tolist(), rows, strict=True))
    return made


def _attributes(data: Sequence[dict[str, Any]]) -> list[str]:
    """All attributes that occur, in the order of their first occurrence."""
    return list(dict.fromkeys(name for one in data for name in one))


def _features(
    data: list[dict[str, Any]], chosen: Iterable[str] | None, own: list[str], ids: list[Any], where: str
) -> Any:
    found = _attributes(data)
    names = [name for name in found if name not in own] if chosen is None else list(chosen)
    if data:
        known(names, found, f"attributes of {where}")
    return table({name: _column(data, name, ids, where) for name in names}, len(data), where)


def _column(data: list[dict[str, Any]], name: str, ids: list[Any], where: str) -> AnyArray:
    for i, one in enumerate(data):
        if name not in one:
            raise ValueError(f"{ids[i]!r} of the {where} has no attribute {name!r}")
    try:
        return np.asarray([one[name] for one in data])
    except ValueError:
        raise ValueError(f"attribute {name!r} of {where} differs in length") from None

"""Two DataFrames: one row per node, one row per edge."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from gapcut.adapters.base import Arguments, GraphParts, column_names, dense, known, label_list, table
from gapcut.extras import needed
from gapcut.typing import AnyArray, IntArray


def from_frames(
    nodes: Any,
    edges: Any,
    label: Any,
    weight: Any,
    ends: tuple[Any, Any],
    node_features: Iterable[Any] | None,
    edge_features: Iterable[Any] | None,
) -> Arguments:
    """See :meth:`gapcut.Graph.from_pandas`."""
    own = [name for name in (label, weight) if name is not None]
    known(own, nodes.columns, "the columns of nodes")
    x, x_names = _features(nodes, node_features, own, "nodes")
    arguments: Arguments = {"node_features": x, "node_feature_names": x_names, "edges": None}
    if label is not None:
        arguments["labels"] = _labels(nodes[label])
    if weight is not None:
        weights, _ = table({weight: _column(nodes[weight])}, len(nodes), "nodes")
        arguments["node_weights"] = weights[:, 0]
    if edges is not None:
        known(ends, edges.columns, "the columns of edges")
        e, e_names = _features(edges, edge_features, list(ends), "edges")
        pairs = np.stack([_positions(nodes.index, edges[end]) for end in ends], axis=1)
        arguments |= {"edges": pairs, "edge_features": e, "edge_feature_names": e_names}
    return arguments


def to_frames(graph: GraphParts, label: str, weight: str, ends: tuple[str, str]) -> tuple[Any, Any]:
    """See :meth:`gapcut.Graph.to_pandas`."""
    pandas = needed("pandas", "data frames need", "pandas")
    x, e = dense(graph.node_features), graph.edge_features
    nodes = pandas.DataFrame(
        x, columns=column_names(graph.node_feature_names, "node", x.shape[1], (label, weight))
    )
    labels = label_list(graph)
    if labels is not None:
        whole = bool(graph.labelled.all())
        nodes[label] = graph.labels if whole else pandas.Series(labels, dtype=object)
    if graph.node_weights is not None:
        nodes[weight] = graph.node_weights
    links = pandas.DataFrame(graph.edges, columns=list(ends))
    names = column_names(graph.edge_feature_names, "edge", e.shape[1], ends)
    return nodes, pandas.concat([links, pandas.DataFrame(e, columns=names)], axis=1)


def _features(frame: Any, chosen: Iterable[Any] | None, own: list[Any], where: str) -> Any:
    if not frame.columns.is_unique:
        twice = frame.columns[frame.columns.duplicated()][0]
        raise ValueError(f"{where} have two columns {twice!r}: names must be distinct")
    names = [c for c in frame.columns if c not in own] if chosen is None else chosen
    names = known(names, frame.columns, f"the columns of {where}")
    return table({name: _column(frame[name]) for name in names}, len(frame), where)


def _column(series: Any) -> AnyArray:
    """Numbers as float64, missing ones NaN; anything else as it is."""
    if not len(series):  # without rows there is no type
        return np.empty(0)
    if getattr(series.dtype, "kind", "O") not in "biuf":
        return np.empty(len(series), dtype=object)
    return np.asarray(series.to_numpy(dtype=np.float64, na_value=np.nan))


def _labels(series: Any) -> list[Any]:
    return [None if missing else value for value, missing in zip(series.tolist(), series.isna(), strict=True)]


def _positions(index: Any, nodes: Any) -> IntArray:
    """(E,) row of each end of an edge."""
    if not index.is_unique:
        twice = index[index.duplicated()].tolist()[0]
        raise ValueError(f"the index of nodes has {twice!r} twice: an edge could not tell which it means")
    found = np.asarray(index.get_indexer(nodes), dtype=np.int64)
    if (found < 0).any():
        row = int(np.argmax(found < 0))
        raise ValueError(
            f"{nodes.name!r} of edge {row} is {nodes.tolist()[row]!r}, which the index of nodes does not have"
        )
    return found

"""``torch_geometric.data.Data``: tensors ``x``, ``edge_index``, ``edge_attr`` and ``y``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from gapcut.adapters.base import Arguments, GraphParts, dense, known, label_list
from gapcut.extras import needed
from gapcut.typing import AnyArray


def from_data(data: Any, mask: str | None, classes: Sequence[Any] | None) -> Arguments:
    """See :meth:`gapcut.Graph.from_pyg`."""
    if not hasattr(data, "edge_index") or not hasattr(data, "x"):
        raise TypeError(f"a torch_geometric Data with x and edge_index is needed, not {type(data).__name__}")
    if data.x is None:
        raise ValueError("x of the data is None: nodes need features")
    arguments: Arguments = {
        "node_features": _rows(data.x),
        "edges": None if data.edge_index is None else _array(data.edge_index).T,
    }
    for name in ("node_feature_names", "edge_feature_names", "node_weights", "name"):
        if data.get(name) is not None:
            value = data[name]
            arguments[name] = _array(value) if hasattr(value, "detach") else value
    if data.edge_attr is not None:
        arguments["edge_features"] = _rows(data.edge_attr)
    if data.y is not None:
        chosen = classes if classes is not None else data.get("classes")
        arguments["labels"] = _labels(_array(data.y), _mask(data, mask), chosen)
    return arguments


def to_data(graph: GraphParts, classes: Sequence[Any] | None, dtype: Any) -> Any:
    """See :meth:`gapcut.Graph.to_pyg`."""
    needed("torch_geometric", "data of PyTorch Geometric need", "pyg")
    import torch
    from torch_geometric.data import Data

    kind = torch.float32 if dtype is None else dtype
    made = Data(
        x=torch.tensor(dense(graph.node_features), dtype=kind),
        edge_index=torch.tensor(graph.edges.T.copy(), dtype=torch.long),
        edge_attr=torch.tensor(graph.edge_features, dtype=kind),
    )
    labels = label_list(graph)
    if labels is not None:
        plain = graph.labels.dtype.kind == "i"
        if classes is None and not plain:
            classes = sorted(
                {value for value in labels if value is not None}, key=lambda v: (str(type(v)), v)
            )
        if classes is not None:
            code = {value: k for k, value in enumerate(classes)}
            known((value for value in labels if value is not None), code, "classes")
            labels, made.classes = [-1 if v is None else code[v] for v in labels], list(code)
        made.y = torch.tensor(labels, dtype=torch.long)
    if graph.node_weights is not None:
        made.node_weights = torch.tensor(graph.node_weights, dtype=kind)
    for name in ("node_feature_names", "edge_feature_names", "name"):
        if getattr(graph, name) is not None:
            made[name] = getattr(graph, name)
    return made


def _array(tensor: Any) -> AnyArray:
    plain = tensor.detach().cpu()
    return np.asarray((plain.double() if plain.is_floating_point() else plain).numpy())


def _rows(tensor: Any) -> AnyArray:
    """As a table, also without rows."""
    array = _array(tensor)
    width = int(tensor.shape[1]) if tensor.dim() > 1 else 1
    return array.reshape(len(array), -1 if len(array) else width)


def _mask(data: Any, name: str | None) -> AnyArray | None:
    if name is None:
        return None
    known([name], data.keys(), "attributes of the data")
    mask = _array(data[name])
    if mask.dtype != np.bool_ or mask.ndim != 1:
        raise ValueError(f"{name} is no mask: it must hold one truth value per node")
    return mask


def _labels(y: AnyArray, mask: AnyArray | None, classes: Sequence[Any] | None) -> Any:
    codes = y[:, 0] if y.ndim == 2 and y.shape[1] == 1 else y
    if codes.ndim != 1:
        raise ValueError(f"y has shape {y.shape}, but must hold one label per node")
    values: list[Any] = codes.tolist()
    if classes is not None:
        names = list(classes)
        wrong = [v for v in values if not (isinstance(v, int) and -1 <= v < len(names))]
        if wrong:
            raise ValueError(f"y holds {wrong[0]!r}, which is no number of one of {len(names)} classes")
        values = [None if v < 0 else names[v] for v in values]
    elif mask is None:
        return codes
    if mask is not None and len(mask) != len(values):
        raise ValueError(f"a mask of {len(mask)} nodes for {len(values)} labels")
    return values if mask is None else [v if has else None for v, has in zip(values, mask, strict=True)]

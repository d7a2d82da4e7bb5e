"""Graph sets in ``.npz`` files, without pickle.

Arrays of a file with n graphs, V nodes and E edges in all:

- ``node_offset``, ``edge_offset`` (n + 1,): graph g owns the rows from offset[g] to offset[g + 1];
- ``node_features`` (V, Dn), or its CSR parts ``node_features_data``, ``_indices``, ``_indptr``, ``_shape``;
- ``edges`` (E, 2), node indices counted from the first node of the graph;
- ``edge_features`` (E, De), optional;
- ``labels`` (V,) numbers or strings, optional; ``labelled`` (V,) bool, optional: which of them count;
- ``node_weights`` (V,), optional; NaN on all nodes of a graph that has none;
- ``names`` (n,) strings, optional, "" for none;
- ``node_feature_names`` (Dn,), ``edge_feature_names`` (De,) strings, optional;
- ``clique_offset_0``, ``clique_nodes_0`` (M, d) counted from the first node of the graph, ``clique_features_0``
  (M, D), ``clique_tuples_0`` ("all", "equal" or (T, d) labels): clique group 0, and so on without a gap;
- any other array with n rows is a per-graph extra.

Any number type that fits will do (float32, int8). A file in a folder may hold one graph and then needs no
offsets.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from gapcut.data import clique_arrays
from gapcut.data.errors import GraphError, place
from gapcut.data.graph import Graph
from gapcut.data.labels import typed_values
from gapcut.data.npz import GraphFileError, one_line, read_arrays, unpack_limit
from gapcut.data.sparse import sound_csr
from gapcut.files import write_arrays, write_atomically
from gapcut.late import sparse as sp
from gapcut.typing import AnyArray, IntArray

_CSR = ("node_features_data", "node_features_indices", "node_features_indptr", "node_features_shape")
_NODES = ("labels", "labelled", "node_weights")
_NAMES = ("node_feature_names", "edge_feature_names")
_ROWS = ("node_offset", "edge_offset", "node_features", *_CSR, "edges", "edge_features")
KNOWN = (*_ROWS, *_NODES, "names", *_NAMES)
_GRAPH_BYTES = 1024
"""Memory of a graph beyond its arrays, about."""

_WRONG = (ValueError, TypeError, IndexError, OverflowError, MemoryError)
"""What hostile values lead to, in any room that they reach."""


@dataclass(frozen=True)
class Contents:
    """What a file holds: the arguments of a :class:`gapcut.GraphSet`."""

    graphs: Sequence[Graph]
    extras: dict[str, AnyArray]
    node_feature_names: Sequence[str] | None
    edge_feature_names: Sequence[str] | None


def load(path: str | PathLike[str], limit: int | None = None) -> Contents:
    """Read a file, or a folder's ``.npz`` files in the order of their names.

    ``limit``: see :func:`gapcut.data.npz.read_arrays`. Raises FileNotFoundError, or GraphFileError naming the file and
    the array, graph, node or edge.
    """
    place_on_disk = Path(path)
    if place_on_disk.is_dir():
        return _load_folder(place_on_disk, limit)
    if not place_on_disk.exists():
        raise FileNotFoundError(f"{path}: no such file or folder")
    return _load_file(place_on_disk, limit)


def save(contents: Contents, path: str | PathLike[str]) -> None:
    """Write one file, whole or not at all. The graphs must fit each other."""
    target = Path(path)
    if target.is_dir():
        raise IsADirectoryError(f"{path} is a folder: give the name of a file in it")
    if not target.parent.is_dir():
        raise FileNotFoundError(f"{target.parent}: no such folder to write {target.name} to")
    arrays = to_arrays(contents)
    write_atomically(target, lambda file: write_arrays(file, arrays))


# ---------------------------------------------------------------------------------------------------- writing


def to_arrays(contents: Contents) -> dict[str, AnyArray]:
    """What :func:`save` writes."""
    graphs = contents.graphs
    clash = sorted(name for name in contents.extras if _is_known(name))
    if clash:
        raise ValueError(f"a per-graph array cannot be called {clash[0]!r}: the file format uses that name")
    arrays: dict[str, AnyArray] = {
        "node_offset": _offsets([g.n_nodes for g in graphs]),
        "edge_offset": _offsets([g.n_edges for g in graphs]),
        "edges": _stack([g.edges for g in graphs], (0, 2), np.int64),
        "edge_features": _stack([g.edge_features for g in graphs], (0, 0), np.float64),
    }
    arrays |= _feature_arrays(graphs) | _label_arrays(graphs) | clique_arrays.to_arrays(graphs)
    if any(g.node_weights is not None for g in graphs):
        weights = [np.full(g.n_nodes, np.nan) if g.node_weights is None else g.node_weights for g in graphs]
        arrays["node_weights"] = np.concatenate(weights)
    if any(g.name is not None for g in graphs):
        arrays["names"] = np.array([g.name or "" for g in graphs], dtype=np.str_)
    for key, names in zip(_NAMES, (contents.node_feature_names, contents.edge_feature_names), strict=True):
        if names is not None:
            arrays[key] = np.array(names, dtype=np.str_)
    for name, values in contents.extras.items():
        if values.dtype.kind not in "biufU":
            raise ValueError(
                f"per-graph array {name!r} holds {values.dtype} values: only numbers and strings are saved"
            )
        arrays[name] = values
    return arrays


def _feature_arrays(graphs: Sequence[Graph]) -> dict[str, AnyArray]:
    if not any(g.is_sparse for g in graphs):
        return {"node_features": _stack([g.node_features for g in graphs], (0, 0), np.float64)}
    stacked = sp.csr_array(sp.vstack([sp.csr_array(g.node_features) for g in graphs], format="csr"))
    parts = (stacked.data, stacked.indices, stacked.indptr, np.array(stacked.shape, dtype=np.int64))
    return dict(zip(_CSR, parts, strict=True))


def _label_arrays(graphs: Sequence[Graph]) -> dict[str, AnyArray]:
    if all(g.labels is None for g in graphs):
        return {}
    labelled = np.concatenate([g.labelled for g in graphs])
    given = typed_values([v for g in graphs if g.labels is not None for v in g.labels[g.labelled].tolist()])
    if given.dtype == object:
        kinds = ", ".join(sorted({type(v).__name__ for v in given.tolist()}))
        raise ValueError(
            f"labels of these types cannot be saved ({kinds}): use integers or strings, not a mix"
        )
    labels = np.zeros(len(labelled), dtype=given.dtype)
    labels[labelled] = given
    return {"labels": labels} if labelled.all() else {"labels": labels, "labelled": labelled}


def _offsets(counts: list[int]) -> IntArray:
    return np.cumsum([0, *counts], dtype=np.int64)


def _stack(parts: list[Any], empty: tuple[int, int], dtype: Any) -> AnyArray:
    return np.concatenate(parts) if parts else np.empty(empty, dtype=dtype)


# ---------------------------------------------------------------------------------------------------- reading


def _load_folder(folder: Path, limit: int | None) -> Contents:
    parts = list(load_each(folder, limit))
    shared = set.intersection(*(set(part.extras) for part in parts))
    return Contents(
        [graph for part in parts for graph in part.graphs],
        {name: joined([part.extras[name] for part in parts], name, folder) for name in sorted(shared)},
        parts[0].node_feature_names,
        parts[0].edge_feature_names,
    )


def load_each(folder: Path, limit: int | None) -> Iterator[Contents]:
    """What each ``.npz`` file of a folder holds, in the order of their names."""
    files = sorted(folder.glob("*.npz"))
    if not files:
        raise GraphFileError(f"{folder}: no .npz file in this folder")
    return (load_single(file, limit) for file in files)


def load_single(path: Path, limit: int | None = None) -> Contents:
    """Read a file that may hold one graph and no offsets."""
    if not path.exists():
        raise FileNotFoundError(f"{path}: no such file or folder")
    return _load_file(path, limit, single=True)


def _load_file(path: Path, limit: int | None, single: bool = False) -> Contents:
    arrays = read_arrays(path, limit)
    try:
        if single and "node_offset" not in arrays and "edge_offset" not in arrays:
            arrays = _as_set_of_one(arrays, path)
        return _from_arrays(arrays, unpack_limit(path, limit))
    except _WRONG as error:
        raise GraphFileError(f"{path}: {one_line(error)}") from None


def joined(rows: list[AnyArray], name: str, folder: Path) -> AnyArray:
    """A per-graph array of several files; GraphFileError where they differ in shape."""
    try:
        return np.concatenate(rows)
    except (ValueError, TypeError) as error:
        raise GraphFileError(
            f"{folder}: per-graph array {name!r} differs from file to file ({error})"
        ) from None


def _as_set_of_one(arrays: dict[str, AnyArray], path: Path) -> dict[str, AnyArray]:
    rows = {"node_offset": _rows(arrays), "edge_offset": len(np.atleast_1d(arrays.get("edges", np.empty(0))))}
    extras = {k: v[None] if v.ndim == 0 else v for k, v in arrays.items() if not _is_known(k)}
    named = {"names": np.array([path.stem])} | {
        k: np.atleast_1d(v) for k, v in arrays.items() if k == "names"
    }
    offsets = {k: np.array([0, n], dtype=np.int64) for k, n in rows.items()}
    return arrays | extras | named | offsets | clique_arrays.offsets_of_one(arrays)


def _from_arrays(arrays: dict[str, AnyArray], limit: int) -> Contents:
    for key in ("edges", *_NAMES):
        if key in arrays and arrays[key].ndim == 0:
            raise ValueError(f"array {key!r} holds a single value, not rows")
    edges = _need(arrays, "edges")
    nodes = _node_features(arrays)
    node_offset = _checked_offset(arrays, "node_offset", nodes.shape[0], "node_features")
    edge_offset = _checked_offset(arrays, "edge_offset", len(edges), "edges")
    if len(node_offset) != len(edge_offset):
        raise ValueError(
            f"node_offset is for {len(node_offset) - 1} graphs, edge_offset for {len(edge_offset) - 1}"
        )
    for key in _NODES:
        if key in arrays and arrays[key].shape != (nodes.shape[0],):
            raise ValueError(
                f"array {key!r} has shape {arrays[key].shape}, but there are {nodes.shape[0]} nodes"
            )
    features = arrays.get("edge_features")
    if features is not None and (features.ndim != 2 or len(features) != len(edges)):
        raise ValueError(
            f"array 'edge_features' has shape {features.shape}, but there are {len(edges)} edges"
        )
    count = len(node_offset) - 1
    if _GRAPH_BYTES * count > limit:
        raise ValueError(
            f"{count} graphs take more memory than the limit of this file: if you trust it, raise unpack_limit"
        )
    names = arrays.get("names", np.full(count, ""))
    if names.shape != (count,):
        raise ValueError(f"array 'names' has shape {names.shape}, but there are {count} graphs")
    shared = {k: _closed(v) for k, v in arrays.items()} | {"node_features": nodes, "names": names}
    groups = clique_arrays.groups(shared, count, _checked_offset)
    node_names, edge_names = (arrays[key].tolist() if key in arrays else None for key in _NAMES)
    return Contents(
        [_graph(shared, groups, g, _span(node_offset, g), _span(edge_offset, g)) for g in range(count)],
        _extras(arrays, count),
        node_names,
        edge_names,
    )


def _graph(
    arrays: dict[str, Any], groups: list[clique_arrays.Group], index: int, nodes: slice, edges: slice
) -> Graph:
    def part(name: str, rows: slice) -> Any:
        return arrays[name][rows] if name in arrays else None

    labels, labelled, weights = (part(key, nodes) for key in _NODES)
    if labelled is not None and labelled.dtype.kind != "b":
        raise ValueError("array 'labelled' must hold truth values")
    if labels is not None and labelled is not None and not labelled.all():
        labels = [label if known else None for label, known in zip(labels.tolist(), labelled, strict=True)]
    if weights is not None and len(weights) and weights.dtype.kind == "f" and np.isnan(weights).all():
        weights = None
    name = str(arrays["names"][index]) or None
    try:
        return Graph(
            part("node_features", nodes),
            part("edges", edges),
            part("edge_features", edges),
            labels,
            weights,
            [group.of_graph(index) for group in groups],
            name=name,
        )
    except GraphError as error:
        raise error.at(place(index, name)) from None


def _node_features(arrays: dict[str, AnyArray]) -> Any:
    if not any(part in arrays for part in _CSR):
        features = _need(arrays, "node_features")
        if features.ndim != 2:
            raise ValueError(
                f"array 'node_features' has shape {features.shape}, but must be a table, one row per node"
            )
        return _closed(features)
    data, indices, indptr, shape = (_need(arrays, part) for part in _CSR)
    if shape.shape != (2,):
        raise ValueError(f"array 'node_features_shape' has shape {shape.shape}, but must hold two numbers")
    if any(part.dtype.kind not in "iu" for part in (indices, indptr, shape)):
        raise ValueError("arrays node_features_*: not a CSR matrix (an index is no integer)")
    try:
        given = (data.astype(np.float64), indices.astype(np.int64), indptr.astype(np.int64))
        return sound_csr(sp.csr_array(given, shape=(int(shape[0]), int(shape[1]))), "node_features", "node")
    except _WRONG as error:
        raise ValueError(f"arrays node_features_*: not a CSR matrix ({one_line(error)})") from None


def _rows(arrays: dict[str, AnyArray]) -> int:
    if "node_features_shape" in arrays and arrays["node_features_shape"].shape == (2,):
        return int(arrays["node_features_shape"][0])
    return len(np.atleast_1d(arrays.get("node_features", np.empty(0))))


def _closed(array: AnyArray) -> AnyArray:
    """float64 and read-only where it holds numbers with a fraction, so that graphs can share its rows."""
    values: AnyArray = np.asarray(array, dtype=np.float64) if array.dtype.kind == "f" else array
    values.flags.writeable = False
    return values


def _checked_offset(arrays: dict[str, AnyArray], key: str, rows: int, what: str) -> IntArray:
    offset = _need(arrays, key)
    if offset.ndim != 1 or offset.dtype.kind not in "iu" or not len(offset):
        raise ValueError(
            f"array {key!r} must be a row of integers, not {offset.dtype} of shape {offset.shape}"
        )
    if offset[0] != 0 or int(offset[-1]) != rows:
        raise ValueError(
            f"array {key!r} runs from {offset[0]} to {offset[-1]}, but {what} has rows 0 to {rows}"
        )
    if (offset[1:] < offset[:-1]).any():
        raise ValueError(f"array {key!r} falls after graph {int(np.argmax(offset[1:] < offset[:-1]))}")
    return offset.astype(np.int64)


def _is_known(name: str) -> bool:
    return name in KNOWN or clique_arrays.is_name(name)


def _span(offset: IntArray, index: int) -> slice:
    return slice(int(offset[index]), int(offset[index + 1]))


def _need(arrays: dict[str, AnyArray], name: str) -> AnyArray:
    if name not in arrays:
        raise ValueError(f"no array {name!r} in this file; it has {', '.join(sorted(arrays)) or 'none'}")
    return arrays[name]


def _extras(arrays: dict[str, AnyArray], count: int) -> dict[str, AnyArray]:
    extras = {name: values for name, values in arrays.items() if not _is_known(name)}
    for name, values in extras.items():
        if values.ndim == 0 or len(values) != count:
            raise ValueError(
                f"unknown array {name!r} of shape {values.shape}: known are {', '.join(KNOWN)}, "
                f"and per-graph arrays with {count} rows"
            )
    return extras

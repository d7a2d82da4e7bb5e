"""Node labels: any hashable values, None for an unlabelled node."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from gapcut.data.checks import frozen, plain_array
from gapcut.data.errors import GraphError
from gapcut.typing import AnyArray, BoolArray


def label_array(value: Any, n_nodes: int) -> AnyArray | None:
    """(V,) labels as given, read-only; None if no node is labelled.

    Integers, booleans, floats and strings become arrays of that type (integers int64); mixed types, other
    hashables and labels with None among them become object arrays of plain Python values.
    """
    if value is None:
        return None
    array = _one_dimensional(value)
    if array.shape != (n_nodes,):
        raise GraphError(
            f"labels has shape {array.shape}, but the graph has {n_nodes} nodes: give one label a node"
        )
    if n_nodes == 0:
        return None
    if array.dtype.kind in "iu" and int(array.max()) <= np.iinfo(np.int64).max:
        return frozen(array, np.int64)
    if array.dtype.kind == "b" or (array.dtype.kind == "f" and array.dtype.itemsize <= 8):
        _refuse_nan(array.tolist())
        return frozen(array, np.bool_ if array.dtype.kind == "b" else np.float64)
    return _from_values(array.tolist())


def labelled_mask(labels: AnyArray | None, n_nodes: int) -> BoolArray:
    """(V,) True where a label is given, read-only."""
    if labels is None:
        mask = np.zeros(n_nodes, dtype=bool)
    elif labels.dtype == object:
        mask = np.array([label is not None for label in labels], dtype=bool)
    else:
        mask = np.ones(n_nodes, dtype=bool)
    mask.flags.writeable = False
    return mask


def typed_values(values: list[Any]) -> AnyArray:
    """(n,) plain Python values as the narrowest array that gives every one of them back unchanged."""
    kinds = {type(v) for v in values}
    if kinds in ({int}, {bool}, {float}, {str}):
        dtype = {int: np.int64, bool: np.bool_, float: np.float64, str: np.str_}[kinds.pop()]
        try:
            array: AnyArray = np.array(values, dtype=dtype)
        except OverflowError:  # an integer beyond 64 bits
            return object_array(values)
        # numpy cuts trailing NULs off strings
        return array if dtype is not np.str_ or array.tolist() == values else object_array(values)
    return object_array(values)


def plain_value(value: Any) -> Any:
    """A Python value in place of a NumPy scalar."""
    return value.item() if isinstance(value, np.generic) else value


def object_array(values: Sequence[Any]) -> AnyArray:
    """(n,) the values as they are, tuples too."""
    array = np.empty(len(values), dtype=object)
    for i, value in enumerate(values):
        array[i] = value
    return array


def _from_values(values: list[Any]) -> AnyArray | None:
    plain = [plain_value(v) for v in values]
    _refuse_nan(plain)
    for node, label in enumerate(plain):
        try:
            hash(label)
        except TypeError:
            raise GraphError(
                f"label of node {node} is a {type(label).__name__}: labels must be hashable"
            ) from None
    if all(label is None for label in plain):
        return None
    array = typed_values(plain)
    array.flags.writeable = False
    return array


def _refuse_nan(values: list[Any]) -> None:
    for node, label in enumerate(values):
        if isinstance(label, float) and label != label:
            raise GraphError(f"label of node {node} is nan: use None for an unlabelled node")


def _one_dimensional(value: Any) -> AnyArray:
    """An array of labels; a list is taken entry by entry: tuples stay labels, and 1 beside "a" stays 1."""
    if isinstance(value, np.ma.MaskedArray) and value.ndim == 1:
        return object_array(
            [None if hidden else v for v, hidden in zip(value.data, _mask(value), strict=True)]
        )
    if isinstance(value, list | tuple):
        return object_array(list(value))
    return plain_array(value, "labels", "node")


def _mask(value: np.ma.MaskedArray[Any, Any]) -> AnyArray:
    return np.asarray(np.ma.getmaskarray(value))

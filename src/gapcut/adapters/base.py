"""What the adapters share: a graph as they see it, and tables made of named columns."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Protocol

import numpy as np

from gapcut.typing import AnyArray, FloatArray

Arguments = dict[str, Any]
"""Arguments of the constructor of :class:`gapcut.Graph`."""


class GraphParts(Protocol):
    """What is read of a graph: the attributes of :class:`gapcut.Graph`."""

    @property
    def node_features(self) -> Any: ...
    @property
    def edges(self) -> Any: ...
    @property
    def edge_features(self) -> Any: ...
    @property
    def labels(self) -> Any: ...
    @property
    def labelled(self) -> Any: ...
    @property
    def node_weights(self) -> Any: ...
    @property
    def node_feature_names(self) -> tuple[str, ...] | None: ...
    @property
    def edge_feature_names(self) -> tuple[str, ...] | None: ...
    @property
    def name(self) -> str | None: ...


def known(wanted: Iterable[Any], have: Iterable[Any], where: str) -> list[Any]:
    """The names, if all of them are there. Raises ValueError naming the first that is not, and those that are."""
    wanted, have = list(wanted), list(have)
    for name in wanted:
        if name not in have:
            there = ", ".join(map(repr, have[:20])) or "none"
            raise ValueError(
                f"{where} have no {name!r}; there are {there}{', ...' if len(have) > 20 else ''}"
            )
    return wanted


def table(columns: Mapping[str, AnyArray], rows: int, where: str) -> tuple[FloatArray, list[str] | None]:
    """(rows, D) the columns side by side, and their names: ``name[0]``, ``name[1]``, ... where one is several numbers
    wide.

    Raises ValueError naming a column that is not made of finite numbers.
    """
    if not columns:
        return np.empty((rows, 0)), None
    parts, names = [], []
    for name, column in columns.items():
        if column.dtype.kind not in "biuf" or column.ndim not in (1, 2):
            raise ValueError(
                f"{name!r} of {where} is not made of numbers: encode it, name it as the label, or leave it out"
            )
        part = np.asarray(column, dtype=np.float64).reshape(rows, -1 if rows else 1)
        bad = ~np.isfinite(part)
        if bad.any():
            raise ValueError(f"{name!r} of {where} is {part[bad][0]} in row {int(np.argwhere(bad)[0][0])}")
        parts.append(part)
        wide = column.ndim == 2
        names += [f"{name}[{i}]" for i in range(part.shape[1])] if wide else [str(name)]
    return np.concatenate(parts, axis=1), names


def dense(features: Any) -> FloatArray:
    """Node features as a plain array."""
    return np.asarray(features.toarray() if hasattr(features, "toarray") else features)


def column_names(names: Sequence[str] | None, kind: str, dim: int, taken: Iterable[str]) -> list[str]:
    """The names, or ``kind[0]``, ``kind[1]``, ...; ValueError where one is taken by something else."""
    found = list(names) if names is not None else [f"{kind}[{i}]" for i in range(dim)]
    for name in taken:
        if name in found:
            raise ValueError(f"a {kind} feature is called {name!r} as well: give another name for the column")
    return found


def label_list(graph: GraphParts) -> list[Any] | None:
    """One plain value per node, None where it has no label; None if no node has one."""
    if graph.labels is None:
        return None
    return [value if has else None for value, has in zip(graph.labels.tolist(), graph.labelled, strict=True)]

"""Clique groups as arrays of an ``.npz``, and back: the part of the file format that cliques need."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from gapcut.data.cliques import MOST_TUPLES, CliqueSet
from gapcut.data.errors import GraphError
from gapcut.data.graph import Graph
from gapcut.data.labels import typed_values
from gapcut.typing import AnyArray, IntArray

_NAME = re.compile(r"clique_(offset|nodes|features|tuples)_(0|[1-9][0-9]{0,3})")


def is_name(name: str) -> bool:
    """Whether an array of that name belongs to a clique group."""
    return _NAME.fullmatch(name) is not None


def to_arrays(graphs: Sequence[Graph]) -> dict[str, AnyArray]:
    """The arrays of all clique groups; none if the graphs have none."""
    arrays: dict[str, AnyArray] = {}
    for g in range(len(graphs[0].cliques) if len(graphs) else 0):
        sets = [graph.cliques[g] for graph in graphs]
        arrays[f"clique_offset_{g}"] = np.cumsum([0, *map(len, sets)], dtype=np.int64)
        arrays[f"clique_nodes_{g}"] = np.concatenate([s.nodes for s in sets])
        arrays[f"clique_features_{g}"] = np.concatenate([s.features for s in sets])
        arrays[f"clique_tuples_{g}"] = _tuple_array(sets[0], g)
    return arrays


def _tuple_array(group: CliqueSet, g: int) -> AnyArray:
    if isinstance(group.tuples, str):
        return np.array(group.tuples)
    labels = typed_values([label for row in group.tuples for label in row])
    if labels.dtype == object:
        raise ValueError(
            f"label tuples of clique group {g} cannot be saved: use integers or strings, not a mix"
        )
    return labels.reshape(len(group.tuples), group.order)


def offsets_of_one(arrays: dict[str, AnyArray]) -> dict[str, AnyArray]:
    """Offsets for a file of one graph, which needs none."""
    found = [m[2] for m in map(_NAME.fullmatch, arrays) if m is not None and m[1] == "nodes"]
    return {
        f"clique_offset_{g}": np.array([0, len(np.atleast_1d(arrays[f"clique_nodes_{g}"]))], dtype=np.int64)
        for g in found
        if f"clique_offset_{g}" not in arrays
    }


@dataclass(frozen=True, eq=False)
class Group:
    """One clique group of a file."""

    number: int
    offset: IntArray
    nodes: AnyArray
    features: AnyArray
    kind: CliqueSet
    """Without cliques: what all graphs share."""

    def of_graph(self, index: int) -> CliqueSet:
        """The cliques of one graph; GraphError says which is wrong."""
        rows = slice(int(self.offset[index]), int(self.offset[index + 1]))
        try:
            return self.kind.over(self.nodes[rows], self.features[rows])
        except GraphError as error:
            raise GraphError(f"clique group {self.number}: {error.detail}") from None


def groups(
    arrays: dict[str, Any], count: int, checked_offset: Callable[[dict[str, Any], str, int, str], IntArray]
) -> list[Group]:
    """All clique groups of a file of ``count`` graphs. ValueError names the array that does not fit."""
    numbers = sorted({int(m[2]) for m in map(_NAME.fullmatch, arrays) if m is not None})
    if numbers != list(range(len(numbers))):
        raise ValueError(f"clique groups are numbered {', '.join(map(str, numbers))}, but must count from 0")
    return [_group(arrays, g, count, checked_offset) for g in numbers]


def _group(
    arrays: dict[str, Any],
    g: int,
    count: int,
    checked_offset: Callable[[dict[str, Any], str, int, str], IntArray],
) -> Group:
    for part in ("offset", "nodes", "tuples"):
        if f"clique_{part}_{g}" not in arrays:
            raise ValueError(f"no array 'clique_{part}_{g}' in this file, which has others of that group")
    nodes, tuples = arrays[f"clique_nodes_{g}"], arrays[f"clique_tuples_{g}"]
    if nodes.ndim != 2:
        raise ValueError(f"array 'clique_nodes_{g}' has shape {nodes.shape}, but must be (M, d)")
    features = arrays.get(f"clique_features_{g}", np.empty((len(nodes), 0)))
    if features.ndim != 2 or len(features) != len(nodes):
        raise ValueError(
            f"array 'clique_features_{g}' has shape {features.shape}, but there are {len(nodes)} cliques"
        )
    if tuples.ndim not in (0, 2):
        raise ValueError(f"array 'clique_tuples_{g}' has shape {tuples.shape}, but must be a word or (T, d)")
    if tuples.ndim and len(tuples) > MOST_TUPLES:
        raise ValueError(f"array 'clique_tuples_{g}' names more than {MOST_TUPLES:,} label tuples")
    offset = checked_offset(arrays, f"clique_offset_{g}", len(nodes), f"clique_nodes_{g}")
    if len(offset) != count + 1:
        raise ValueError(f"clique_offset_{g} is for {len(offset) - 1} graphs, node_offset for {count}")
    try:
        kind = CliqueSet(nodes[:0], features[:0], tuples.tolist())
    except GraphError as error:
        raise ValueError(f"clique group {g}: {error.detail}") from None
    return Group(g, offset, nodes, features, kind)

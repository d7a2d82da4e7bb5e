"""Terms over three nodes and more: which nodes, which features, which label tuples get weights."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np

from gapcut.data import checks
from gapcut.data.errors import GraphError
from gapcut.data.labels import plain_value
from gapcut.typing import BoolArray, FloatArray, IntArray

LEAST, MOST = 3, 32
"""Nodes of a clique. Pairs are edges; NumPy's tables have at most 32 axes."""

MOST_NODES = 2**31 - 1
"""Of a graph."""

MOST_TUPLES = 100_000
"""Label tuples that "all" may stand for."""

Tuples = str | tuple[tuple[Hashable, ...], ...]
"""``"all"``, ``"equal"``, or label tuples."""


@dataclass(frozen=True, init=False, eq=False, repr=False)
class CliqueSet:
    """``M`` cliques of one order ``d`` with features of one kind, immutable (its arrays are read-only).

    A clique over ``(u_1, ..., u_d)`` whose labels are the tuple t scores ``w^t . phi(u_1, ..., u_d)``, with
    weights ``w^t >= 0`` that are learned; labels that are no tuple of the set score nothing.

    - ``nodes`` (M, d), d >= 3: distinct node indices; their order is that of the labels in a tuple;
    - ``features`` (M, D), finite, at least 0 or lifted by the feature steps; omitted: no column (the intercept
      gives one);
    - ``tuples``: ``"all"`` label tuples (K^d of them), ``"equal"`` for (k, ..., k) of each label k, or a list of
      tuples of d labels, as they stand in ``Graph.labels``.

    Raises GraphError (a ValueError) naming the clique.
    """

    nodes: IntArray
    features: FloatArray
    tuples: Tuples

    def __init__(self, nodes: Any, features: Any = None, tuples: Any = "all") -> None:
        rows = _node_rows(nodes)
        self._set(nodes=rows, features=_features(features, len(rows)), tuples=_tuples(tuples, rows.shape[1]))

    def __len__(self) -> int:
        """M."""
        return len(self.nodes)

    @property
    def order(self) -> int:
        """d."""
        return int(self.nodes.shape[1])

    @property
    def dim(self) -> int:
        """D."""
        return int(self.features.shape[1])

    def with_features(self, features: Any, *, checked: bool = False) -> CliqueSet:
        """The same cliques under other features; ``checked``: as in :meth:`Graph.with_features`."""
        return self._with(self.nodes, features if checked else _features(features, len(self)))

    def induced(self, keep: BoolArray, position: IntArray) -> CliqueSet:
        """The cliques all of whose nodes are kept, under the nodes' new numbers."""
        inside = keep[self.nodes].all(axis=1)
        return self._with(
            checks.frozen(position[self.nodes[inside]], np.int64),
            checks.frozen(self.features[inside], np.float64),
        )

    def over(self, nodes: Any, features: Any) -> CliqueSet:
        """Other cliques of the same kind; raises GraphError as the constructor does."""
        rows = _node_rows(nodes)
        return self._with(rows, _features(features, len(rows)))

    def _with(self, nodes: IntArray, features: FloatArray) -> CliqueSet:
        other = object.__new__(CliqueSet)
        other._set(nodes=nodes, features=features, tuples=self.tuples)
        return other

    def empty(self) -> CliqueSet:
        """A set of the same kind without cliques, for a graph that has none."""
        return self.over(self.nodes[:0], self.features[:0])

    def difference(self, other: CliqueSet) -> str | None:
        """What keeps two sets from being the same group of different graphs; None if nothing does."""
        if self.order != other.order:
            return f"cliques of {self.order} nodes, but {{}} has {other.order}"
        if self.dim != other.dim:
            return f"{self.dim} features, but {{}} has {other.dim}"
        return None if self.tuples == other.tuples else "other label tuples than {}"

    def check_nodes(self, n_nodes: int, group: int) -> None:
        """Raises GraphError naming the first clique with a node that the graph does not have."""
        outside = (self.nodes >= n_nodes).any(axis=1)
        if outside.any():
            at = int(np.argmax(outside))
            legal = f"node indices run from 0 to {n_nodes - 1}" if n_nodes else "the graph has no nodes"
            raise GraphError(f"clique {at} of group {group} is {checks.listed(self.nodes[at])}, but {legal}")

    def __repr__(self) -> str:
        chosen = f"{self.tuples!r} tuples" if isinstance(self.tuples, str) else f"{len(self.tuples)} tuples"
        return f"CliqueSet({len(self)} cliques of {self.order} nodes x {self.dim} features, {chosen})"

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Unpickled and copied arrays come back writable: close them again."""
        for array in (state["nodes"], state["features"]):
            array.flags.writeable = False
        self._set(**state)

    def _set(self, **values: Any) -> None:
        self.__dict__.update(values)


def clique_sets(value: Any, n_nodes: int) -> tuple[CliqueSet, ...]:
    """What a graph's ``cliques`` argument means, checked against the number of nodes."""
    if value is None:
        return ()
    if isinstance(value, CliqueSet):
        raise GraphError("cliques is a single CliqueSet: pass [it]")
    try:
        groups = tuple(value)
    except TypeError:
        raise GraphError(f"cliques must be a list of CliqueSet, not a {type(value).__name__}") from None
    for g, group in enumerate(groups):
        if not isinstance(group, CliqueSet):
            raise GraphError(f"cliques[{g}] is a {type(group).__name__}, but must be a CliqueSet")
        group.check_nodes(n_nodes, g)
    return groups


def tuple_codes(tuples: Tuples, order: int, codes: dict[Hashable, int], n_labels: int) -> IntArray:
    """(T, d) codes of label tuples; those that hold a label outside ``codes`` are left out.

    Raises ValueError where "all" stands for more than ``MOST_TUPLES``.
    """
    if tuples == "equal":
        return np.repeat(np.arange(n_labels, dtype=np.int64)[:, None], order, axis=1)
    if tuples == "all":
        if n_labels**order > MOST_TUPLES:
            raise ValueError(
                f"tuples='all' of cliques of {order} nodes is {n_labels}^{order} label tuples, more than "
                f"{MOST_TUPLES:,}: list those that matter, or use 'equal'"
            )
        return np.array(list(product(range(n_labels), repeat=order)), dtype=np.int64).reshape(-1, order)
    known = [[codes[label] for label in t] for t in tuples if all(label in codes for label in t)]
    return np.array(known, dtype=np.int64).reshape(-1, order)


def _node_rows(value: Any) -> IntArray:
    raw = checks.plain_array(value, "nodes of a clique set", "clique")
    if raw.ndim != 2 or not LEAST <= raw.shape[1] <= MOST:
        advice = "pairs are edges, single nodes have features of their own"
        raise GraphError(
            f"nodes of a clique set have shape {raw.shape}, but must be (M, d) with d from {LEAST} to {MOST}: {advice}"
        )
    if not raw.size:
        raw = raw.astype(np.int64)
    whole = checks.whole_numbers(raw, "clique", "nodes of a clique set")
    outside = ((whole < 0) | (whole > MOST_NODES)).any(axis=1)
    if outside.any():
        at = int(np.argmax(outside))
        raise GraphError(
            f"clique {at} is {checks.listed(whole[at])}, but node indices run from 0 to {MOST_NODES}"
        )
    rows = checks.frozen(whole, np.int64)
    ordered = np.sort(rows, axis=1)
    twice = (ordered[:, 1:] == ordered[:, :-1]).any(axis=1)
    if twice.any():
        at = int(np.argmax(twice))
        raise GraphError(
            f"clique {at} is {checks.listed(rows[at])}, which holds a node twice: nodes must be distinct"
        )
    return rows


def _features(value: Any, n_cliques: int) -> FloatArray:
    if value is None:
        return checks.frozen(np.empty((n_cliques, 0)), np.float64)
    rows = checks.feature_matrix(value, "features of a clique set", "clique")
    if len(rows) != n_cliques:
        raise GraphError(
            f"features of a clique set have {len(rows)} rows, but there are {n_cliques} cliques: one row per clique"
        )
    return rows


def _tuples(value: Any, order: int) -> Tuples:
    if isinstance(value, str):
        if value not in ("all", "equal"):
            raise GraphError(
                f"tuples={value!r} is unknown: use 'all', 'equal', or a list of tuples of {order} labels"
            )
        return value
    try:
        rows = [tuple(plain_value(label) for label in row) for row in value]
    except TypeError:
        raise GraphError(f"tuples must be 'all', 'equal', or a list of tuples of {order} labels") from None
    seen = set()
    for t, row in enumerate(rows):
        if len(row) != order or isinstance(value[t], str):
            raise GraphError(
                f"tuple {t} is {value[t]!r}, but the cliques have {order} nodes: give {order} labels"
            )
        try:
            known = row in seen
        except TypeError:
            raise GraphError(f"tuple {t} holds a value that cannot be hashed: {row!r:.80}") from None
        if known or None in row:
            reason = (
                "holds None, which is no label" if None in row else "is named twice: tuples must be distinct"
            )
            raise GraphError(f"tuple {t}, {row!r:.80}, {reason}")
        seen.add(row)
    if not rows:
        raise GraphError("tuples is empty: name at least one label tuple, or leave the cliques out")
    return tuple(rows)

"""Terms over any number of nodes that come down to terms over two: all different labels, costs of how many have one."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations, pairwise

import numpy as np
from numpy.typing import ArrayLike

from gapcut.inference.energy import Energy
from gapcut.inference.packing import as_floats, first_bad_entry
from gapcut.typing import FloatArray, IntArray

MOST_ENTRIES = 1 << 27
"""Of the tables that one term adds."""


def all_different(energy: Energy, nodes: Sequence[int]) -> Energy:
    """The energy in which no two of these nodes may have the same label: one edge for every pair, after the others.

    Labels are compared by their numbers, label counts may differ. ``ValueError`` for a node that does not exist or
    stands twice in ``nodes``.
    """
    members = _check_nodes(energy, nodes)
    counts = energy.n_labels
    shapes = {
        (k, m): np.where(np.eye(k, m) > 0, np.inf, 0.0) for k in counts[members] for m in counts[members]
    }
    pairs = np.array(list(combinations(members.tolist(), 2)), dtype=np.int64).reshape(-1, 2)
    return energy.extended([], pairs, [shapes[counts[u], counts[v]] for u, v in pairs])


def cardinality(energy: Energy, nodes: Sequence[int], label: int, costs: ArrayLike) -> Energy:
    """The energy with ``costs[c]`` added where exactly c of these n nodes have the label; ``costs`` (n + 1,), finite or
    +inf to forbid.

    Exact, by n further nodes that count (at least one): the first V labels of a solution are those of the given nodes.
    Label (c, b) of the i-th counter, number 2 c + b, says that c of the first i nodes have the label, and b whether the
    i-th has; counts from where on costs are equal are one. Relaxations of counting are weak: methods ``"ilp"`` and
    ``"exact"``, or ``"auto"``, which ends with them, are what closes the gap.
    """
    members = _check_nodes(energy, nodes)
    values = as_floats(costs, "costs")
    if values.shape != (len(members) + 1,) or first_bad_entry(values) is not None:
        raise ValueError(
            f"costs must be {len(members) + 1} numbers, finite or +inf to forbid, one for each count"
        )
    if not len(members):
        return energy.extended([np.array([values[0]])], np.zeros((0, 2), dtype=np.int64), [])
    most = int(np.flatnonzero(np.append(values[:-1] != values[-1], False)).max(initial=-1)) + 1
    states = 2 * (most + 1)
    if len(members) * states > MOST_ENTRIES // max(states, int(energy.n_labels[members].max())):
        raise ValueError(f"counting {len(members)} nodes up to {most} would take tables that are too large")
    count, taken = np.divmod(np.arange(states), 2)
    first = np.where(np.minimum(taken, most) == count, 0.0, np.inf)
    unaries: list[FloatArray] = [first, *[np.zeros(states)] * (len(members) - 1)]
    unaries[-1] = unaries[-1] + values[count]
    step = np.where(np.minimum(count[:, None] + taken, most) == count, 0.0, np.inf)
    sees = {
        k: np.where((np.arange(k) == label)[:, None] == taken, 0.0, np.inf) for k in energy.n_labels[members]
    }
    counters = np.arange(len(members)) + energy.n_nodes
    edges = [*zip(members.tolist(), counters.tolist(), strict=True), *pairwise(counters.tolist())]
    tables = [sees[k] for k in energy.n_labels[members]] + [step] * (len(members) - 1)
    return energy.extended(unaries, np.array(edges, dtype=np.int64).reshape(-1, 2), tables)


def _check_nodes(energy: Energy, nodes: Sequence[int]) -> IntArray:
    members = np.asarray(nodes)
    if members.ndim != 1 or (members.size and members.dtype.kind not in "iu"):
        raise ValueError(f"nodes must be a list of node numbers, got {nodes!r}")
    members = members.astype(np.int64)
    for node in members.tolist():
        if not 0 <= node < energy.n_nodes:
            raise ValueError(f"node {node} does not exist: the nodes are 0..{energy.n_nodes - 1}")
    if len(np.unique(members)) < len(members):
        raise ValueError(f"a node stands twice in {members.tolist()}")
    return members

"""Maximum-flow codes on one integer network, ours among them: building it and solving it, value returned.

PyMaxflow (Boykov-Kolmogorov, GPL) is imported here and in ``algorithm1.py`` only.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from gapcut import _core
from gapcut.typing import Int32Array, IntArray
from rivals.base import not_installed


@dataclass(frozen=True, eq=False)
class Network:
    """``excess`` (n,): a terminal arc from the source if positive, to the sink if negative; ``arcs`` (m, 2)
    with capacities ``forward`` and ``backward`` (m,)."""

    excess: IntArray
    arcs: Int32Array
    forward: IntArray
    backward: IntArray

    def in_31_bits(self) -> Network:
        """Capacities scaled down so that their sum fits 32-bit codes; arcs that become 0 fall away."""
        total = float(np.abs(self.excess).sum()) + float(self.forward.sum()) + float(self.backward.sum())
        scale = min(1.0, 2.0**30 / total) if total > 0.0 else 1.0
        excess, forward, backward = (
            np.rint(scale * a).astype(np.int64) for a in (self.excess, self.forward, self.backward)
        )
        kept = (forward > 0) | (backward > 0)
        return Network(excess, np.ascontiguousarray(self.arcs[kept]), forward[kept], backward[kept])


@dataclass(frozen=True)
class FlowCode:
    """``solve`` returns the value of a maximum flow; ``bits``: the largest integers it takes."""

    name: str
    solve: Callable[[Network], int]
    bits: int
    modules: tuple[str, ...] = ()

    def missing(self) -> str | None:
        """What has to be installed; None if nothing."""
        return not_installed(*self.modules)


def incremental_search(network: Network) -> int:
    """Ours: incremental breadth-first search."""
    return int(_core.max_flow(network.excess, network.arcs, network.forward, network.backward)[0])


def boykov_kolmogorov(network: Network) -> int:
    """PyMaxflow's."""
    import maxflow

    graph = maxflow.GraphInt(len(network.excess), len(network.arcs))
    nodes = graph.add_grid_nodes(len(network.excess))
    graph.add_grid_tedges(nodes, np.maximum(network.excess, 0), np.maximum(-network.excess, 0))
    graph.add_edges(network.arcs[:, 0], network.arcs[:, 1], network.forward, network.backward)
    return int(graph.maxflow())


def scipy_flow(network: Network) -> int:
    """``scipy.sparse.csgraph.maximum_flow`` (Dinic), 32-bit capacities."""
    from scipy.sparse.csgraph import maximum_flow

    n = len(network.excess)
    tail, head = network.arcs.T
    inner, source, sink = np.arange(n), np.full(n, n), np.full(n, n + 1)
    rows, columns = np.concatenate([tail, head, source, inner]), np.concatenate([head, tail, inner, sink])
    terminals = [np.maximum(network.excess, 0), np.maximum(-network.excess, 0)]
    capacity = np.concatenate([network.forward, network.backward, *terminals])
    used = capacity > 0
    graph = sp.csr_array((capacity[used].astype(np.int32), (rows[used], columns[used])), shape=(n + 2, n + 2))
    return int(maximum_flow(graph, n, n + 1).flow_value)


OURS = FlowCode("gapcut", incremental_search, 62)
OTHERS = (
    FlowCode("PyMaxflow BK", boykov_kolmogorov, 62, ("maxflow",)),
    FlowCode("SciPy Dinic", scipy_flow, 31),
)

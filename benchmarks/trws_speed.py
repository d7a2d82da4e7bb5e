"""Time of TRW-S per table entry and half-sweep, on random energies of average degree 8.

    python benchmarks/trws_speed.py [--quick] [--repeats 5]

Graphs: ``near`` joins each node to 4 of the next 200 (like superpixels or segments in scan order), ``far``
to 4 nodes anywhere (nothing is in the cache: the worst case). ``ns`` is the best of the repeats for the
half-sweeps alone, one core; ``set-up`` is reduction, ordering and packing.
"""

from __future__ import annotations

import argparse
import time

import numpy as np

from gapcut import _core
from gapcut.inference import Energy

SIZES = [(3_000, 5), (3_000, 11), (3_000, 20), (3_000, 26), (20_000, 5), (20_000, 11), (20_000, 20)]
LARGE = [(100_000, 5), (100_000, 11), (100_000, 20)]


def random_energy(n_nodes: int, n_labels: int, near: bool) -> Energy:
    """Uniform unaries and tables; 4 edges started at every node."""
    rng = np.random.default_rng(0)
    tail = np.repeat(np.arange(n_nodes), 4)
    head = (tail + rng.integers(1, 201 if near else n_nodes, len(tail))) % n_nodes
    return Energy(
        rng.random((n_nodes, n_labels)),
        np.stack([tail, head], axis=1),
        rng.random((len(tail), n_labels, n_labels)),
    )


def measure(energy: Energy, order: str, repeats: int) -> tuple[float, float]:
    """(ns per entry and half-sweep, seconds of set-up), the best of the repeats."""
    best, set_up = np.inf, np.inf
    for _ in range(repeats):
        start = time.perf_counter()
        result = _core.trws(energy.native, None, 3, 0.0, 1000, 0.0, order)
        seconds = time.perf_counter() - start
        best = min(best, result.half_sweep_seconds / result.half_sweep_entries * 1e9)
        set_up = min(set_up, seconds - result.half_sweep_seconds)
    return best, set_up


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--quick", action="store_true", help="leave out 100,000 nodes")
    parser.add_argument("--repeats", type=int, default=5)
    options = parser.parse_args()
    print(f"{'nodes':>8} {'labels':>6} {'graph':>5} {'order':>14} {'ns':>6} {'set-up s':>9}")
    for n_nodes, n_labels in SIZES + ([] if options.quick else LARGE):
        for near in (True, False):
            energy = random_energy(n_nodes, n_labels, near)
            for order in ("index", "breadth-first"):
                ns, set_up = measure(energy, order, options.repeats)
                graph = "near" if near else "far"
                print(
                    f"{n_nodes:8d} {n_labels:6d} {graph:>5} {order:>14} {ns:6.2f} {set_up:9.3f}", flush=True
                )


if __name__ == "__main__":
    main()

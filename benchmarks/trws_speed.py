"""Time of TRW-S per table entry and half-sweep, on random energies of average degree 8.

    python benchmarks/trws_speed.py [--quick] [--labels 2,3,5] [--repeats 5]

Graphs: ``near`` joins each node to 4 of the next 200 (like superpixels or segments in scan order), ``far``
to 4 nodes anywhere (nothing is in the cache: the worst case). ``ns`` is CPU time of one core, the least of the
repeats: 11 sweeps less 1 sweep, so that ``set-up`` (reduction, ordering and packing) is no part of it. Other work on
the machine shows in it all the same, through caches and memory. The table, on standard output, shows the slower of
two node orders for each number of labels; both, and ``set-up``, go to standard error.
"""

from __future__ import annotations

import argparse
import sys
import time

import numpy as np

from gapcut import _core
from gapcut.engines import describe_machine
from gapcut.inference import Energy

LABELS = "2,3,4,5,6,7,8,9,11,13,16,20,26"
SIZES = (3_000, 20_000, 100_000)
SWEEPS = 11


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
    """(ns per entry and half-sweep, seconds of set-up and the first sweep), the best of the repeats."""
    one, many, entries = np.inf, np.inf, 1.0
    for _ in range(repeats):
        first, few = _cpu_seconds(energy, order, 1)
        last, all_sweeps = _cpu_seconds(energy, order, SWEEPS)
        one, many = min(one, first), min(many, last)
        entries = all_sweeps - few
    return (many - one) / entries * 1e9, one


def _cpu_seconds(energy: Energy, order: str, sweeps: int) -> tuple[float, float]:
    start = time.thread_time()
    result = _core.trws(energy.native, None, sweeps, 0.0, 1000, 0.0, order)
    return time.thread_time() - start, result.half_sweep_entries


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--quick", action="store_true", help="leave out 100,000 nodes")
    parser.add_argument("--labels", default=LABELS)
    parser.add_argument("--repeats", type=int, default=5)
    options = parser.parse_args()
    print(describe_machine(), file=sys.stderr)
    counts = [int(n_labels) for n_labels in options.labels.split(",")]
    print(
        f"| nodes, neighbours | {' | '.join(map(str, counts))} |\n|{'---|' * (len(counts) + 1)}", flush=True
    )
    for n_nodes in SIZES[: 2 if options.quick else 3]:
        for graph in ("near", "far"):
            slowest = []
            for n_labels in counts:
                energy = random_energy(n_nodes, n_labels, graph == "near")
                found = {
                    order: measure(energy, order, options.repeats) for order in ("index", "breadth-first")
                }
                slowest.append(f"{max(ns for ns, _ in found.values()):.1f}")
                for order, (ns, set_up) in found.items():
                    line = f"{n_nodes:8d} {n_labels:6d} {graph:>5} {order:>14} {ns:6.2f} ns, set-up {set_up:.3f} s"
                    print(line, file=sys.stderr, flush=True)
            print(f"| {n_nodes:,}, {graph} | {' | '.join(slowest)} |", flush=True)


if __name__ == "__main__":
    main()

"""How much of the gap that message passing leaves do short cycles close?

    python benchmarks/cycles.py [--only spin,Potts]

The instances of ``open_instances.py``, without a time limit: method ``trws`` (with escapes, about the bound of the
local polytope), and method ``cycles``, which goes on with triangles and cycles of four nodes. ``closed``: by which part
of the gap between the bound of ``trws`` and the better labeling of the two ``cycles`` raises the bound; a star marks a
proven optimum.
"""

from __future__ import annotations

import argparse
import time
from itertools import pairwise

from open_instances import INSTANCES

from gapcut import solve

HEADER = "| energies | trws | CPU s | cycles | CPU s | labeling | closed |\n|---|---|---|---|---|---|---|"


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--only", default="", help="instances whose name contains one of these")
    options = parser.parse_args()
    print(HEADER)
    for name, make in INSTANCES.items():
        if not any(part in name for part in options.only.split(",")):
            continue
        energy, clock = make(), [time.process_time()]
        found = []
        for method in ("trws", "cycles"):
            found.append(solve(energy, method))
            clock.append(time.process_time())
        plain, cycles = found
        best = min(plain.energy, cycles.energy)
        closed = (cycles.bound - plain.bound) / (best - plain.bound)
        star = " *" if cycles.status == "optimal" else ""
        seconds = [b - a for a, b in pairwise(clock)]
        print(
            f"| {name} | {plain.bound:.4f} | {seconds[0]:.1f} | {cycles.bound:.4f} | {seconds[1]:.1f} "
            f"| {best:.4f}{star} | {closed:.0%} |",
            flush=True,
        )


if __name__ == "__main__":
    main()

"""One minimiser of an image's energy in a process of its own: python images.py NAME FOLDER [LIMIT].

Reads ``unary.npy`` (H, W, K) and ``pairwise.npy`` (K, K) of the folder, writes ``labels.npy`` and prints as JSON: CPU
seconds, what is proven (or null), and by how many MiB the process grew, unaries included; Linux only. Imports this
package only if NAME is one of its methods, so that any Python with the rival installed can run it. PyMaxflow is GPL.
"""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path

import numpy as np

SCALE = 10_000
"""gco takes integers."""


def peak() -> float:
    """MiB. Not ``ru_maxrss``, which a new program inherits from the process that started it."""
    status = Path("/proc/self/status").read_text()
    return int(status.split("VmHWM:")[1].split()[0]) / 2**10


def main() -> None:
    name, folder, limit = sys.argv[1], Path(sys.argv[2]), float(sys.argv[3])
    bound = None
    if name == "PyMaxflow":
        from maxflow.fastmin import aexpansion_grid
    elif name == "gco":
        from gco import cut_grid_graph_simple
    else:
        from gapcut import Energy, solve
    before = peak()
    unary, pairwise = np.load(folder / "unary.npy"), np.load(folder / "pairwise.npy")
    start = time.process_time()
    if name == "PyMaxflow":
        labels = aexpansion_grid(unary, pairwise)
    elif name == "gco":
        costs = [np.rint(SCALE * x).astype(np.int32) for x in (unary, pairwise)]
        labels = cut_grid_graph_simple(*costs).reshape(unary.shape[:2])
    else:
        found = solve(Energy.grid(unary, pairwise), name, time_limit=limit)
        labels, bound = found.labels.reshape(unary.shape[:2]), found.bound
    seconds = time.process_time() - start
    np.save(folder / "labels.npy", labels)
    print(json.dumps({"seconds": seconds, "bound": bound, "memory": peak() - before}))


if __name__ == "__main__":
    main()

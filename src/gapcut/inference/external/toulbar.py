"""toulbar2 on integer costs. Run by a child; imports nothing of this package.

Traps of pytoulbar2 1.4, and how each is avoided:

- it rounds costs to integers silently: they are integers here;
- large ones overflow: the caller keeps all sums below 2^50;
- NaN is accepted: an ``Energy`` holds none;
- its time limit is CPU time: not set, the caller kills the process;
- an upper bound equal to the optimum returns None: used on purpose, the answer is then that nothing is better;
- a search that hit its limit of backtracks returns as if it had finished: they are counted;
- the dual bound may be stale: never read;
- models of one process may mix: one process, one model.
"""

from __future__ import annotations

from typing import Any


def run(payload: dict[str, Any]) -> dict[str, Any]:
    """``labels`` (V,) counts; ``terms`` [(nodes, flat integer costs, last node fastest)]; ``top``: costs from here
    on are forbidden; ``backtracks``: at most so many, or None. Returns ``finished``, and ``labels``: if finished,
    those of least total cost below ``top``, else the best found; None if there are none."""
    from pytoulbar2 import CFN, tb2

    top = int(payload["top"])
    network = CFN(ubinit=top, resolution=0, verbose=-1)
    for u, count in enumerate(payload["labels"]):
        network.AddVariable(f"x{u}", range(int(count)))
    for nodes, costs in payload["terms"]:
        network.AddFunction([int(u) for u in nodes], costs.tolist())
    limit = payload["backtracks"]
    if limit is not None:
        tb2.option.backtrackLimit = limit
    answer = network.Solve()
    finished = limit is None or (network.GetNbBacktracks() < limit and not tb2.option.limited)
    return {"finished": finished, "labels": None if answer is None else [int(k) for k in answer[0]]}

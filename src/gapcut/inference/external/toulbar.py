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

from itertools import pairwise
from typing import Any


def run(payload: dict[str, Any]) -> dict[str, Any]:
    """``labels`` (V,) counts; ``factor_at``, ``member`` of the factors over two nodes and more; ``at``, ``costs``: the
    flat integer costs of all nodes and then of all factors, last node fastest; ``top``: costs from here on are
    forbidden; ``backtracks``: at most so many, or None. Prints every labeling it finds, better and better ones, each in
    a line. Returns ``finished``, and ``labels``: if finished, those of least total cost below ``top``, else the best
    found; None if there are none."""
    from pytoulbar2 import CFN, tb2

    top = int(payload["top"])
    network = CFN(ubinit=top, resolution=0, verbose=-1)
    for u, count in enumerate(payload["labels"]):
        network.AddVariable(f"x{u}", range(int(count)))
    member, bounds, at = payload["member"].tolist(), payload["factor_at"].tolist(), payload["at"].tolist()
    scopes = [[u] for u in range(len(payload["labels"]))]
    scopes += [member[first:end] for first, end in pairwise(bounds)]
    for scope, (first, end) in zip(scopes, pairwise(at), strict=True):
        network.AddFunction(scope, payload["costs"][first:end].tolist())
    limit = payload["backtracks"]
    if limit is not None:
        tb2.option.backtrackLimit = limit
    answer = network.Solve(showSolutions=1)
    finished = limit is None or (network.GetNbBacktracks() < limit and not tb2.option.limited)
    return {"finished": finished, "labels": None if answer is None else [int(k) for k in answer[0]]}

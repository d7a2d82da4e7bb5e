"""toulbar2 on integer costs. Run by a child; imports nothing of this package.

Traps of pytoulbar2 1.4, and how each is avoided: costs are rounded to integers silently (they are integers here), large
ones overflow (the caller keeps all sums below 2^50), NaN is accepted (the caller's energies hold none), its time limit is
CPU time and an interrupted search cannot be told from a finished one (no limit is set: the caller kills the process), an
upper bound equal to the optimum returns None (used on purpose: the answer is then that nothing is better), and the dual
bound may be stale (never read).
"""

from __future__ import annotations

from typing import Any


def run(payload: dict[str, Any]) -> dict[str, Any]:
    """``labels`` (V,) counts; ``terms`` [(nodes, flat integer costs, last node fastest)]; ``top``: costs from here
    on are forbidden. Returns ``labels`` of least total cost below ``top``, or None if there are none, and their
    ``cost``."""
    from pytoulbar2 import CFN

    top = int(payload["top"])
    network = CFN(ubinit=top, resolution=0, verbose=-1)
    for u, count in enumerate(payload["labels"]):
        network.AddVariable(f"x{u}", range(int(count)))
    for nodes, costs in payload["terms"]:
        network.AddFunction([int(u) for u in nodes], costs.tolist())
    answer = network.Solve()
    if answer is None:
        return {"labels": None, "cost": None}
    return {"labels": [int(k) for k in answer[0]], "cost": round(answer[1])}

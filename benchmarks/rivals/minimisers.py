"""toulbar2 and HiGHS used as their users would, without anything of this package before or after them.

Each runs in a child process that is killed at the limit. Seconds are those of the child: building the model and
solving, not its start.
"""

from __future__ import annotations

import importlib.util
import multiprocessing
import time
from collections.abc import Callable
from dataclasses import dataclass
from multiprocessing.connection import Connection
from typing import TypeAlias

import numpy as np

from gapcut import Energy
from gapcut.inference.external import linear

Labels: TypeAlias = list[int] | None

GRACE = 2.0
"""Seconds beyond the limit in which a rival that keeps limits itself may hand over what it has."""


@dataclass(frozen=True)
class Minimum:
    """What a rival found: labels or None, whether it says they are optimal, its seconds."""

    labels: Labels
    claimed: bool
    seconds: float


def toulbar2(energy: Energy, limit: float) -> tuple[Labels, bool]:
    """The Python interface with six decimals, its usual resolution."""
    from pytoulbar2 import CFN

    allowed = np.concatenate([f[f < np.inf] for f in _tables(energy)])
    network = CFN(ubinit=float(np.abs(allowed).sum()) + 1.0, resolution=6, verbose=-1)
    for u, count in enumerate(energy.n_labels.tolist()):
        network.AddVariable(f"x{u}", range(count))
    for u in range(energy.n_nodes):
        network.AddFunction([u], energy.unary(u).tolist())
    for e, ends in enumerate(energy.edges.tolist()):
        network.AddFunction(ends, energy.table(e).ravel().tolist())
    answer = network.Solve()
    return (None, False) if answer is None else ([int(k) for k in answer[0]], True)


def highs(energy: Energy, limit: float) -> tuple[Labels, bool]:
    """The integer program over the local polytope."""
    answer = linear.run(
        {
            "integer": True,
            "deadline": time.time() + limit,
            "costs": np.concatenate([table.ravel() for table in _tables(energy)]),
            "labels": energy.n_labels,
            "factor_at": 2 * np.arange(energy.n_edges + 1),
            "member": energy.edges.ravel(),
        }
    )
    if answer["x"] is None:
        return None, False
    shares = np.split(answer["x"], np.cumsum(energy.n_labels)[:-1])
    return [int(np.argmax(share)) for share in shares], answer["status"] == "optimal"


RIVALS: dict[str, tuple[Callable[[Energy, float], tuple[Labels, bool]], str]] = {
    "toulbar2 alone": (toulbar2, "pytoulbar2"),
    "HiGHS alone": (highs, "scipy"),
}
"""Rivals, and the package each needs."""


def missing(name: str) -> str | None:
    """What has to be installed before it can run; None if nothing."""
    package = RIVALS[name][1]
    return None if importlib.util.find_spec(package) else package


def run(name: str, energy: Energy, limit: float) -> Minimum:
    """Minimise in a child; what is not done in ``limit`` seconds is no answer."""
    context = multiprocessing.get_context("spawn")
    ours, theirs = context.Pipe(duplex=False)
    child = context.Process(target=_child, args=(name, energy, limit, theirs), daemon=True)
    child.start()
    theirs.close()
    try:
        if ours.poll(60.0) and ours.recv() == "ready" and ours.poll(limit + GRACE):
            return Minimum(*ours.recv())
    except EOFError:
        pass  # it died
    finally:
        child.kill()
        child.join()
    return Minimum(None, False, limit)


def _child(name: str, energy: Energy, limit: float, answer_to: Connection) -> None:
    solve, package = RIVALS[name]
    importlib.import_module(package)
    answer_to.send("ready")
    start = time.perf_counter()
    labels, claimed = solve(energy, limit)
    answer_to.send((labels, claimed, time.perf_counter() - start))


def _tables(energy: Energy) -> list[np.ndarray]:
    return [energy.unary(u) for u in range(energy.n_nodes)] + [energy.table(e) for e in range(energy.n_edges)]

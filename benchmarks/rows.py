"""The rows of the comparison that are gapcut's own: learners, and the default learner with one part taken
away.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from gapcut.learners import Block, CuttingPlane, FrankWolfe, Learner, PrimalDual, Subgradient


@dataclass(frozen=True)
class Row:
    """``learner(threads)`` is run with a cut oracle of as many threads; ``threads=None`` takes what the
    user says.
    """

    key: str
    title: str
    learner: Callable[[int], Learner]
    persistency: bool = True
    threads: int | None = None


def _primal_dual(**changes: object) -> Callable[[int], Learner]:
    return lambda threads: PrimalDual(n_threads=threads, **changes)  # type: ignore[arg-type]


def own_rows() -> list[Row]:
    """In the order of the table."""
    return [
        Row("cutting-plane", "cutting-plane", lambda threads: CuttingPlane()),
        Row("block", "block", lambda threads: Block()),
        Row("primal-dual", "primal-dual", _primal_dual()),
        Row("no-over-relaxation", "primal-dual, no over-relaxation", _primal_dual(over_relaxation=1.0)),
        Row("no-repair", "primal-dual, no repair", _primal_dual(repair=False)),
        Row("fixed-step", "primal-dual, fixed balance of steps", _primal_dual(rebalance=0.0)),
        Row("always-cut", "primal-dual, a cut every certificate", _primal_dual(always_cut=True)),
        Row(
            "no-persistency",
            "primal-dual, a cut every certificate, no persistency",
            _primal_dual(always_cut=True),
            persistency=False,
        ),
        Row("one-thread", "primal-dual, one thread", _primal_dual(), threads=1),
        Row("diagonal-metric", "primal-dual, diagonal metric", _primal_dual(metric="diagonal")),
        Row("frank-wolfe", "frank-wolfe", lambda threads: FrankWolfe()),
        Row("subgradient", "subgradient", lambda threads: Subgradient()),
    ]

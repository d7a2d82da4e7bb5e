"""The rows of the comparison that are gapcut's own: learners, and the default learner with one part taken
away.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields

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
    rows = [
        Row("cutting-plane", "cutting-plane", lambda threads: CuttingPlane()),
        Row("block", "block", lambda threads: Block()),
        Row("primal-dual", "primal-dual", _primal_dual()),
        Row("no-over-relaxation", "primal-dual, no over-relaxation", _primal_dual(relax=1.0)),
        Row("no-repair", "primal-dual, no repair", _primal_dual(repair=False)),
        Row("no-persistency", "primal-dual, no persistency", _primal_dual(), persistency=False),
        Row("one-thread", "primal-dual, one thread", _primal_dual(), threads=1),
    ]
    if any(f.name == "metric" for f in fields(PrimalDual)):
        rows.append(Row("diagonal-metric", "primal-dual, diagonal metric", _primal_dual(metric="diagonal")))
    return [
        *rows,
        Row("frank-wolfe", "frank-wolfe", lambda threads: FrankWolfe()),
        Row("subgradient", "subgradient", lambda threads: Subgradient()),
    ]

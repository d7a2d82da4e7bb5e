"""Solvers of the working-set quadratic program."""

from __future__ import annotations

from collections.abc import Callable

from gapcut.learners.qp.base import QPResult, QPSolver
from gapcut.learners.qp.interior_point import InteriorPoint
from gapcut.learners.qp.native import DualAscent

_SOLVERS: dict[str, Callable[[], QPSolver]] = {
    "dual": DualAscent,
    "dcd": lambda: DualAscent("coordinate"),
    "clarabel": InteriorPoint,
}


def qp_solver(name: str) -> QPSolver:
    """The solver of that name: ``"dual"``, ``"dcd"`` or ``"clarabel"``."""
    if name not in _SOLVERS:
        raise ValueError(f"qp={name!r} is unknown: choose one of {', '.join(map(repr, _SOLVERS))}")
    return _SOLVERS[name]()


__all__ = ["DualAscent", "InteriorPoint", "QPResult", "QPSolver", "qp_solver"]

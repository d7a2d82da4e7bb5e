"""Learn the weights of discrete energies on any graph, and prove how good they are."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from gapcut.version import __version__

if TYPE_CHECKING:
    from gapcut import datasets
    from gapcut.certificates import Certificate
    from gapcut.data import CliqueSet, Graph, GraphError, GraphFolder, GraphSet
    from gapcut.engines.target import target
    from gapcut.estimator import StructuredSVM
    from gapcut.files import ModelFileError
    from gapcut.inference import (
        Energy,
        EnergyFileError,
        Solution,
        Solver,
        min_marginals,
        read_energy,
        solve_best,
        write_energy,
    )
    from gapcut.inference.solve import solve, solve_many
    from gapcut.machine import Machine
    from gapcut.parameters import defaults
    from gapcut.selection import PathScores, cross_validate_path

_ROOMS = {
    "certificates": ("Certificate",),
    "data": ("CliqueSet", "Graph", "GraphError", "GraphFolder", "GraphSet"),
    "engines": ("target",),
    "estimator": ("StructuredSVM",),
    "files": ("ModelFileError",),
    "inference": (
        *("Energy", "EnergyFileError", "Solution", "Solver", "min_marginals", "read_energy"),
        *("solve", "solve_best", "solve_many", "write_energy"),
    ),
    "machine": ("Machine",),
    "parameters": ("defaults",),
    "selection": ("PathScores", "cross_validate_path"),
}
"""Where the names come from; a room is imported when one of its names is asked for."""

_MORE = ("datasets", "features", "graphs", "images", "learners", "metrics", "oracles")
"""Rooms whose names are asked for in full."""

_HOMES = {name: room for room, names in _ROOMS.items() for name in names}


def __getattr__(name: str) -> Any:
    if name in _ROOMS or name in _MORE:  # a room by its own name
        return import_module(f"gapcut.{name}")
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = globals()[name] = getattr(import_module(f"gapcut.{_HOMES[name]}"), name)
    return value


def __dir__() -> list[str]:
    return sorted({*_ROOMS, *_MORE, *__all__})


__all__ = [
    "Certificate",
    "CliqueSet",
    "Energy",
    "EnergyFileError",
    "Graph",
    "GraphError",
    "GraphFolder",
    "GraphSet",
    "Machine",
    "ModelFileError",
    "PathScores",
    "Solution",
    "Solver",
    "StructuredSVM",
    "__version__",
    "cross_validate_path",
    "datasets",
    "defaults",
    "min_marginals",
    "read_energy",
    "solve",
    "solve_best",
    "solve_many",
    "target",
    "write_energy",
]

"""Learn the weights of discrete energies on any graph, and prove how good they are."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from gapcut import datasets
from gapcut.certificates import Certificate
from gapcut.data import CliqueSet, Graph, GraphError, GraphSet
from gapcut.engines import target
from gapcut.files import ModelFileError
from gapcut.inference import (
    Energy,
    EnergyFileError,
    Solution,
    Solver,
    min_marginals,
    read_energy,
    solve,
    solve_best,
    solve_many,
    write_energy,
)
from gapcut.version import __version__

if TYPE_CHECKING:
    from gapcut.estimator import StructuredSVM
    from gapcut.machine import Machine
    from gapcut.selection import PathScores, cross_validate_path

_LATER = {
    "Machine": "gapcut.machine",
    "StructuredSVM": "gapcut.estimator",
    "PathScores": "gapcut.selection",
    "cross_validate_path": "gapcut.selection",
}
"""What needs scikit-learn, which takes a second to import; :class:`Machine` is the estimator without it."""


def __getattr__(name: str) -> Any:
    if name not in _LATER:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(_LATER[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_LATER})


__all__ = [
    "Certificate",
    "CliqueSet",
    "Energy",
    "EnergyFileError",
    "Graph",
    "GraphError",
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
    "min_marginals",
    "read_energy",
    "solve",
    "solve_best",
    "solve_many",
    "target",
    "write_energy",
]

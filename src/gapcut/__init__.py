"""Learn the weights of discrete energies on any graph, and prove how good they are."""

__version__ = "0.1.0"

from gapcut import datasets
from gapcut.certificates import Certificate
from gapcut.data import CliqueSet, Graph, GraphError, GraphSet
from gapcut.estimator import StructuredSVM
from gapcut.inference import Energy, EnergyFileError, Solution, read_energy, solve, write_energy
from gapcut.model import ModelFileError
from gapcut.selection import PathScores, cross_validate_path

__all__ = [
    "Certificate",
    "CliqueSet",
    "Energy",
    "EnergyFileError",
    "Graph",
    "GraphError",
    "GraphSet",
    "ModelFileError",
    "PathScores",
    "Solution",
    "StructuredSVM",
    "__version__",
    "cross_validate_path",
    "datasets",
    "read_energy",
    "solve",
    "write_energy",
]

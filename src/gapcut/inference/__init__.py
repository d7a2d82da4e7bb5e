"""Energies and how to minimise them, with a proven lower bound in every case."""

from gapcut.inference.best import solve_best
from gapcut.inference.counting import all_different, cardinality
from gapcut.inference.energy import Energy
from gapcut.inference.files import EnergyFileError, read_energy, write_energy
from gapcut.inference.marginals import MinMarginals, min_marginals
from gapcut.inference.methods import METHODS, MethodName
from gapcut.inference.model import CliqueWeights, model_energy
from gapcut.inference.persistency import RoofDual, persistency
from gapcut.inference.progress import Progress
from gapcut.inference.solution import TOLERANCE, Solution
from gapcut.inference.solve import solve, solve_many
from gapcut.inference.solver import Solver

__all__ = [
    "METHODS",
    "TOLERANCE",
    "CliqueWeights",
    "Energy",
    "EnergyFileError",
    "MethodName",
    "MinMarginals",
    "Progress",
    "RoofDual",
    "Solution",
    "Solver",
    "all_different",
    "cardinality",
    "min_marginals",
    "model_energy",
    "persistency",
    "read_energy",
    "solve",
    "solve_best",
    "solve_many",
    "write_energy",
]

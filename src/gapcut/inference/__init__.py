"""Energies and how to minimise them, with a proven lower bound in every case."""

from gapcut.inference.energy import Energy
from gapcut.inference.files import EnergyFileError, read_energy, write_energy
from gapcut.inference.methods import METHODS, MethodName
from gapcut.inference.model import CliqueWeights, model_energy
from gapcut.inference.persistency import RoofDual, persistency
from gapcut.inference.solution import TOLERANCE, Solution
from gapcut.inference.solve import solve, solve_many

__all__ = [
    "METHODS",
    "TOLERANCE",
    "CliqueWeights",
    "Energy",
    "EnergyFileError",
    "MethodName",
    "RoofDual",
    "Solution",
    "model_energy",
    "persistency",
    "read_energy",
    "solve",
    "solve_many",
    "write_energy",
]

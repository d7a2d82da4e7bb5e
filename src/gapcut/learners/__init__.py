"""Minimisers of the learning problem."""

from gapcut.learners.base import CutOff, Learner, LearnResult, Limits, WarmStart
from gapcut.learners.block import Block
from gapcut.learners.cutting_plane import CuttingPlane
from gapcut.learners.frank_wolfe import FrankWolfe
from gapcut.learners.primal_dual import PrimalDual
from gapcut.learners.subgradient import Subgradient

__all__ = [
    "Block",
    "CutOff",
    "CuttingPlane",
    "FrankWolfe",
    "LearnResult",
    "Learner",
    "Limits",
    "PrimalDual",
    "Subgradient",
    "WarmStart",
]

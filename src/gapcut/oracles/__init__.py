"""Loss-augmented inference: given weights, a labeling and a proven bound for each graph."""

from gapcut.oracles.base import Oracle, OraclePlanes, OracleTotal, ProblemName, SlackBound
from gapcut.oracles.brute import BruteOracle
from gapcut.oracles.cut import CutOracle
from gapcut.oracles.labeler import TreeOracle, TrwsOracle
from gapcut.oracles.relaxation import Relaxation

__all__ = [
    "BruteOracle",
    "CutOracle",
    "Oracle",
    "OraclePlanes",
    "OracleTotal",
    "ProblemName",
    "Relaxation",
    "SlackBound",
    "TreeOracle",
    "TrwsOracle",
]

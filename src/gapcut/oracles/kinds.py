"""The oracles by name: what each solves, what it proves, and how it is made."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

from gapcut.oracles.base import Oracle, ProblemName
from gapcut.oracles.cut import CutOracle
from gapcut.oracles.labeler import TreeOracle, TrwsOracle
from gapcut.oracles.lp import LpOracle
from gapcut.oracles.methods import MethodOracle
from gapcut.oracles.roof import RoofOracle
from gapcut.problem import LearningProblem


@dataclass(frozen=True)
class OracleKind:
    """``solves``: the label space; ``proven``: whether its bounds certify; ``any_sign``: whether pairwise
    weights may be negative; ``make(problem, n_threads)``."""

    solves: ProblemName
    proven: bool
    any_sign: bool
    make: Callable[[LearningProblem, int], Oracle]


def _ilp(problem: LearningProblem, threads: int) -> Oracle:
    return MethodOracle(problem, "ilp", threads, proven=True, exact=True)


def _icm(problem: LearningProblem, threads: int) -> Oracle:
    return MethodOracle(problem, "icm", threads, proven=False)


def _bp(problem: LearningProblem, threads: int) -> Oracle:
    return MethodOracle(problem, "bp", threads, proven=False)


def _half_rule_score(problem: LearningProblem, threads: int) -> Oracle:
    return RoofOracle(problem, threads, rule="score")


def _half_rule_energy(problem: LearningProblem, threads: int) -> Oracle:
    return RoofOracle(problem, threads, rule="energy")


KINDS: Mapping[str, OracleKind] = MappingProxyType(
    {
        "cut": OracleKind("relaxed binary", True, False, CutOracle),
        "tree": OracleKind("one-hot", True, True, TreeOracle),
        "trws": OracleKind("one-hot", True, True, TrwsOracle),
        "ilp": OracleKind("one-hot", True, True, _ilp),
        "lp": OracleKind("LP-relaxed one-hot", True, True, LpOracle),
        "qpbo": OracleKind("relaxed binary", False, True, RoofOracle),
        "qpbo-rounded": OracleKind("relaxed binary", False, True, _half_rule_score),
        "qpbo-rounded-energy": OracleKind("relaxed binary", False, True, _half_rule_energy),
        "icm": OracleKind("one-hot", False, True, _icm),
        "bp": OracleKind("one-hot", False, True, _bp),
    }
)
"""All oracles but ``brute``, which needs the graphs themselves."""

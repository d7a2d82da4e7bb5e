"""The oracles by name: what each solves, proves and takes, and how it is made."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal

from gapcut.inference import MethodName
from gapcut.oracles.base import Oracle, ProblemName
from gapcut.oracles.brute import BruteOracle, Labelled
from gapcut.oracles.cut import CutOracle
from gapcut.oracles.labeler import TreeOracle, TrwsOracle
from gapcut.oracles.lp import LpOracle
from gapcut.oracles.methods import MethodOracle
from gapcut.oracles.roof import HalfRule, RoofOracle
from gapcut.problem import LearningProblem


@dataclass(frozen=True)
class OracleKind:
    """What can be known of an oracle before there is a problem.

    ``build(problem, n_threads, examples)``: see :meth:`make`; ``solves``: the label space; ``proven``: whether its
    bounds certify; ``any_sign``: whether pairwise weights may be negative; ``nonnegative``: their sign rule unless the
    user names one; ``cliques``: whether it takes terms over three nodes and more; ``relaxation``: whether it has one.
    """

    build: Callable[[LearningProblem, int, Iterable[Labelled]], Oracle]
    solves: ProblemName
    proven: bool = True
    any_sign: bool = True
    nonnegative: Literal["pairwise", "none"] = "none"
    cliques: bool = False
    relaxation: bool = False

    def make(self, problem: LearningProblem, n_threads: int = 1, examples: Iterable[Labelled] = ()) -> Oracle:
        """The oracle on this problem; ``examples`` are the problem's graphs, for oracles that do not read them from
        its packed form.
        """
        return self.build(problem, n_threads, examples)


def _method(
    name: MethodName, solves: ProblemName = "one-hot", *, proven: bool, exact: bool = False
) -> OracleKind:
    def build(problem: LearningProblem, threads: int, _: object) -> Oracle:
        return MethodOracle(problem, name, threads, proven=proven, exact=exact)

    return OracleKind(build, solves, proven)


def _roof(rule: HalfRule) -> OracleKind:
    return OracleKind(lambda p, t, _: RoofOracle(p, t, rule=rule), "relaxed binary", proven=False)


KINDS: Mapping[str, OracleKind] = MappingProxyType(
    {
        "cut": OracleKind(
            lambda p, t, _: CutOracle(p, t),
            "relaxed binary",
            any_sign=False,
            nonnegative="pairwise",
            cliques=True,
            relaxation=True,
        ),
        "tree": OracleKind(lambda p, t, _: TreeOracle(p, t), "one-hot"),
        "trws": OracleKind(lambda p, t, _: TrwsOracle(p, t), "one-hot"),
        "ilp": _method("ilp", proven=True, exact=True),
        "lp": OracleKind(lambda p, t, _: LpOracle(p, t), "LP-relaxed one-hot", relaxation=True),
        "qpbo": _roof("product"),
        "qpbo-rounded": _roof("score"),
        "qpbo-rounded-energy": _roof("energy"),
        "icm": _method("icm", proven=False),
        "bp": _method("bp", proven=False),
        "brute": OracleKind(
            lambda p, _, examples: BruteOracle(p, examples),
            "relaxed binary",
            nonnegative="pairwise",
            cliques=True,
        ),
    }
)

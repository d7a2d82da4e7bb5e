"""The oracles by name: what each solves, proves and takes, and how it is made."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from types import MappingProxyType
from typing import Literal

from gapcut.inference import MethodName
from gapcut.oracles.base import Oracle, ProblemName
from gapcut.oracles.brute import BruteOracle
from gapcut.oracles.cut import CutOracle
from gapcut.oracles.labeler import TreeOracle, TrwsOracle
from gapcut.oracles.lp import LpOracle
from gapcut.oracles.methods import MethodOracle
from gapcut.oracles.roof import HalfRule, RoofOracle


@dataclass(frozen=True)
class OracleKind:
    """What can be known of an oracle before there is a problem.

    ``make(problem, n_threads)``, or ``make(problem, examples)`` where it ``takes_examples``: the problem's graphs, in
    place of its packed form. ``solves``: the label space; ``proven``: whether its bounds certify; ``any_sign``: whether
    pairwise weights may be negative; ``nonnegative``: their sign rule unless the user names one; ``cliques``: whether
    it takes terms over three nodes and more; ``relaxation``: whether it has one; ``elsewhere``: whether other processes
    can make its planes.
    """

    make: Callable[..., Oracle]
    solves: ProblemName
    proven: bool = True
    any_sign: bool = True
    nonnegative: Literal["pairwise", "none"] = "none"
    cliques: bool = False
    relaxation: bool = False
    elsewhere: bool = False
    takes_examples: bool = False


def _method(name: MethodName, *, proven: bool, exact: bool = False) -> OracleKind:
    return OracleKind(lambda p, t=1: MethodOracle(p, name, t, proven=proven, exact=exact), "one-hot", proven)


def _roof(rule: HalfRule) -> OracleKind:
    return OracleKind(partial(RoofOracle, rule=rule), "relaxed binary", proven=False)


KINDS: Mapping[str, OracleKind] = MappingProxyType(
    {
        "cut": OracleKind(
            CutOracle,
            "relaxed binary",
            any_sign=False,
            nonnegative="pairwise",
            cliques=True,
            relaxation=True,
            elsewhere=True,
        ),
        "tree": OracleKind(TreeOracle, "one-hot", elsewhere=True),
        "trws": OracleKind(TrwsOracle, "one-hot", elsewhere=True),
        "ilp": _method("ilp", proven=True, exact=True),
        "lp": OracleKind(LpOracle, "LP-relaxed one-hot", relaxation=True),
        "qpbo": _roof("product"),
        "qpbo-rounded": _roof("score"),
        "qpbo-rounded-energy": _roof("energy"),
        "icm": _method("icm", proven=False),
        "bp": _method("bp", proven=False),
        "brute": OracleKind(
            BruteOracle,
            "relaxed binary",
            nonnegative="pairwise",
            cliques=True,
            takes_examples=True,
        ),
    }
)

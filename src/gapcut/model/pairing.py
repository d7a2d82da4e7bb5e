"""Which learner goes with which oracle, and what the word "auto" stands for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Final

from gapcut.data import Graph, all_forests
from gapcut.learners import Block, CuttingPlane, FrankWolfe, Learner, PrimalDual, Subgradient
from gapcut.oracles.kinds import KINDS
from gapcut.parameters import LearnerName, Nonnegative, OracleName

LEARNERS: Mapping[str, type[Learner]] = MappingProxyType(
    {
        "primal-dual": PrimalDual,
        "block": Block,
        "cutting-plane": CuttingPlane,
        "frank-wolfe": FrankWolfe,
        "subgradient": Subgradient,
    }
)
AUTO: Final = "auto"


def oracle_for(graphs: Sequence[Graph], learner: LearnerName) -> OracleName:
    """What ``oracle="auto"`` stands for: ``tree`` where no graph has a cycle nor cliques and the learner can do without
    a relaxation, else ``cut``.
    """
    if graphs and graphs[0].cliques:  # all of a set have the same groups
        return "cut"
    planes_suffice = learner == AUTO or not LEARNERS[learner].needs_relaxation
    return "tree" if planes_suffice and all_forests(graphs) else "cut"


def check_cliques(learner: LearnerName, oracle: OracleName) -> None:
    """Raises ValueError with the reason where the two do not take terms over three nodes and more."""
    if not KINDS[oracle].cliques:
        raise ValueError(
            f"oracle={oracle!r} is not compatible with cliques: it takes unary and pairwise terms only; "
            "use oracle='cut', or graphs without cliques"
        )
    if not LEARNERS[learner].takes_cliques:
        raise ValueError(
            f"learner={learner!r} is not compatible with cliques: its steps are made for unary and pairwise terms; "
            "use learner='block' (or 'auto')"
        )


def learner_for(learner: LearnerName, oracle: OracleName, cliques: bool = False) -> LearnerName:
    """What ``learner="auto"`` stands for: ``primal-dual`` where the oracle has a relaxation, ``block`` with every other
    oracle and where the graphs have cliques.
    """
    if learner != AUTO:
        return learner
    return "primal-dual" if oracle in KINDS and KINDS[oracle].relaxation and not cliques else "block"


def check_pair(learner: LearnerName, oracle: OracleName, nonnegative: Nonnegative) -> None:
    """Raises ValueError with the reason where the three do not go together."""
    if not KINDS[oracle].any_sign and isinstance(nonnegative, str) and nonnegative == "none":
        raise ValueError(
            f"nonnegative='none' is not compatible with oracle={oracle!r}: one min cut is exact only while every "
            "pairwise weight is >= 0; use nonnegative='pairwise', or a one-hot oracle such as 'trws'"
        )
    if LEARNERS[learner].needs_relaxation and not KINDS[oracle].relaxation:
        raise ValueError(
            f"learner={learner!r} is not compatible with oracle={oracle!r}: it solves the relaxation whose "
            "exact oracle is the min cut; use learner='block' (or 'auto'), or oracle='cut'"
        )

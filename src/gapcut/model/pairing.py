"""Which learner goes with which oracle, and what the word "auto" stands for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Final

import numpy as np
import scipy.sparse as sp

from gapcut.data import Graph
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
    if any(g.cliques for g in graphs):
        return "cut"
    planes_suffice = learner == AUTO or not LEARNERS[learner].needs_relaxation
    return "tree" if planes_suffice and all_forests(graphs) else "cut"


def all_forests(graphs: Sequence[Graph]) -> bool:
    """Whether no graph has a cycle; several edges between two nodes count as one."""
    from scipy.sparse.csgraph import connected_components  # slow to import

    starts = np.cumsum([0] + [g.n_nodes for g in graphs])
    edges = np.concatenate([g.edges + start for g, start in zip(graphs, starts[:-1], strict=True)])
    n_nodes = int(starts[-1])
    edges = np.unique(np.sort(edges, axis=1), axis=0)
    links = sp.csr_array((np.ones(len(edges)), (edges[:, 0], edges[:, 1])), shape=(n_nodes, n_nodes))
    components, _ = connected_components(links, directed=False)
    return bool(len(edges) == n_nodes - components)


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


def sign_rule_for(nonnegative: Nonnegative, oracle: OracleName) -> Nonnegative:
    """What ``nonnegative="auto"`` stands for with this oracle."""
    if not (isinstance(nonnegative, str) and nonnegative == AUTO):
        return nonnegative
    return KINDS[oracle].nonnegative


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

"""Which learner goes with which oracle, and what the word "auto" stands for."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np
import scipy.sparse as sp

from gapcut.data import Graph
from gapcut.oracles.kinds import KINDS
from gapcut.parameters import LearnerName, Nonnegative, OracleName

CLIQUE_ORACLES = ("cut", "brute")
AUTO: Final = "auto"


def oracle_for(graphs: Sequence[Graph], learner: LearnerName) -> OracleName:
    """What ``oracle="auto"`` stands for: ``tree`` where no graph has a cycle nor cliques, else ``cut``.

    The primal-dual learner works with ``cut`` only.
    """
    if any(g.cliques for g in graphs):
        return "cut"
    return "tree" if learner != "primal-dual" and all_forests(graphs) else "cut"


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
    if oracle not in CLIQUE_ORACLES:
        raise ValueError(
            f"oracle={oracle!r} is not compatible with cliques: it takes unary and pairwise terms only; "
            "use oracle='cut', or graphs without cliques"
        )
    if learner == "primal-dual":
        raise ValueError(
            "learner='primal-dual' is not compatible with cliques: its steps are made for unary and pairwise terms; "
            "use learner='block' (or 'auto')"
        )


def learner_for(learner: LearnerName, oracle: OracleName, cliques: bool = False) -> LearnerName:
    """What ``learner="auto"`` stands for: ``primal-dual`` with the cut, ``block`` with every other oracle and where the
    graphs have cliques.
    """
    if learner != AUTO:
        return learner
    return "primal-dual" if oracle == "cut" and not cliques else "block"


def sign_rule_for(nonnegative: Nonnegative, oracle: OracleName) -> Nonnegative:
    """What ``nonnegative="auto"`` stands for: only oracles that need pairwise weights >= 0 get them."""
    if not (isinstance(nonnegative, str) and nonnegative == AUTO):
        return nonnegative
    return "none" if takes_any_sign(oracle) and oracle != "brute" else "pairwise"


def takes_any_sign(oracle: OracleName) -> bool:
    """Whether pairwise weights may be negative."""
    return oracle not in KINDS or KINDS[oracle].any_sign


def check_pair(learner: LearnerName, oracle: OracleName, nonnegative: Nonnegative) -> None:
    """Raises ValueError with the reason where the three do not go together."""
    if not takes_any_sign(oracle) and isinstance(nonnegative, str) and nonnegative == "none":
        raise ValueError(
            f"nonnegative='none' is not compatible with oracle={oracle!r}: one min cut is exact only while every "
            "pairwise weight is >= 0; use nonnegative='pairwise', or a one-hot oracle such as 'trws'"
        )
    if learner == "primal-dual" and oracle != "cut":
        raise ValueError(
            f"learner='primal-dual' is not compatible with oracle={oracle!r}: it solves the relaxation whose "
            "exact oracle is the min cut; use learner='block' (or 'auto'), or oracle='cut'"
        )

"""What goes with what, and what "auto" stands for."""

from __future__ import annotations

from dataclasses import asdict

import numpy as np
import pytest

from gapcut import Graph, StructuredSVM
from gapcut.data import all_forests
from gapcut.model.pairing import (
    LEARNERS,
    check_cliques,
    check_pair,
    learner_for,
    oracle_for,
)
from gapcut.model.settings import Settings
from gapcut.oracles.kinds import KINDS
from sample_cliques import xor_graphs
from sample_graphs import sample_graphs


def graph(n: int, edges: list[list[int]]) -> Graph:
    return Graph(np.zeros((n, 1)), np.array(edges, dtype=int).reshape(-1, 2), np.ones((len(edges), 1)))


CHAIN, CYCLE = graph(3, [[0, 1], [1, 2]]), graph(3, [[0, 1], [1, 2], [2, 0]])


@pytest.mark.parametrize(
    ("graphs", "expected"),
    [
        ([CHAIN], True),
        ([CYCLE], False),
        ([CHAIN, CYCLE], False),
        ([graph(2, [[0, 1], [1, 0], [0, 1]])], True),  # one pair of nodes, however often it is joined
        ([graph(4, [])], True),
        ([graph(1, []), CHAIN], True),
        ([graph(6, [[0, 1], [1, 2], [2, 0]])], False),
    ],
)
def test_cycles_are_found(graphs: list[Graph], expected: bool) -> None:
    assert all_forests(graphs) is expected


def test_auto_oracle_is_exact_on_what_it_gets() -> None:
    assert oracle_for([CHAIN], "block") == "tree"
    assert oracle_for([CHAIN], "primal-dual") == "cut"
    assert oracle_for([CYCLE], "block") == "cut"
    assert oracle_for(xor_graphs(2), "block") == "cut"


@pytest.mark.parametrize("oracle", tuple(KINDS))
def test_auto_learner_goes_with_every_oracle(oracle: str) -> None:
    learner = learner_for("auto", oracle)
    assert learner == ("primal-dual" if KINDS[oracle].relaxation else "block")
    check_pair(learner, oracle, "pairwise")
    assert all(learner_for(name, oracle) == name for name in LEARNERS)
    assert learner_for("auto", oracle, cliques=True) == "block"


def settled(graphs, **params) -> Settings:
    return Settings.checked(StructuredSVM(**params).get_params(deep=False)).settled(graphs)


@pytest.mark.parametrize(
    ("params", "learner", "oracle", "nonnegative"),
    [
        ({}, "primal-dual", "cut", "pairwise"),
        ({"oracle": "trws"}, "block", "trws", "none"),
        ({"oracle": "trws", "nonnegative": "pairwise"}, "block", "trws", "pairwise"),
        ({"oracle": "brute"}, "block", "brute", "pairwise"),
        ({"learner": "frank-wolfe", "oracle": "cut"}, "frank-wolfe", "cut", "pairwise"),
    ],
)
def test_settings_are_settled_on_the_graphs(params, learner, oracle, nonnegative) -> None:
    found = settled(sample_graphs(2), **params)
    assert (found.learner, found.oracle, found.nonnegative) == (learner, oracle, nonnegative)


def test_settling_changes_nothing_else_and_nothing_twice() -> None:
    graphs = sample_graphs(2)
    once = settled(graphs, C=7.0, loss_scale=3.0, gap=0.5, max_passes=9)
    assert (once.C, once.loss_scale, once.limits.gap, once.limits.max_passes) == (7.0, 3.0, 0.5, 9)
    assert asdict(once.settled(graphs)) == asdict(once)


@pytest.mark.parametrize(
    ("learner", "oracle", "nonnegative", "message"),
    [
        ("block", "cut", "none", "one min cut is exact only while every pairwise weight is >= 0"),
        ("primal-dual", "trws", "none", "use learner='block'"),
    ],
)
def test_what_does_not_go_together_is_refused_with_a_way_out(learner, oracle, nonnegative, message) -> None:
    with pytest.raises(ValueError, match=message):
        check_pair(learner, oracle, nonnegative)


def test_cliques_go_with_the_cut_and_enumeration_only() -> None:
    taken = []
    for oracle in KINDS:
        try:
            check_cliques("block", oracle)
        except ValueError as error:
            assert "use oracle='cut'" in str(error)  # noqa: PT017
        else:
            taken.append(oracle)
    assert taken == ["cut", "brute"]
    with pytest.raises(ValueError, match="use learner='block'"):
        check_cliques("primal-dual", "cut")

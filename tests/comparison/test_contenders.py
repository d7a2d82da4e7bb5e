"""Names of what is compared."""

from __future__ import annotations

import pytest

from gapcut import Graph
from gapcut.comparison import Contender, default_contenders, parse_contenders

CHAIN = Graph([[0.0]] * 3, [[0, 1], [1, 2]], [[1.0]] * 2)
CYCLE = Graph([[0.0]] * 3, [[0, 1], [1, 2], [2, 0]], [[1.0]] * 3)


@pytest.mark.parametrize(
    ("contender", "name"),
    [
        (Contender("primal-dual", "cut"), "primal-dual/cut"),
        (Contender("block", "trws"), "block/trws/signed"),
        (Contender("block", "trws", "pairwise"), "block/trws/nonnegative"),
        (Contender("block", "cut", note="raw features"), "block/cut, raw features"),
    ],
)
def test_a_name_tells_the_sign_rule_where_there_is_a_choice(contender: Contender, name: str) -> None:
    assert contender.name == name


def test_names_are_read_back() -> None:
    text = "primal-dual/cut, block/trws/signed,block/trws/nonnegative"
    assert ", ".join(c.name for c in parse_contenders(text)) == text.replace(", ", ",").replace(",", ", ")
    for contender in default_contenders([CHAIN]):
        (back,) = parse_contenders(contender.name)
        assert back.name == contender.name


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "no pair to compare"),
        ("block", "'block' is no pair"),
        ("a/b/c/d", "is no pair"),
        ("walk/cut", "learner='walk' must be 'auto', 'primal-dual'"),
        ("block/saw", "oracle='saw' must be 'auto', 'cut'"),
        ("block/trws/odd", "the third part is signed or nonnegative, not 'odd'"),
        ("block/trws, block/trws/signed", "block/trws/signed is named twice"),
    ],
)
def test_what_is_no_pair_is_named(text: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        parse_contenders(text)


def test_trees_join_where_no_graph_has_a_cycle() -> None:
    assert default_contenders([CHAIN])[-1].name == "block/tree/signed"
    assert default_contenders([CHAIN, CYCLE]) == default_contenders([CHAIN])[:-1]

"""Terms over three parts of a bridge: a viaduct of boxes whose chains and supports are known."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from gapcut import Graph, GraphSet
from gapcut.scenes.clouds import PointCloud
from gapcut.scenes.experiment import BridgeScan, FoldGraphs
from gapcut.scenes.experiment.settings import PARTS
from gapcut.scenes.experiment.triples import TRIPLES, chains, supports, triples, with_triples
from gapcut.scenes.labelling import SegmentedScan, segment_scan

# Low and high corners, metres: abutment, two columns, abutment, girder on all four, deck on it, a lane beside.
BOXES = [
    ((0.0, 0.0, 0.0), (1.0, 4.0, 5.0)),
    ((10.0, 1.0, 0.0), (11.0, 3.0, 5.0)),
    ((20.0, 1.0, 0.0), (21.0, 3.0, 5.0)),
    ((30.0, 0.0, 0.0), (31.0, 4.0, 5.0)),
    ((0.0, 1.0, 5.2), (31.0, 3.0, 6.0)),
    ((0.0, 0.0, 6.2), (31.0, 4.0, 6.6)),
    ((0.0, 0.0, 6.8), (31.0, 0.2, 7.8)),
    ((0.0, 3.8, 6.8), (31.0, 4.0, 7.8)),
    ((0.0, 1.8, 6.8), (31.0, 2.0, 7.8)),
]
ABUTMENTS, COLUMNS, GIRDER, DECK = (0, 3), (1, 2), 4, 5


def scan(order: list[int]) -> SegmentedScan:
    """Points in the boxes; box ``order[i]`` is segment i."""
    rng = np.random.default_rng(0)
    low, high = (np.array([BOXES[i][end] for i in order]) for end in (0, 1))
    count = np.maximum(60 * np.prod(high - low, axis=1), 400).astype(int)
    part = np.repeat(np.arange(len(order)), count)
    xyz = low[part] + (high - low)[part] * rng.random((len(part), 3))
    settings = replace(PARTS, cell=0.5).scaled(0.2)
    return segment_scan(PointCloud(xyz, labels=part, segments=part), settings, codes=part, viewpoints=0 * xyz)


def test_chains_are_what_rests_on_what_rests_on_what() -> None:
    found = {tuple(t) for t in chains(scan(list(range(9)))).tolist()}
    expected = {(rail, DECK, GIRDER) for rail in (6, 7, 8)}
    expected |= {(DECK, GIRDER, support) for support in (*ABUTMENTS, *COLUMNS)}
    assert found == expected


def test_a_support_has_the_next_one_on_either_side() -> None:
    assert supports(scan(list(range(9)))).tolist() == [[0, 1, 2], [1, 2, 3]]


def test_supports_do_not_depend_on_the_order_of_the_parts() -> None:
    order = [5, 3, 8, 0, 2, 6, 4, 7, 1]
    found = {tuple(order[i] for i in t) for t in supports(scan(order)).tolist()}
    assert found == {(0, 1, 2), (1, 2, 3)}


def test_two_abutments_without_a_column_have_nothing_between_them() -> None:
    assert supports(scan([0, 3, 4, 5, 6, 7, 8])).shape == (0, 3)


def test_graphs_of_folds_get_the_terms_of_their_bridges() -> None:
    made = [
        BridgeScan(str(i), str(i), 0.2, scan(order), 0, 9)
        for i, order in enumerate([list(range(9)), [5, 4, 3]])
    ]
    bare = [
        GraphSet([Graph(np.zeros((b.scan.n_segments, 1)), None, name=b.name)], node_feature_names=("x",))
        for b in made
    ]
    (fold,) = with_triples([FoldGraphs([1], [0], bare[1], bare[0], 0.0)], made)
    assert fold.training.node_feature_names == ("x",)
    for graphs, bridge in ((fold.tests, made[0]), (fold.training, made[1])):
        assert len(graphs[0].cliques) == len(TRIPLES)
        for group, wanted in zip(graphs[0].cliques, triples(bridge.scan), strict=True):
            np.testing.assert_array_equal(group.nodes, wanted.nodes)
            assert (group.features == 1.0).all()

"""Segments of images as graphs: a picture small enough to count, and scikit-image's own adjacency."""

from __future__ import annotations

import numpy as np
import pytest

from gapcut.images import paint, superpixel_graph

SEGMENTS = np.array([[7, 7, 7, 2], [7, 7, 7, 2], [5, 5, 5, 5]])
IMAGE = np.array([[1.0, 1.0, 1.0, 4.0], [1.0, 1.0, 1.0, 4.0], [3.0, 3.0, 3.0, 3.0]])


def test_a_picture_of_three_segments_by_hand():
    graph = superpixel_graph(IMAGE, SEGMENTS)
    assert graph.node_weights.tolist() == [2.0, 4.0, 6.0]  # segments 2, 5, 7
    assert graph.node_feature_names == ("mean 0", "deviation 0", "row", "column", "size")
    assert graph.node_features[:, 0].tolist() == [4.0, 3.0, 1.0]
    assert graph.node_features[:, 2] == pytest.approx([1 / 3, 5 / 6, 1 / 3])
    found = {tuple(e): row.tolist() for e, row in zip(graph.edges.tolist(), graph.edge_features, strict=True)}
    # outlines in pixel sides: segment 2 has 6, segment 5 has 10, segment 7 has 10
    boundary = {(0, 1): 1 / 6, (0, 2): 2 / 6, (2, 1): 3 / 10}
    assert set(found) == set(boundary)
    for pair, share in boundary.items():
        assert found[pair][0] == pytest.approx(share)
    assert [found[pair][1] for pair in boundary] == [1.0, 3.0, 2.0]
    assert [found[pair][2] for pair in boundary] == [1.0, 3.0, 2.0]
    assert found[2, 1][3] == pytest.approx(1.5 / np.sqrt(12 / 3))
    assert found[0, 2][4] == pytest.approx(2.0 / np.sqrt(12 / 3))


def test_labels_are_those_of_most_pixels():
    truth = np.array([["a", "a", "b", "?"], ["a", "b", "b", "?"], ["b", "?", "?", "?"]])
    assert superpixel_graph(IMAGE, SEGMENTS, truth).labels.tolist() == ["?", "?", "a"]
    assert superpixel_graph(IMAGE, SEGMENTS, truth, ignore="?").labels.tolist() == [None, "b", "a"]


def test_pixels_that_are_nothing_have_no_vote():
    numbers = np.array([[np.nan, 1.0, 2.0, 1.0], [np.nan, np.nan, 2.0, 3.0], [2.0, 2.0, 3.0, 3.0]])
    assert superpixel_graph(IMAGE, SEGMENTS, numbers).labels.tolist() == [1.0, 2.0, 2.0]
    assert superpixel_graph(IMAGE, SEGMENTS, numbers, ignore=[2.0, 3.0]).labels.tolist() == [1.0, None, 1.0]
    mixed = np.where(np.isnan(numbers), None, "wall")
    with pytest.raises(ValueError, match="labels of pixels must be of one type"):
        superpixel_graph(IMAGE, SEGMENTS, mixed)


def test_segments_are_painted_where_they_are():
    assert paint(SEGMENTS, ["x", "y", "z"]).tolist() == [list("zzzx"), list("zzzx"), list("yyyy")]
    assert paint(SEGMENTS, np.eye(3)).shape == (3, 4, 3)
    with pytest.raises(ValueError, match="for 3 segments"):
        paint(SEGMENTS, [1, 2])


def test_neighbours_and_colours_are_those_of_scikit_image():
    pytest.importorskip("skimage")
    pytest.importorskip("networkx")
    from skimage.graph import rag_mean_color
    from skimage.segmentation import slic

    image = 0.2 * np.random.default_rng(0).random((40, 60, 3))
    image[10:30, 15:40] += 0.5
    segments = slic(image, n_segments=40, compactness=30, start_label=1)
    graph = superpixel_graph(image, segments)
    other = rag_mean_color(image, segments, connectivity=1)
    ids = np.unique(segments)
    assert {frozenset(ids[e].tolist()) for e in graph.edges} == {frozenset(e) for e in other.edges}
    assert graph.n_nodes > 20
    assert graph.n_edges == other.number_of_edges()
    colours = np.array([other.nodes[i]["mean color"] for i in ids])
    assert graph.node_features[:, :3] == pytest.approx(colours)
    weights = [other.edges[int(ids[u]), int(ids[v])]["weight"] for u, v in graph.edges]
    assert graph.edge_features[:, 1] == pytest.approx(weights)


@pytest.mark.parametrize(
    ("image", "segments", "message"),
    [
        (IMAGE, SEGMENTS[:2], "must be whole numbers"),
        (IMAGE, SEGMENTS.astype(float), "segments are float64"),
        (np.full((3, 4), np.nan), SEGMENTS, "finite"),
        (IMAGE[0], SEGMENTS, "must be"),
    ],
)
def test_what_does_not_fit_is_refused(image, segments, message):
    with pytest.raises(ValueError, match=message):
        superpixel_graph(image, segments)
    with pytest.raises(ValueError, match="labels have shape"):
        superpixel_graph(IMAGE, SEGMENTS, [1, 2])

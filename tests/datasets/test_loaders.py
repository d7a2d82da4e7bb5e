"""Real data sets, against the counts published with them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from gapcut.data import GraphFileError, GraphSet
from gapcut.datasets import (
    cornell_classes,
    cornell_objects,
    load_cornell,
    load_letters,
    load_snakes,
    load_tables,
)


def counts(graphs: GraphSet) -> list[int]:
    return np.unique(np.concatenate([g.labels for g in graphs]), return_counts=True)[1].tolist()


def sizes(graphs: GraphSet) -> tuple[int, int, int]:
    return len(graphs), sum(g.n_nodes for g in graphs), sum(g.n_edges for g in graphs)


def test_tables(shared: Path) -> None:
    train, test = load_tables(shared / "data" / "tables")
    assert sizes(train) == (102, 27008, 54805)
    assert sizes(test) == (150, 31344, 60695)
    assert counts(test) == [9041, 5186, 9041, 7046, 1030]
    everything = GraphSet.load(shared / "data" / "tables" / "abp_train144.npz")
    assert sizes(everything) == (144, 37726, 76453)
    assert counts(everything) == [10158, 9410, 10157, 7789, 212]
    edges = np.vstack([g.edge_features for g in everything])
    assert edges.shape[1] == 140
    assert np.ptp(edges, axis=0).astype(bool).sum() == 28  # 32 further columns are 1e-7 throughout, 12 are -1
    assert (edges[:, 84:96] == -1).all()
    assert set(np.flatnonzero((edges < 0).any(axis=0))) == set(range(72, 96))
    assert train.extras["first_occurrence"].all()
    keys = {(g.labels.tobytes(), g.edges.tobytes()) for g in train}
    assert len(keys) == 102


def test_letters(shared: Path) -> None:
    train, test = load_letters(shared / "data" / "letters")
    assert (len(train), len(test)) == (704, 6173)
    words = [*train, *test]
    assert sum(g.n_nodes for g in words) == 52152
    assert sum(g.n_edges for g in words) == 52152 - 6877
    assert len(counts(train)) == 26
    assert set(np.unique(np.vstack([g.node_features for g in train]))) == {0.0, 1.0}
    assert (train.extras["fold"] == 1).all()
    assert sorted(np.unique(test.extras["fold"])) == [0, 2, 3, 4, 5, 6, 7, 8, 9]
    word = train[0]
    assert word.edges.tolist() == [[i, i + 1] for i in range(word.n_nodes - 1)]
    assert word.edge_features.tolist() == [[1.0]] * word.n_edges
    assert "".join("abcdefghijklmnopqrstuvwxyz"[k] for k in word.labels) == "ommanding"


def test_snakes(shared: Path) -> None:
    train, test = load_snakes(shared / "data" / "snakes")
    assert (len(train), sum(g.n_nodes for g in train)) == (200, 7566)
    assert (len(test), sum(g.n_nodes for g in test)) == (100, 3750)
    labels = np.concatenate([g.labels for g in test])
    assert sorted(set(labels.tolist())) == list(range(11))
    assert round(float((labels == 0).mean()), 3) == 0.733
    for grid in train:
        assert (grid.node_dim, grid.edge_dim) == (45, 180)
        assert (grid.node_features.reshape(-1, 9, 5).sum(axis=2) == 1).all()
        centre = grid.node_features.reshape(-1, 9, 5)[:, 4]
        assert np.array_equal(centre[:, 3] == 1, grid.labels == 0)  # the background channel
        ends = grid.edge_features.reshape(-1, 45, 4)
        right = grid.edges[:, 1] - grid.edges[:, 0] == 1
        first = np.flatnonzero(~right)[0]
        assert right[:first].all()
        assert not right[first:].any()  # right edges first, then those down
        for slot, chosen in ((0, right), (2, ~right)):
            assert np.array_equal(ends[chosen, :, slot], grid.node_features[grid.edges[chosen, 0]])
            assert np.array_equal(ends[chosen, :, slot + 1], grid.node_features[grid.edges[chosen, 1]])
            assert not ends[~chosen][:, :, slot : slot + 2].any()
    # the neighbourhood, by hand: the cell to the left of cell 1 is cell 0
    windows = train[0].node_features.reshape(-1, 9, 5)
    assert np.array_equal(windows[1, 3], windows[0, 4])
    assert windows[0, 0].tolist() == [0, 0, 0, 1, 0]


@pytest.mark.parametrize(
    ("place", "scenes", "segments", "smallest", "largest", "majority"),
    [("office", 24, 690, 13, 57, 0.2623), ("home", 28, 800, 7, 64, 0.2938)],
)
def test_cornell(
    shared: Path, place: str, scenes: int, segments: int, smallest: int, largest: int, majority: float
) -> None:
    graphs = load_cornell(shared / "data" / "cornell", place)
    assert (len(graphs), sum(g.n_nodes for g in graphs)) == (scenes, segments)
    assert (min(g.n_nodes for g in graphs), max(g.n_nodes for g in graphs)) == (smallest, largest)
    labels = np.concatenate([g.labels for g in graphs])
    assert sorted(set(labels.tolist())) == list(range(1, 18))
    assert round(max(counts(graphs)) / segments, 4) == majority
    assert len({g.name for g in graphs}) == scenes
    assert all(int(g.name) > 0 for g in graphs)
    column = {name: i for i, name in enumerate(graphs.node_feature_names)}
    for graph in graphs:
        u, v = graph.edges.T
        assert graph.n_edges == graph.n_nodes * (graph.n_nodes - 1) // 2
        height, normal = (graph.node_features[:, column[c]] for c in ("centroid_z", "normal_z"))
        assert (height[u] >= height[v]).all()
        features = dict(zip(graphs.edge_feature_names, graph.edge_features.T, strict=True))
        hue, value = (graph.node_features[:, column[c]] for c in ("HAvg", "VAvg"))
        assert np.array_equal(features["HDiffAbs"], np.abs(hue[u] - hue[v]))
        assert np.array_equal(features["VDiff"], value[u] - value[v])
        assert np.array_equal(features["centroid_z_diff"], height[u] - height[v])
        assert np.array_equal(features["AngleDiff"], np.arccos(normal[u]) - np.arccos(normal[v]))


def test_cornell_edge_features_lie_within_the_published_thresholds(shared: Path) -> None:
    """The 10 thresholds a feature that the authors chose are quantiles of the same five features."""
    graphs = load_cornell(shared / "data" / "cornell", "office")
    rows = (shared / "data" / "cornell" / "office_binStumpsE.txt").read_text().splitlines()
    features = np.vstack([g.edge_features for g in graphs])
    for line, name in ((0, "HDiffAbs"), (6, "centroid_z_diff"), (8, "AngleDiff")):
        thresholds = np.abs([float(word) for word in rows[line].split()])
        values = np.abs(features[:, graphs.edge_feature_names.index(name)])
        assert np.median(values) == pytest.approx(np.median(thresholds), rel=0.6)


def test_cornell_stumps_are_answers_at_the_published_thresholds(shared: Path) -> None:
    root = shared / "data" / "cornell"
    plain, graphs = load_cornell(root, "office"), load_cornell(root, "office", stumps=True)
    thresholds = np.loadtxt(root / "office_binStumpsE.txt")
    assert graphs[0].node_dim == 520
    assert graphs.edge_feature_names[0] == "HDiffAbs <= 6.2944"
    for one, other in zip(plain, graphs, strict=True):
        rises = one.edge_features[:, plain.edge_feature_names.index("centroid_z_diff")]
        assert np.array_equal(other.edge_features[:, 30:40], rises[:, None] <= thresholds[6])
        assert set(np.unique(other.node_features).tolist()) == {0.0, 1.0}
    with pytest.raises(FileNotFoundError):
        load_cornell(root, "home", stumps=True)


def test_cornell_objects_are_classes_each_in_one_object(shared: Path) -> None:
    objects = cornell_objects(shared / "data" / "cornell", "office")
    names = cornell_classes(shared / "data" / "cornell", "office")
    assert list(names) == list(range(1, 18))
    assert names[1].split("/")[0] == "wall"
    assert (2, 7, 9) in objects
    assert sorted(part for parts in objects for part in parts) == list(range(1, 18))


def test_cornell_nearest_neighbours(shared: Path) -> None:
    root = shared / "data" / "cornell"
    full, near = load_cornell(root, "home"), load_cornell(root, "home", "knn", k=3)
    column = {name: i for i, name in enumerate(near.node_feature_names)}
    for whole, graph in zip(full, near, strict=True):
        kept = set(map(tuple, graph.edges.tolist()))
        assert kept <= set(map(tuple, whole.edges.tolist()))
        position = graph.node_features[:, [column["centroid_z"], column["distance_from_wall"]]]
        degree = np.bincount(graph.edges.ravel(), minlength=graph.n_nodes)
        assert (degree >= min(3, graph.n_nodes - 1)).all()
        for node in range(graph.n_nodes):
            distance = np.linalg.norm(position - position[node], axis=1)
            distance[node] = np.inf
            closest = int(np.argmin(distance))
            assert {(node, closest), (closest, node)} & kept


def test_cornell_arguments(shared: Path) -> None:
    root = shared / "data" / "cornell"
    with pytest.raises(ValueError, match="place must be"):
        load_cornell(root, "kitchen")
    with pytest.raises(ValueError, match="edges must be"):
        load_cornell(root, "office", "all")
    with pytest.raises(ValueError, match="k must be at least 1"):
        load_cornell(root, "office", "knn", k=0)


@pytest.mark.parametrize(
    "load", [load_tables, load_letters, load_snakes, lambda root: load_cornell(root, "home")]
)
def test_absent_files_are_named(load: object, tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="no such file; pass the folder that holds"):
        load(tmp_path)


def test_damaged_text_files_are_named(tmp_path: Path) -> None:
    table, mapping = tmp_path / "home_data_nodefeats.txt", tmp_path / "home_labelmap.txt"
    mapping.write_text("1 1\n")
    table.write_text("something else\n")
    with pytest.raises(GraphFileError, match="the first line must be @DATA"):
        load_cornell(tmp_path, "home")
    table.write_text("@DATA\n#Scene_number\n#Number\n")
    with pytest.raises(GraphFileError, match="column 2 must be Segment_number"):
        load_cornell(tmp_path, "home")
    np.savez(tmp_path / "letters.npz", data=np.ones((1, 128)))
    with pytest.raises(GraphFileError, match="no array 'labels'"):
        load_letters(tmp_path)

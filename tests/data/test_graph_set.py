"""Graph sets in memory and on disk: nothing is lost, nothing hostile is read."""

from __future__ import annotations

import io
import pickle
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import HealthCheck, given, settings
from sklearn.model_selection import KFold, train_test_split

from any_graphs import assert_same, graph_sets
from gapcut.data import Graph, GraphError, GraphFileError, GraphSet


@given(graphs=graph_sets())
@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_saving_and_loading_gives_the_same_set(graphs: GraphSet, tmp_path: Path) -> None:
    graphs.save(tmp_path / "set.npz")
    assert_same(graphs, GraphSet.load(tmp_path / "set.npz"))
    assert [f.name for f in tmp_path.iterdir()] == ["set.npz"]


def small_set() -> GraphSet:
    graphs = [
        Graph(
            [[1.0], [2.0], [3.0]], [[0, 1], [2, 1]], [[0.5], [-1]], ["a", None, "b"], [1, 2, 3], name="first"
        ),
        Graph([[4.0]], [], np.empty((0, 1)), ["a"], name="second"),
    ]
    return GraphSet(
        graphs,
        extras={"fold": [1, 2], "keep": [True, False], "weightless": np.ones((2, 3))},
        node_feature_names=["height"],
        edge_feature_names=["distance"],
    )


def test_an_index_gives_a_graph_and_a_slice_a_set_with_its_extras() -> None:
    graphs = small_set()
    assert graphs[-1].name == "second"
    assert [g.name for g in graphs[::-1]] == ["second", "first"]
    assert len(graphs[:0]) == 0
    assert graphs[[1, 0, 1]].extras["fold"].tolist() == [2, 1, 2]
    chosen = graphs[np.array([False, True])]
    assert isinstance(chosen, GraphSet)
    assert chosen.extras["fold"].tolist() == [2]
    assert chosen.edge_feature_names == ("distance",)
    with pytest.raises(IndexError):
        graphs[5]


def test_select_takes_a_boolean_array_of_the_set() -> None:
    graphs = small_set()
    assert [g.name for g in graphs.select("keep")] == ["first"]
    with pytest.raises(ValueError, match="no boolean per-graph array 'fold' to select by: there is keep"):
        graphs.select("fold")


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"extras": {"fold": [1]}}, "there are 2 graphs"),
        ({"edge_feature_names": ["a", "b"]}, "2 feature names for 1 columns"),
    ],
)
def test_extras_and_names_fit_the_graphs(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        GraphSet(list(small_set()), **settings)


def test_a_set_says_its_sizes() -> None:
    assert "2 graphs, 4 nodes, 2 edges" in repr(small_set())


def test_a_set_survives_pickling() -> None:
    graphs = small_set()
    assert_same(graphs, pickle.loads(pickle.dumps(graphs)))


def test_labels_without_a_file_type_are_refused(tmp_path: Path) -> None:
    for labels, kinds in (([(1, 2)], "tuple"), ([1], "int, str")):
        graphs = GraphSet(
            [
                Graph([[1.0]], [], labels=labels),
                Graph([[1.0]], [], labels=["a"] if kinds != "tuple" else None),
            ]
        )
        with pytest.raises(ValueError, match=f"cannot be saved \\({kinds}\\)"):
            graphs.save(tmp_path / "set.npz")
    assert not list(tmp_path.iterdir())


def test_a_failed_save_leaves_the_old_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "set.npz"
    small_set().save(path)
    before = path.read_bytes()

    def broken(stream: Any, *_: Any, **__: Any) -> None:
        stream.write(b"half")
        raise OSError("disk full")

    monkeypatch.setattr(np.lib.format, "write_array_header_1_0", broken)
    with pytest.raises(OSError, match="disk full"):
        small_set().save(path)
    assert path.read_bytes() == before
    assert [f.name for f in tmp_path.iterdir()] == ["set.npz"]


def test_a_set_is_saved_to_a_file_in_a_folder_that_is_there(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="no such folder"):
        small_set().save(tmp_path / "missing" / "set.npz")
    with pytest.raises(IsADirectoryError, match="is a folder"):
        small_set().save(tmp_path)


def test_folder_of_single_graphs(tmp_path: Path) -> None:
    for i, graph in enumerate(small_set()):
        arrays = {
            "node_features": graph.node_features,
            "edges": graph.edges,
            "edge_features": graph.edge_features,
        }
        np.savez(tmp_path / f"{i}.npz", **arrays, fold=i + 1)
    GraphSet([Graph([[9.0]], [], np.empty((0, 1)), name="own")], extras={"fold": [9], "x": [1]}).save(
        tmp_path / "z.npz"
    )
    graphs = GraphSet.load(tmp_path)
    assert [g.name for g in graphs] == ["0", "1", "own"]
    assert graphs.extras["fold"].tolist() == [1, 2, 9]
    assert list(graphs.extras) == ["fold"]  # what every graph has


def test_folders_that_are_no_set_are_refused(tmp_path: Path) -> None:
    np.savez(tmp_path / "0.npz", node_features=np.ones((1, 1)), edges=np.empty((0, 2)))
    np.savez(tmp_path / "zz.npz", node_features=np.ones((1, 2)), edges=np.empty((0, 2)))
    with pytest.raises(GraphFileError, match=r"graph 1 \('zz'\): 2 node features, but graph 0 has 1"):
        GraphSet.load(tmp_path)
    (tmp_path / "empty").mkdir()
    with pytest.raises(GraphFileError, match=r"no \.npz file in this folder"):
        GraphSet.load(tmp_path / "empty")


def arrays_of(graphs: GraphSet, tmp_path: Path) -> dict[str, Any]:
    graphs.save(tmp_path / "source.npz")
    with np.load(tmp_path / "source.npz") as archive:
        return dict(archive)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"edges": None}, "no array 'edges'"),
        ({"node_offset": None}, "no array 'node_offset'"),
        ({"node_features": None}, "no array 'node_features'"),
        ({"node_offset": [0, 3, 5]}, "'node_offset' runs from 0 to 5, but node_features has rows 0 to 4"),
        ({"node_offset": [1, 3, 4]}, "'node_offset' runs from 1"),
        ({"node_offset": [0, 4]}, "node_offset is for 1 graphs, edge_offset for 2"),
        ({"edge_offset": [0, 3, 2]}, "'edge_offset' falls after graph 1"),
        ({"edge_offset": [0.0, 2.0, 2.0]}, "'edge_offset' must be a row of integers"),
        ({"node_offset": []}, "'node_offset' must be a row of integers"),
        ({"node_offset": [[0, 3, 4]]}, "'node_offset' must be a row of integers"),
        ({"node_features": [1.0, 2, 3, 4]}, r"'node_features' has shape \(4,\)"),
        ({"edges": [[0, 1], [2, 3]]}, r"graph 0 \('first'\): edge 1 is \(2, 3\), but node indices"),
        ({"edges": [[0, 1, 2], [1, 2, 0]]}, r"graph 0 \('first'\): edges has shape \(2, 3\)"),
        ({"edge_features": [[1.0]]}, "'edge_features' has shape"),
        ({"labels": ["a"]}, "'labels' has shape"),
        ({"node_weights": [1.0]}, "'node_weights' has shape"),
        ({"node_weights": [1.0, 2, np.nan, 4]}, r"graph 0 \('first'\): node_weights of node 2 is nan"),
        ({"names": ["a"]}, "'names' has shape"),
        ({"node_weight": [1, 1, 1, 1]}, "unknown array 'node_weight'"),
        ({"node_feature_names": ["a", "b"]}, "2 feature names for 1 columns"),
        (
            {"node_features": np.array([[1.0], [2], [np.inf], [4]], dtype=np.float32)},
            "node 2, feature 0 is inf",
        ),
        (
            {"node_features": np.array([[1], [2], [3], [4]], dtype=complex)},
            "'node_features' is not an array of numbers",
        ),
        ({"node_features_data": [1.0]}, "no array 'node_features_indices'"),
    ],
)
def test_inconsistent_files_are_refused(tmp_path: Path, change: dict[str, Any], message: str) -> None:
    arrays = arrays_of(small_set(), tmp_path) | change
    np.savez(tmp_path / "bad.npz", **{k: np.asarray(v) for k, v in arrays.items() if v is not None})
    with pytest.raises(GraphFileError, match=message) as caught:
        GraphSet.load(tmp_path / "bad.npz")
    assert str(caught.value).startswith(f"{tmp_path / 'bad.npz'}: ")
    assert "\n" not in str(caught.value)


def test_damaged_sparse_parts_are_refused(tmp_path: Path) -> None:
    graphs = GraphSet([Graph(sp.csr_array(np.eye(3)), [])])
    good = arrays_of(graphs, tmp_path)
    assert good["node_features_data"].tolist() == [1, 1, 1]
    for change in (
        {"node_features_indices": np.array([0, 1, 7])},
        {"node_features_indices": np.array([0, -1, 2])},
        {"node_features_indptr": np.array([0, 5, 2, 3])},
        {"node_features_shape": np.array([3, -1])},
        {"node_features_shape": np.array([3])},
        {"node_features_data": np.array([[1.0]])},
    ):
        np.savez(tmp_path / "bad.npz", **(good | change))
        with pytest.raises(GraphFileError, match=r"bad\.npz: array"):
            GraphSet.load(tmp_path / "bad.npz")


class Trap:
    """Unpickling this would be noticed."""

    def __reduce__(self) -> tuple[Any, tuple[str]]:
        return eval, ("1/0",)


def test_pickle_is_never_read(tmp_path: Path) -> None:
    arrays = arrays_of(small_set(), tmp_path)
    objects = np.empty(4, dtype=object)
    objects[:] = [Trap(), 1, 2, 3]
    np.savez(tmp_path / "bad.npz", **(arrays | {"labels": objects}))
    with pytest.raises(GraphFileError, match="array 'labels' holds pickled Python objects"):
        GraphSet.load(tmp_path / "bad.npz")
    (tmp_path / "plain.npz").write_bytes(pickle.dumps(Trap()))
    with pytest.raises(GraphFileError, match=r"not an \.npz file, or cut short"):
        GraphSet.load(tmp_path / "plain.npz")
    with zipfile.ZipFile(tmp_path / "raw.npz", "w") as archive:
        archive.writestr("edges", pickle.dumps(Trap()))
    with pytest.raises(GraphFileError, match="'edges' is not an array"):
        GraphSet.load(tmp_path / "raw.npz")


def test_an_array_that_claims_to_be_enormous_is_refused(tmp_path: Path) -> None:
    buffer = io.BytesIO()
    np.lib.format.write_array_header_1_0(
        buffer, {"descr": "<f8", "fortran_order": False, "shape": (2**45, 4)}
    )
    with zipfile.ZipFile(tmp_path / "bad.npz", "w") as archive:
        archive.writestr("node_features.npy", buffer.getvalue())
    with pytest.raises(GraphFileError, match="'node_features' cannot be read"):
        GraphSet.load(tmp_path / "bad.npz")


def test_cut_and_altered_files_give_one_clear_error(tmp_path: Path) -> None:
    small_set().save(tmp_path / "good.npz")
    whole = (tmp_path / "good.npz").read_bytes()
    rng = np.random.default_rng(0)
    bad = tmp_path / "bad.npz"
    for length in [0, 1, *rng.integers(2, len(whole) - 1, size=40).tolist()]:
        bad.write_bytes(whole[:length])
        with pytest.raises(GraphFileError):
            GraphSet.load(bad)
    survived = 0
    for _ in range(300):
        altered = bytearray(whole)
        altered[rng.integers(len(whole))] ^= 1 << int(rng.integers(8))
        bad.write_bytes(altered)
        try:
            loaded = GraphSet.load(bad)
        except GraphFileError:
            continue
        assert_same(small_set(), loaded)  # the bit carried nothing, as those of dates do
        survived += 1
    assert survived < 150


def test_missing_files_are_named(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match=r"nowhere\.npz: no such file or folder"):
        GraphSet.load(tmp_path / "nowhere.npz")
    np.save(tmp_path / "array.npy", np.ones(3))
    with pytest.raises(GraphFileError, match=r"not an \.npz file"):
        GraphSet.load(tmp_path / "array.npy")
    small_set().save(tmp_path / "s.npz")
    with pytest.raises(ValueError, match="no boolean per-graph array 'nope' to select by: there is keep"):
        GraphSet.load(tmp_path / "s.npz", select="nope")


def test_graph_error_is_a_value_error() -> None:
    assert issubclass(GraphError, ValueError)
    assert issubclass(GraphFileError, ValueError)


def test_scikit_learn_can_split_a_set() -> None:
    graphs = GraphSet([Graph([[float(i)]], [], labels=[i % 2]) for i in range(6)])
    parts = train_test_split(graphs, test_size=2, random_state=0)
    assert sorted(g.node_features[0, 0] for part in parts for g in part) == [0, 1, 2, 3, 4, 5]
    for train, test in KFold(3).split(graphs):
        assert (len(graphs[train]), len(graphs[test])) == (4, 2)


def test_a_path_of_a_hundred_thousand_nodes() -> None:
    """Case 10 (scipy 14385)."""
    steps = np.arange(99_999)
    graph = Graph(
        np.ones((100_000, 1)), np.stack([steps, steps + 1], axis=1), labels=np.zeros(100_000, dtype=int)
    )
    assert graph.induced(np.arange(100_000) % 1000 != 0).n_edges == 99_999 - 199

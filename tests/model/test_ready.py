"""Training on a folder of parts: the bits of the same graphs in memory, whatever is searched."""

from __future__ import annotations

import json
import warnings

import numpy as np
import pytest

from gapcut import GraphFolder, GraphSet, StructuredSVM
from gapcut.data import Graph
from gapcut.model import held_out
from gapcut.model.ready import ReadyGraphs
from gapcut.model.settings import Settings
from gapcut.model.training import build_problem, training_sets
from sample_cliques import xor_graphs
from sample_graphs import sample_graphs

FAST = {"gap": 0.2, "max_passes": 3}


def spotted(count: int = 24, n_nodes: int = 60) -> GraphSet:
    """Some nodes, and one graph, without labels; some weights; enough of both for a base."""
    rng = np.random.default_rng(5)
    graphs: list[Graph] = []
    for k, graph in enumerate(sample_graphs(count, n_nodes=n_nodes)):
        labels: list[object] = graph.labels.tolist()
        if k % 3 == 0:
            labels = [None if rng.random() < 0.3 else y for y in labels]
        weights = rng.random(n_nodes) if k % 4 == 0 else None
        graphs.append(graph.replace(labels=None if k == 7 else labels, node_weights=weights, name=f"g{k}"))
    return GraphSet(graphs)


def parts(graphs: GraphSet, path, part_bytes: int = 20_000) -> GraphFolder:
    graphs.save_parts(path / "parts", part_bytes)
    folder = GraphFolder(path / "parts")
    assert folder.n_parts > 2
    return folder


def everything(svm: StructuredSVM) -> tuple[dict[str, bytes], str]:
    """Of a model, without what a run measures of itself."""
    arrays, document = svm.to_state()
    for name in ("engine", "address"):
        document.get("params", {}).pop(name, None)
    kept = {name: array.tobytes() for name, array in arrays.items() if "seconds" not in name}
    text = json.dumps(document, sort_keys=True, default=str)
    return kept, text


SEARCHES = {
    "as given": {"C": 3.0, "oracle": "cut"},
    "base": {
        "C": 3.0,
        "oracle": "cut",
        "base": "trees",
        "base_features": "context",
        "class_weight": "balanced",
    },
    "C and base": {"C": "cv", "base": "auto", "oracle": "cut"},
    "all": {"C": "cv", "base": "auto", "oracle": "auto", "node_lift": "auto", "base_features": "auto"},
}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("engine", ["threads", "disk"])
@pytest.mark.parametrize("asked", SEARCHES.values(), ids=SEARCHES)
def test_the_bits_of_graphs_in_memory(tmp_path, monkeypatch, asked, engine):
    monkeypatch.setattr(held_out, "NEARLY_ALL", 2.0)  # all is tried
    graphs = spotted()
    folder = parts(graphs, tmp_path)
    at_once = StructuredSVM(**asked, **FAST).fit(graphs)
    where = {"engine": engine, "address": str(tmp_path)} if engine == "disk" else {}
    apart = StructuredSVM(**asked, **FAST, **where).fit(folder)
    assert at_once.model_.data == apart.model_.data
    assert at_once.choice_ == apart.choice_
    assert at_once.certificate_ == apart.certificate_
    one, two = everything(at_once)[0], everything(apart)[0]
    assert one.keys() == two.keys()
    assert [name for name in one if one[name] != two[name] and "history" not in name] == []
    assert sorted(p.name for p in tmp_path.iterdir()) == ["parts"]


def test_a_path_and_probabilities(tmp_path):
    graphs = spotted(8, 20)
    folder = parts(graphs, tmp_path, 2_000)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        pairs = [StructuredSVM(oracle="cut", **FAST).fit_path(X, [0.1, 1.0]) for X in (graphs, folder)]
        known = [StructuredSVM(C=1.0, probability=True, **FAST).fit(X) for X in (graphs, folder)]
    for one, two in zip(*pairs, strict=True):
        assert np.array_equal(one.pairwise_, two.pairwise_)
    assert known[0].model_.temperature == known[1].model_.temperature


@pytest.mark.parametrize("make", [spotted, lambda: xor_graphs(40)], ids=["spotted", "cliques"])
def test_ready_graphs_are_those_in_memory(tmp_path, make):
    graphs = make()
    settings = Settings.checked(StructuredSVM(base="auto" if make is spotted else None).get_params())
    ours, theirs = (training_sets(X, settings)[0][-1] for X in (graphs, parts(graphs, tmp_path, 2_000)))
    lazy = theirs.graphs
    assert isinstance(lazy, ReadyGraphs)
    assert len(lazy) == len(ours.graphs)
    some = [1, 4, 5]
    pairs = [(lazy, ours.graphs), (lazy[2:5], ours.graphs[2:5])]
    for given, known in [*pairs, (theirs.some(some).graphs, ours.some(some).graphs)]:
        for one, two in zip(given, known, strict=True):
            assert np.array_equal(one.node_features, two.node_features)
            assert np.array_equal(one.edge_features, two.edge_features)
            assert np.array_equal(one.edges, two.edges)
    assert np.array_equal(lazy[-1].node_features, ours.graphs[-1].node_features)
    for i in range(len(lazy)):
        assert np.array_equal(ours.node_weights(i), theirs.node_weights(i))
    settled = settings.settled(ours.graphs)
    assert build_problem(ours, settled).fingerprint == build_problem(theirs, settled).fingerprint


def test_graphs_of_a_subset_are_read_from_their_parts_alone(tmp_path):
    graphs = spotted()
    folder = parts(graphs, tmp_path)
    (data,), _ = training_sets(folder, Settings.checked(StructuredSVM().get_params()))
    (tmp_path / "parts" / "part-00001.npz").unlink()
    assert len(list(data.some([0, len(data.graphs) - 1]).graphs)) == 2
    with pytest.raises(ValueError, match="part-00001"):
        list(data.graphs)


def test_no_label_in_a_folder(tmp_path):
    folder = parts(GraphSet(g.replace(labels=None) for g in spotted()), tmp_path)
    with pytest.raises(ValueError, match="no node of any graph has a label"):
        StructuredSVM(classes=[0, 1]).fit(folder)

"""Proofs of models trained on raw graphs: what is written, and what is refused."""

from __future__ import annotations

import sys

import numpy as np
import pytest
import scipy.sparse as sp

from gapcut import CliqueSet, Graph, GraphSet
from gapcut.datasets import make_planted
from gapcut.machine import Machine
from sample_graphs import sample_graphs
from tiny_proofs import CHECKER, files, graph_file, load_checker

if not CHECKER.is_file():
    pytest.skip("the checker is not there", allow_module_level=True)
checker = load_checker()
sys.path.insert(0, str(CHECKER.parent))
import compare_raw  # noqa: E402


def raw(graphs: GraphSet, path) -> dict[str, np.ndarray]:
    graphs.save(path)
    return dict(np.load(path, allow_pickle=False))


def difference(proof, graphs: GraphSet, path) -> float:
    own, ready = files(proof.about(raw_sha256=None, select=None))
    checker.verify(own, ready)
    return compare_raw.compare(own, ready, raw(graphs, path))


@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"standardize": False, "incidence": False, "intercept": False},
        {"standardize": "scale", "degree_scale": "node", "edge_lift": "all"},
        {"node_lift": "stumps", "edge_lift": "stumps", "degree_scale": "graph"},
        {"incidence_scale": "center", "class_weight": "balanced"},
    ],
)
def test_raw_graphs_are_compared_after_every_step(tmp_path, settings):
    graphs = GraphSet(
        g.replace(labels=[None if u % 5 == 2 else y for u, y in enumerate(g.labels.tolist())])
        for g in sample_graphs(4, seed=1)
    )
    proof = Machine(gap=0.1, **settings).fit_proven(graphs)
    assert difference(proof, graphs, tmp_path / "raw.npz") < 1e-9
    other = GraphSet(g.with_features(node_features=g.node_features + 1.0) for g in graphs)
    if settings.get("node_lift") != "stumps":
        assert difference(proof, other, tmp_path / "raw.npz") > 0.1


def test_files_are_named_by_text_or_path(tmp_path):
    proof = Machine(gap=0.1).fit_proven(sample_graphs(3))
    proof.save(str(tmp_path / "text.npz"))
    proof.save(tmp_path / "path.npz")
    assert (tmp_path / "text.npz").read_bytes() == (tmp_path / "path.npz").read_bytes()
    proof.save_graphs(str(tmp_path / "graphs.npz"))
    assert (tmp_path / "graphs.npz").read_bytes() == b"".join(proof.graphs)


def test_sparse_features_are_written_dense(tmp_path):
    graphs = GraphSet(
        g.with_features(node_features=sp.csr_array(np.round(g.node_features)))
        for g in sample_graphs(3, seed=2)
    )
    proof = Machine(gap=0.1, standardize="scale").fit_proven(graphs)
    assert graph_file(proof)["node_features"].ndim == 2
    assert difference(proof, graphs, tmp_path / "raw.npz") < 1e-12


def test_a_model_is_proven_from_its_own_data_only():
    graphs = sample_graphs(4, seed=3)
    machine = Machine(gap=0.05).fit(graphs)
    proof = machine.prove(graphs)
    assert proof.lower <= machine.certificate_.upper
    assert proof.lower >= machine.certificate_.lower * (1 - 1e-3)
    with pytest.raises(ValueError, match="there is no claim to prove"):
        machine.prove(sample_graphs(4, seed=4))


def test_cliques_are_refused_before_the_work():
    clique = CliqueSet([[0, 1, 2]], np.ones((1, 1)))
    graphs = [Graph(np.ones((3, 1)), [[0, 1]], np.ones((1, 1)), [0, 1, 0], cliques=[clique])]
    with pytest.raises(ValueError, match="the graphs have cliques"):
        Machine().fit_proven(graphs)


def test_a_run_that_proved_nothing_has_a_proof_of_just_that():
    proof = Machine(time_limit=0.0).fit_proven(sample_graphs(3, seed=5))
    own, ready = files(proof)
    lower, upper = checker.verify(own, ready)
    assert lower == 0
    assert upper >= proof.lower


def test_a_number_of_a_small_proof_takes_three_bytes_at_most():
    arrays = Machine(C=0.1, oracle="cut").fit_proven(make_planted(20)).arrays
    numbers = arrays["labels"].size + arrays["shares"].size
    assert sum(array.nbytes for array in arrays.values()) <= 3 * numbers

"""StructuredSVM with a base: joined features, files, hostile files, and what the certificate says."""

import subprocess
import sys

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.ensemble import ExtraTreesClassifier, HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB

from gapcut import GraphSet, ModelFileError, StructuredSVM
from gapcut.files import read_container, write_container
from sample_graphs import same_model, sample_graphs

FAST = {"C": 1.0, "gap": 1e-3, "loss_scale": 10.0}
BASES = {
    "trees": {"base": ExtraTreesClassifier(7, random_state=0)},
    "context": {"base": RandomForestClassifier(7, random_state=0), "base_features": "context"},
    "boosting": {"base": HistGradientBoostingClassifier(max_iter=5)},
    "linear": {"base": LogisticRegression(), "base_features": "own"},
}


@pytest.fixture(scope="module")
def graphs():
    return sample_graphs(8)


@pytest.fixture(scope="module")
def fitted(graphs):
    return {name: StructuredSVM(**FAST, **how).fit(graphs) for name, how in BASES.items()}


@pytest.mark.parametrize("name", BASES)
def test_columns_join_after_the_steps(name, fitted, graphs):
    svm = fitted[name]
    assert svm.node_names_[:-3] == svm.pipeline_.node_names
    assert svm.node_names_[-3:] == ("log p(0)", "log p(1)", "log p(2)")
    assert svm.unary_.shape == (3, len(svm.node_names_))
    assert svm.certificate_.status == "certified"
    assert svm.model_.message.endswith("given the base")
    said = svm.model_.base.log_probabilities(graphs[:1])
    plain = svm.pipeline_.transform(graphs[0]).node_features
    energy = svm.energy(graphs[0])
    assert energy.unary(2) == pytest.approx(-(svm.unary_ @ np.concatenate([plain[2], said[2]])), abs=1e-9)


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=() if name == "trees" else pytest.mark.slow) for name in BASES]
)
def test_a_fresh_process_predicts_the_same_bits(name, fitted, graphs, tmp_path):
    fitted[name].save(tmp_path / "m.gapcut")
    graphs.save(tmp_path / "g.npz")
    code = (
        "import sys, numpy as np\n"
        "from gapcut import GraphSet, StructuredSVM\n"
        "svm, graphs = StructuredSVM.load(sys.argv[1]), GraphSet.load(sys.argv[2])\n"
        "print([[s.energy.hex(), s.bound.hex(), s.labels.tolist()] for s in svm.solutions(graphs)])\n"
    )
    command = [sys.executable, "-c", code, str(tmp_path / "m.gapcut"), str(tmp_path / "g.npz")]
    found = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    ours = [[s.energy.hex(), s.bound.hex(), s.labels.tolist()] for s in fitted[name].solutions(graphs)]
    assert found.strip() == str(ours)


@pytest.mark.parametrize("name", ["trees", "context"])
def test_the_claim_is_proven_again_and_other_data_are_known(name, fitted, graphs, tmp_path):
    fitted[name].save(tmp_path / "m.gapcut")
    svm = StructuredSVM.load(tmp_path / "m.gapcut")
    assert svm.check(graphs).verdict == "holds"
    for others in (graphs[:5], sample_graphs(8, seed=3)):
        found = svm.check(others)
        assert (found.verdict, found.same_data) == ("not reproduced", False)


def test_other_estimators_stay_in_memory(graphs, tmp_path):
    svm = StructuredSVM(**FAST, base=GaussianNB()).fit(graphs)
    assert len(svm.predict(graphs)) == 8
    with pytest.raises(ValueError, match="GaussianNB cannot be saved"):
        svm.save(tmp_path / "m.gapcut")
    assert not (tmp_path / "m.gapcut").exists()


def test_same_bits_for_any_number_of_threads(fitted, graphs):
    one, other = (StructuredSVM(**FAST, base="trees", n_jobs=n).fit(graphs) for n in (1, 3))
    assert same_model(other, one)
    for a, b in zip(other.solutions(graphs), one.solutions(graphs), strict=True):
        assert a.energy == b.energy


def test_it_clones_and_its_base_has_parameters():
    svm = clone(StructuredSVM(base=RandomForestClassifier(7)))
    svm.set_params(base__n_estimators=3)
    assert svm.base.n_estimators == 3


@pytest.mark.parametrize("base", ["forest", 3, RandomForestClassifier])
def test_what_is_no_base_is_refused(base, graphs):
    with pytest.raises((ValueError, TypeError), match="base="):
        StructuredSVM(base=base).fit(graphs)


def test_sparse_features_stay_sparse(graphs):
    sparse = GraphSet(g.replace(node_features=sp.csr_array(g.node_features)) for g in graphs)
    how = {**FAST, **BASES["trees"], "standardize": "scale"}
    a, b = StructuredSVM(**how).fit(sparse), StructuredSVM(**how).fit(graphs)
    assert same_model(a, b)
    assert [y.tolist() for y in a.predict(sparse)] == [y.tolist() for y in b.predict(graphs)]


def test_a_graph_without_edges_is_labelled(fitted, graphs):
    alone = graphs[0].replace(edges=None, edge_features=None)
    assert len(fitted["context"].predict([alone])[0]) == alone.n_nodes


@pytest.fixture
def altered(fitted, tmp_path):
    """A file of the model with a context, with one array or one entry of the base's document changed."""
    fitted["context"].save(tmp_path / "good.gapcut")

    def altered(array=None, value=None, at=None, **document):
        arrays, meta = read_container(tmp_path / "good.gapcut")
        del meta["sha256"]
        meta["base"] |= document
        if array is not None:
            changed = arrays[array].copy()
            if at is not None:
                changed[at] = value
            arrays[array] = changed if at is not None else value(changed)
        write_container(tmp_path / "bad.gapcut", arrays, meta)
        return tmp_path / "bad.gapcut"

    return altered


@pytest.mark.parametrize(
    ("array", "value", "at"),
    [
        ("base.0.left", 0, 0),  # a circle
        ("base.1.right", 10**8, 0),
        ("base.2.root", -1, 0),
        ("base.0.feature", 10**6, 0),
        ("base.0.threshold", np.nan, 0),
        ("base.0.value", 1.5, (0, 0)),
        ("base.columns", -1, 0),
        ("base.source", 99, 0),
        ("base.part", 2, 0),
        ("base.scale", 0.0, 0),
        ("base.held_out", np.nan, (0, 0)),
        ("base.held_out", lambda a: a[:, :-1].copy(), None),
        ("base.columns", lambda a: a[:-1].copy(), None),
    ],
)
def test_hostile_arrays_are_refused(altered, array, value, at):
    with pytest.raises(ModelFileError):
        StructuredSVM.load(altered(array, value, at))


@pytest.mark.parametrize(
    "document",
    [{"features": "all"}, {"classes": 4}, {"rounds": []}, {"rounds": [["forest", 3]] * 3}, {"classes": True}],
)
def test_hostile_documents_are_refused(altered, document):
    with pytest.raises(ModelFileError):
        StructuredSVM.load(altered(**document))


def test_a_column_that_the_graphs_lack_is_refused(altered):
    with pytest.raises(ModelFileError):
        StructuredSVM.load(altered("base.columns", 10**6, -1))

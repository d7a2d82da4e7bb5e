"""Models with cliques: learned, certified, saved, checked, and used by every method of inference."""

from __future__ import annotations

import logging
import pickle

import numpy as np
import pytest
from sklearn.base import clone

from gapcut import CliqueSet, Energy, Graph, GraphError, GraphSet, StructuredSVM, solve
from gapcut.model.claim import check_claim
from gapcut.model.settings import Settings
from sample_cliques import xor_graphs

TRAIN, TEST = xor_graphs(10, seed=1), xor_graphs(4, seed=2)


@pytest.fixture(scope="module")
def svm() -> StructuredSVM:
    return StructuredSVM(C=10.0).fit(TRAIN)


def test_learns_what_pairs_cannot(svm) -> None:
    assert svm.certificate_.status == "certified"
    assert svm.score(TEST) == 1.0
    without = StructuredSVM(C=10.0).fit([g.replace(cliques=None) for g in TRAIN])
    assert without.score([g.replace(cliques=None) for g in TEST]) < 0.9
    (tuples, weights), (equal, _) = svm.cliques_
    assert tuples.shape == (8, 3)
    assert equal.tolist() == [[0] * 4, [1] * 4]
    used = {tuple(t) for t, w in zip(tuples.tolist(), weights, strict=True) if w.any()}
    assert used <= {(0, 0, 0), (0, 1, 1), (1, 1, 0), (1, 0, 1)}
    assert svm.pipeline_.clique_names == (("clique0[1]", "constant"), ("constant",))


def score(svm: StructuredSVM, graph: Graph, labels: np.ndarray) -> float:
    """f(x, y) by its definition."""
    ready = svm.pipeline_.transform(graph)
    total = sum(svm.unary_[k] @ x for k, x in zip(labels, ready.node_features, strict=True))
    for (u, v), phi in zip(ready.edges, ready.edge_features, strict=True):
        total += svm.pairwise_[labels[u], labels[v]] @ phi
    for cliques, (tuples, weights) in zip(ready.cliques, svm.cliques_, strict=True):
        for nodes, phi in zip(cliques.nodes, cliques.features, strict=True):
            total += sum(w @ phi for t, w in zip(tuples, weights, strict=True) if (labels[nodes] == t).all())
    return float(total)


def test_energy_is_minus_the_score(svm) -> None:
    rng = np.random.default_rng(0)
    for graph in TEST:
        energy = svm.energy(graph)
        for _ in range(20):
            labels = rng.integers(2, size=graph.n_nodes)
            assert energy.energy(labels) == pytest.approx(-score(svm, graph, labels), abs=1e-9)


@pytest.mark.parametrize("method", ["auto", "trws", "bp", "icm", "ilp", "lp", "exact"])
def test_every_method_agrees_with_enumeration_or_bounds_it(svm, method) -> None:
    if method == "exact":
        pytest.importorskip("pytoulbar2")
    for graph in xor_graphs(4, seed=3, n_triples=4):
        energy = svm.energy(graph)
        best = solve(energy, method="brute").energy
        found = solve(energy, method=method)
        assert found.bound <= best + 1e-9 <= found.energy + 2e-9
        if method in ("auto", "ilp", "exact"):
            assert found.energy == pytest.approx(best, abs=1e-9)
            assert found.status == "optimal"


@pytest.mark.parametrize("method", ["auto", "trws", "ilp", "lp", "exact"])
def test_random_energies_of_such_models(method) -> None:
    """Learned energies are tame; these have weights of any size on random tuples."""
    if method == "exact":
        pytest.importorskip("pytoulbar2")
    rng = np.random.default_rng(4)
    for _ in range(25):
        n, k = int(rng.integers(4, 7)), int(rng.integers(2, 4))
        cliques = []
        for order in (3, 4):
            for _ in range(int(rng.integers(1, 4))):
                table = -rng.random((k,) * order) * (rng.random((k,) * order) < 0.3)
                cliques.append((rng.permutation(n)[:order], np.round(4 * table)))
        edges = np.array([[i, (i + 1) % n] for i in range(n)])
        energy = Energy(rng.normal(size=(n, k)), edges, -rng.random((n, k, k)), cliques)
        best = solve(energy, method="brute").energy
        found = solve(energy, method=method)
        assert found.bound <= best + 1e-9 <= found.energy + 2e-9
        if method in ("auto", "ilp", "exact"):
            assert found.energy == pytest.approx(best, abs=1e-8)


@pytest.mark.parametrize("learner", ["block", "cutting-plane", "frank-wolfe", "subgradient"])
def test_learners_bracket_the_same_optimum(svm, learner) -> None:
    proof = StructuredSVM(C=10.0, learner=learner, gap=0.1, max_passes=150).fit(TRAIN).certificate_
    assert proof.lower <= svm.certificate_.upper
    assert svm.certificate_.lower <= proof.upper


def test_brute_and_cut_learn_the_same_problem() -> None:
    graphs = xor_graphs(3, seed=5, n_triples=1, quad=False)
    one = StructuredSVM(oracle="brute", gap=1e-3).fit(graphs).certificate_
    other = StructuredSVM(oracle="cut", gap=1e-3).fit(graphs).certificate_
    assert max(one.lower, other.lower) <= min(one.upper, other.upper)


def test_saved_models_carry_cliques(svm, tmp_path) -> None:
    svm.save(tmp_path / "m.gapcut")
    for other in (StructuredSVM.load(tmp_path / "m.gapcut"), pickle.loads(pickle.dumps(svm))):
        for (tuples, weights), (t, w) in zip(svm.cliques_, other.cliques_, strict=True):
            assert np.array_equal(tuples, t)
            assert np.array_equal(weights, w)
        assert other.model_.data == svm.model_.data
        for a, b in zip(svm.predict(TEST), other.predict(TEST), strict=True):
            assert np.array_equal(a, b)
    assert svm.model_.data.cliques == sum(g.n_cliques for g in TRAIN)
    assert clone(svm).fit(TRAIN).certificate_ == svm.certificate_


def test_claims_are_proven_again(svm) -> None:
    settings = Settings.checked(svm.get_params(deep=False))
    found = check_claim(svm.model_, settings, TRAIN)
    assert found.verdict == "holds"
    assert found.same_data
    other = check_claim(svm.model_, settings, xor_graphs(10, seed=9), time_limit=20)
    assert not other.same_data


def test_threads_do_not_change_a_bit(svm) -> None:
    other = StructuredSVM(C=10.0, n_jobs=2).fit(TRAIN)
    assert other.certificate_ == svm.certificate_
    assert all(np.array_equal(a[1], b[1]) for a, b in zip(svm.cliques_, other.cliques_, strict=True))


def test_unlabelled_nodes_and_graphs_without_cliques(svm) -> None:
    def hide(graph: Graph) -> Graph:
        return graph.replace(labels=[None if u == 0 else int(y) for u, y in enumerate(graph.labels)])

    plain = Graph(np.ones((2, 2)), None, np.empty((0, 1)), labels=[0, 1])
    learned = StructuredSVM(C=1.0).fit([*map(hide, TRAIN), plain])
    assert learned.model_.data.cliques < svm.model_.data.cliques
    assert len(learned.predict([plain])[0]) == 2


def test_tuples_with_foreign_labels(caplog) -> None:
    graphs = xor_graphs(4, tuples=[(0, 0, 0), (1, 1, 0), (0, 2, 0)])
    with caplog.at_level(logging.WARNING):
        learned = StructuredSVM().fit(graphs)
    assert "1 of 3 label tuples" in caplog.text
    assert len(learned.cliques_[0][0]) == 2
    with pytest.raises(ValueError, match="every label tuple holds a label that is not one of the classes"):
        StructuredSVM().fit(xor_graphs(2, tuples=[(7, 7, 7)]))


def test_combinations_that_do_not_work_are_refused_with_the_reason(svm) -> None:
    for params, match in (
        ({"learner": "primal-dual"}, "learner='primal-dual' is not compatible with cliques.*'block'"),
        ({"oracle": "trws"}, "oracle='trws' is not compatible with cliques.*oracle='cut'"),
        ({"oracle": "qpbo"}, "oracle='qpbo' is not compatible with cliques"),
        ({"checkpoint": "c.npz"}, "checkpoint needs learner='primal-dual', not 'block'"),
    ):
        with pytest.raises(ValueError, match=match):
            StructuredSVM(**params).fit(TRAIN)
    assert StructuredSVM(oracle="auto", gap=0.1).fit(TRAIN).certificate_.problem == "relaxed binary"
    negative = TRAIN[0].cliques[0].with_features(-np.ones((5, 2)))
    graph = TRAIN[0].with_features(cliques=(negative, TRAIN[0].cliques[1]))
    with pytest.raises(ValueError, match="clique group 0, clique 0, feature 0 is -1"):
        StructuredSVM(edge_lift="none", standardize=False).fit([graph])
    with pytest.raises(
        GraphError, match=r"clique groups \(nodes, features\) \(3, 2\), but the training graphs had"
    ):
        svm.predict([TRAIN[0].replace(cliques=TRAIN[0].cliques[:1])])


def test_weights_of_a_path_and_warm_starts(svm) -> None:
    models = StructuredSVM().fit_path(TRAIN, [1.0, 10.0])
    assert models[1].certificate_ == svm.certificate_
    assert StructuredSVM(C=10.0, warm_start=True).fit(TRAIN).certificate_ == svm.certificate_


def test_signed_clique_features_are_lifted() -> None:
    graphs = [
        g.with_features(
            cliques=(g.cliques[0].with_features(g.cliques[0].features - [0.0, 0.5]), g.cliques[1])
        )
        for g in TRAIN
    ]
    learned = StructuredSVM(C=10.0).fit(graphs)
    assert learned.pipeline_.clique_names[0] == ("clique0[1] (pos)", "clique0[1] (neg)", "constant")
    assert learned.score(graphs) == 1.0


def test_tables_too_large_are_refused() -> None:
    nodes = np.arange(8)[None, :]
    labels = [*range(7), 0]
    graph = Graph(np.eye(8), None, labels=labels, cliques=[CliqueSet(nodes, None, [tuple(labels)])])
    learned = StructuredSVM(C=10.0).fit(GraphSet([graph]))
    with pytest.raises(ValueError, match="use cliques of fewer nodes"):
        learned.predict([graph])

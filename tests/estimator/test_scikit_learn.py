"""scikit-learn's own checks of estimators, and its manners: routing of node weights, ``verbose``."""

from __future__ import annotations

import re

import numpy as np
import pytest
import sklearn
from sklearn.base import ClassifierMixin
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.utils import check_array, check_X_y
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted

from gapcut import Graph, GraphError, StructuredSVM
from sample_graphs import same_model, sample_graphs

GRAPHS = "its X is a table, but that of StructuredSVM is a list of graphs: OneNodeGraphs passes it"
SPARSE = (
    "its X is a sparse table, but that of StructuredSVM is a list of graphs (whose features may be sparse)"
)
NOT_FOR_TABLES = {
    **dict.fromkeys(["check_estimator_sparse_tag", "check_estimator_sparse_array"], SPARSE),
    "check_estimator_sparse_matrix": SPARSE,
    "check_fit_score_takes_y": GRAPHS,
    "check_estimators_overwrite_params": GRAPHS,
    "check_dont_overwrite_parameters": GRAPHS,
    "check_estimators_fit_returns_self": GRAPHS,
    "check_readonly_memmap_input": GRAPHS,
    "check_positive_only_tag_during_fit": GRAPHS,
    "check_estimators_dtypes": GRAPHS,
    "check_pipeline_consistency": GRAPHS,
    "check_estimators_pickle": GRAPHS,
    "check_f_contiguous_array_estimator": GRAPHS,
    "check_methods_sample_order_invariance": GRAPHS,
    "check_methods_subset_invariance": GRAPHS,
    "check_fit2d_1sample": GRAPHS,
    "check_fit2d_1feature": GRAPHS,
    "check_dict_unchanged": GRAPHS,
    "check_fit_idempotent": GRAPHS,
    "check_fit_check_is_fitted": GRAPHS,
}
"""Checks that StructuredSVM itself does not pass, and why they do not apply to it."""

ONE_NODE = {
    "check_class_weight_classifiers": "class weights shift the loss between the nodes of a graph, which here has one",
}
ONE_ROW = {"check_fit2d_1sample": "probabilities need graphs to hold out, as the error says in other words"}


class OneNodeGraphs(ClassifierMixin, StructuredSVM):
    """StructuredSVM on tables, as scikit-learn's checks have them: every row is a graph of one node."""

    def fit(self, X, y=None):
        X, y = check_X_y(X, y)
        check_classification_targets(y)
        graphs = [Graph(x[None], None, labels=[label]) for x, label in zip(X, y.tolist(), strict=True)]
        return super().fit(graphs)

    def predict(self, X):
        return np.concatenate(super().predict(self._rows(X)))

    @property
    def predict_proba(self):
        if not self.probability:
            raise AttributeError("predict_proba needs probability=True")
        return lambda X: np.concatenate(StructuredSVM.predict_proba(self, self._rows(X)))

    @property
    def predict_log_proba(self):
        of = self.predict_proba
        return lambda X: np.log(np.maximum(of(X), 1e-300))

    def score(self, X, y=None):
        return float((self.predict(X) == y).mean())

    def _rows(self, X):
        check_is_fitted(self)
        X = check_array(X)
        if X.shape[1] != self.n_features_in_:
            expected = f"OneNodeGraphs is expecting {self.n_features_in_} features as input"
            raise ValueError(f"X has {X.shape[1]} features, but {expected}")
        return [Graph(x[None], None) for x in X]

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.no_validation = False
        tags.target_tags.required = True
        return tags


def failures(estimator: StructuredSVM) -> dict[str, str]:
    """Names of scikit-learn's checks that fail, with what they say."""
    pytest.importorskip(
        "sklearn", minversion="1.6", reason="scikit-learn before 1.6 cannot list the outcomes"
    )
    from sklearn.utils.estimator_checks import check_estimator

    done = check_estimator(estimator, on_fail=None, on_skip=None)
    assert len(done) > 25
    return {c["check_name"]: str(c["exception"]) for c in done if c["status"] == "failed"}


IGNORED = pytest.mark.filterwarnings("ignore")  # fits of a few rows say that their C is small, and rightly


@IGNORED
def test_checks_of_estimators_on_what_they_take_for_data():
    found = failures(StructuredSVM())
    assert set(found) <= set(NOT_FOR_TABLES), found
    assert any("must be a Graph or a tuple" in said for said in found.values())


@IGNORED
@pytest.mark.parametrize(
    ("settings", "expected"),
    [({}, ONE_NODE), pytest.param({"probability": True}, ONE_NODE | ONE_ROW, marks=pytest.mark.slow)],
)
def test_checks_of_classifiers_on_graphs_of_one_node(settings, expected):
    found = failures(OneNodeGraphs(C=10.0, **settings))
    assert set(found) == set(expected), found


# ---- metadata routing


def weights_of(graphs):
    rng = np.random.default_rng(5)
    return [rng.uniform(0.1, 3.0, g.n_nodes) for g in graphs]


def test_node_weights_given_to_fit_and_score_are_those_of_the_graphs():
    graphs = sample_graphs(6, seed=2)
    weights = weights_of(graphs)
    weighted = graphs.with_node_weights(weights)
    a, b = StructuredSVM(C=1.0).fit(graphs, node_weights=weights), StructuredSVM(C=1.0).fit(weighted)
    assert same_model(a, b)
    assert not same_model(a, StructuredSVM(C=1.0).fit(graphs))
    assert a.score(graphs, node_weights=weights) == b.score(weighted) != b.score(graphs)
    with pytest.raises(ValueError, match="5 weight arrays for 6 graphs"):
        a.fit(graphs, node_weights=weights[:5])
    with pytest.raises(GraphError, match="graph 1: node_weights has shape"):
        a.fit(graphs, node_weights=[weights[0], [1.0], *weights[2:]])


def test_node_weights_are_routed_to_the_folds():
    graphs = sample_graphs(6, seed=2)
    weights = weights_of(graphs)
    weighted = list(graphs.with_node_weights(weights))
    plain = cross_val_score(StructuredSVM(C=0.1), weighted, cv=3)
    with sklearn.config_context(enable_metadata_routing=True):
        svm = StructuredSVM(C=0.1).set_fit_request(node_weights=True).set_score_request(node_weights=True)
        routed = cross_val_score(svm, list(graphs), cv=3, params={"node_weights": weights})
        search = GridSearchCV(svm, {"C": [0.1, 1.0]}, cv=3).fit(list(graphs), node_weights=weights)
    assert routed.tolist() == plain.tolist()
    best = StructuredSVM(C=search.best_params_["C"]).fit(weighted)
    assert same_model(search.best_estimator_, best)


# ---- verbose


def test_verbose_prints_a_line_after_every_pass(capsys, tmp_path):
    graphs, seen = sample_graphs(4, seed=3), []
    svm = StructuredSVM(C=1.0, gap=1e-3, verbose=True, callback=lambda record: seen.append(record)).fit(
        graphs
    )
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == len(seen) == len(svm.history_)
    line = re.fullmatch(
        r"\[gapcut\] pass +(\d+) +[\d.]+ s   (\S+) <= optimum <= (\S+)   gap ([\d.]+) %", lines[-1]
    )
    assert float(line[2]) == pytest.approx(svm.certificate_.lower, rel=1e-3)
    assert float(line[3]) == pytest.approx(svm.certificate_.upper, rel=1e-3)
    quiet = StructuredSVM(C=1.0, gap=1e-3).fit(graphs)
    assert capsys.readouterr().out == ""
    assert same_model(quiet, svm)
    svm.save(tmp_path / "m.gapcut")
    assert StructuredSVM.load(tmp_path / "m.gapcut").verbose is False


@pytest.mark.parametrize(
    "name", ["classes_", "unary_", "feature_names_in_", "n_features_in_", "C_", "pipeline_"]
)
def test_every_fitted_attribute_is_documented_and_absent_before_fit(name):
    assert re.search(rf"^(\w+, )*{name}(, \w+)* : ", StructuredSVM.__doc__, re.MULTILINE)
    assert not hasattr(StructuredSVM(), name)

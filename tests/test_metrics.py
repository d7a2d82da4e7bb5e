"""Scores against scikit-learn."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.metrics import accuracy_score, confusion_matrix, precision_recall_fscore_support
from sklearn.model_selection import GridSearchCV

from gapcut import StructuredSVM
from gapcut.metrics import GraphScorer, score_graphs, score_labels
from sample_graphs import sample_graphs


@pytest.mark.parametrize("seed", range(10))
def test_scores_agree_with_scikit_learn(seed):
    rng = np.random.default_rng(seed)
    classes = np.array(["a", "b", "c", "d"])
    truth = [rng.choice(classes[: rng.integers(1, 5)], 20) for _ in range(3)]
    predicted = [np.where(rng.random(20) < 0.6, y, rng.choice(classes, 20)) for y in truth]
    weights = [rng.integers(1, 9, 20).astype(float) for _ in truth]
    scores = score_labels(truth, predicted, classes, weights)
    y, z, w = (np.concatenate(part) for part in (truth, predicted, weights))
    assert scores.accuracy == pytest.approx(accuracy_score(y, z, sample_weight=w))
    np.testing.assert_allclose(scores.confusion, confusion_matrix(y, z, labels=classes, sample_weight=w))
    expected = precision_recall_fscore_support(y, z, labels=classes, sample_weight=w, zero_division=0)
    found = np.array([[c.precision, c.recall, c.f1, c.support] for c in scores.classes]).T
    np.testing.assert_allclose(found, expected)
    occurring = sorted(set(y) | set(z))
    macro = precision_recall_fscore_support(
        y, z, labels=occurring, sample_weight=w, zero_division=0, average="macro"
    )
    assert (scores.macro_precision, scores.macro_recall, scores.macro_f1) == pytest.approx(macro[:3])


def test_unlabelled_nodes_do_not_count():
    truth = [np.array([0, None, 1], dtype=object), None]
    scores = score_labels(truth, [np.array([0, 1, 0]), np.array([1])], np.array([0, 1]))
    assert scores.nodes == 2
    assert scores.accuracy == 0.5
    assert not scores.weighted


def test_labels_the_model_does_not_know_get_their_own_row():
    scores = score_labels([np.array(["a", "new"])], [np.array(["a", "a"])], np.array(["a", "b"]))
    assert scores.labels == ("a", "b", "new")
    assert scores.accuracy == 0.5
    assert scores.classes[2].recall == 0.0


def test_no_labels_at_all_give_nan():
    scores = score_labels([None], [np.array([0])], np.array([0, 1]))
    assert np.isnan(scores.accuracy)
    assert np.isnan(scores.macro_recall)


def test_lengths_must_agree():
    with pytest.raises(ValueError, match="graph 0 has 2 labels but 3 predictions"):
        score_labels([np.array([0, 1])], [np.array([0, 1, 1])], np.array([0, 1]))


def test_scorers_serve_a_grid_search():
    graphs = sample_graphs(6)
    scoring = {"f1": GraphScorer("macro_f1"), "accuracy": GraphScorer(), "of 1": GraphScorer(label=1)}
    search = GridSearchCV(
        StructuredSVM(gap=0.05, loss_scale=10.0), {"C": [0.01, 1.0]}, scoring=scoring, refit="f1", cv=2
    ).fit(graphs)
    svm = search.best_estimator_
    found = score_graphs(graphs, svm.predict(graphs), svm.classes_)
    assert GraphScorer("macro_f1")(svm, graphs) == found.macro_f1
    assert GraphScorer(label=1)(svm, list(graphs)) == found.classes[1].f1
    assert GraphScorer()(svm, graphs, [g.labels for g in graphs]) == svm.score(graphs)
    with pytest.raises(ValueError, match="no labelled node"):
        GraphScorer()(svm, [graphs[0].replace(labels=None)])
    with pytest.raises(ValueError, match="must be one of"):
        GraphScorer("f2")


def test_labels_that_are_never_predicted_are_named():
    truth, given = [np.array(["a", "b", "c", "a"])], [np.array(["a", "a", "c", "d"])]
    assert score_labels(truth, given, np.array(["a", "b", "c", "d", "e"])).never_predicted == ("b",)

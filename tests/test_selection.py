"""Choosing C along a path, fold by fold."""

from __future__ import annotations

import numpy as np
import pytest

from gapcut import Graph, PathScores, StructuredSVM, cross_validate_path
from sample_graphs import sample_graphs


def test_every_fold_and_C_is_scored_on_graphs_that_were_held_out():
    graphs = sample_graphs(9, seed=3)
    svm = StructuredSVM(learner="block")
    found = cross_validate_path(svm, graphs, [0.1, 10.0], cv=3)
    assert found.scores.shape == found.gaps.shape == (2, 3)
    assert (found.gaps <= svm.gap).all()
    for fold in range(3):
        test = np.arange(3 * fold, 3 * fold + 3)
        train = np.setdiff1d(np.arange(9), test)
        for i, C in enumerate(found.C_values):
            alone = StructuredSVM(learner="block", C=C).fit(graphs[train])
            assert found.scores[i, fold] == alone.score(graphs[test])
    assert found.best_C == found.C_values[int(np.argmax(found.mean))]
    assert not hasattr(svm, "_model")


def test_the_smallest_C_wins_a_tie_and_an_empty_path_is_refused():
    graphs = sample_graphs(4, seed=3)
    scores = PathScores(np.array([2.0, 1.0, 3.0]), np.ones((3, 2)), np.zeros((3, 2)))
    assert scores.best_C == 1.0
    with pytest.raises(ValueError, match="C_values is empty"):
        cross_validate_path(StructuredSVM(), graphs, [], cv=2)


def test_a_class_absent_from_a_fold_is_scored() -> None:
    """scikit-learn 9494: the fold that holds the only nodes of a class is tested without refusal."""
    rng = np.random.default_rng(0)
    graphs = [
        Graph(
            rng.normal(size=(4, 2)),
            [[0, 1], [1, 2], [2, 3]],
            rng.random((3, 1)),
            [0, 1, 0, 2 if i == 0 else 1],
        )
        for i in range(6)
    ]
    svm = StructuredSVM(class_weight={0: 1, 1: 2, 2: 3})
    found = cross_validate_path(svm, graphs, [1.0], cv=3)
    assert np.isfinite(found.scores).all()
    assert svm.classes is None
    with pytest.raises(ValueError, match="not one of the classes"):
        cross_validate_path(svm.set_params(classes=[0, 1]), graphs, [1.0], cv=3)

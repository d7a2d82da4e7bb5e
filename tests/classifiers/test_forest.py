"""Forests as arrays: what scikit-learn says, and nothing else is read."""

import pickle

import numpy as np
import pytest
from sklearn.ensemble import RandomForestClassifier

from gapcut.classifiers import TreeForest


@pytest.mark.parametrize("seed", range(5))
def test_forest_arrays_say_what_scikit_learn_says(seed):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(300, 6)).astype(np.float32)
    x[:, 3] = np.round(x[:, 3])  # ties at thresholds
    y = rng.choice([0, 2, 3], 300) if seed else np.full(300, 2)
    forest = RandomForestClassifier(n_estimators=7, random_state=seed).fit(x, y)
    rows = rng.normal(size=(1000, 6)).astype(np.float32)
    rows[:, 3] = np.round(rows[:, 3])
    ours = TreeForest.of_sklearn(forest, 5)
    wanted = np.zeros((1000, 5))
    wanted[:, forest.classes_] = forest.predict_proba(rows)
    assert np.abs(ours.probabilities(rows) - wanted).max() < 1e-6
    again = TreeForest.from_arrays(ours.to_arrays(), 6)
    assert np.array_equal(again.probabilities(rows, 2), ours.probabilities(rows))


@pytest.mark.parametrize("n_features", [6, 256, 300])  # nodes of eight bytes hold the numbers of 256
def test_rows_end_where_a_walk_ends(n_features):
    rng = np.random.default_rng(n_features)
    x = rng.normal(size=(400, n_features)).astype(np.float32)
    y = (x[:, -1] > 0.3) + 2 * (x[:, 0] * x[:, n_features // 2] > 0)
    grown = RandomForestClassifier(9, random_state=0, max_features=None).fit(x, y)
    trees = TreeForest.of_sklearn(grown, 4).trees
    rows = rng.normal(size=(700, n_features)).astype(np.float32)
    rows[:400] = x
    for i, value in enumerate((np.nan, np.inf, -np.inf)):
        rows[i::7, ::2] = value
    said = np.zeros((len(rows), 4))
    for root in trees.root:
        node = np.full(len(rows), root)
        for _ in range(100):
            value = rows[np.arange(len(rows)), np.maximum(trees.feature[node], 0)].astype(np.float64)
            further = np.where(value <= trees.threshold[node], trees.left[node], trees.right[node])
            node = np.where(trees.feature[node] < 0, node, further)
        said += trees.value[node]
    assert np.array_equal(trees.means(rows), (said * (1 / len(trees.root))).astype(np.float32))


def test_a_node_of_two_parents_is_refused():
    x = np.random.default_rng(0).normal(size=(60, 3)).astype(np.float32)
    good = TreeForest.of_sklearn(RandomForestClassifier(3, random_state=0).fit(x, x[:, 0] > 0), 2).to_arrays()
    inner = int(np.flatnonzero(good["feature"] >= 0)[0])
    both = {**good, "right": good["right"].copy()}
    both["right"][inner] = good["left"][inner]
    with pytest.raises(ValueError, match="two ways"):
        TreeForest.from_arrays(both, 3)


def test_a_tree_that_is_there_twice_is_refused():
    """Each is laid out by itself: a small file that names one a million times would take all of the memory."""
    x = np.random.default_rng(0).normal(size=(60, 3)).astype(np.float32)
    good = TreeForest.of_sklearn(RandomForestClassifier(3, random_state=0).fit(x, x[:, 0] > 0), 2).to_arrays()
    with pytest.raises(ValueError, match="there twice"):
        TreeForest.from_arrays({**good, "root": good["root"][[0, 1, 0]]}, 3)


def test_arrays_that_are_no_forest_are_refused():
    x = np.random.default_rng(0).normal(size=(60, 3)).astype(np.float32)
    good = TreeForest.of_sklearn(RandomForestClassifier(3, random_state=0).fit(x, x[:, 0] > 0), 2).to_arrays()
    inner = int(np.flatnonzero(good["feature"] >= 0)[0])

    def spoilt(key, value, at=inner):
        array = good[key].copy()
        array[at] = value
        return {**good, key: array}

    for bad in (
        spoilt("left", inner),  # a circle
        spoilt("right", 10**6),
        spoilt("feature", 3),
        spoilt("threshold", np.nan),
        spoilt("value", np.nan),
        spoilt("value", -1.0),
        spoilt("root", -1, 0),
        {**good, "left": good["left"][:-1]},
        {**good, "value": good["value"].astype(np.float64)},
        {k: v for k, v in good.items() if k != "root"},
    ):
        with pytest.raises(ValueError):
            TreeForest.from_arrays(bad, 3)
    with pytest.raises(ValueError, match="take 3 features"):
        TreeForest.from_arrays(good, 3).probabilities(np.zeros((2, 4)))


def test_trees_that_were_asked_can_be_sent_to_another_process():
    x = np.random.default_rng(0).normal(size=(50, 3))
    forest = TreeForest.of_sklearn(RandomForestClassifier(3, random_state=0).fit(x, x[:, 0] > 0), 2)
    said = forest.probabilities(x)
    assert np.array_equal(pickle.loads(pickle.dumps(forest)).probabilities(x), said)

"""Classifiers as arrays say what scikit-learn says; other arrays are refused."""

import numpy as np
import pytest
from sklearn.ensemble import (
    ExtraTreesClassifier,
    HistGradientBoostingClassifier,
    RandomForestClassifier,
)
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

from gapcut.classifiers import InMemory, from_arrays, kept

KINDS = [
    ExtraTreesClassifier(5, random_state=0),
    RandomForestClassifier(5, random_state=0),
    DecisionTreeClassifier(random_state=0),
    HistGradientBoostingClassifier(max_iter=4),
    LogisticRegression(),
    LogisticRegression(fit_intercept=False),
    make_pipeline(StandardScaler(), LogisticRegression()),
    make_pipeline(StandardScaler(with_mean=False), LogisticRegression()),
]


def some(seed, classes):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(300, 4)).astype(np.float32)
    x[:, 1] = np.round(x[:, 1])  # ties at thresholds
    return x, np.array(classes)[np.digitize(x[:, 0] + 0.3 * x[:, 1], np.linspace(-1, 1, len(classes) - 1))]


@pytest.mark.parametrize("estimator", KINDS, ids=lambda e: type(e).__name__)
@pytest.mark.parametrize("classes", [[0, 3], [1, 2, 4]])
def test_arrays_say_what_scikit_learn_says(estimator, classes):
    x, y = some(0, classes)
    fitted = estimator.fit(x[:200], y[:200])
    ours = kept(fitted, 5)
    wanted = np.zeros((300, 5))
    wanted[:, fitted.classes_] = fitted.predict_proba(x)
    assert np.abs(ours.probabilities(x) - wanted).max() < 1e-5
    back = from_arrays(ours.kind, ours.to_arrays(), 4, 5)
    assert np.array_equal(back.probabilities(x, 2), ours.probabilities(x))
    assert ours.probabilities(x[:0]).shape == (0, 5)


@pytest.mark.parametrize("estimator", [GaussianNB(), make_pipeline(StandardScaler(), GaussianNB())])
def test_others_stay_in_memory(estimator):
    x, y = some(1, [0, 2])
    ours = kept(estimator.fit(x, y), 3)
    assert isinstance(ours, InMemory)
    assert np.allclose(ours.probabilities(x)[:, [0, 2]], estimator.predict_proba(x))


def test_a_split_on_categories_stays_in_memory():
    x = np.random.default_rng(0).integers(0, 5, (300, 1)).astype(np.float32)
    boosting = HistGradientBoostingClassifier(max_iter=2, categorical_features=[0]).fit(
        x, np.isin(x[:, 0], [0, 3])
    )
    assert isinstance(kept(boosting, 2), InMemory)


def spoilt(arrays, key, value, at=0):
    array = arrays[key].copy()
    array[at] = value
    return {**arrays, key: array}


@pytest.mark.parametrize(
    ("estimator", "key", "value"),
    [
        (KINDS[3], "baseline", np.nan),
        (KINDS[3], "classes", -1),
        (KINDS[3], "left", 0),  # a circle at the first root
        (KINDS[3], "right", 10**6),
        (KINDS[3], "feature", 4),
        (KINDS[4], "weights", np.inf),
        (KINDS[4], "classes", 7),
        (KINDS[4], "bias", np.nan),
    ],
)
def test_spoilt_arrays_are_refused(estimator, key, value):
    x, y = some(2, [1, 2, 4])
    ours = kept(estimator.fit(x, y), 5)
    with pytest.raises(ValueError):
        from_arrays(ours.kind, spoilt(ours.to_arrays(), key, value), 4, 5)


@pytest.mark.parametrize("estimator", [KINDS[0], KINDS[3], KINDS[4]])
def test_arrays_of_other_sizes_are_refused(estimator):
    x, y = some(3, [0, 1, 2])
    ours = kept(estimator.fit(x, y), 3)
    for key, array in ours.to_arrays().items():
        if key != "root":  # one tree less is a forest
            with pytest.raises((ValueError, KeyError)):
                from_arrays(ours.kind, {**ours.to_arrays(), key: array[:-1]}, 4, 3)
        with pytest.raises((ValueError, KeyError)):
            from_arrays(ours.kind, {k: a for k, a in ours.to_arrays().items() if k != key}, 4, 3)
    with pytest.raises(ValueError):
        from_arrays("pickle", ours.to_arrays(), 4, 3)
    with pytest.raises(ValueError):
        from_arrays(ours.kind, ours.to_arrays(), 4, 2)

"""Labels to codes and back."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gapcut.model.labels import UNKNOWN, UNLABELLED, LabelCoder

LABELS = st.one_of(st.integers(), st.text(), st.booleans(), st.tuples(st.integers(), st.text()))


@given(st.lists(st.one_of(LABELS, st.none()), min_size=1))
def test_every_label_comes_back(values):
    array = np.empty(len(values), dtype=object)
    array[:] = values
    if all(v is None for v in values):
        with pytest.raises(ValueError, match="no node of any graph has a label"):
            LabelCoder.found([array])
        return
    coder = LabelCoder.found([array])
    codes = coder.encode(array, len(values), "graph 0")
    assert len(set(coder.classes.tolist())) == coder.n_labels
    for value, code in zip(values, codes, strict=True):
        assert (code == UNLABELLED) == (value is None)
        if value is not None:
            assert coder.decode([code]).tolist() == [value]


@given(st.lists(LABELS, min_size=1), st.randoms())
def test_order_does_not_depend_on_the_data_order(values, random):
    shuffled = list(values)
    random.shuffle(shuffled)
    found = [LabelCoder.found([_objects(v)]).classes.tolist() for v in (values, shuffled)]
    assert found[0] == found[1]


def _objects(values):
    array = np.empty(len(values), dtype=object)
    array[:] = values
    return array


def test_sorted_classes_keep_their_type():
    assert LabelCoder.found([np.array([3, 1, 2])]).classes.dtype == np.int64
    assert LabelCoder.found([np.array(["b", "a"])]).classes.tolist() == ["a", "b"]
    assert LabelCoder.found([np.array([1, 2]), np.array(["a"])]).classes.tolist() == [1, 2, "a"]


def test_given_classes_keep_their_order():
    coder = LabelCoder.given(["z", "a"])
    assert coder.encode(np.array(["a", "z"]), 2, "g").tolist() == [1, 0]


@pytest.mark.parametrize(
    ("classes", "message"),
    [
        ([], "empty"),
        ([1, 2, 1], "names the label 1 twice"),
        ([1, True], "twice"),
        ([1, None], "None"),
        ([1.0, float("nan")], "NaN"),
        ([[1], [2]], "cannot be hashed"),
    ],
)
def test_bad_classes_are_refused(classes, message):
    with pytest.raises(ValueError, match=message):
        LabelCoder.given(classes)


def test_a_label_outside_the_classes_is_named():
    coder = LabelCoder.given([0, 1])
    with pytest.raises(ValueError, match=r"graph 4, node 2: label 7 is not one of the classes \[0, 1\]"):
        coder.encode(np.array([0, 1, 7]), 3, "graph 4")
    assert coder.encode(np.array([0, 7]), 2, "graph 4", known=False).tolist() == [0, UNKNOWN]


@pytest.mark.parametrize("names", [["a", "bb", "c"], [3, 1, 2], [True, False], ["a", None, 2]])
def test_many_graphs_are_encoded_as_each_alone(names):
    rng = np.random.default_rng(0)
    labels = [np.array([names[i] for i in rng.integers(0, len(names), n)]) for n in (3, 0, 1, 5)]
    if None in names:
        labels = [y.astype(object) for y in labels] + [None]
    sizes = [2 if y is None else len(y) for y in labels]
    coder = LabelCoder.found(labels)
    offset = np.cumsum([0, *sizes])
    alone = [coder.encode(y, n, "graph") for y, n in zip(labels, sizes, strict=True)]
    assert np.array_equal(coder.encode_all(labels, offset, str), np.concatenate(alone))


def test_a_label_outside_the_classes_is_placed_among_many_graphs():
    coder = LabelCoder.given(["a", "b"])
    with pytest.raises(ValueError, match="graph 1, node 2: label 'c'"):
        coder.encode_all([np.array(["a"]), np.array(["a", "b", "c"])], np.array([0, 1, 4]), "graph {}".format)

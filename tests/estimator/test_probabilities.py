"""Probabilities of labels: what they are, that they are calibrated on graphs never seen, and where there are none."""

import numpy as np
import pytest

from gapcut import Graph, GraphSet, ModelFileError, StructuredSVM
from gapcut.files import read_container, write_container
from gapcut.metrics import expected_calibration_error
from sample_graphs import relabelled, same_model, sample_graphs

FAST = {"C": 1.0, "gap": 1e-2, "loss_scale": 10.0}


@pytest.fixture(scope="module")
def fitted():
    graphs = relabelled(sample_graphs(10), ["a", "b", "c"])
    return StructuredSVM(**FAST, probability=True).fit(graphs), graphs


def test_rows_are_softmax_of_flipped_energies(fitted):
    svm, graphs = fitted
    temperature = svm.model_.temperature
    for graph, p in zip(graphs, svm.predict_proba(graphs), strict=True):
        labels = svm.infer(graph).labels
        codes = np.searchsorted(svm.classes_, labels)
        energy = svm.energy(graph)
        for node in (0, graph.n_nodes - 1):
            flipped = []
            for k in range(3):
                other = codes.copy()
                other[node] = k
                flipped.append(np.exp(-(energy.energy(other) - energy.energy(codes)) / temperature))
            assert p[node] == pytest.approx(np.array(flipped) / sum(flipped))


def test_predictions_are_the_likeliest_and_logarithms_fit(fitted):
    svm, graphs = fitted
    chances = svm.predict_proba(graphs)
    for labels, p, logs in zip(svm.predict(graphs), chances, svm.predict_log_proba(graphs), strict=True):
        assert (svm.classes_[p.argmax(axis=1)] == labels).all()
        assert np.allclose(p.sum(axis=1), 1)
        assert np.allclose(np.exp(logs), p)
    again = svm.predict_proba(graphs, svm.solutions(graphs))
    assert all(np.array_equal(a, b) for a, b in zip(again, chances, strict=True))


def test_the_model_is_the_same_with_and_without(fitted):
    svm, graphs = fitted
    plain = StructuredSVM(**FAST).fit(graphs)
    assert same_model(svm, plain)
    with pytest.raises(ValueError, match="no temperature"):
        plain.predict_proba(graphs)


def test_the_temperature_comes_with_a_search():
    assert StructuredSVM(**{**FAST, "C": "cv"}).fit(sample_graphs(6)).model_.temperature > 0


def test_it_is_saved_and_checked(fitted, tmp_path):
    svm, graphs = fitted
    svm.save(tmp_path / "m.gapcut")
    back = StructuredSVM.load(tmp_path / "m.gapcut")
    assert np.array_equal(back.predict_proba(graphs)[0], svm.predict_proba(graphs)[0])
    arrays, document = read_container(tmp_path / "m.gapcut")
    del document["sha256"]
    for wrong in (0.0, -1.0, "1", True):
        write_container(tmp_path / "bad.gapcut", arrays, {**document, "temperature": wrong})
        with pytest.raises(ModelFileError):
            StructuredSVM.load(tmp_path / "bad.gapcut")


def noise(seed, count=10):
    rng = np.random.default_rng(seed)
    return GraphSet(
        Graph(rng.normal(size=(30, 20)), None, labels=rng.integers(0, 2, 30)) for _ in range(count)
    )


def test_labels_that_nothing_tells_are_not_sure():
    """The model knows its training graphs by heart; the temperature comes from graphs it has not seen."""
    svm = StructuredSVM(C=100.0, gap=0.05, probability=True).fit(noise(0))
    assert svm.score(noise(0)) > 0.6
    test = noise(1, 30)
    assert expected_calibration_error(test, svm.predict_proba(test), svm.classes_) < 0.1
    assert np.concatenate(svm.predict_proba(test)).max(axis=1).mean() < 0.65


def test_what_cannot_be_held_out_is_refused():
    with pytest.raises(ValueError, match="graphs to hold out"):
        StructuredSVM(probability=True).fit([Graph([[0.0], [1.0]], [[0, 1]], labels=[0, 1])])


def test_the_calibration_error_is_the_one_computed_by_hand():
    graphs = [
        Graph(np.zeros((3, 1)), None, labels=["x", "y", None], node_weights=[1.0, 2.0, 9.0]),
        Graph(np.zeros((1, 1)), None, labels=["z"]),
    ]
    p = [np.array([[0.92, 0.08], [0.94, 0.06], [0.5, 0.5]]), np.array([[0.35, 0.65]])]
    # bin 9: weight 3, right 1, sure 0.92 + 2 * 0.94; bin 6: weight 1, right 0 ("z" is no class), sure 0.65
    wanted = (abs(1 - (0.92 + 1.88)) + 0.65) / 4
    assert expected_calibration_error(graphs, p, np.array(["x", "y"])) == pytest.approx(wanted)
    assert np.isnan(expected_calibration_error([], [], np.array(["x"])))

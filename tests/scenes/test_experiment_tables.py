"""The matrix of *on top of* weights and what the paper says about its cells."""

from types import SimpleNamespace

import numpy as np

from gapcut.metrics import confusion_scores
from gapcut.scenes.bridges import CLASSES
from gapcut.scenes.experiment.tables import claim_rows, class_rows, on_top_rows, on_top_weights

AT = {name: k for k, name in enumerate(CLASSES)}


def weights_of(*folds: dict[tuple[str, str], float]) -> np.ndarray:
    out = np.zeros((len(folds), len(CLASSES), len(CLASSES)))
    for f, fold in enumerate(folds):
        for (upper, lower), value in fold.items():
            out[f, AT[upper], AT[lower]] = value
    return out


def test_the_matrix_has_every_pair_with_mean_least_and_largest():
    rows = on_top_rows(weights_of({("deck", "girder"): 0.1}, {("deck", "girder"): 0.3}))
    assert [row[0] for row in rows] == list(CLASSES)
    assert rows[AT["deck"]][1 + AT["girder"]] == "0.200 (0.100 to 0.300)"
    assert sum(cell == "0" for row in rows for cell in row) == len(CLASSES) ** 2 - 1
    assert on_top_rows(weights_of({("deck", "girder"): 0.1}))[AT["deck"]][1 + AT["girder"]] == "0.100"


def test_claims_are_judged_cell_by_cell():
    one = {("deck", "girder"): 0.1, ("girder", "bearing"): 0.2, ("cross beam", "bearing"): 0.3}
    two = {("deck", "girder"): 0.1, ("girder", "bearing"): 0.4, ("cross beam", "bearing"): 0.3}
    found = {row[1]: row[2:] for row in claim_rows(weights_of(one, two))}
    assert found["deck on abutment"] == ["0", "no: not learned in any fold"]
    assert found["deck on girder"][1] == "yes, in 2 of 2"
    assert found["deck on girder minus deck on cross beam"] == ["0.100 (0.100 to 0.100)", "yes, in 2 of 2"]
    assert found["girder on bearing minus cross beam on bearing"] == [
        "0.000 (-0.100 to 0.100)",
        "yes, in 1 of 2",
    ]


def test_classes_that_a_model_does_not_know_have_no_weight():
    known = np.array(["deck", "girder"])
    pairwise = np.arange(8.0).reshape(2, 2, 2)
    pipeline = SimpleNamespace(edge_names=("gap", "rests on"))
    model = SimpleNamespace(classes_=known, pipeline_=pipeline, pairwise_=pairwise)
    weights = on_top_weights(model)
    assert weights[AT["deck"], AT["girder"]] == 3.0
    assert np.count_nonzero(weights) == 4
    pipeline.edge_names = ("gap", "over")
    assert not on_top_weights(model).any()


def test_a_weight_that_is_used_is_not_shown_as_zero():
    small = {("deck", "abutment"): 0.0004}
    found = {row[1]: row[2:] for row in claim_rows(weights_of(small, {}))}
    assert found["deck on abutment"] == ["0.0002 (0.000 to 0.0004)", "yes, in 1 of 2"]


def test_a_share_is_all_only_where_nothing_is_wrong():
    counts = np.diag([1.0] * 9 + [39_999.0, 1.0])
    counts[9, 0] = 1.0
    result = SimpleNamespace(
        nodes=confusion_scores(CLASSES, counts), node_only=confusion_scores(CLASSES, counts)
    )
    rows = {row[0]: row[1:] for row in class_rows([result])}
    assert rows[CLASSES[9]] == ["100.00 %", "99.9975 %", "40000", "99.9975 %", f"{CLASSES[0]} (1)"]

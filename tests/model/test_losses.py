"""What wrong labels cost."""

from __future__ import annotations

import numpy as np
import pytest

from gapcut import StructuredSVM
from gapcut.model.labels import LabelCoder
from gapcut.model.losses import cost_factors, label_costs
from sample_graphs import relabelled, sample_graphs

NAMES = ("deck", "pier", "rail")
CODER = LabelCoder.given(NAMES)


def test_a_mapping_names_some_costs_and_the_others_are_one() -> None:
    costs = label_costs({"deck": {"pier": 5, "rail": 0}, "rail": {"deck": 0.5}}, CODER)
    assert costs is not None
    assert costs.tolist() == [[0, 5, 0], [1, 0, 1], [0.5, 1, 0]]


def test_a_label_costs_what_is_asked_and_no_set_of_labels_less_than_nothing() -> None:
    """Of all sets of labels of one node: loss >= 0, that of one wrong label its cost, that of the truth 0."""
    rng = np.random.default_rng(0)
    for _ in range(200):
        costs = rng.integers(0, 5, (3, 3)) * rng.random()
        np.fill_diagonal(costs, 0.0)
        factors = cost_factors(costs, CODER)
        factors = np.ones((3, 3)) if factors is None else factors
        for y in range(3):
            for bits in np.ndindex(2, 2, 2):
                loss = 0.5 * (factors[y] * np.abs(np.array(bits) - np.eye(3)[y])).sum()
                assert loss >= 0.0
                if sum(bits) == 1:
                    assert loss == pytest.approx(costs[y, bits.index(1)])


def test_costs_of_one_change_nothing() -> None:
    assert cost_factors(None, CODER) is None
    assert cost_factors(1.0 - np.eye(3), CODER) is None
    assert cost_factors({"deck": {"pier": 1.0}}, CODER) is None
    assert cost_factors([[0.0]], LabelCoder.given(["one"])) is None


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"sky": {"deck": 2}}, "costs name the label 'sky', which is not one of the classes"),
        ({"deck": {"sky": 2}}, "costs name the label 'sky'"),
        ({"deck": 2}, "costs of label 'deck' are 2: give a mapping"),
        ({"deck": {"pier": -1}}, "costs of label 'pier' in place of 'deck' are -1"),
        ({"deck": {"pier": "much"}}, "'much': give a number in"),
        ({"deck": {"deck": 1}}, "costs of label 'deck' where it is true: the right label costs 0"),
        (np.zeros((2, 2)), r"costs have shape \(2, 2\), but there are 3 classes"),
        ([[0, 1, np.inf], [1, 0, 1], [1, 1, 0]], "costs of label 'rail' in place of 'deck' are"),
        ([["a"]], "something that is no number"),
        ([[0, 1e40, 1], [1, 0, 1], [1, 1, 0]], "costs of label 'pier' in place of 'deck' are 1e[+]40"),
    ],
)
def test_costs_that_mean_nothing_are_named(given, message) -> None:
    with pytest.raises(ValueError, match=message):
        cost_factors(given, CODER)


@pytest.mark.parametrize("oracle", ["cut", "lp"])
def test_dear_mistakes_become_rare_and_models_keep_the_costs(oracle: str, tmp_path) -> None:
    """With features that say little, what is cheap to be taken for others is taken for others."""
    graphs = relabelled(sample_graphs(12, n_nodes=20, seed=3), NAMES)
    blurred = [
        g.replace(
            node_features=g.node_features + np.random.default_rng(i).normal(0, 3, g.node_features.shape)
        )
        for i, g in enumerate(graphs)
    ]
    truth = np.concatenate([g.labels for g in blurred])

    def missed(costs) -> tuple[float, StructuredSVM]:
        svm = StructuredSVM(oracle=oracle, C=100.0, costs=costs, gap=0.02).fit(blurred)
        found = np.concatenate(svm.predict(blurred))
        return float(((truth == "pier") & (found != "pier")).sum()), svm

    before, _ = missed(None)
    after, svm = missed({"pier": {"deck": 3.0, "rail": 3.0}})
    assert after < before
    assert svm.certificate_.lower <= svm.certificate_.upper
    svm.save(tmp_path / "m.gapcut")
    back = StructuredSVM.load(tmp_path / "m.gapcut")
    assert back.costs == {"pier": {"deck": 3.0, "rail": 3.0}}
    assert back.check(blurred)


def test_a_proof_of_them_is_refused() -> None:
    graphs = relabelled(sample_graphs(4, n_nodes=6), NAMES)
    svm = StructuredSVM(costs={"pier": {"deck": 2.0}}, gap=0.1).fit(graphs)
    with pytest.raises(ValueError, match="proofs know one cost of all wrong labels"):
        svm.prove(graphs)

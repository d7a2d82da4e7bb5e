"""The pieces between raw graphs and a fitted model: what is left out, what classes weigh, who is asked to learn."""

from __future__ import annotations

import numpy as np
import pytest

from gapcut import GraphSet, StructuredSVM
from gapcut.learners import Limits
from gapcut.model.labels import LabelCoder
from gapcut.model.losses import class_weights
from gapcut.model.settings import Settings
from gapcut.model.training import build_problem, make_learner, make_oracle, training_set
from sample_graphs import relabelled, sample_graphs

NAMES = ["deck", "pier", "ground"]
GRAPHS = relabelled(sample_graphs(4), NAMES)


def settings(**params) -> Settings:
    return Settings.checked(StructuredSVM(**params).get_params(deep=False))


def partly(graphs: GraphSet) -> GraphSet:
    """The first graph without labels, the others without the label of node 0."""
    return GraphSet(
        g.replace(labels=None if i == 0 else [None, *g.labels[1:].tolist()]) for i, g in enumerate(graphs)
    )


def test_only_labelled_nodes_are_trained_on() -> None:
    data = training_set(partly(GRAPHS), settings())
    assert [g.n_nodes for g in data.graphs] == [g.n_nodes - 1 for g in GRAPHS[1:]]
    for graph, codes, whole in zip(data.graphs, data.codes, GRAPHS[1:], strict=True):
        assert data.coder.decode(codes).tolist() == whole.labels[1:].tolist()
        joined = [e for e in whole.edges.tolist() if 0 not in e]
        assert (graph.edges + 1).tolist() == joined


def test_a_set_without_a_label_is_refused() -> None:
    with pytest.raises(ValueError, match="no node of any graph has a label"):
        training_set([g.replace(labels=None) for g in GRAPHS], settings(classes=NAMES))


def test_balanced_classes_lose_the_same_in_all() -> None:
    rng = np.random.default_rng(0)
    weighted = [g.replace(node_weights=rng.integers(1, 9, g.n_nodes).astype(float)) for g in GRAPHS]
    data = training_set(weighted, settings(classes=[*NAMES, "never seen"]))
    factor = class_weights("balanced", data.graphs, data.codes, data.coder)
    totals = np.zeros(4)
    for graph, codes in zip(data.graphs, data.codes, strict=True):
        np.add.at(totals, codes, factor[codes] * graph.node_weights)
    seen = data.coder.classes != "never seen"
    np.testing.assert_allclose(totals[seen], totals[seen][0])
    assert totals.sum() == pytest.approx(sum(g.node_weights.sum() for g in weighted))
    assert factor[~seen].tolist() == [1.0]
    assert class_weights(None, data.graphs, data.codes, data.coder) is None


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ("even", "must be None, 'balanced' or a mapping"),
        ({"sky": 1.0}, "names the label 'sky', which is not one of the classes"),
        ({"deck": -1.0}, "finite number >= 0"),
        ({"deck": float("nan")}, "finite number >= 0"),
        ({"deck": "heavy"}, "class_weight of label 'deck' is 'heavy'"),
    ],
)
def test_class_weights_that_mean_nothing_are_named(given, message) -> None:
    data = training_set(GRAPHS, settings())
    with pytest.raises(ValueError, match=message):
        class_weights(given, data.graphs, data.codes, data.coder)


@pytest.mark.parametrize("learner", ["primal-dual", "block", "cutting-plane", "frank-wolfe", "subgradient"])
def test_the_pieces_make_what_the_estimator_makes(learner: str) -> None:
    params = {"learner": learner, "oracle": "cut", "C": 1.0, "loss_scale": 10.0, "max_passes": 30}
    chosen = settings(**params).settled(GRAPHS)
    data = training_set(GRAPHS, chosen)
    problem = build_problem(data, chosen)
    result = make_learner(chosen).run(problem, make_oracle(data, problem, chosen), chosen.limits)
    svm = StructuredSVM(**params).fit(GRAPHS)
    unary, pairwise = problem.expand(result.weights)
    assert np.array_equal(unary, svm.unary_)
    assert np.array_equal(pairwise, svm.pairwise_)
    assert (result.certificate.lower, result.certificate.upper) == (
        svm.certificate_.lower,
        svm.certificate_.upper,
    )


def test_the_oracle_of_the_settings_weighs_classes() -> None:
    """Enumeration packs its losses itself: they must be those of the cut."""
    graphs = relabelled(sample_graphs(3, n_nodes=4), NAMES)
    weights = {"deck": 5.0, "pier": 0.5}
    bounds = []
    for oracle in ("cut", "brute"):
        chosen = settings(oracle=oracle, learner="block", class_weight=weights, loss_scale=10.0).settled(
            graphs
        )
        data = training_set(graphs, chosen)
        problem = build_problem(data, chosen)
        asked = make_oracle(data, problem, chosen)
        w = problem.clamp(np.linspace(-0.2, 0.3, problem.dim))
        bounds.append(asked.total(w).bound)
        result = make_learner(chosen).run(problem, asked, Limits(gap=1e-3))
        assert result.certificate.status == "certified"
    assert bounds[0] == pytest.approx(bounds[1], rel=1e-9)


def test_labels_of_one_kind_are_looked_up_once_for_all_graphs(monkeypatch) -> None:
    """A hundred thousand tiny graphs would else spend most of their feature step on that."""
    calls, encode = [], LabelCoder.encode
    monkeypatch.setattr(LabelCoder, "encode", lambda *args, **more: calls.append(1) or encode(*args, **more))
    data = training_set(GRAPHS, settings())
    assert len(calls) == 1
    assert [code.tolist() for code in data.codes] == [
        [sorted(NAMES).index(y) for y in graph.labels] for graph in GRAPHS
    ]


def test_brute_force_knows_the_costs_of_labels() -> None:
    graphs = relabelled(sample_graphs(3, n_nodes=4), NAMES)
    costs = {"deck": {"pier": 5.0}, "pier": {"deck": 0.0, "ground": 2.0}}
    bounds = []
    for oracle in ("cut", "brute"):
        chosen = settings(oracle=oracle, learner="block", costs=costs, classes=NAMES, loss_scale=10.0)
        chosen = chosen.settled(graphs)
        data = training_set(graphs, chosen)
        problem = build_problem(data, chosen)
        w = problem.clamp(np.linspace(-0.2, 0.3, problem.dim))
        bounds.append(make_oracle(data, problem, chosen).total(w).bound)
    assert bounds[0] == pytest.approx(bounds[1], rel=1e-9)

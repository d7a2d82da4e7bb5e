"""What the base takes a node's neighbours for joins where folds are more accurate with it."""

from __future__ import annotations

import re
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from sklearn.tree import DecisionTreeClassifier

import gapcut.model.training
from gapcut import Graph, GraphSet, StructuredSVM
from gapcut.model.challenge import Challenge
from gapcut.model.choice import decide
from gapcut.model.choose_context import choose_context
from gapcut.model.chosen import Choice
from gapcut.model.kept_choice import to_keep
from gapcut.model.settings import Settings
from gapcut.model.training import training_set
from gapcut.stacking import add_context, fit_base, seconds_with_context
from sample_graphs import same_model, sample_graphs

FAST = {"gap": 5e-2, "loss_scale": 10.0, "base_features": "auto"}


@pytest.fixture(autouse=True)
def _small(monkeypatch):
    """Small sets and forests will do."""
    monkeypatch.setattr(gapcut.model.training, "FEWEST_NODES", 100)
    monkeypatch.setattr("gapcut.stacking.growing._TREES", 40)
    monkeypatch.setattr("gapcut.stacking.growing._LEAST_TREES", 40)


def parities(seed: int, count: int = 12) -> GraphSet:
    """Chains: of every second node the label is told by its feature, though not in a line; of those between it is
    whether their neighbours differ, which no weights of pairs can say."""
    rng = np.random.default_rng(seed)
    graphs = []
    for _ in range(count):
        x = rng.normal(size=41)
        told = np.arange(41) % 2 == 0
        y = (np.abs(x) > 0.7).astype(int)
        y[1::2] = y[:-1:2] != y[2::2]
        chain = np.stack([np.arange(40), np.arange(1, 41)], axis=1)
        graphs.append(Graph(np.c_[x * told, told], chain, np.ones((40, 1)), labels=y))
    return GraphSet(graphs)


@pytest.fixture
def model():
    return StructuredSVM(base="auto", **FAST).fit(parities(0))


def test_context_joins_where_it_helps(model, tmp_path):
    assert model.choice_.context
    assert model.model_.base.features == "context"
    assert "the base sees context" in model.choice_.reason
    assert [len(t.scores) for t in model.choice_.trials if t.context] == [3]
    without = StructuredSVM(base="auto", **{**FAST, "base_features": "edges"}).fit(parities(0))
    assert model.score(parities(1)) > without.score(parities(1)) + 0.1
    model.save(tmp_path / "m.gapcut")
    back = StructuredSVM.load(tmp_path / "m.gapcut")
    assert back.choice_ == model.choice_
    assert same_model(back, model)
    assert back.check(parities(0)).verdict == "holds"


def test_the_model_is_the_one_of_what_was_chosen(model):
    asked = {**FAST, "base_features": "context"}
    assert same_model(model, StructuredSVM(base="trees", C=model.C_, **asked).fit(parities(0)))


def test_context_is_told_by_folds_of_C_too():
    svm = StructuredSVM(base="trees", C="cv", **FAST).fit(parities(0))
    assert svm.choice_.context
    assert svm.C_ in [t.C for t in svm.choice_.trials if t.context]


def test_without_folds_the_base_sees_edges():
    graphs = sample_graphs(4)
    auto, edges = (
        StructuredSVM(base="trees", **{**FAST, "base_features": f}).fit(graphs) for f in ("auto", "edges")
    )
    assert auto.model_.base.features == "edges"
    assert same_model(auto, edges)


@pytest.mark.parametrize(("gain", "taken"), [(1.5, True), (-0.5, True), (-1.5, False)])
def test_it_stays_out_where_folds_are_worse_with_it(monkeypatch, gain, taken):
    """By standard errors."""
    held, best = (SimpleNamespace(C=C, accuracy=0.5, by_fold=(0.5,), folds=None) for C in (1.0, 10.0))
    found = Challenge((), (best,), best, gain * 0.01, 0.01)
    monkeypatch.setattr("gapcut.model.choose_context.challenge", lambda *_, **__: found)
    settings = Settings.checked(StructuredSVM(base="trees", **FAST).get_params())
    graphs = parities(0, 2)
    data = training_set(graphs, settings)
    more, choice, kept = choose_context(
        graphs, data, Choice(1.0, True, "cut", (), "why"), held, settings, None, [1.0, 10.0]
    )
    assert (choice.C, choice.context) == ((10.0, True) if taken else (1.0, False))
    assert more.base.features == ("context" if taken else "edges")
    assert kept is (best if taken else held)
    assert ("no context" in choice.reason) is not taken


def test_it_is_not_tried_where_no_node_has_a_neighbour():
    rng = np.random.default_rng(0)
    none = np.zeros((0, 2), dtype=np.int64)
    graphs = []
    for _ in range(12):
        x = rng.normal(size=40)
        graphs.append(
            Graph(x[:, None], none, labels=((np.abs(x) > 0.7) ^ (rng.random(40) < 0.1)).astype(int))
        )
    svm = StructuredSVM(base="auto", **FAST).fit(graphs)
    assert svm.choice_.base
    assert not any(trial.context for trial in svm.choice_.trials)
    assert svm.model_.base.features == "edges"


def test_a_time_limit_may_forbid_it(monkeypatch, model):
    asked = {"edges": 1.0, "context": 100.0}
    monkeypatch.setattr(gapcut.model.training, "seconds_of_trees", lambda features, *_: asked[features])
    svm = StructuredSVM(base="auto", time_limit=200.0, **FAST).fit(parities(0))
    assert svm.model_.base.features == "edges"
    assert "no context: it would take about 1e+02 s, more than a quarter" in svm.choice_.reason


def test_the_time_of_a_base_of_ones_own_is_its_own(monkeypatch):
    monkeypatch.setattr(gapcut.model.training, "seconds_of_trees", None)  # says nothing of it
    monkeypatch.setattr(gapcut.model.training, "BASE_SHARE", 1e-9)
    own = DecisionTreeClassifier(random_state=0)
    svm = StructuredSVM(base=own, C="cv", time_limit=1e6, **FAST).fit(parities(0))
    assert svm.model_.base.features == "edges"
    assert re.search(r"no context: it would take about \S+ s, more than a quarter", svm.choice_.reason)
    monkeypatch.setattr(gapcut.model.training, "BASE_SHARE", 0.25)
    assert StructuredSVM(base=own, C="cv", time_limit=1e6, **FAST).fit(parities(0)).choice_.context


def test_later_rounds_of_a_base_of_ones_own_are_predicted_from_its_first():
    graphs = list(parities(0))
    codes = np.concatenate([g.labels for g in graphs])
    found = replace(fit_base(DecisionTreeClassifier(), "edges", graphs, codes, 2), seconds=2.0)
    columns = len(found.columns)
    told = columns + 2 * (1 + 2 * 1)  # what the node itself and, by direction, its neighbours are taken for
    assert seconds_with_context(found, graphs) == pytest.approx(2.0 * (1 + 2 * told / columns))


def test_a_resumed_run_does_not_ask_again(monkeypatch, tmp_path):
    graphs = parities(0)
    whole = StructuredSVM(base="auto", **FAST).fit(graphs)
    path = tmp_path / "run.ckpt"
    stopped = StructuredSVM(base="auto", checkpoint=path, callback=lambda record: True, **FAST)
    with pytest.warns(UserWarning, match="stopped"):
        stopped.fit(graphs)
    assert path.exists()
    monkeypatch.setattr("gapcut.model.choice.choose_context", None)
    resumed = StructuredSVM(base="auto", checkpoint=path, **FAST).fit(graphs)
    assert same_model(resumed, whole)


def test_what_is_kept_names_the_features():
    settings = Settings.checked(StructuredSVM(base="auto", **FAST).get_params())
    assert to_keep(settings, decide(parities(0), settings))["base_features"] == "context"


def test_rounds_that_come_later_are_those_of_one_fit():
    graphs = list(parities(0))
    codes = np.concatenate([g.labels for g in graphs])
    edges, at_once = (fit_base("trees", features, graphs, codes, 2, 3) for features in ("edges", "context"))
    later = add_context(edges, "trees", graphs, codes, 3)
    assert np.array_equal(later.held_out, at_once.held_out)
    assert np.array_equal(later.log_probabilities(graphs), at_once.log_probabilities(graphs))

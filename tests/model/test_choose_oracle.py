"""One label a node in place of the cut, as the training graphs' own folds choose it."""

from types import SimpleNamespace

import numpy as np
import pytest

from gapcut import Graph, StructuredSVM
from gapcut.model.challenge import Challenge
from gapcut.model.choice import decide
from gapcut.model.choose_oracle import _in_words, choose_oracle
from gapcut.model.chosen import Choice
from gapcut.model.settings import Settings
from sample_graphs import same_model, sample_graphs


def circles(seed, count=12, n=24, classes=8, noise=1.6):
    """Labels that count up along rings, seen through noise: with many classes the cut's problem is loose."""
    rng = np.random.default_rng(seed)
    ring = np.stack([np.arange(n), np.roll(np.arange(n), -1)], axis=1)
    labels = [(rng.integers(classes) + np.arange(n)) % classes for _ in range(count)]
    rows = [np.eye(classes)[y] + noise * rng.normal(size=(n, classes)) for y in labels]
    return [Graph(x, ring, np.ones((n, 1)), labels=y) for x, y in zip(rows, labels, strict=True)]


def test_a_reason_says_100_only_where_all_is_right():
    found = SimpleNamespace(best=SimpleNamespace(C=1.0, accuracy=0.99999), error=1e-5)
    said = "one label a node (lp) at C = 1: 99.999% of held-out nodes right"
    assert _in_words(found, None) == f"{said} (standard error of the difference 0.001%)"


@pytest.fixture(scope="module")
def counted():
    return StructuredSVM(C="cv", oracle="auto").fit(circles(0))


@pytest.mark.filterwarnings("ignore:C = ")
def test_it_joins_where_folds_are_more_accurate(counted):
    choice = counted.choice_
    assert choice.oracle == "lp"
    assert counted.certificate_.problem == "LP-relaxed one-hot"
    assert "one label a node (lp)" in choice.reason
    tried = [t for t in choice.trials if t.oracle == "lp"]
    assert choice.C == max((t for t in tried if len(t.scores) == 3), key=lambda t: np.mean(t.scores)).C
    assert same_model(counted, StructuredSVM(C=choice.C, oracle="lp").fit(circles(0)))
    assert counted.score(circles(1)) > StructuredSVM(C="cv").fit(circles(0)).score(circles(1)) + 0.1


def test_the_time_limit_of_a_fold_is_not_that_of_the_fit():
    asked = Settings.checked(StructuredSVM(C="cv", oracle="auto", time_limit=600.0).get_params())
    found = decide(circles(0), asked)
    assert (found.settings.oracle, found.settings.time_limit) == ("lp", 600.0)


def test_the_claim_is_that_of_the_oracle_chosen(counted, tmp_path):
    counted.save(tmp_path / "m.gapcut")
    back = StructuredSVM.load(tmp_path / "m.gapcut")
    assert (back.oracle, back.choice_) == ("auto", counted.choice_)
    assert back.check(circles(0)).verdict == "holds"
    assert back.prove(circles(0)) is not None


def test_the_cut_stays_where_they_are_not():
    svm = StructuredSVM(C="cv", oracle="auto").fit(circles(0, noise=1.2))
    assert svm.choice_.oracle == "cut"
    assert "; one label a node (lp)" in svm.choice_.reason
    assert same_model(svm, StructuredSVM(C=svm.C_).fit(circles(0, noise=1.2)))


def test_values_of_C_without_a_certified_gap_do_not_count():
    svm = StructuredSVM(C="cv", oracle="auto", max_passes=1, gap=0.0).fit(circles(0))
    assert svm.choice_.oracle == "cut"
    assert "(lp) is not certified" in svm.choice_.reason


def test_one_C_tries_it_where_the_base_is_decided_and_a_named_oracle_stays(monkeypatch):
    monkeypatch.setattr("gapcut.model.training.FEWEST_NODES", 100)
    monkeypatch.setattr("gapcut.stacking.growing._LEAST_TREES", 2)
    monkeypatch.setattr("gapcut.stacking.growing._TREES", 2)
    graphs = sample_graphs(10)
    svm = StructuredSVM(C=2.0, oracle="auto", base="auto", gap=0.05).fit(graphs)
    assert {t.C for t in svm.choice_.trials} == {2.0}
    assert {t.oracle for t in svm.choice_.trials} == {"cut", "lp"}
    named = StructuredSVM(C=2.0, oracle="cut", base="auto", gap=0.05).fit(graphs)
    assert {t.oracle for t in named.choice_.trials} == {"cut"}


@pytest.mark.parametrize(
    ("gain", "base", "taken"),
    [(1.5, False, True), (0.5, False, False), (0.5, True, True), (-2.5, True, True), (-3.5, True, False)],
)
def test_with_a_base_it_is_taken_unless_it_is_clearly_behind(monkeypatch, gain, base, taken):
    """In standard errors."""
    held, best = (SimpleNamespace(C=C, accuracy=0.5, by_fold=(0.5,), folds=None) for C in (1.0, 10.0))
    found = Challenge((), (best,), best, gain * 0.01, 0.01)
    monkeypatch.setattr("gapcut.model.choose_oracle.challenge", lambda *_, **__: found)
    choice = Choice(1.0, base, "cut", (), "why")
    after, kept = choose_oracle(held, choice, SimpleNamespace(oracle="lp"), [1.0, 10.0])
    assert (after.C, after.oracle) == ((10.0, "lp") if taken else (1.0, "cut"))
    assert kept is (best if taken else held)

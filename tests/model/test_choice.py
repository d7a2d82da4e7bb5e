"""C and the base as the training graphs' own folds choose them."""

import itertools
import time
import warnings
from types import SimpleNamespace

import numpy as np
import pytest
from sklearn.tree import DecisionTreeClassifier

import gapcut.model.training
from gapcut import Graph, GraphSet, ModelFileError, StructuredSVM
from gapcut.files import read_container, write_container
from gapcut.learners.base import Session
from gapcut.model.choice import _clearly_behind
from gapcut.model.chosen import Choice
from gapcut.model.held_out import Fold, Folds, HeldOut, first_fold, most_accurate
from gapcut.model.settings import Settings
from gapcut.model.training import training_set
from gapcut.oracles.cut import CutRelaxation
from gapcut.stacking import fit_base, seconds_of_trees
from sample_graphs import same_model, sample_graphs

FAST = {"gap": 1e-2, "loss_scale": 10.0}


def data_of(graphs):
    return training_set(GraphSet(graphs), Settings.checked(StructuredSVM().get_params()))


@pytest.mark.parametrize("count", [2, 7])
def test_each_graph_is_held_out_once(count):
    folds = Folds.of(data_of(sample_graphs(count)), 0)
    assert len(folds) == min(3, count)
    seen = [len(folds.without(f).graphs) + int((folds.fold == f).sum()) for f in range(len(folds))]
    assert set(seen) == {count}


def test_parts_of_one_graph_are_held_out_in_balance():
    sizes = [40, 20, 15, 10, 10, 5, 4]
    starts = np.cumsum([0, *sizes])
    edges = [(i, i + 1) for s, e in itertools.pairwise(starts) for i in range(s, e - 1)]
    labels = np.arange(starts[-1]) % 2
    folds = Folds.of(data_of([Graph(labels[:, None] + 0.0, edges, labels=labels)]), 0)
    assert sorted(g.n_nodes for g in folds.data.graphs) == [30, 34, 40]
    assert sum(g.n_edges for g in folds.data.graphs) == len(edges)


@pytest.mark.parametrize("weights", [(1.0, 0.0, 1.0), (0.0, 0.0, 1.0), (0.0, 0.0, 0.0)])
def test_graphs_without_weight_judge_nothing(weights, tmp_path):
    graphs = [g.replace(node_weights=[w] * g.n_nodes) for g, w in zip(sample_graphs(3), weights, strict=True)]
    folds = Folds.of(data_of(graphs), 0)
    assert sum(weights) < 2.0 or len(folds.data.graphs) == 2
    svm = StructuredSVM(C="cv", **FAST).fit(graphs)
    svm.save(tmp_path / "model")
    choice = StructuredSVM.load(tmp_path / "model").choice_
    assert "nan" not in choice.reason
    assert np.isfinite([score for trial in choice.trials for score in trial.scores]).all()


def test_connected_parts_without_weight_are_left_out():
    graph = Graph(np.eye(6), [(0, 1), (2, 3)], labels=[0, 1] * 3, node_weights=[1, 1, 0, 0, 2, 0])
    folds = Folds.of(data_of([graph]), 0)
    assert len(folds) == 2
    assert Folds.of(data_of([graph.replace(node_weights=[1, 1, 0, 0, 0, 0])]), 0) is None


def test_one_connected_graph_gets_the_stated_default():
    (graph,) = sample_graphs(1, n_nodes=30)
    chain = np.stack([np.arange(29), np.arange(1, 30)], axis=1)
    chained = graph.replace(edges=chain, edge_features=np.ones((29, 1)))
    svm = StructuredSVM(C="cv", **FAST).fit([chained])
    assert svm.C_ == 1.0
    assert svm.choice_.reason.startswith("C = 1 and no base: one connected graph")
    named = StructuredSVM(C="cv", base=DecisionTreeClassifier(max_depth=2), **FAST).fit([chained])
    assert named.choice_.base
    assert named.choice_.reason.startswith("C = 1: one connected graph")
    alone = StructuredSVM(C="cv", base="trees", **FAST).fit([chained])  # columns from 0 to 1
    assert alone.C_ == 10.0
    assert alone.choice_.reason.startswith("C = 10: one connected graph")


def test_a_base_that_would_take_most_of_the_time_limit_stays_out(monkeypatch):
    graphs = sample_graphs(4, n_nodes=12)
    monkeypatch.setattr(gapcut.model.training, "FEWEST_NODES", 10)
    monkeypatch.setattr(gapcut.model.training, "seconds_of_trees", lambda *_: 20.0)
    svm = StructuredSVM(base="auto", time_limit=60.0, **FAST).fit(graphs)
    assert svm.model_.base is None
    assert "no base: it would take about 20 s" in svm.choice_.reason


def test_growing_a_base_is_predicted():
    graphs = sample_graphs(4, n_nodes=12)
    codes = np.concatenate([g.labels for g in graphs])
    assert 0.0 < seconds_of_trees("edges", graphs, codes, 0, 1) < 60.0


def test_growing_a_base_is_timed_on_labelled_nodes():
    graphs = sample_graphs(4, n_nodes=1700)
    codes = np.concatenate([np.full(3400, -1), graphs[2].labels, graphs[3].labels])
    assert 0.0 < seconds_of_trees("edges", graphs, codes, 0, 1) < 600.0


def test_time_to_grow_is_told_from_some_graphs(monkeypatch):
    monkeypatch.setattr("gapcut.stacking.growing._TREES", 15)
    monkeypatch.setattr("gapcut.stacking.growing._LEAST_TREES", 15)
    graphs = sample_graphs(60, n_nodes=400)
    codes = np.concatenate([g.labels for g in graphs])
    start = time.process_time()
    told = seconds_of_trees("edges", graphs, codes, 0, 1)
    spent = time.process_time() - start
    start = time.process_time()
    fit_base("trees", "edges", graphs, codes, 3, 0, 1)
    took = time.process_time() - start
    assert spent < took / 4
    assert told > took / 4


def test_a_time_limit_that_is_too_short_for_folds_goes_to_the_fit(monkeypatch):
    monkeypatch.setattr("gapcut.model.choice._path_limit", lambda *_: 0.0)
    svm = StructuredSVM(C="cv", oracle="auto", time_limit=60.0, **FAST).fit(sample_graphs(6))
    assert svm.C_ == 1.0
    assert svm.choice_.reason == "C = 1 and no base: the time limit is too short for folds"
    assert svm.certificate_.status == "certified"


def said(C, right):
    return HeldOut(C, None, (), (), np.array(right, dtype=float), np.full(len(right), 10.0))


def test_the_error_of_a_difference_is_that_over_graphs():
    a, b = said(1, [5, 6, 7, 8]), said(10, [6, 7, 8, 9])
    assert b.gain_over(a) == pytest.approx((0.1, 0.0))
    gain, error = said(10, [9, 6, 7, 8]).gain_over(a)
    assert gain == pytest.approx(0.1)
    assert error == pytest.approx(np.std([4, 0, 0, 0], ddof=1) / 2 / 10)  # as of a mean, with equal weights


def test_the_most_accurate_of_a_path():
    low, best = said(1, [5, 6, 7, 8]), said(100, [9, 7, 7, 9])
    assert most_accurate([low, best]) is best
    assert most_accurate([]) is None


def test_a_value_of_C_that_the_first_fold_cannot_learn_ends_the_path(monkeypatch):
    data = data_of(sample_graphs(6))
    folds, asked = Folds.of(data, 0), Settings.checked(StructuredSVM().get_params()).settled(data.graphs)
    monkeypatch.setattr("gapcut.model.held_out._right", lambda *_: 1.0)  # none is worse than the one before
    path = first_fold(folds, asked, [0.1, 1.0, 10.0])
    assert [fold.C for fold in path] == [0.1, 1.0, 10.0]
    monkeypatch.setattr("gapcut.model.held_out._OPEN", path[1].model.certificate.relative_gap * 0.99)
    assert [fold.C for fold in first_fold(folds, asked, [0.1, 1.0, 10.0])] == [0.1]


def on_first_fold(base, right):
    data = SimpleNamespace(base="a base" if base else None)
    return Fold(1.0, data, {}, np.array(right, dtype=float), np.full(len(right), 10.0))


@pytest.mark.parametrize(
    ("plain", "stacked", "dropped"),
    [
        ([5, 6, 7, 8], [8, 9, 9, 10], 0),  # 2.5 of 10 nodes a graph, give or take 0.3
        ([8, 9, 9, 10], [5, 6, 7, 8], 1),
        ([5, 6, 7, 8], [9, 6, 7, 8], None),  # one graph is not enough
        ([5], [10], None),
    ],
)
def test_what_is_clearly_behind_on_the_first_fold_is_dropped(plain, stacked, dropped):
    assert _clearly_behind([[on_first_fold(False, plain)], [on_first_fold(True, stacked)]]) == dropped
    assert _clearly_behind([[on_first_fold(False, plain)]]) is None


@pytest.fixture(scope="module")
def searched():
    return StructuredSVM(C="cv", **FAST).fit(sample_graphs(10, seed=4))


def test_the_model_is_that_of_the_chosen_C(searched):
    choice = searched.choice_
    assert searched.C == "cv"
    assert searched.C_ == choice.C in [t.C for t in choice.trials]
    assert all(len(t.scores) == 3 and not t.base for t in choice.trials)
    assert f"C = {choice.C:g}" in choice.reason
    assert same_model(searched, StructuredSVM(C=choice.C, **FAST).fit(sample_graphs(10, seed=4)))
    assert searched.check(sample_graphs(10, seed=4)).verdict == "holds"


def test_the_choice_is_saved(searched, tmp_path):
    searched.save(tmp_path / "m.gapcut")
    back = StructuredSVM.load(tmp_path / "m.gapcut")
    assert back.choice_ == searched.choice_
    assert (back.C, back.C_) == ("cv", searched.C_)
    assert back.check(sample_graphs(10, seed=4)).verdict == "holds"


@pytest.mark.parametrize(
    "wrong",
    [
        {"C": "1"},
        {"C": -1.0},
        {"base": 0},
        {"trials": [[1.0, False, "cut", ["x"]]]},
        {"oracle": "auto"},
        {"trials": [[1.0, False, 3, [0.5]]]},
        {"reason": 3},
        {"context": 3},
        {"trials": [[1.0, False, "cut", [0.5], 1]]},
        {"trials": [[1.0, False, "cut", [0.5], True, True]]},
    ],
)
def test_a_hostile_choice_is_refused(searched, tmp_path, wrong):
    searched.save(tmp_path / "m.gapcut")
    arrays, document = read_container(tmp_path / "m.gapcut")
    del document["sha256"]
    document["choice"] |= wrong
    write_container(tmp_path / "m.gapcut", arrays, document)
    with pytest.raises(ModelFileError):
        StructuredSVM.load(tmp_path / "m.gapcut")


def rings(seed, count=8):
    """Labels that no linear score of the one feature tells, and a classifier does."""
    rng = np.random.default_rng(seed)
    graphs = []
    for _ in range(count):
        x = rng.normal(size=40)
        chain = np.stack([np.arange(39), np.arange(1, 40)], axis=1)
        graphs.append(Graph(x[:, None], chain, labels=(np.abs(x) > 0.7).astype(int)))
    return GraphSet(graphs)


def test_a_base_joins_where_it_helps(monkeypatch):
    monkeypatch.setattr(gapcut.model.training, "FEWEST_NODES", 100)
    svm = StructuredSVM(base="auto", **FAST).fit(rings(0))
    assert svm.choice_.base
    assert svm.model_.base is not None
    assert "the base joins" in svm.choice_.reason
    assert svm.C_ == 1.0
    assert svm.score(rings(1)) > 0.9
    assert {t.base: len(t.scores) for t in svm.choice_.trials} == {True: 3, False: 1}  # left after the first


def test_it_stays_out_where_it_does_not(monkeypatch):
    monkeypatch.setattr(gapcut.model.training, "FEWEST_NODES", 100)
    rng = np.random.default_rng(0)
    graphs = [
        Graph(x := rng.normal(size=(30, 2)), None, labels=(x.sum(axis=1) > 0).astype(int)) for _ in range(8)
    ]
    svm = StructuredSVM(base="auto", **FAST).fit(graphs)
    assert svm.model_.base is None
    assert not svm.choice_.base
    assert same_model(svm, StructuredSVM(**FAST).fit(graphs))


def test_nothing_more_is_tried_where_nearly_all_is_right(monkeypatch):
    monkeypatch.setattr(gapcut.model.training, "FEWEST_NODES", 10)
    labels = [np.arange(24) % 3 for _ in range(6)]
    ring = np.stack([np.arange(24), np.roll(np.arange(24), -1)], axis=1)
    graphs = [Graph(np.eye(3)[y], ring, np.ones((24, 1)), labels=y) for y in labels]
    svm = StructuredSVM(C="cv", oracle="auto", base="auto", **FAST).fit(graphs)
    assert "no base tried: 100.00% of the first fold right without" in svm.choice_.reason
    assert {(t.base, t.oracle) for t in svm.choice_.trials} == {(False, "cut")}


def test_with_few_nodes_it_is_not_tried():
    svm = StructuredSVM(base="auto", **FAST).fit(sample_graphs(4))
    assert svm.choice_ == Choice(1.0, False, "cut", (), "no base: 48 labelled nodes are fewer than 1,000")


def test_a_path_has_one_base(monkeypatch):
    monkeypatch.setattr(gapcut.model.training, "FEWEST_NODES", 100)
    low, high = StructuredSVM(base="auto", **FAST).fit_path(rings(0), [1, 10])
    assert low.model_.base is high.model_.base is not None
    assert (low.C_, high.C_) == (1.0, 10.0)


def test_ctrl_c_ends_the_search(monkeypatch):
    import gapcut.learners.base as learners

    monkeypatch.setattr(learners.Session, "guard", lambda self: (_ for _ in ()).throw(KeyboardInterrupt))
    with pytest.raises(KeyboardInterrupt):
        StructuredSVM(C="cv", **FAST).fit(sample_graphs(4))


def test_ctrl_c_ends_the_search_where_the_oracle_proves_nothing(monkeypatch):
    real, calls = Session.full_pass, []

    def once(self, w):
        calls.append(1)
        if len(calls) == 3:  # there is a model already, whose message begins with the missing bound
            raise KeyboardInterrupt
        return real(self, w)

    monkeypatch.setattr(Session, "full_pass", once)
    with pytest.raises(KeyboardInterrupt):
        StructuredSVM(C="cv", oracle="icm", learner="cutting-plane", max_passes=5, **FAST).fit(
            sample_graphs(6)
        )
    assert len(calls) == 3


def rare():
    """A class of one node in five, told by a column of small numbers: it takes large weights."""
    rng = np.random.default_rng(0)
    labels = [(rng.random(60) < 0.2).astype(int) for _ in range(6)]
    return [Graph(0.3 * y[:, None] + 0.01 * rng.normal(size=(60, 1)), None, labels=y) for y in labels]


def test_a_C_that_is_plainly_too_small_warns():
    with pytest.warns(UserWarning, match=r"C = 0.1 is too small: .* 8\d% .* and C = 1 100%; try C='cv'"):
        StructuredSVM(C=0.1, standardize=False).fit(rare())


def test_a_fold_that_memory_cuts_off_chooses_nothing(monkeypatch):
    real, calls = CutRelaxation.plane, []

    def once(self, *arguments):
        calls.append(1)
        if len(calls) == 3:  # there is a model already
            raise MemoryError
        return real(self, *arguments)

    monkeypatch.setattr(CutRelaxation, "plane", once)
    with pytest.raises(MemoryError, match="not enough memory for a fold"):
        StructuredSVM(C="cv", **FAST).fit(sample_graphs(6))
    assert len(calls) == 3


@pytest.mark.parametrize("end", [KeyboardInterrupt, MemoryError])
def test_an_end_while_advice_is_sought_keeps_the_model(monkeypatch, end):
    def interrupted(*_: object) -> None:
        raise end

    monkeypatch.setattr("gapcut.model.choice.seen_path", interrupted)
    svm = StructuredSVM(C=0.1, standardize=False).fit(rare())
    assert svm.certificate_.status == "certified"


@pytest.mark.parametrize("how", [{"C": 1.0}, {"C": 10.0, "standardize": False}, {"C": 0.01}])
def test_others_do_not(how):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        StructuredSVM(**how).fit(rare())

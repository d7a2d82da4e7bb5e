"""A base sees nodes and their edges, and what it says of training graphs it says without having seen them."""

from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.dummy import DummyClassifier
from sklearn.ensemble import ExtraTreesClassifier
from sklearn.neighbors import KNeighborsClassifier

from gapcut import Graph
from gapcut.features.base import Columns
from gapcut.stacking import Base, fit_base, node_folds
from gapcut.stacking.growing import _trees
from gapcut.stacking.table import Context, node_rows
from sample_graphs import sample_graphs

FEW = ExtraTreesClassifier(5, random_state=0)


def graph():
    return Graph([[1.0], [2.0], [3.0]], [[0, 1], [0, 2], [2, 1]], [[1.0, -2.0], [5.0, 4.0], [7.0, 0.5]])


def test_rows_of_edges_are_sums_means_numbers_and_extremes_by_direction():
    own, edges = node_rows([graph()], edges=False), node_rows([graph()], edges=True)
    assert own.tolist() == [[1.0], [2.0], [3.0]]
    out = [6, 2, 3, 1, 2, 5, 4, 1, -2]  # sums, means, number, maxima, minima
    assert edges[0].tolist() == [1.0, *out, *[0.0] * 9]
    assert edges[1].tolist() == [2.0, *[0.0] * 9, 8, -1.5, 4, -0.75, 2, 7, 0.5, 1, -2]


def test_rows_are_the_same_sparse_and_in_any_company():
    graphs = list(sample_graphs(5))
    sparse = [g.replace(node_features=sp.csr_array(g.node_features)) for g in graphs]
    together = node_rows(graphs, edges=True)
    assert np.array_equal(node_rows(sparse, edges=True), together)
    assert np.array_equal(np.concatenate([node_rows([g], edges=True) for g in graphs]), together)


def test_context_sums_what_neighbours_are_taken_for():
    g = graph()
    context = Context(np.array([1]), np.array([-1]), np.array([2.0]))
    p = np.array([[1.0, 0.0], [0.5, 0.5], [0.0, 1.0]], dtype=np.float32)
    rows = context.rows([g], p)
    assert rows.shape == (3, 8)
    assert rows[0, :4] == pytest.approx(
        [0.5, 1.5, 0.5, 0.5]
    )  # to 1 and 2; by the negative part of the second column
    assert rows[1, 4:] == pytest.approx([1.0, 1.0, 1.0, 0.0])  # from 0 and 2


@pytest.mark.parametrize("count", [2, 3, 12])
def test_whole_graphs_share_a_fold(count):
    graphs = sample_graphs(count)
    fold = node_folds(graphs, np.ones(12 * count, dtype=bool), seed=0)
    assert (fold.reshape(count, 12) == fold[::12, None]).all()
    assert np.unique(fold).tolist() == list(range(min(5, count)))


@pytest.mark.parametrize("seed", range(5))
def test_graphs_that_are_alike_are_spread_over_the_folds(seed):
    """Pages of a few books: chance puts three of one book into one fold more often than not."""
    rng = np.random.default_rng(seed)
    book = rng.permutation(np.repeat(np.arange(7), [5, 5, 4, 6, 3, 5, 5]))
    centres = 10.0 * rng.normal(size=(7, 4))
    graphs = [Graph(centres[b] + rng.normal(size=(int(rng.integers(3, 9)), 4)), None) for b in book]
    rows = np.concatenate([g.node_features for g in graphs]).astype(np.float32)
    labelled = np.ones(len(rows), dtype=bool)
    fold = node_folds(graphs, labelled, seed, rows=rows)
    first = np.cumsum([0, *(g.n_nodes for g in graphs)])[:-1]
    assert np.bincount(fold[first]).min() >= len(graphs) // 5
    most = max(int(np.bincount(fold[first][book == b]).max()) for b in range(7))
    by_chance = node_folds(graphs, labelled, seed)[first]
    assert most <= 2
    assert most <= max(int(np.bincount(by_chance[book == b]).max()) for b in range(7))
    other = node_folds(graphs, labelled, seed + 100, rows=rows)
    assert (other != fold).any(), "seeds still tell folds apart"


def test_one_graph_is_cut_in_stretches_that_hold_together():
    order = np.random.default_rng(0).permutation(100)
    g = Graph(np.zeros((100, 1)), np.stack([order[:-1], order[1:]], axis=1))
    labelled = np.ones(100, dtype=bool)
    labelled[::7] = False
    fold = node_folds([g], labelled, seed=0)
    assert np.bincount(fold[labelled]).tolist() == [17, 17, 17, 17, 17]
    cut = fold[g.edges[:, 0]] != fold[g.edges[:, 1]]
    assert cut.sum() <= 2 * 4 + 1


def all_codes(graphs):
    return np.concatenate([g.labels for g in graphs]).astype(np.int64)


def test_held_out_columns_have_not_seen_their_graph():
    """A neighbour search that remembers is perfect on what it has seen, and knows nothing of labels drawn by lot."""
    rng = np.random.default_rng(0)
    graphs = [Graph(rng.normal(size=(40, 3)), None, labels=rng.integers(0, 2, 40)) for _ in range(6)]
    codes = all_codes(graphs)
    for features in ("own", "edges"):
        base = fit_base(KNeighborsClassifier(1), features, graphs, codes, 2)
        assert (base.held_out.argmax(axis=1) == codes).mean() < 0.65
        assert (base.log_probabilities(graphs).argmax(axis=1) == codes).all()


def test_probabilities_are_clipped_and_classes_in_place():
    graphs = sample_graphs(4)
    base = fit_base(FEW, "own", graphs, all_codes(graphs) + 2, 6)  # classes 2, 3, 4 of 6
    assert base.held_out.min() == pytest.approx(np.log(1e-3))
    assert (base.held_out[:, [0, 1, 5]] == np.float32(np.log(np.float32(1e-3)))).all()


def test_nodes_without_a_label_take_no_part():
    graphs = sample_graphs(4)
    codes = all_codes(graphs)
    codes[::3] = -1
    base = fit_base(DummyClassifier(strategy="prior"), "own", graphs, codes, 3)
    share = np.bincount(codes[codes >= 0], minlength=3) / (codes >= 0).sum()
    assert base.log_probabilities(graphs[:1])[0] == pytest.approx(np.log(share), abs=1e-6)


def test_node_weights_count():
    graphs = [g.replace(node_weights=np.where(np.asarray(g.labels) == 1, 3.0, 1.0)) for g in sample_graphs(4)]
    codes = all_codes(graphs)
    base = fit_base(DummyClassifier(strategy="prior"), "own", graphs, codes, 3)
    count = np.bincount(codes, minlength=3) * [1, 3, 1]
    assert base.log_probabilities(graphs[:1])[0] == pytest.approx(np.log(count / count.sum()), abs=1e-6)


def test_context_helps_where_neighbours_tell():
    """Features of every other node are noise, and its neighbours have its label."""
    rng = np.random.default_rng(0)
    graphs = []
    for _ in range(30):
        y = np.repeat(rng.integers(0, 2, 10), 3)
        x = np.where(np.arange(30) % 3 == 0, 2.0 * y - 1.0, rng.normal(size=30))
        chain = np.stack([np.arange(29), np.arange(1, 30)], axis=1)
        same = np.repeat(np.arange(10), 3)
        inside = (same[chain[:, 0]] == same[chain[:, 1]]).astype(float)
        graphs.append(Graph(np.c_[x, np.arange(30) % 3 == 0], chain, inside[:, None], labels=y))
    codes = all_codes(graphs)
    trees = ExtraTreesClassifier(30, min_samples_leaf=3, random_state=0)
    right = [
        (fit_base(trees, features, graphs, codes, 2).held_out.argmax(axis=1) == codes).mean()
        for features in ("edges", "context")
    ]
    assert right[0] < 0.8
    assert right[1] > 0.95


@pytest.mark.parametrize("case", ["no features", "one class", "one node"])
def test_little_to_learn_from_is_no_error(case):
    graphs = {
        "no features": [Graph(np.empty((3, 0)), None, labels=[0, 1, 0]) for _ in range(2)],
        "one class": [Graph(np.arange(3.0)[:, None], None, labels=[1, 1, 1]) for _ in range(2)],
        "one node": [Graph([[1.0]], None, labels=[1])],
    }[case]
    base = fit_base("trees", "edges", graphs, all_codes(graphs), 2)
    assert np.isfinite(base.held_out).all()
    assert np.isfinite(base.log_probabilities(graphs)).all()


def test_nodes_without_weight_are_not_learned_from():
    """Not even where all that a forest may see has none, of which scikit-learn would complain."""
    weights = [1.0, 0.0, 1.0, 0.0]
    graphs = [replace(g, node_weights=np.full(12, w)) for g, w in zip(sample_graphs(4), weights, strict=True)]
    codes = all_codes(graphs)
    wrong = codes.copy()
    wrong[12:24] = wrong[36:] = 0
    one, two = (fit_base("trees", "edges", graphs, given, 3) for given in (codes, wrong))
    assert (one.held_out == two.held_out).all()
    assert np.isfinite(fit_base("trees", "edges", graphs[:2], codes[:24], 3).held_out).all()


@pytest.mark.parametrize("features", ["edges", "context"])
def test_columns_of_trees_stand_alone_from_0_to_1(features):
    graphs = sample_graphs(6, n_nodes=9)
    codes = np.concatenate([g.labels for g in graphs])
    base = fit_base("trees", features, graphs, codes, 3)
    joined = np.vstack([g.node_features for g in base.join(graphs, base.held_out)])
    assert joined.shape == (len(codes), 4)
    assert (joined[:, 0] == 1.0).all()
    assert joined.min() >= -1e-6  # rounding of single precision
    np.testing.assert_allclose(joined[:, 1:], 1.0 - base.held_out / np.log(1e-3), atol=1e-6)
    assert base.columns_after(("a", "b"), "xyz") == ("1", "log p(x)", "log p(y)", "log p(z)")


@pytest.mark.parametrize(
    ("kind", "features"), [("trees", "own"), (ExtraTreesClassifier(5, random_state=0), "edges")]
)
def test_columns_of_what_may_not_have_seen_all_stand_beside_the_features(kind, features):
    graphs = sample_graphs(6, n_nodes=9)
    codes = np.concatenate([g.labels for g in graphs])
    base = fit_base(kind, features, graphs, codes, 3)
    joined = np.vstack([g.node_features for g in base.join(graphs, base.held_out)])
    width = graphs[0].node_dim
    assert np.array_equal(joined[:, :width], np.vstack([g.node_features for g in graphs]))
    assert np.array_equal(joined[:, width:], base.held_out)
    assert base.columns_after(("a", "b"), "xyz") == ("a", "b", "log p(x)", "log p(y)", "log p(z)")


def test_rounds_of_context_say_together_what_a_node_is():
    graphs, others = sample_graphs(6, n_nodes=9), sample_graphs(3, n_nodes=9)
    codes = np.concatenate([g.labels for g in graphs])
    base = fit_base("trees", "context", graphs, codes, 3)
    rounds = base.by_round(others)
    assert len(rounds) == 3
    np.testing.assert_allclose(base.log_probabilities(others), np.mean(rounds, axis=0), rtol=1e-6)
    first = fit_base("trees", "edges", graphs, codes, 3)
    assert np.array_equal(first.log_probabilities(others), rounds[0])
    last = np.log(np.maximum(base.said, 1e-3))
    middle = 3.0 * base.held_out - first.held_out - last  # what the second round has said
    assert (np.exp(middle) >= 1e-3 - 1e-6).all()
    assert (np.exp(middle) <= 1.0 + 1e-6).all()
    np.testing.assert_allclose(np.exp(middle).sum(axis=1), 1.0, atol=3e-3)  # 1, but for what is clipped


@pytest.mark.parametrize(("nodes", "first", "later"), [(100, 150, 75), (20_000, 75, 37), (10**6, 50, 25)])
def test_later_rounds_have_half_the_trees(nodes, first, later):
    assert _trees(nodes, 0, 1).n_estimators == first
    assert _trees(nodes, 0, 1, later=True).n_estimators == later


def test_a_file_of_before_has_the_columns_of_its_last_round():
    graphs = sample_graphs(6, n_nodes=9)
    codes = np.concatenate([g.labels for g in graphs])
    arrays, document = fit_base("trees", "context", graphs, codes, 3).to_state()
    raw = Columns(("a",) * graphs[0].node_dim, ("b",) * graphs[0].edge_dim, (), ())
    now = Base.from_state(arrays, document, raw)
    before = Base.from_state(arrays, {k: v for k, v in document.items() if k != "mean"}, raw)
    assert np.array_equal(before.log_probabilities(graphs), now.by_round(graphs)[-1])
    assert not np.array_equal(before.log_probabilities(graphs), now.log_probabilities(graphs))


@pytest.mark.parametrize("flag", ["alone", "mean"])
@pytest.mark.parametrize("said", [1, "yes", None])
def test_a_file_says_of_columns_yes_or_no(flag, said):
    graphs = sample_graphs(6, n_nodes=9)
    codes = np.concatenate([g.labels for g in graphs])
    base = fit_base("trees", "edges", graphs, codes, 3)
    raw = Columns(("a",) * graphs[0].node_dim, ("b",) * graphs[0].edge_dim, (), ())
    arrays, document = base.to_state()
    assert Base.from_state(arrays, document, raw).alone
    with pytest.raises(ValueError, match="unknown"):
        Base.from_state(arrays, document | {flag: said}, raw)

"""One-hot oracles against enumeration: exactness, valid bounds, planes that are those of their labelings."""

from __future__ import annotations

import numpy as np
import pytest

from gapcut.engines import OutOfTime
from gapcut.inference import METHODS
from gapcut.oracles import TreeOracle, TrwsOracle
from gapcut.oracles.kinds import KINDS
from gapcut.oracles.lp import LpOracle
from gapcut.oracles.methods import MethodOracle
from gapcut.oracles.roof import RoofOracle
from gapcut.problem import learning_problem
from one_hot import all_one_hot_planes, random_weights, tiny_one_hot
from tiny import TinyGraph, enumerated_planes


def check_answers(oracle, problem, planes, w, *, exact: bool, tolerance: float = 1e-9):
    """Planes exist among the enumerated ones, bounds are valid; exact ones attain the maximum. Returns the
    gaps between bound and maximum, relative to the magnitudes."""
    found = oracle.evaluate(w)
    gaps = []
    mass = problem.n_graphs * float(problem.absolute_mean @ np.abs(w))
    for i, (rows, losses) in enumerate(planes):
        slack = losses - rows @ w
        best = max(0.0, slack.max())
        size = 1.0 + problem.loss_scale + mass
        mine = found.losses[i] - found.planes[i] @ w
        scale = 1e-12 * (1.0 + np.abs(rows).max())
        twin = (np.abs(rows - found.planes[i]).max(axis=1) <= scale) & (
            np.abs(losses - found.losses[i]) <= 1e-12 * size
        )
        assert twin.any(), "the plane is no labeling's"
        assert found.bounds[i] >= best - 1e-13 * size
        if exact:
            assert mine >= best - tolerance * size
            assert found.bounds[i] <= best + tolerance * size
        gaps.append((found.bounds[i] - best) / size)
    return np.array(gaps)


def check_total(oracle, w):
    """Means of what evaluate returns, the same in part and whole."""
    each, total = oracle.evaluate(w), oracle.total(w)
    np.testing.assert_allclose(total.plane, each.planes.mean(axis=0), rtol=1e-12, atol=1e-9)
    assert total.loss == pytest.approx(each.losses.mean(), rel=1e-12)
    assert each.bounds.mean() * (1 - 1e-12) <= total.bound <= each.bounds.mean() * (1 + 1e-9) + 1e-12


def test_tree_is_exact_on_1000_forests():
    rng = np.random.default_rng(1)
    for _ in range(250):
        problem, graphs, labels = tiny_one_hot(rng, 4, trees=True)
        planes = all_one_hot_planes(problem, graphs, labels)
        oracle = TreeOracle(problem)
        w = random_weights(rng, problem)
        check_answers(oracle, problem, planes, w, exact=True, tolerance=1e-12)
        check_total(oracle, w)


def test_trws_bounds_hold_on_1000_graphs():
    rng = np.random.default_rng(2)
    gaps = []
    for _ in range(250):
        problem, graphs, labels = tiny_one_hot(rng, 4)
        planes = all_one_hot_planes(problem, graphs, labels)
        w = random_weights(rng, problem)
        oracle = TrwsOracle(problem, max_sweeps=int(rng.choice([1, 5, 30])), warm=False)
        gaps.append(check_answers(oracle, problem, planes, w, exact=False))
        check_total(oracle, w)
    assert np.mean(np.concatenate(gaps) < 1e-6) > 0.7


def test_trws_bounds_hold_when_messages_are_kept():
    """Small steps, jumps over many orders of magnitude and zero in turn: whatever the messages were made for, bounds
    stay proven; asked again at the same weights they do not get worse by more than rounding, and often better."""
    rng = np.random.default_rng(12)
    better = 0
    for _ in range(60):
        problem, graphs, labels = tiny_one_hot(rng, 4)
        planes = all_one_hot_planes(problem, graphs, labels)
        oracle, threaded = (TrwsOracle(problem, n, max_sweeps=2) for n in (1, 3))
        w = random_weights(rng, problem)
        for scale in (1.0, 1.0, 1e-9, 1e12, 1.0, 0.0, 1.0):
            w = w + 0.1 * random_weights(rng, problem)
            check_answers(oracle, problem, planes, scale * w, exact=False)
            threaded.evaluate(scale * w)
        first, other = oracle.evaluate(w), threaded.evaluate(w)
        np.testing.assert_array_equal(first.planes, other.planes)
        np.testing.assert_array_equal(first.bounds, other.bounds)
        oracle = TrwsOracle(problem, max_sweeps=1)
        first, again = oracle.evaluate(w), oracle.evaluate(w)
        assert (again.bounds <= first.bounds + 1e-9 * (1.0 + np.abs(first.bounds))).all()
        better += int((again.bounds < first.bounds - 1e-9).any())
    assert better > 0


def test_trws_is_exact_on_forests():
    rng = np.random.default_rng(3)
    for _ in range(100):
        problem, graphs, labels = tiny_one_hot(rng, 3, trees=True)
        planes = all_one_hot_planes(problem, graphs, labels)
        check_answers(TrwsOracle(problem), problem, planes, random_weights(rng, problem), exact=True)


@pytest.mark.skipif("ilp" not in METHODS, reason="this version has no integer programs")
def test_ilp_is_exact_on_1000_graphs():
    rng = np.random.default_rng(4)
    for _ in range(250):
        problem, graphs, labels = tiny_one_hot(rng, 4, most=60)
        planes = all_one_hot_planes(problem, graphs, labels)
        oracle = KINDS["ilp"].make(problem, 1)
        check_answers(oracle, problem, planes, random_weights(rng, problem), exact=True, tolerance=1e-6)


def test_lp_bounds_hold_and_planes_are_in_the_polytope():
    """400 graphs. The plane of a point of the polytope never has more slack than the bound, which is the
    polytope's maximum; the maximum over labelings is below it."""
    rng = np.random.default_rng(5)
    tight = fractional = 0
    for _ in range(100):
        problem, graphs, labels = tiny_one_hot(rng, 4, most=60)
        planes = all_one_hot_planes(problem, graphs, labels)
        w = random_weights(rng, problem)
        found = LpOracle(problem).evaluate(w)
        for i, (rows, losses) in enumerate(planes):
            size = 1.0 + np.abs(losses).max() + (np.abs(rows) @ np.abs(w)).max()
            best, mine = max(0.0, (losses - rows @ w).max()), found.losses[i] - found.planes[i] @ w
            assert found.bounds[i] >= best - 1e-13 * size
            assert mine <= found.bounds[i] + 1e-13 * size
            assert found.bounds[i] <= max(0.0, mine) + 1e-6 * size
            tight += found.bounds[i] <= best + 1e-6 * size
            fractional += found.bounds[i] > best + 1e-6 * size
    assert tight > 360
    assert fractional > 0


def test_icm_proves_nothing_but_returns_labelings():
    rng = np.random.default_rng(6)
    for _ in range(100):
        problem, graphs, labels = tiny_one_hot(rng, 2)
        oracle = MethodOracle(problem, "icm", proven=False)
        w = random_weights(rng, problem)
        check_answers(oracle, problem, all_one_hot_planes(problem, graphs, labels), w, exact=False)
        assert np.isinf(oracle.evaluate(w).bounds).all()


def test_methods_that_do_not_exist_are_refused():
    problem, *_ = tiny_one_hot(np.random.default_rng(0))
    with pytest.raises(ValueError, match="oracle='magic' needs the inference method 'magic'"):
        MethodOracle(problem, "magic", proven=False)


def _binary_problems(rng, count):
    """Any problem, and every other time one with strong pairs that are likely to be frustrated."""
    made = 0
    while made < count:
        problem, graphs, labels = tiny_one_hot(rng, 1)
        if made % 2:
            edges = np.array([[0, 1], [1, 2], [2, 3], [3, 0], [0, 2]])
            graphs = [TinyGraph(rng.normal(size=(4, 1)), edges, rng.normal(size=(5, 1)))]
            labels = [rng.integers(2, size=4)]
            problem = learning_problem(
                graphs, labels, n_labels=2, C=1.0, loss_scale=0.01, lower=np.full(6, -np.inf)
            )
        if graphs[0].n_nodes * problem.n_labels <= 9:
            made += 1
            yield problem, graphs[0], labels[0]


def test_half_labels_are_persistent_and_products_are_mixtures():
    """Fixed indicators agree with some maximiser over independent indicators; a product plane never has more
    slack than the best labeling, and where roof duality labels everything, exactly as much."""
    rng = np.random.default_rng(7)
    halves = 0
    for problem, graph, labels in _binary_problems(rng, 300):
        w = random_weights(rng, problem)
        w[: problem.unary_count] *= rng.choice([1.0, 0.0])
        rows, losses = enumerated_planes(problem, graph, labels)
        slack = losses - rows @ w
        size = 1.0 + np.abs(losses).max() + (np.abs(rows) @ np.abs(w)).max()
        oracle = RoofOracle(problem)
        z = oracle.half_labels(oracle.energy(w, 0), _forever())
        found = oracle.evaluate(w)
        mine = found.losses[0] - found.planes[0] @ w
        assert mine <= slack.max() + 1e-12 * size
        open_ = z == 0.5
        if not open_.any():
            assert mine >= slack.max() - 1e-9 * size
        halves += open_.any()
        assert np.isinf(found.bounds).all()
    assert halves > 5


def test_rounding_rules():
    """Two nodes whose indicators repel and attract in a frustrated way: all stay open, and the rules differ
    only in the label pairs: 1/4 each, 1/2 where the score is positive, 1/2 where it is negative."""
    edges = np.array([[0, 1], [1, 2], [0, 2]])
    graph = TinyGraph(np.ones((3, 1)), edges, np.ones((3, 1)))
    labels = [np.array([0, 0, 0])]
    problem = learning_problem([graph], labels, n_labels=2, C=1.0, loss_scale=0.01, lower=np.full(6, -np.inf))
    # -x'y for equal labels and +x'y for different ones, on a triangle whose third edge is reversed by weights
    w = np.array([0.0, 0.0, -4.0, 3.0, 3.0, -4.0])
    planes = {rule: RoofOracle(problem, rule=rule) for rule in ("product", "score", "energy")}
    z = planes["product"].half_labels(planes["product"].energy(w, 0), _forever())
    assert (z == 0.5).all()
    truth = np.array([3.0, 0.0, 0.0, 0.0])
    for rule, share in (("product", [0.25] * 4), ("score", [0, 0.5, 0.5, 0]), ("energy", [0.5, 0, 0, 0.5])):
        found = planes[rule].evaluate(w)
        np.testing.assert_allclose(found.planes[0, 2:], truth - 3.0 * np.array(share))
        np.testing.assert_allclose(found.planes[0, :2], [3.0 - 1.5, -1.5])
        assert found.losses[0] == pytest.approx(6 * 0.5 * 0.01 / 6)
    with pytest.raises(ValueError, match="rule='half' is unknown"):
        RoofOracle(problem, rule="half")


@pytest.mark.parametrize("name", ["tree", "trws", "icm", "qpbo", "qpbo-rounded", "qpbo-rounded-energy", "lp"])
def test_answers_do_not_depend_on_threads(name):
    rng = np.random.default_rng(8)
    problem, *_ = tiny_one_hot(rng, 20, trees=True, most=20)
    w = random_weights(rng, problem)
    one, three = KINDS[name].make(problem, 1), KINDS[name].make(problem, 3)
    for a, b in ((one.evaluate(w), three.evaluate(w)), (one.evaluate(w, [3, 1]), three.evaluate(w, [3, 1]))):
        assert np.array_equal(a.planes, b.planes)
        assert np.array_equal(a.bounds, b.bounds)
    assert np.array_equal(one.total(w).plane, three.total(w).plane)
    assert one.total(w).bound == three.total(w).bound


@pytest.mark.parametrize("name", ["tree", "trws", "icm", "qpbo", "lp"])
def test_out_of_time(name):
    problem, *_ = tiny_one_hot(np.random.default_rng(9), 20, trees=True)
    with pytest.raises(OutOfTime):
        KINDS[name].make(problem, 1).evaluate(np.zeros(problem.dim), time_left=0.0)


def test_cycles_are_refused_by_name():
    graph = TinyGraph(np.ones((4, 1)), np.array([[0, 1], [1, 2], [3, 2], [0, 3]]), np.ones((4, 1)))
    line = TinyGraph(np.ones((2, 1)), np.array([[0, 1], [1, 0]]), np.ones((2, 1)))
    labels = [np.array([0, 1]), np.array([0, 1, 0, 1])]
    problem = learning_problem([line, graph], labels, n_labels=2, C=1.0, loss_scale=1.0)
    with pytest.raises(ValueError, match=r"graph 1 has one at node .*: use oracle='trws'"):
        TreeOracle(problem)


def test_a_long_chain_needs_no_stack():
    n = 100_000
    edges = np.stack([np.arange(n - 1), np.arange(1, n)], axis=1)
    rng = np.random.default_rng(10)
    graph = TinyGraph(rng.normal(size=(n, 1)), edges, np.ones((n - 1, 1)))
    labels = [rng.integers(3, size=n)]
    problem = learning_problem([graph], labels, n_labels=3, C=1.0, loss_scale=100.0)
    w = np.abs(rng.normal(size=problem.dim))
    tree, trws = TreeOracle(problem).evaluate(w), TrwsOracle(problem).evaluate(w)
    assert tree.bounds[0] == pytest.approx(trws.bounds[0], rel=1e-9)
    assert tree.losses[0] - tree.planes[0] @ w == pytest.approx(tree.bounds[0], rel=1e-6)


@pytest.mark.parametrize("name", ["tree", "trws"])
def test_bad_weights_are_refused(name):
    problem, *_ = tiny_one_hot(np.random.default_rng(11), trees=True)
    oracle = KINDS[name].make(problem, 1)
    with pytest.raises(ValueError, match="finite"):
        oracle.evaluate(np.full(problem.dim, np.nan))
    with pytest.raises(ValueError, match="length"):
        oracle.evaluate(np.zeros(problem.dim + 1))
    with pytest.raises(ValueError, match="no graph 7"):
        oracle.evaluate(np.zeros(problem.dim), [7])
    with pytest.raises(OverflowError, match="too large"):
        oracle.evaluate(np.full(problem.dim, 1e308))


def _forever():
    from gapcut.engines import Deadline

    return Deadline(None)

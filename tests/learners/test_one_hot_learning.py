"""One-hot learning problems: certificates bracket the optimum found by enumeration, whatever learner and oracle."""

from __future__ import annotations

import json
import warnings

import numpy as np
import pytest

from brute_oracle import BruteOracle, enumerated_optimum, objective
from gapcut import Graph, StructuredSVM
from gapcut.inference import METHODS
from gapcut.learners import Block, CuttingPlane, FrankWolfe, Limits, Subgradient
from gapcut.oracles.kinds import KINDS
from gapcut.problem import learning_problem
from one_hot import all_one_hot_planes, tiny_one_hot
from tiny import TinyGraph, tiny_graph

LEARNERS = {
    "block": Block(),
    "cutting-plane": CuttingPlane(),
    "frank-wolfe": FrankWolfe(),
    "subgradient": Subgradient(),
}
NAMES = [name for name in KINDS if name != "brute" and (name not in ("ilp", "bp") or name in METHODS)]
PROVEN = [name for name in NAMES if KINDS[name].proven and name != "cut"]


@pytest.mark.parametrize("free", [True, pytest.param(False, marks=pytest.mark.slow)])
@pytest.mark.parametrize("oracle", PROVEN)
@pytest.mark.parametrize("learner", LEARNERS)
def test_certificates_bracket_the_enumerated_optimum(learner, oracle, free):
    """The upper end also holds for the LP-relaxed problem, which is above; there the lower end may be as well."""
    rng = np.random.default_rng(100 + free)
    certified = 0
    for _ in range(8):
        problem, graphs, labels = tiny_one_hot(
            rng, int(rng.integers(1, 5)), trees=oracle == "tree", free=free, C=5.0, most=30
        )
        planes = all_one_hot_planes(problem, graphs, labels)
        limits = Limits(gap=0.01, max_passes=40)
        result = LEARNERS[learner].run(problem, KINDS[oracle].make(problem, 1), limits)
        low, high = enumerated_optimum(problem, planes)
        assert high - low <= 1e-6 * (1.0 + high)
        if oracle != "lp":
            assert result.certificate.lower <= high
        assert result.certificate.lower <= result.certificate.upper
        assert low <= result.certificate.upper
        assert objective(problem, planes, result.weights) <= result.certificate.upper * (1 + 1e-12) + 1e-12
        assert (problem.clamp(result.weights) == result.weights).all()
        certified += result.certificate.status == "certified"
    assert certified >= (5 if learner in ("block", "cutting-plane") else 1)


@pytest.mark.parametrize("learner", LEARNERS)
@pytest.mark.parametrize("oracle", ["icm", "qpbo", "qpbo-rounded", *(["bp"] if "bp" in METHODS else [])])
def test_inexact_oracles_end_uncertified(learner, oracle):
    rng = np.random.default_rng(5)
    for _ in range(3):
        problem, graphs, labels = tiny_one_hot(rng, 3, C=5.0, most=30)
        made = KINDS[oracle].make(problem, 1)
        result = LEARNERS[learner].run(problem, made, Limits(gap=0.01, max_passes=30))
        assert result.certificate.status == "uncertified"
        assert result.certificate.upper == np.inf
        assert "proves no bound" in result.message
        if oracle == "icm":
            assert (
                result.certificate.lower
                <= enumerated_optimum(problem, all_one_hot_planes(problem, graphs, labels))[1]
            )
        if oracle == "qpbo-rounded":
            assert result.certificate.lower == 0.0


@pytest.mark.parametrize("proven", [True, False])
def test_impossible_violations_are_reported(proven):
    """An oracle that answers with the third best labeling soon returns less violated planes than it has before."""
    rng = np.random.default_rng(6)
    seen = 0
    for _ in range(40):
        problem, graphs, labels = tiny_one_hot(rng, 3, C=50.0, most=30)
        if problem.n_labels == 1:
            continue
        oracle = BruteOracle(all_one_hot_planes(problem, graphs, labels), worse=2, proven=proven)
        result = CuttingPlane().run(problem, oracle, Limits(gap=1e-3, max_passes=30))
        assert (result.impossible > 0) == ("impossible violation" in result.message)
        seen += result.impossible > 0
    assert seen >= (3 if proven else 1)  # without a bound the run ends early, at its own apparent gap


def test_exact_oracles_have_no_impossible_violation():
    rng = np.random.default_rng(7)
    for learner in LEARNERS.values():
        problem, *_ = tiny_one_hot(rng, 4, trees=True, C=20.0)
        result = learner.run(problem, KINDS["tree"].make(problem, 1), Limits(gap=1e-3, max_passes=40))
        assert result.impossible == 0


def test_sparse_and_dense_caches_agree(monkeypatch):
    """Few entries a plane or many: the cache changes how fast, not to where."""
    rng = np.random.default_rng(8)
    graphs = [tiny_graph(rng, 3, 2, 2, 1) for _ in range(20)]
    labels = [rng.integers(12, size=3) for _ in range(20)]
    for lower in (None, np.full(12 * 2 + 144, -np.inf)):
        problem = learning_problem(graphs, labels, n_labels=12, C=10.0, loss_scale=4.0, lower=lower)
        results = []
        for below in (0.0, 1.1):
            monkeypatch.setattr("gapcut.learners.block._SPARSE_BELOW", below)
            results.append(
                Block().run(problem, KINDS["trws"].make(problem, 1), Limits(gap=1e-4, max_passes=300))
            )
        assert [r.certificate.status for r in results] == ["certified", "certified"]
        assert results[0].certificate.lower <= results[1].certificate.upper
        assert results[1].certificate.lower <= results[0].certificate.upper


def test_a_small_cache_still_certifies():
    rng = np.random.default_rng(9)
    problem, *_ = tiny_one_hot(rng, 30, C=10.0, most=30)
    result = Block(memory_mb=1e-6).run(
        problem, KINDS["trws"].make(problem, 1), Limits(gap=0.05, max_passes=200)
    )
    assert result.certificate.lower <= result.certificate.upper


@pytest.mark.parametrize("learner", ["auto", "cutting-plane", "frank-wolfe", "subgradient"])
def test_sign_constrained_chains(shared, learner):
    """Optima of five chains by enumeration: one-hot with free and with non-negative pairwise weights."""
    data = json.loads((shared / "cases" / "sign_constrained_chains.json").read_text())
    edges = np.array(data["edges"])
    graphs = [
        Graph(np.array(x), edges, np.ones((len(edges), 1)), labels=y)
        for x, y in zip(data["node_features"], data["labels"], strict=True)
    ]
    done = 0
    for case in data["cases"]:
        if case["labels"] != "one-hot":
            continue
        svm = StructuredSVM(
            C=case["C"],
            loss_scale=case["loss_scale"],
            gap=1e-3,
            max_passes=400,
            learner=learner,
            oracle="tree",
            nonnegative="pairwise" if case["pairwise_nonnegative"] else "none",
            incidence=False,
            intercept=False,
            standardize=False,
        ).fit(graphs)
        certificate = svm.certificate_
        assert certificate.problem == "one-hot"
        assert certificate.lower <= case["optimum"] + 1e-5
        assert certificate.upper >= case["optimum"] - 1e-5
        if learner in ("auto", "cutting-plane"):
            assert certificate.status == "certified"
        done += 1
    assert done == 2


def _words(n_graphs: int, cyclic: bool) -> list[Graph]:
    rng = np.random.default_rng(0)
    edges = [[0, 1], [1, 2], [2, 0]] if cyclic else [[0, 1], [1, 2]]
    return [
        Graph(rng.normal(size=(3, 2)), edges, rng.random((len(edges), 1)), labels=rng.integers(2, size=3))
        for _ in range(n_graphs)
    ]


def test_auto_picks_oracle_learner_and_signs():
    chains, rings = _words(4, False), _words(4, True)
    assert StructuredSVM(oracle="auto").fit(chains).certificate_.problem == "one-hot"
    assert StructuredSVM(oracle="auto").fit(rings).certificate_.problem == "relaxed binary"
    assert (
        StructuredSVM(oracle="auto", learner="primal-dual").fit(chains).certificate_.problem
        == "relaxed binary"
    )
    free = StructuredSVM(oracle="tree", C=100.0).fit(chains)
    signed = StructuredSVM(oracle="tree", C=100.0, nonnegative="pairwise").fit(chains)
    assert free.pairwise_.min() < 0.0 <= signed.pairwise_.min()
    assert len(StructuredSVM(oracle="auto").fit_path(chains, [0.1, 1.0])) == 2


@pytest.mark.parametrize("oracle", [name for name in NAMES if not KINDS[name].proven])
@pytest.mark.parametrize("learner", LEARNERS)
def test_an_oracle_that_proves_nothing_never_certifies(learner, oracle):
    """Not even what holds of the weights before the first pass, whatever the target and wherever the run ends."""
    assert not KINDS[oracle].make(tiny_one_hot(np.random.default_rng(0), 2)[0]).proven
    for limits in ({"time_limit": 0.0}, {"max_passes": 1}, {"max_passes": 3}):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            svm = StructuredSVM(learner=learner, oracle=oracle, gap=0.9, C=1e-3, **limits).fit(
                _words(3, False)
            )
        assert svm.certificate_.status == "uncertified"
        assert svm.certificate_.upper == np.inf


@pytest.mark.parametrize("oracle", NAMES)
@pytest.mark.parametrize("learner", ["auto", *LEARNERS])
def test_every_sensible_pair_runs(learner, oracle):
    svm = StructuredSVM(learner=learner, oracle=oracle, max_passes=3).fit(_words(3, False))
    assert svm.certificate_.problem == KINDS[oracle].solves
    assert len(svm.predict(_words(2, False))) == 2


@pytest.mark.parametrize("oracle", [name for name in NAMES if not KINDS[name].relaxation])
def test_primal_dual_needs_a_relaxation(oracle):
    with pytest.raises(ValueError, match=f"learner='primal-dual' is not compatible with oracle='{oracle}'"):
        StructuredSVM(learner="primal-dual", oracle=oracle).fit(_words(2, False))


def test_refusals():
    with pytest.raises(ValueError, match="nonnegative='none' is not compatible with oracle='cut'"):
        StructuredSVM(oracle="cut", nonnegative="none").fit(_words(2, False))
    with pytest.raises(ValueError, match="needs graphs without cycles, but graph 0 has one"):
        StructuredSVM(oracle="tree").fit(_words(2, True))


def test_node_weights_count_in_the_one_hot_loss():
    """A weight of 3 is a node thrice as dear: at w = 0 all is wrong, at another w only the light one."""
    graph = TinyGraph(
        np.ones((2, 1)), np.zeros((0, 2), dtype=np.int64), np.zeros((0, 1)), np.array([3.0, 1.0])
    )
    problem = learning_problem([graph], [np.array([0, 1])], n_labels=2, C=1.0, loss_scale=8.0)
    found = KINDS["tree"].make(problem, 1).evaluate(np.zeros(problem.dim))
    assert found.losses[0] == pytest.approx(8.0)
    away = KINDS["tree"].make(problem, 1).evaluate(np.array([4.0, -4.0]))
    assert away.losses[0] == pytest.approx(2.0)

"""``pairwise="symmetric"`` and ``"potts"``: weights that label pairs share."""

from __future__ import annotations

import numpy as np
import pytest

from gapcut import Graph, StructuredSVM, datasets
from gapcut.model.proof import check_provable


@pytest.fixture(scope="module")
def graphs():
    return datasets.make_planted(12, seed=3)


@pytest.fixture(scope="module")
def weights(graphs):
    """How many pairwise ones there are."""
    return StructuredSVM(gap=0.9).fit(graphs).pairwise_.shape


def is_tied(kind: str, pairwise: np.ndarray) -> bool:
    if kind == "symmetric":
        return np.array_equal(pairwise, pairwise.transpose(1, 0, 2))
    K = len(pairwise)
    different = ~np.eye(K, dtype=bool)
    return not pairwise[different].any() and all(
        np.array_equal(pairwise[k, k], pairwise[0, 0]) for k in range(K)
    )


@pytest.mark.parametrize("kind", ["symmetric", "potts"])
@pytest.mark.parametrize("oracle", ["cut", "lp", "trws"])
def test_a_model_shares_its_weights_and_its_claim_holds(kind, oracle, graphs, tmp_path):
    svm = StructuredSVM(pairwise=kind, oracle=oracle, gap=0.05, max_passes=60).fit(graphs)
    assert svm.certificate_.status == "certified"
    assert is_tied(kind, svm.pairwise_)
    assert svm.pairwise_.any()
    assert svm.check(graphs).verdict == "holds"
    svm.save(tmp_path / "model.npz")
    loaded = StructuredSVM.load(tmp_path / "model.npz")
    assert loaded.pairwise == kind
    assert np.array_equal(loaded.pairwise_, svm.pairwise_)
    assert loaded.check(graphs).verdict == "holds"


def test_fewer_weights_fit_less_well(graphs):
    """The sets of weights are nested up to the norm, which counts a shared weight once: with little weight on it the
    objective can only grow."""
    upper = {}
    for kind in ("full", "symmetric", "potts"):
        svm = StructuredSVM(pairwise=kind, C=1000.0, gap=0.01).fit(graphs)
        upper[kind] = svm.certificate_.upper
    assert upper["full"] < upper["symmetric"] < upper["potts"]


def test_the_reverse_of_every_edge_changes_nothing_but_incidence(graphs):
    reverse = [
        Graph(
            node_features=g.node_features,
            edges=g.edges[:, ::-1].copy(),
            edge_features=g.edge_features,
            labels=g.labels,
        )
        for g in graphs
    ]
    svm = StructuredSVM(pairwise="symmetric", incidence=False, C=10.0).fit(graphs)
    for there, back in zip(graphs, reverse, strict=True):
        assert svm.infer(there).energy == pytest.approx(svm.infer(back).energy, rel=1e-12)


def test_the_state_on_disk_gives_the_same_bits(graphs, tmp_path):
    fits = [
        StructuredSVM(pairwise="symmetric", engine=engine, address=address, n_jobs=jobs).fit(graphs)
        for engine, address, jobs in (("threads", None, 1), ("threads", None, 2), ("disk", str(tmp_path), 1))
    ]
    for other in fits[1:]:
        assert np.array_equal(other.pairwise_, fits[0].pairwise_)
        assert np.array_equal(other.unary_, fits[0].unary_)


def test_a_model_with_a_weight_that_left_its_pair_is_caught(graphs):
    svm = StructuredSVM(pairwise="symmetric").fit(graphs)
    k, m = np.argwhere(np.triu(svm.pairwise_.any(axis=2), 1))[0]
    svm.pairwise_[k, m] += 1.0
    check = svm.check(graphs)
    assert check.verdict == "violated"
    assert "share" in check.reason


def test_what_contradicts_the_ties_is_refused(graphs, weights):
    K, _, De = weights
    free = np.full((K, K, De), np.nan)
    free[0, 1, 0] = 1.0
    with pytest.raises(ValueError, match="frozen\\['pairwise'\\] differs between label pairs that share"):
        StructuredSVM(pairwise="symmetric", frozen={"pairwise": free}).fit(graphs)
    with pytest.raises(ValueError, match="fixes weights of different labels"):
        StructuredSVM(pairwise="potts", frozen={"pairwise": free}).fit(graphs)
    signs = np.ones((K, K, De), dtype=bool)
    signs[1, 1, 0] = False
    with pytest.raises(ValueError, match="nonnegative\\['pairwise'\\] differs"):
        StructuredSVM(pairwise="potts", oracle="trws", nonnegative=signs).fit(graphs)
    with pytest.raises(ValueError, match="pairwise='both' must be"):
        StructuredSVM(pairwise="both").fit(graphs)


def test_proofs_say_why_there_is_none(graphs):
    svm = StructuredSVM(pairwise="potts")
    with pytest.raises(ValueError, match="pairwise='potts' has some shared"):
        svm.fit_proven(graphs)
    with pytest.raises(ValueError, match="pairwise='potts' has some shared"):
        check_provable(svm._settings().settled(graphs), graphs)


def test_frozen_weights_that_agree_are_kept(graphs, weights):
    K, _, De = weights
    given = np.full((K, K, De), np.nan)
    given[0, 1, 0] = given[1, 0, 0] = 0.25
    svm = StructuredSVM(pairwise="symmetric", frozen={"pairwise": given}).fit(graphs)
    assert svm.pairwise_[0, 1, 0] == svm.pairwise_[1, 0, 0] == 0.25
    assert svm.certificate_.status == "certified"

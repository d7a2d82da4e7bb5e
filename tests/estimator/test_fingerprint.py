"""The fingerprint tells other data apart: certificates and checkpoints are never taken for those of other data."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from gapcut import CliqueSet, Graph, StructuredSVM
from gapcut.model.claim import check_claim

PLAIN: dict[str, Any] = {"C": 10.0, "standardize": False, "gap": 1e-4}


def two_sets_with_equal_sums() -> tuple[list[Graph], list[Graph]]:
    """In the second, other nodes of the same label own the features: every sum is the same."""
    rng = np.random.default_rng(0)
    first, second = [], []
    labels = np.array([0, 1] * 6)
    edges = [[a, a + 1] for a in range(11)]
    for _ in range(4):
        rows = rng.integers(-4, 5, size=(12, 3)).astype(float)
        links = rng.integers(0, 4, size=(11, 2)).astype(float)
        moved = rows.copy()
        for k in (0, 1):
            moved[labels == k] = rows[labels == k][::-1]
        first.append(Graph(rows, edges, links, labels))
        second.append(Graph(moved, edges, links, labels))
    return first, second


def test_data_of_equal_sums_are_other_data(tmp_path) -> None:
    first, second = two_sets_with_equal_sums()
    one, two = StructuredSVM(**PLAIN).fit(first), StructuredSVM(**PLAIN).fit(second)
    assert one.model_.data.fingerprint != two.model_.data.fingerprint
    StructuredSVM(max_passes=1, checkpoint=tmp_path / "c", **PLAIN).fit(first)
    with pytest.raises(ValueError, match="belongs to other data"):
        StructuredSVM(checkpoint=tmp_path / "c", **PLAIN).fit(second)
    found = check_claim(one.model_, one._settings(), second)
    assert (found.same_data, found.verdict) == (False, "not reproduced")
    assert "not those the model was trained with" in found.reason
    assert check_claim(one.model_, one._settings(), first).verdict == "holds"


def test_an_older_fingerprint_disproves_nothing() -> None:
    first, second = two_sets_with_equal_sums()
    svm = StructuredSVM(**PLAIN).fit(first)
    old = replace(svm.model_, data=replace(svm.model_.data, fingerprint="ab" * 32))
    assert check_claim(old, svm._settings(), first).verdict == "holds"
    false = replace(old, unary=old.unary + 1.0)
    found = check_claim(false, svm._settings(), second, 5.0)
    assert (found.same_data, found.verdict) == (None, "not reproduced")
    assert "older fingerprint" in found.reason


def small_graph(rng: np.random.Generator) -> dict[str, Any]:
    n = int(rng.integers(4, 8))
    return {
        "node_features": rng.normal(size=(n, 2)),
        "edges": np.stack([np.arange(n - 1), np.arange(1, n)], axis=1),
        "edge_features": rng.random((n - 1, 2)),
        "labels": np.resize([0, 1], n),
        "node_weights": rng.integers(1, 5, n).astype(float),
        "cliques": [(np.array([[0, 1, 2], [1, 2, 3]]), rng.random((2, 1)))],
    }


def graph_of(arrays: dict[str, Any]) -> Graph:
    return Graph(**{**arrays, "cliques": [CliqueSet(*group, tuples="equal") for group in arrays["cliques"]]})


def fingerprint(parts: list[dict[str, Any]]) -> str:
    svm = StructuredSVM(
        max_passes=1, time_limit=0, standardize=False, edge_lift="none", incidence=False, learner="block"
    )
    return svm.fit([graph_of(arrays) for arrays in parts]).model_.data.fingerprint


@given(
    seed=st.integers(0, 2**32 - 1),
    what=st.sampled_from(["nodes", "edges", "links", "labels", "weights", "cliques"]),
)
@settings(max_examples=60, deadline=None)
def test_any_change_is_seen(seed: int, what: str) -> None:
    rng = np.random.default_rng(seed)
    parts = [small_graph(rng) for _ in range(int(rng.integers(1, 4)))]
    before = fingerprint(parts)
    assert fingerprint([{**p, "node_features": sp.csr_array(p["node_features"])} for p in parts]) == before
    chosen = parts[int(rng.integers(len(parts)))]
    node, edge = int(rng.integers(len(chosen["labels"]))), int(rng.integers(len(chosen["edges"])))
    if what == "nodes":
        chosen["node_features"][node, 1] = np.nextafter(chosen["node_features"][node, 1], 9.0)
    elif what == "edges":
        chosen["edges"][edge] = chosen["edges"][edge][::-1].copy()
    elif what == "links":
        chosen["edge_features"][edge, 0] = np.nextafter(chosen["edge_features"][edge, 0], 9.0)
    elif what == "labels":
        chosen["labels"][node] = 1 - chosen["labels"][node]
    elif what == "weights":
        chosen["node_weights"][node] += 1.0
    elif rng.random() < 0.5:
        chosen["cliques"][0][1][0, 0] += 1e-9
    else:
        chosen["cliques"][0][0][0] = chosen["cliques"][0][0][0][::-1].copy()
    assert fingerprint(parts) != before

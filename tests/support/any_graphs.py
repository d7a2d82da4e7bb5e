"""Any graph set that files can hold, and what it means that two are the same."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from hypothesis import strategies as st

from gapcut.data import Graph, GraphSet

FINITE = st.floats(allow_nan=False, allow_infinity=False)
LABELS = {
    "int": st.integers(-(2**63), 2**63 - 1),
    "bool": st.booleans(),
    "float": FINITE,
    "str": st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=5),
}


@st.composite
def graph_sets(draw: st.DrawFn) -> GraphSet:
    node_dim, edge_dim = draw(st.integers(0, 3)), draw(st.integers(0, 2))
    label, sparse = draw(st.sampled_from(sorted(LABELS))), draw(st.booleans())
    graphs = []
    for _ in range(draw(st.integers(0, 4))):
        n = draw(st.integers(0, 4))
        pair = st.tuples(st.integers(0, max(0, n - 1)), st.integers(0, max(0, n - 1))).filter(
            lambda p: p[0] != p[1]
        )
        edges = draw(st.lists(pair, max_size=4)) if n > 1 else []
        rows = np.array(draw(st.lists(FINITE, min_size=n * node_dim, max_size=n * node_dim))).reshape(
            n, node_dim
        )
        features = np.array(
            draw(st.lists(FINITE, min_size=len(edges) * edge_dim, max_size=len(edges) * edge_dim))
        )
        labels = st.lists(st.none() | LABELS[label], min_size=n, max_size=n)
        weights = st.lists(st.floats(0, 1e9), min_size=n, max_size=n)
        graphs.append(
            Graph(
                sp.csr_array(rows) if sparse else rows,
                edges,
                features.reshape(len(edges), edge_dim),
                draw(st.none() | labels),
                draw(st.none() | weights),
                name=draw(
                    st.none() | st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=4)
                ),
            )
        )
    extras = {"fold": np.arange(len(graphs)), "keep": np.ones(len(graphs), dtype=bool)}
    named = [f"x{i}" for i in range(node_dim)] if graphs else None
    return GraphSet(graphs, extras=extras, node_feature_names=named)


def assert_same(a: GraphSet, b: GraphSet) -> None:
    assert len(a) == len(b)
    for left, right in zip(a, b, strict=True):
        for name in ("node_features", "edges", "edge_features", "labels", "node_weights", "labelled"):
            one, two = getattr(left, name), getattr(right, name)
            if sp.issparse(one):
                one, two = one.toarray(), two.toarray()
            if one is None:
                assert two is None, name
                continue
            assert one.dtype.kind == two.dtype.kind
            assert one.shape == two.shape
            assert one.tolist() == two.tolist(), name
        assert left.name == right.name
        assert left.is_sparse == right.is_sparse
    assert a.extras.keys() == b.extras.keys()
    assert all(np.array_equal(a.extras[k], b.extras[k]) for k in a.extras)
    assert a.node_feature_names == b.node_feature_names
    assert a.edge_feature_names == b.edge_feature_names

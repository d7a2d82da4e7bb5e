"""Feature steps learned from a folder of parts: the bits of one process that has all graphs, whatever the parts."""

from __future__ import annotations

import io
from collections.abc import Callable

import numpy as np
import pytest
import scipy.sparse as sp

from gapcut.data import Graph, GraphFolder, GraphSet
from gapcut.features import FeaturePipeline, passes, stumps
from sample_cliques import xor_graphs
from sample_graphs import sample_graphs


def uneven(count: int = 12) -> GraphSet:
    """Values of all sizes, ties, constant columns, graphs without edges."""
    rng = np.random.default_rng(0)
    graphs = []
    for k in range(count):
        n = int(rng.integers(1, 40))
        edges = rng.integers(n, size=(2 * n, 2))
        edges = edges[edges[:, 0] != edges[:, 1]][: 0 if k % 4 == 3 else None]
        nodes = rng.normal(size=(n, 5)) * np.array([1e-200, 1e150, 1.0, 0.0, 1.0])
        nodes[:, 4] = rng.integers(3, size=n)
        graphs.append(Graph(nodes, edges, rng.normal(size=(len(edges), 3)) * [1, 1e8, 0], name=f"g{k}"))
    return GraphSet(graphs, node_feature_names=list("abcde"))


def sparse() -> GraphSet:
    return GraphSet(g.with_features(node_features=sp.csr_array(g.node_features)) for g in sample_graphs(8))


OPTIONS = {
    "default": {},
    "stumps": {"edge_lift": "stumps", "node_lift": "stumps", "n_thresholds": 4},
    "scale": {"standardize": "scale", "incidence_scale": "center", "degree_scale": "graph"},
    "node degrees": {"degree_scale": "node", "edge_lift": "all", "intercept": False},
    "plain": {"standardize": False, "edge_lift": "none", "incidence": False, "intercept": False},
}


@pytest.mark.parametrize("part_bytes", [1, 4000])
@pytest.mark.parametrize("options", OPTIONS.values(), ids=OPTIONS)
@pytest.mark.parametrize("make", [uneven, sparse, xor_graphs])
def test_the_bits_of_one_process(
    tmp_path, monkeypatch, make: Callable[[], GraphSet], options: dict[str, object], part_bytes: int
):
    graphs = make()
    graphs.save_parts(tmp_path / "parts", part_bytes)
    folder = GraphFolder(tmp_path / "parts")
    assert folder.n_parts > 1
    whole = FeaturePipeline(**options).fit(graphs)
    monkeypatch.setattr(stumps, "MOST_BYTES", 5000)  # a column or two in one pass
    streamed = FeaturePipeline(**options).fit(folder)
    (arrays, meta), (wanted, known) = streamed.to_state(), whole.to_state()
    assert meta == known
    assert arrays.keys() == wanted.keys()
    for name, values in arrays.items():
        assert values.tobytes() == wanted[name].tobytes(), name
    assert streamed.node_names == whole.node_names


@pytest.mark.parametrize(
    "options", [{}, {"degree_scale": "node", "edge_lift": "all"}, {"standardize": "scale"}]
)
@pytest.mark.parametrize("make", [uneven, sparse, xor_graphs])
def test_two_passes_over_the_parts(tmp_path, monkeypatch, make, options):
    make().save_parts(tmp_path / "parts", 1)
    folder, read = GraphFolder(tmp_path / "parts"), []
    plain = GraphFolder._read

    def noted(self, number):
        read.append(number)
        return plain(self, number)

    monkeypatch.setattr(GraphFolder, "_read", noted)
    FeaturePipeline(**options).fit(folder)
    assert read == 2 * list(range(folder.n_parts))


@pytest.mark.parametrize("step", ["write", "flush"])  # what is written may wait in memory
def test_no_room_for_columns_of_nodes(tmp_path, monkeypatch, step):
    uneven().save_parts(tmp_path / "parts", 1)

    class Full(io.BytesIO):
        def fail(self, *_):
            raise OSError(28, "No space left on device")

    setattr(Full, step, Full.fail)

    monkeypatch.setattr(passes.tempfile, "TemporaryFile", Full)
    with pytest.raises(OSError, match=r"has no room for columns of nodes .* TMPDIR names another"):
        FeaturePipeline().fit(GraphFolder(tmp_path / "parts"))


def test_an_empty_folder(tmp_path):
    GraphSet().save_parts(tmp_path)
    with pytest.raises(ValueError, match="no graphs were given"):
        FeaturePipeline().fit(GraphFolder(tmp_path))

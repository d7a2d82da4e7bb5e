"""Whatever is handed over as an array is refused in one line that says where, and never crashes the process."""

from __future__ import annotations

import subprocess
import sys
import textwrap
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from gapcut.data import CliqueSet, Graph, GraphError

V, E = 7, 6
PATH = [[i, i + 1] for i in range(E)]
SHAPES = {
    "node_features": (V, 2),
    "edges": (E, 2),
    "edge_features": (E, 2),
    "labels": (V, 1),
    "node_weights": (V, 1),
    "clique nodes": (3, 3),
    "clique features": (3, 2),
}
FORMATS = ("csr", "csc", "bsr", "coo", "dia", "dok", "lil")


def graph_with(argument: str, value: Any) -> Graph:
    """A graph in which this one argument is the value."""
    arguments: dict[str, Any] = {"node_features": np.zeros((V, 2)), "edges": PATH}
    if argument.startswith("clique"):
        cliques = {"nodes": [[0, 1, 2], [1, 2, 3], [2, 3, 4]]} | {argument.removeprefix("clique "): value}
        arguments["cliques"] = [CliqueSet(**cliques)]
    else:
        arguments[argument] = value
    return Graph(**arguments)


def test_malformed_sparse_matrices_do_not_crash_the_process() -> None:
    script = """
        import numpy as np, scipy.sparse as sp
        from gapcut.data import CliqueSet, Graph, GraphError
        path = [[i, i + 1] for i in range(6)]
        def bad(rows, format):
            s = getattr(sp, format + "_matrix")(np.ones((rows, 2)))
            s.indices[0] = 2**31 - 1
            return s
        for format in ("csr", "csc", "bsr"):
            for make in (
                lambda: Graph(bad(7, format), path),
                lambda: Graph(np.zeros((7, 2)), bad(6, format)),
                lambda: Graph(np.zeros((7, 2)), path, bad(6, format)),
                lambda: Graph(np.zeros((7, 2)), path, None, bad(7, format)),
                lambda: Graph(np.zeros((7, 2)), path, None, None, bad(7, format)),
                lambda: CliqueSet(bad(3, format)),
                lambda: CliqueSet([[0, 1, 2]], bad(1, format)),
            ):
                try:
                    make()
                except GraphError as error:
                    assert "not a valid sparse matrix" in str(error) and "2147483647" in str(error), error
                else:
                    raise SystemExit("accepted")
    """
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(script)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr


def test_the_line_names_graph_and_row() -> None:
    matrix = sp.csr_array(np.ones((E, 2)))
    matrix.indices[7] = -3
    with pytest.raises(
        GraphError, match=r"graph 'north': edge_features of edge 3 .* index -3 is outside 0 to 1"
    ):
        Graph(np.zeros((V, 2)), PATH, matrix, name="north")
    matrix = sp.csr_array(np.ones((V, 2)))
    matrix.indptr[2] = 99
    with pytest.raises(
        GraphError, match=r"graph: node_features is not a valid sparse matrix: .* do not ascend"
    ):
        Graph(matrix, PATH)


def test_flags_of_a_sparse_matrix_are_not_believed() -> None:
    matrix = sp.csr_array((np.ones(4), np.array([1, 0, 0, 0]), np.array([0, 2, 4])), shape=(2, 2))
    matrix.has_canonical_format = True
    for part in (matrix.data, matrix.indices, matrix.indptr):
        part.flags.writeable = False
    assert Graph(matrix, []).node_features.toarray().tolist() == [[1, 1], [2, 0]]


def damaged(matrix: Any, rng: np.random.Generator) -> Any:
    """One number of its index arrays changed, or an array cut."""
    names = [name for name in ("indices", "indptr", "row", "col", "offsets") if hasattr(matrix, name)]
    if matrix.format == "lil":
        matrix.rows[int(rng.integers(len(matrix.rows)))] = [int(rng.integers(-9, 99))]
        return matrix
    if not names:
        return matrix
    name = names[int(rng.integers(len(names)))]
    part = np.array(getattr(matrix, name))
    if len(part) and rng.random() < 0.8:
        part[int(rng.integers(len(part)))] = rng.choice([-(2**31), -1, 2, 5, 99, 2**31 - 1])
    else:
        part = part[: len(part) // 2]
    setattr(matrix, name, part)
    return matrix


def taken(argument: str, value: Any) -> Graph | None:
    """The graph, or None where it was refused in one line."""
    graph, refusal = None, ""
    try:
        graph = graph_with(argument, value)
    except GraphError as error:
        refusal = str(error)
    assert "\n" not in refusal
    return graph


@given(
    seed=st.integers(0, 2**32 - 1), argument=st.sampled_from(sorted(SHAPES)), format=st.sampled_from(FORMATS)
)
@settings(max_examples=250, deadline=None)
def test_damaged_sparse_matrices_of_every_format(seed: int, argument: str, format: str) -> None:
    rng = np.random.default_rng(seed)
    matrix = getattr(sp, f"{format}_array")(rng.integers(0, 3, SHAPES[argument]).astype(float))
    graph = taken(argument, damaged(matrix, rng))
    if graph is None:
        return
    assert graph.edges.max() < V
    assert np.isfinite(graph.node_features.toarray() if graph.is_sparse else graph.node_features).all()


class Subclass(np.ndarray):
    """No array of its own kind gets in."""


ODD = (
    st.sampled_from(
        [
            np.nan,
            np.inf,
            -np.inf,
            1e400,
            -1,
            0,
            2**63,
            2**64,
            10**400,
            -(10**400),
            1j,
            None,
            "a",
            b"a",
            (),
            [],
            {},
        ]
    )
    | st.floats()
    | st.integers()
)
ARRAYS = st.one_of(
    ODD,
    st.lists(ODD, max_size=8),
    st.lists(st.lists(ODD, max_size=3), max_size=8),
    st.lists(st.lists(ODD, min_size=2, max_size=2), min_size=6, max_size=7),
    st.builds(
        lambda shape, kind: np.zeros(shape, dtype=kind),
        st.sampled_from([(), (0,), (V,), (E, 2), (V, 2), (2, E), (0, 2**40), (V, 2, 1)]),
        st.sampled_from(
            ["f2", "f4", "f8", "g", "i1", "u8", "?", "c8", "U3", "S3", "M8[s]", "m8[s]", "O", [("a", "f8")]]
        ),
    ),
    st.builds(
        lambda rows, mask: np.ma.array(np.zeros((rows, 2)), mask=mask), st.sampled_from([E, V]), st.booleans()
    ),
    st.builds(lambda rows: np.ones((rows, 2)).view(Subclass), st.sampled_from([E, V])),
    st.builds(lambda rows: np.broadcast_to(1.0, (rows, 2**45)), st.sampled_from([E, V])),
)


@given(argument=st.sampled_from(sorted(SHAPES)), value=ARRAYS)
@settings(max_examples=250, deadline=None)
def test_odd_arrays_are_refused_in_one_line_or_taken(argument: str, value: Any) -> None:
    graph = taken(argument, value)
    if graph is None:
        return
    for array in (graph.node_features, graph.edges, graph.edge_features):
        assert type(array) is np.ndarray
        assert np.isfinite(array).all()


@pytest.mark.parametrize(
    ("argument", "value", "message"),
    [
        ("node_features", [[10**400, 0]] * V, "node_features holds a number beyond the range of float64"),
        ("edge_features", [[1, 10**400]] * E, "edge_features holds a number beyond the range of float64"),
        ("edges", [[0, 2**64]], r"edge 0 is \(0, .*but node indices run from 0 to 6"),
        ("clique nodes", [[0, 1, 10**12]], "clique 0 .* node indices run from 0 to 2147483647"),
        ("clique nodes", [[0.0, 1.0, np.inf]], "clique 0 .* node indices run from 0"),
        ("node_features", np.broadcast_to(1.0, (V, 2**45)), "too large for the memory at hand"),
        ("edge_features", sp.csr_array((E, 2**31 - 1)), "too large to be made dense"),
        ("node_features", sp.csr_array((V, 2**40)), "columns, more than"),
    ],
)
def test_numbers_out_of_range_are_named(argument: str, value: Any, message: str) -> None:
    with pytest.raises(GraphError, match=message):
        graph_with(argument, value)

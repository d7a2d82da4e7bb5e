"""What Energy takes and what it refuses."""

from __future__ import annotations

import math
import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from gapcut import _core
from gapcut.inference import Energy, model_energy, solve

INF = math.inf


def refused(message: str, *args: object, **named: object) -> None:
    with pytest.raises(ValueError, match=re.escape(message)):
        Energy(*args, **named)  # type: ignore[arg-type]


def test_energy_of_labels() -> None:
    energy = Energy([[1, 2], [3, 4, 5]], [(1, 0)], [np.arange(6.0).reshape(3, 2)])
    assert energy.energy([1, 2]) == 2 + 5 + 5
    assert energy.terms([0, 1]).tolist() == [1, 4, 2]
    assert (energy.n_nodes, energy.n_edges, energy.n_labels.tolist()) == (2, 1, [2, 3])
    assert repr(energy) == "Energy(2 nodes, 1 edges, 2-3 labels)"
    with pytest.raises(ValueError, match=r"labels have shape \(3,\), expected \(2,\)"):
        energy.energy([0, 0, 0])
    with pytest.raises(ValueError, match=r"node 1 has label 3, but its labels are 0..2"):
        energy.energy([0, 3])
    with pytest.raises(ValueError, match="node 0 has label -1"):
        energy.energy([-1, 0])
    with pytest.raises(ValueError, match="labels must be integers"):
        energy.energy([0.0, 1.5])


def test_energy_is_the_exact_sum() -> None:
    assert Energy([[1e16], [1.0], [-1e16]], []).energy([0, 0, 0]) == 1.0


def test_forms_of_tables_agree() -> None:
    rng = np.random.default_rng(0)
    unaries, edges, table = rng.random((4, 3)), [(0, 1), (2, 1), (3, 0)], rng.random((3, 3))
    forms = [table, np.stack([table] * 3), [table] * 3, [table.tolist()] * 3, np.asfortranarray(table)]
    energies = [Energy(unaries, edges, form) for form in forms]
    energies.append(Energy(list(unaries), np.array(edges, dtype=np.uint8), forms[1].astype(np.float32)))
    for y in rng.integers(0, 3, (10, 4)):
        values = [e.energy(y) for e in energies]
        assert values[:-1] == [values[0]] * len(forms)
        assert values[-1] == pytest.approx(values[0], rel=1e-6)
    solutions = [solve(e) for e in energies[:-1]]
    assert {(s.energy, s.bound) for s in solutions} == {(solutions[0].energy, solutions[0].bound)}


def test_refusals_name_the_place() -> None:
    u, t = np.zeros((3, 2)), np.zeros((2, 2, 2))
    edges = [(0, 1), (1, 2)]
    nan_u = u.copy()
    nan_u[2, 1] = np.nan
    bad_t = t.copy()
    bad_t[1, 0, 1] = -INF
    refused("unary of node 2, label 1 is nan", nan_u, edges, t)
    refused("unary of node 1, label 0 is -inf", [[0], [-INF], [1]], [])
    refused("table entry of edge 1 (1, 2), labels (0, 1) is -inf", u, edges, bad_t)
    refused("table entry of edge 1 (1, 2), labels (0, 1) is -inf", u, edges, list(bad_t))
    refused("table entry of edge 0 (0, 1), labels (0, 1) is -inf", u, edges, bad_t[1])
    refused("node 1 has no label", [[0], [], [1]], [])
    refused("node 0 has no label", np.zeros((2, 0)), [])
    refused("unaries have shape (3,)", np.zeros(3), [])
    refused("unaries of node 1 have shape ()", [[0.0], 1.0], [])
    refused("unaries of node 0 must be an array of numbers", [["a"]], [])
    refused("edge 1 joins nodes 1 and 3, but the nodes are 0..2", u, [(0, 1), (1, 3)], t)
    refused("edge 0 joins nodes -1 and 1", u, [(-1, 1), (1, 2)], t)
    refused("edge 1 is a self loop at node 2", u, [(0, 1), (2, 2)], t)
    refused("edges have shape (2, 3), expected (edges, 2)", u, [(0, 1, 2), (1, 2, 0)], t)
    refused("edges must be integers, got float64", u, np.array([(0.0, 1.0)]), t[:1])
    refused("there are 2 edges but no tables", u, edges)
    refused("tables hold 1 edges, edges 2", u, edges, t[:1])
    refused("tables hold 3 edges, edges 2", u, edges, [t[0]] * 3)
    refused(
        "table of edge 0 is 3 x 2, but node 0 has 2 labels and node 1 has 2", u, edges, np.zeros((2, 3, 2))
    )
    refused("table of edge 1 is 1 x 2", u, edges, [t[0], np.zeros((1, 2))])
    refused("table of edge 0 is 3 x 3", u, edges, np.zeros((3, 3)))
    refused("table of edge 0 has shape (2,)", u, edges, [[0.0, 1.0], [1.0, 0.0]])
    refused("tables have shape (2, 2, 2, 1)", u, edges, t[..., None])
    refused("the entries are too large", [[1e308], [0.0]], [])
    refused("the entries are too large", u, edges, np.full((2, 2), 3e306))
    assert Energy(u, edges, t, cliques=[]).n_edges == 2


numbers = st.floats(allow_nan=True, allow_infinity=True)


@settings(max_examples=150, deadline=None)
@given(
    unaries=st.one_of(
        hnp.arrays(
            np.float64, hnp.array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=4), elements=numbers
        ),
        st.lists(st.lists(numbers, max_size=3), max_size=4),
    ),
    edges=st.one_of(
        st.lists(st.tuples(st.integers(-1, 4), st.integers(-1, 4)), max_size=5),
        hnp.arrays(np.int64, hnp.array_shapes(max_dims=3, max_side=4), elements=st.integers(-1, 4)),
    ),
    tables=st.one_of(
        st.none(),
        hnp.arrays(np.float64, hnp.array_shapes(min_dims=1, max_dims=3, max_side=4), elements=numbers),
        st.lists(st.lists(st.lists(numbers, min_size=1, max_size=3), max_size=3), max_size=4),
    ),
)
def test_any_input_is_solved_or_refused_in_one_line(unaries: object, edges: object, tables: object) -> None:
    try:
        energy = Energy(unaries, edges, tables)  # type: ignore[arg-type]
    except ValueError as error:
        lines = str(error).splitlines()
    else:
        lines = []
    if lines:
        assert len(lines) == 1
        return
    solution = solve(energy)
    assert solution.bound <= solution.energy
    assert not math.isnan(solution.bound)
    assert energy.energy(solution.labels) == solution.energy


@pytest.mark.parametrize("density", [0.05, 0.6, 1.0])
def test_model_energy_is_minus_the_score(density: float) -> None:
    rng = np.random.default_rng(1)
    n, dn, de, k = 6, 5, 7, 3
    x = rng.normal(size=(n, dn)) * (rng.random((n, dn)) < density)
    edges = np.array([(0, 1), (1, 2), (5, 0), (3, 4)])
    phi = rng.random((len(edges), de)) * (rng.random((len(edges), de)) < density)
    unary = rng.normal(size=(k, dn))
    pairwise = rng.random((k, k, de)) * (rng.random((k, k, de)) < density)
    rows = _core.RowMatrix.from_dense
    energy = model_energy(rows(x), edges, rows(phi), unary, pairwise)
    for y in rng.integers(0, k, (20, n)):
        score = sum(unary[y[u]] @ x[u] for u in range(n))
        score += sum(pairwise[y[u], y[v]] @ phi[e] for e, (u, v) in enumerate(edges))
        assert energy.energy(y) == pytest.approx(-score, abs=1e-12)

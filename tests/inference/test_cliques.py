"""Energies of order three and more."""

from __future__ import annotations

import itertools
import json
import math
import pickle
from pathlib import Path

import numpy as np
import pytest

from gapcut.inference import METHODS, Energy, solve
from gapcut.inference.external import linear
from tiny_energies import INF, tiny_energy


def test_energy_is_the_sum_of_all_terms() -> None:
    rng = np.random.default_rng(0)
    unaries = [rng.normal(size=k) for k in (2, 3, 1, 4)]
    table = rng.normal(size=(2, 3))
    single, pair = rng.normal(size=3), rng.normal(size=(4, 2))
    triple, whole = rng.normal(size=(4, 2, 3)), rng.normal(size=(2, 3, 1, 4))
    before = [u.copy() for u in unaries]
    energy = Energy(
        unaries,
        [(0, 1)],
        [table],
        [((1,), single), ((3, 0), pair), ((3, 0, 1), triple), ([0, 1, 2, 3], whole.tolist())],
    )
    assert all((a == b).all() for a, b in zip(unaries, before, strict=True))
    assert (energy.n_nodes, energy.n_edges, energy.n_cliques) == (4, 2, 2)
    assert repr(energy) == "Energy(4 nodes, 2 edges, 2 cliques, 1-4 labels)"
    again = pickle.loads(pickle.dumps(energy))
    for y in itertools.product(range(2), range(3), range(1), range(4)):
        terms = [unaries[0][y[0]], unaries[1][y[1]] + single[y[1]], unaries[2][0], unaries[3][y[3]]]
        terms += [table[y[:2]], pair[y[3], y[0]], triple[y[3], y[0], y[1]], whole[y]]
        assert energy.terms(y).tolist() == terms
        assert energy.energy(y) == again.energy(y) == math.fsum(terms)
    nodes, values = energy.clique(0)
    assert (nodes.tolist(), values.tolist()) == ([3, 0, 1], triple.tolist())


def test_pairs_among_cliques_join_a_shared_table() -> None:
    share = np.array([[0.0, 1.0], [2.0, 3.0]])
    energy = Energy(np.zeros((3, 2)), [(0, 1), (1, 2)], share, [((0, 2), 10 * share)])
    assert energy.energy([1, 0, 1]) == 2 + 1 + 30
    assert energy.n_entries() == 12


@pytest.mark.parametrize(
    ("clique", "message"),
    [
        (((0, 1, 3), np.zeros((2, 2, 2))), "clique 0 has nodes [0, 1, 3], but the nodes are 0..2"),
        (((0, 1, 1), np.zeros((2, 2, 2))), "clique 0 holds a node twice: [0, 1, 1]"),
        (
            ((0, 1, 2), np.zeros((2, 2, 3))),
            "table of clique 0 has shape (2, 2, 3), but its nodes' labels make",
        ),
        (((0, 1, 2), np.full((2, 2, 2), -INF)), "table entry of clique 0, labels (0, 0, 0) is -inf"),
        (((), np.zeros(())), "clique 0: nodes must be 1 to 32 node numbers"),
        (((0.5, 1), np.zeros((2, 2))), "clique 0: nodes must be 1 to 32 node numbers"),
        (7, "clique 0 must be a pair (nodes, table)"),
        (((0, 1), "x"), "table of clique 0 must be an array of numbers"),
    ],
)
def test_refusals_name_the_clique(clique: object, message: str) -> None:
    with pytest.raises(ValueError) as caught:
        Energy(np.zeros((3, 2)), cliques=[clique])
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


def test_message_passing_on_cliques_is_tight_on_trees_of_factors() -> None:
    """Cliques that share single nodes and form a tree: the relaxation is tight, the bound reaches the minimum."""
    rng = np.random.default_rng(1)
    for _ in range(30):
        scopes = [(0, 1, 2), (2, 3, 4), (4, 5, 6, 7)]
        cliques = [(s, rng.normal(size=(3,) * len(s))) for s in scopes]
        energy = Energy(rng.normal(size=(8, 3)), cliques=cliques)
        best = solve(energy, "brute").energy
        solution = solve(energy, "trws")
        assert solution.energy == best
        assert solution.status == "optimal"
        assert solve(energy, "bp", damping=0.0).energy == best


def test_srmp_reaches_the_bound_of_trws_on_pairs() -> None:
    """A clique that costs nothing makes SRMP take the energy; its relaxation stays the one of pairs."""
    rng = np.random.default_rng(2)
    for _ in range(10):
        edges = [(u, v) for u in range(20) for v in range(u) if rng.random() < 0.2]
        unaries, tables = rng.normal(size=(20, 4)), rng.normal(size=(len(edges), 4, 4))
        pairs = solve(Energy(unaries, edges, tables), "trws", escape=False)
        free = Energy(unaries, edges, tables, [((0, 1, 2), np.zeros((4, 4, 4)))])
        assert solve(free, "trws").bound == pytest.approx(pairs.bound, rel=2e-2)


def test_the_bound_of_a_linear_program_does_not_trust_the_solver(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever finite duals it reports are messages of a reparametrisation: the bound stays valid, if not as tight."""
    true_solver = linear.run
    rng, looser = np.random.default_rng(3), 0

    def careless(payload: dict) -> dict:
        answer = true_solver(payload)
        if answer["duals"] is not None:
            size = np.abs(answer["duals"]).max(initial=1.0) * 10.0 ** rng.integers(-3, 4)
            answer["duals"] = answer["duals"] + size * rng.normal(size=len(answer["duals"]))
        return answer

    for _ in range(100):
        energy = tiny_energy(rng, "forbidden")
        best = solve(energy, "brute").energy
        honest = solve(energy, "lp").bound
        with monkeypatch.context() as patch:
            patch.setattr(linear, "run", careless)
            found = solve(energy, "lp")
        assert found.bound <= best <= found.energy
        looser += found.bound < honest
    assert looser > 5


def test_triangle_counting_case(shared: Path) -> None:
    cases = json.loads((shared / "cases" / "inference.json").read_text())["cases"]
    (case,) = [c for c in cases if "scopes3" in c]
    table = np.array([INF if x is None else x for x in case["ternary"]], dtype=float).reshape(2, 2, 2)
    energy = Energy(np.full((6, 2), case["unary"]), cliques=[(s, table) for s in case["scopes3"]])
    allowed = [y for y in itertools.product(range(2), repeat=6) if energy.energy(y) < INF]
    assert len(allowed) == case["n_optima"]
    for method in METHODS:
        if method in ("cycles", "expansion", "qpbo", "trees"):
            with pytest.raises(ValueError, match="larger cliques: use method='auto'"):
                solve(energy, method)
            continue
        solution = solve(energy, method)
        assert solution.energy == pytest.approx(case["min"], abs=1e-12), method
        assert 0 <= solution.labels.min() <= solution.labels.max() < 2
        assert solution.bound <= case["min"] + 1e-12

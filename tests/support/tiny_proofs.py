"""Proofs of tiny problems, and what they are about by enumeration in fractions."""

from __future__ import annotations

import importlib.util
import io
import itertools
import json
from fractions import Fraction
from pathlib import Path
from types import ModuleType

import numpy as np

from gapcut import Graph
from gapcut.machine import Machine, Proof

CHECKER = Path(__file__).parents[2] / "checker" / "check_proof.py"
Files = tuple[dict[str, np.ndarray], dict[str, np.ndarray]]


def load_checker() -> ModuleType:
    """The checker as a module; it is no part of the package."""
    spec = importlib.util.spec_from_file_location("check_proof", CHECKER)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def tiny_proof(rng: np.random.Generator, oracle: str = "cut", max_bits: int = 8) -> Proof:
    """Of a random problem with node weights, class weights, frozen weights and free ones now and then."""
    K, Dn, De = int(rng.integers(1, 4)), int(rng.integers(1, 3)), int(rng.integers(1, 3))
    graphs = []
    for _ in range(int(rng.integers(1, 4))):
        V = int(rng.integers(1, max(2, max_bits // K) + 1))
        M = int(rng.integers(0, 6)) if V > 1 else 0
        tail = rng.integers(V, size=M)
        head = (tail + 1 + rng.integers(max(1, V - 1), size=M)) % V
        if oracle == "tree":
            tail, head = np.arange(V - 1), rng.integers(0, np.arange(1, V)) if V > 1 else np.arange(0)
            tail, M = tail + 1, V - 1
        features = rng.random((M, De)) * (rng.random((M, De)) < 0.7)
        nodes = rng.normal(size=(V, Dn)) * 10.0 ** rng.integers(-3, 3)
        if rng.random() < 0.5:
            features, nodes = np.round(2 * features), np.round(nodes)
        weights = rng.integers(0, 4, size=V) / 2.0 if rng.random() < 0.4 else None
        graphs.append(
            Graph(
                nodes, np.stack([tail, head], axis=1), features, rng.integers(K, size=V), node_weights=weights
            )
        )
    pairwise = (K, K, De)
    frozen, nonnegative = None, "auto"
    if rng.random() < 0.4:
        fixed = np.where(rng.random(pairwise) < 0.3, np.round(rng.random(pairwise), 1), np.nan)
        frozen = {"pairwise": fixed, "unary": np.where(rng.random((K, Dn)) < 0.2, 0.5, np.nan)}
    if oracle != "cut" and rng.random() < 0.5:
        nonnegative = rng.random(pairwise) < 0.5
    machine = Machine(
        C=float(10.0 ** rng.uniform(-2, 2)),
        loss_scale=float(rng.choice([1.0, 100.0, 0.3])),
        oracle=oracle,
        class_weight={k: float(rng.choice([0.5, 1.0, 3.0])) for k in range(K)}
        if rng.random() < 0.4
        else None,
        classes=list(range(K)),
        frozen=frozen,
        nonnegative=nonnegative,
        standardize=False,
        edge_lift="none",
        incidence=False,
        intercept=False,
        gap=float(rng.choice([0.2, 0.01, 1e-4])),
        max_passes=30,
        callback=None,
    )
    return machine.fit_proven(graphs)


def files(proof: Proof) -> Files:
    """Copies of the arrays of both files."""
    header = np.array(json.dumps(dict(proof.header)))
    own = {name: np.array(values) for name, values in proof.arrays.items()}
    return {"header": header, **own}, graph_file(proof)


def graph_file(proof: Proof) -> dict[str, np.ndarray]:
    """The arrays of the file of graphs."""
    return dict(np.load(io.BytesIO(b"".join(proof.graphs))))


def header(proof: dict[str, np.ndarray]) -> dict:
    return json.loads(str(proof["header"]))


def exact_objective(proof: dict, graphs: dict, unary: np.ndarray, pairwise: np.ndarray) -> Fraction:
    """``P(w)`` by enumeration: of all binary labelings, or of those with one label a node (on graphs without cycles
    these are the corners of the local polytope)."""
    said = header(proof)
    K, rho = len(proof["unary"]), Fraction(said["loss_scale"])
    starts, edge_starts = graphs["node_offset"].tolist(), graphs["edge_offset"].tolist()
    w, v = _fractions(unary), _fractions(pairwise)
    nodes, edges = _fractions(graphs["node_features"]), _fractions(graphs["edge_features"])
    a = _fractions(graphs.get("node_weights", np.ones(starts[-1])))
    total = sum((x * x for x in (*w.ravel(), *v.ravel())), Fraction(0)) / 2
    for g in range(len(starts) - 1):
        rows = range(starts[g], starts[g + 1])
        y = [int(graphs["labels"][u]) for u in rows]
        mass = [a[u] * Fraction(float(proof["class_weight"][k])) for u, k in zip(rows, y, strict=True)]
        rate = [rho * m / (2 * sum(mass)) if sum(mass) else Fraction(0) for m in mass]
        gain = np.array(
            [
                sum((p * q for p, q in zip(w[k], nodes[u], strict=True)), Fraction(0))
                + rate[i] * (-1 if k == y[i] else 1)
                for i, u in enumerate(rows)
                for k in range(K)
            ],
            dtype=object,
        )
        arcs = [
            (
                int(t) * K + k,
                int(h) * K + m,
                sum((p * q for p, q in zip(v[k, m], edges[e], strict=True)), Fraction(0)),
            )
            for e in range(edge_starts[g], edge_starts[g + 1])
            for t, h in [graphs["edges"][e]]
            for k in range(K)
            for m in range(K)
        ]
        Z = _labelings(len(y), K, said["problem"] == "relaxed binary")
        score = Z @ gain if len(gain) else np.zeros(1, dtype=object)
        for i, j, b in arcs:
            if b:
                score = score + (Z[:, i] * Z[:, j]) * b
        truth = np.zeros((1, len(y) * K), dtype=object)
        truth[0, [i * K + k for i, k in enumerate(y)]] = 1
        true_score = sum((x for i, x in enumerate(gain) if truth[0, i]), Fraction(0))
        true_score += sum((b for i, j, b in arcs if truth[0, i] and truth[0, j]), Fraction(0))
        total += Fraction(said["C"]) / (len(starts) - 1) * (max(score) - true_score)
    return total


def acyclic(graphs: dict) -> bool:
    """Whether no graph has a cycle, two edges between the same nodes being one."""
    for g in range(len(graphs["node_offset"]) - 1):
        group = list(range(int(np.diff(graphs["node_offset"])[g])))
        for t, h in graphs["edges"][graphs["edge_offset"][g] : graphs["edge_offset"][g + 1]].tolist():
            if group[t] == group[h]:
                return False
            group = [group[t] if x == group[h] else x for x in group]
    return True


def _labelings(V: int, K: int, binary: bool) -> np.ndarray:
    if binary:
        return np.array(list(itertools.product((0, 1), repeat=V * K)), dtype=object)
    rows = [
        [int(k == c) for c in choice for k in range(K)] for choice in itertools.product(range(K), repeat=V)
    ]
    return np.array(rows, dtype=object)


def _fractions(values: np.ndarray) -> np.ndarray:
    return np.array([Fraction(float(x)) for x in np.ravel(values)], dtype=object).reshape(np.shape(values))

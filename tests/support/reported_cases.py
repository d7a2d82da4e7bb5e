"""Energies of the reported cases in shared/cases/inference.json."""

from __future__ import annotations

import json
import math
from pathlib import Path

import numpy as np

from gapcut import Energy

INF = math.inf


def reported_energies(shared: Path) -> list[dict]:
    """The cases with a known minimum."""
    cases = json.loads((shared / "cases" / "inference.json").read_text())["cases"]
    cases = [case for case in cases if "min" in case]
    assert len(cases) >= 7
    return cases


def reported_energy(case) -> Energy:
    """The energy of one case; null is infinite."""

    def table(rows):
        return np.array([[INF if x is None else x for x in np.atleast_1d(row)] for row in rows], dtype=float)

    labels = case["labels"]
    unaries = [np.zeros(k) for k in labels]
    if "V" in case and "unary" in case:
        unaries = [np.array(u, dtype=float) for u in case["unary"]]
    elif "unary" in case:
        unaries = [np.full(k, case["unary"]) for k in labels]
    elif case["id"] == 5:
        unaries = list(-np.eye(4))
    terms = [(nodes, table(rows)) for nodes, rows in case.get("terms", [])]
    terms = [(n, t.ravel() if len(n) == 1 else t) for n, t in terms]
    terms += [(edge, table(case["V"])) for edge in case.get("edges", [])]
    ternary = np.array([INF if x is None else x for x in case.get("ternary", [])]).reshape(-1, 2, 2, 2)
    terms += [(scope, ternary[0]) for scope in case.get("scopes3", [])]
    return Energy(unaries, cliques=terms)

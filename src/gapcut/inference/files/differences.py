"""toulbar2's ``salldiff`` and ``sgcc`` as terms over pairs: labels that must differ, or cost if they do not."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from gapcut.inference.files.errors import BadFactor
from gapcut.inference.files.factors import FactorGraph
from gapcut.typing import FloatArray

DIFFERENCES = ("salldiff", "sgcc")

DECOMPOSED = ("dec", "decbi")
"""Semantics by which every two equal labels cost; ``var`` counts the nodes to change instead."""


@dataclass
class Differences:
    """``kind`` over ``scope``; ``bounds`` of ``sgcc``: (label, least, most) nodes that have it. Costs of at least
    ``top`` forbid, and then the semantics do not matter."""

    kind: str
    scope: list[int]
    semantics: str
    cost: float
    top: float
    bounds: list[tuple[int, int, int]] = field(default_factory=list)

    def add_to(self, graph: FactorGraph) -> None:
        """One term a pair; ``BadFactor`` where pairs do not say the same."""
        hard = self.cost >= self.top
        if not hard and self.semantics not in DECOMPOSED:
            raise BadFactor(
                f"global cost function {self.kind!r} is not supported with semantics {self.semantics!r} and a cost "
                "below the upper bound: it is no sum over pairs"
            )
        if self.kind == "sgcc":
            self._check_bounds(hard)
        cost = np.inf if hard else self.cost
        tables: dict[tuple[int, ...], FloatArray] = {}
        for i, u in enumerate(self.scope):
            for v in self.scope[i + 1 :]:
                key = (graph.n_labels[u], graph.n_labels[v]) if max(u, v) < len(graph.n_labels) else ()
                shape = graph.shape([u, v], stored=key in tables)
                if key not in tables:
                    tables[key] = self._table(shape, cost)
                graph.add([u, v], tables[key])

    def _table(self, shape: tuple[int, ...], cost: float) -> FloatArray:
        table = np.zeros(shape)
        same = (
            range(min(shape)) if self.kind == "salldiff" else [k for k, _, most in self.bounds if most == 1]
        )
        for k in same:
            if k < min(shape):
                table[k, k] = cost
        return table

    def _check_bounds(self, hard: bool) -> None:
        """Pairs can say that at most one node has a label; and that one has it, where there are as many such labels as
        nodes."""
        n = len(self.scope)
        single = sum(most == 1 for _, _, most in self.bounds)
        most_is_pairs = hard and all(most == 1 or most >= n for _, _, most in self.bounds)
        least_follows = single == n == len(self.bounds) or all(least == 0 for _, least, _ in self.bounds)
        if not (most_is_pairs and least_follows):
            raise BadFactor(
                "global cost function 'sgcc' is not supported with these bounds: it is no sum over pairs"
            )

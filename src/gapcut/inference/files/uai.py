"""UAI model files: ``MARKOV`` (or ``BAYES``), tables of weights, first node slowest.

The energy is ``-sum log(weight)``; a weight 0 forbids. Written are the weights ``exp(-entry)``, so that
entries come back with a relative error of about 1e-16, plus as much absolutely. Weights beyond the range of
float64 are written with their exponent and read back in full.
"""

from __future__ import annotations

import math
from decimal import Context, Decimal, InvalidOperation
from pathlib import Path

import numpy as np

from gapcut.inference.energy import Energy
from gapcut.inference.files.factors import Factor, FactorGraph, factors_of
from gapcut.inference.files.tokens import Tokens
from gapcut.typing import FloatArray

_DIGITS = Context(prec=25, Emax=10**17, Emin=-(10**17))
_SAFE_EXPONENT = 690.0  # exp stays a normal float64


def read(data: bytes, path: Path) -> Energy:
    """The energy of a UAI file; ``EnergyFileError`` with the line if it is none."""
    tokens = Tokens(data.decode("utf-8", errors="replace"), path, comments=True)
    kind = tokens.word("MARKOV")
    if kind.upper() not in ("MARKOV", "BAYES"):
        raise tokens.fail(f"a UAI file starts with MARKOV or BAYES, found {kind[:30]!r}")
    n_nodes = tokens.integer("the number of nodes")
    labels = tokens.integers(n_nodes, "the label count of each node", least=1)
    with tokens.blame():
        graph = FactorGraph(labels)
    shapes: list[tuple[list[int], tuple[int, ...]]] = []
    for i in range(tokens.integer("the number of tables")):
        order = tokens.integer(f"the number of nodes of table {i}")
        scope = tokens.integers(order, f"the nodes of table {i}")
        with tokens.blame():
            shapes.append((scope, graph.shape(scope)))
    for i, (scope, shape) in enumerate(shapes):
        size = tokens.integer(f"the size of table {i}")
        if size != math.prod(shape):
            raise tokens.fail(f"table {i} announces {size} weights, its nodes need {math.prod(shape)}")
        graph.add(scope, _energies(tokens, size, i).reshape(shape))
    tokens.end("the last table")
    with tokens.blame():
        return graph.energy()


def _energies(tokens: Tokens, size: int, index: int) -> FloatArray:
    weights = tokens.numbers(size, f"a weight of table {index}", beyond=True)
    first = tokens.at - size + 1
    negative = np.flatnonzero(weights < 0.0)
    if len(negative):
        at = int(negative[0])
        raise tokens.fail(
            f"weight {weights[at]:g} of table {index} is negative, weights are >= 0", first + at
        )
    energies = np.full(size, np.inf)
    np.log(weights, out=energies, where=weights > 0.0)
    np.negative(energies, out=energies, where=weights > 0.0)
    for at in np.flatnonzero((weights < 1e-300) | (weights == np.inf)).tolist():  # zero, or out of range
        energies[at] = _minus_log(tokens.text(first + at))
    return energies + 0.0  # -0.0 becomes 0.0


def _minus_log(word: str) -> float:
    try:
        exact = Decimal(word)
    except InvalidOperation:  # an exponent beyond even the reach of Decimal
        return math.inf
    return math.inf if exact == 0 else -float(exact.ln(_DIGITS))


def write(energy: Energy, path: Path) -> bytes:
    """The file of an energy."""
    factors = list(factors_of(energy))
    lines = ["MARKOV", str(energy.n_nodes), " ".join(map(str, energy.n_labels.tolist())), str(len(factors))]
    lines += [" ".join(map(str, (len(f.scope), *f.scope))) for f in factors]
    for factor in factors:
        lines += ["", str(factor.table.size), *_rows(factor)]
    return ("\n".join(lines) + "\n").encode()


def _rows(factor: Factor) -> list[str]:
    rows = factor.table.reshape(-1, factor.table.shape[-1])
    return [" ".join(map(_weight, row)) for row in rows.tolist()]


def _weight(energy: float) -> str:
    if energy == math.inf:
        return "0"
    if abs(energy) <= _SAFE_EXPONENT:
        return repr(math.exp(-energy))
    return str(_DIGITS.exp(Decimal(-energy)))

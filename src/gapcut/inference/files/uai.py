"""UAI model files: ``MARKOV`` (or ``BAYES``), tables of weights, first node slowest.

The energy is ``-sum log(weight)``; a weight 0 forbids. Written are the weights ``exp(-entry)``, so that
entries come back with a relative error of about 1e-16, plus as much absolutely. Weights beyond the range of
float64 are written with their exponent and read back in full.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from decimal import Context, Decimal, InvalidOperation
from pathlib import Path

import numpy as np

from gapcut.inference.energy import Energy
from gapcut.inference.files.factors import MOST_NODES_OF_A_TABLE, Factor, FactorGraph, factors_of
from gapcut.inference.files.flat import FlatFactors, scopes_are_good, table_sizes
from gapcut.inference.files.tokens import Tokens
from gapcut.inference.packing import spans
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
    n_tables = tokens.integer("the number of tables")
    plain = _all_tables(tokens, labels, n_tables)
    if plain is not None:
        with tokens.blame():
            return plain.energy()
    shapes: list[tuple[list[int], tuple[int, ...]]] = []
    for i in range(n_tables):
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


def _all_tables(tokens: Tokens, labels: list[int], n_tables: int) -> FlatFactors | None:
    """All tables at once if nothing is wrong; None otherwise."""
    values = tokens.rest_as_numbers()
    if values is None or n_tables > len(values):
        return None
    words, at = values.tolist(), 0
    starts, orders = [], []
    for _ in range(n_tables):
        if at >= len(words) or not (0 <= words[at] <= MOST_NODES_OF_A_TABLE and words[at] == int(words[at])):
            return None
        starts.append(at)
        orders.append(int(words[at]))
        at += orders[-1] + 1
    begin, order = np.array(starts, dtype=np.int64), np.array(orders, dtype=np.int64)
    scope_at, n_labels = np.concatenate([[0], np.cumsum(order)]), np.array(labels, dtype=np.int64)
    places = spans(begin + 1, order)
    if at > len(words) or not tokens.are_digits(np.concatenate([begin, places])):
        return None
    members = values[places].astype(np.int64)
    if not scopes_are_good(len(labels), scope_at, members) or order.max(initial=0) > 8:
        return None
    sizes = table_sizes(n_labels, scope_at, members)
    heads = at + np.cumsum(sizes + 1) - sizes - 1
    if at + (sizes + 1).sum() != len(words) or (values[heads] != sizes).any() or not tokens.are_digits(heads):
        return None
    first = tokens.at + 1
    kept = spans(heads + 1, sizes)
    weights = values[kept]
    if (weights < 0.0).any() or np.isnan(weights).any():
        return None
    entries = _minus_logs(weights, lambda i: tokens.text(first + int(kept[i])))
    return FlatFactors(n_labels, scope_at, members, np.cumsum(sizes) - sizes, entries)


def _energies(tokens: Tokens, size: int, index: int) -> FloatArray:
    weights = tokens.numbers(size, f"a weight of table {index}", beyond=True)
    first = tokens.at - size + 1
    negative = np.flatnonzero(weights < 0.0)
    if len(negative):
        at = int(negative[0])
        raise tokens.fail(
            f"weight {weights[at]:g} of table {index} is negative, weights are >= 0", first + at
        )
    return _minus_logs(weights, lambda i: tokens.text(first + i))


def _minus_logs(weights: FloatArray, word: Callable[[int], str]) -> FloatArray:
    """Energies of weights >= 0; ``word``: how one is written, for those beyond the range of float64."""
    energies = np.full(len(weights), np.inf)
    np.log(weights, out=energies, where=weights > 0.0)
    np.negative(energies, out=energies, where=weights > 0.0)
    for at in np.flatnonzero((weights < 1e-300) | (weights == np.inf)).tolist():  # zero, or out of range
        energies[at] = _minus_log(word(at))
    return energies + 0.0  # -0.0 becomes 0.0


def _minus_log(word: str) -> float:
    if word == "0":
        return math.inf
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

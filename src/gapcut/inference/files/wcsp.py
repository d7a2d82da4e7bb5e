"""WCSP files of toulbar2: cost functions with a default cost and a list of tuples, costs integers >= 0.

Costs of at least the upper bound in the header forbid. That bound says nothing else here: a labeling whose
costs sum to it is allowed, and merely worthless to toulbar2. The five comparators and ``max`` are read as
tables; other global cost functions are refused.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from gapcut.inference.energy import Energy
from gapcut.inference.files.errors import BadFactor, EnergyFileError
from gapcut.inference.files.factors import Factor, FactorGraph, factors_of, name_of
from gapcut.inference.files.intension import COMPARATORS, comparison, maximum, unsupported
from gapcut.inference.files.tokens import Tokens
from gapcut.typing import FloatArray

_LARGEST_COST = 2**53
"""Integers up to here are float64 exactly."""


def read(data: bytes, path: Path) -> Energy:
    """The energy of a WCSP file; ``EnergyFileError`` with the line if it is none."""
    tokens = Tokens(data.decode("utf-8", errors="replace"), path)
    tokens.word("the name of the problem")
    n_nodes = tokens.integer("the number of variables")
    tokens.integer("the largest domain size")
    n_functions = tokens.integer("the number of cost functions")
    top = tokens.integer("the upper bound", least=1)
    labels = [_labels(tokens) for _ in range(n_nodes)]
    with tokens.blame():
        graph = FactorGraph(labels)
    shared: list[FloatArray] = []
    for _ in range(n_functions):
        _read_function(tokens, graph, shared)
    tokens.end("the last cost function")
    graph.forbid_from(float(top))
    with tokens.blame():
        return graph.energy()


def _labels(tokens: Tokens) -> int:
    count = tokens.integer("a domain size", least=None)
    if count < 0:
        raise tokens.fail(f"domain size {count} means an interval variable, which is not supported")
    if count == 0:
        raise tokens.fail("a domain size is 0, expected at least 1")
    return count


def _read_function(tokens: Tokens, graph: FactorGraph, shared: list[FloatArray]) -> None:
    order = tokens.integer("the number of variables of a cost function", least=None)
    scope = tokens.integers(abs(order), "a variable of a cost function")
    with tokens.blame():
        shape = graph.shape(scope)
    default = tokens.integer("the default cost", least=-1)
    if default == -1:
        graph.add(scope, _intension(tokens, scope, shape))
        return
    count = tokens.integer("the number of tuples", least=None)
    if count < 0:
        if -count > len(shared) or shared[-count - 1].shape != shape:
            raise tokens.fail(f"there is no shared cost function {-count} of this shape before this line")
        graph.add(scope, shared[-count - 1])
        return
    table = _tuples(tokens, shape, default, count)
    if order < 0:
        shared.append(table)
    graph.add(scope, table)


def _tuples(tokens: Tokens, shape: tuple[int, ...], default: int, count: int) -> FloatArray:
    columns = len(shape) + 1
    first = tokens.at + 1
    rows = tokens.integer_rows(count, columns, "a label or cost of a tuple")
    wrong = (rows < 0) | (rows >= np.array([*shape, np.iinfo(np.int64).max]))
    if wrong.any():
        row, column = divmod(int(np.argmax(wrong)), columns)
        value = rows[row, column]
        detail = (
            f"cost {value} is negative, costs are >= 0"
            if column == len(shape)
            else f"label {value} does not exist, variable {column} of the scope has {shape[column]} labels"
        )
        raise tokens.fail(detail, first + row * columns + column)
    table = np.full(shape, float(default))
    if count:  # where a tuple is given twice, the last counts
        table[tuple(rows[:, :-1].T)] = rows[:, -1] if shape else rows[-1, -1]
    return table


def _intension(tokens: Tokens, scope: list[int], shape: tuple[int, ...]) -> FloatArray:
    kind = tokens.word("the kind of a cost function")
    with tokens.blame():
        if kind in COMPARATORS:
            constant, delta = (tokens.integer("a parameter", least=None) for _ in range(2))
            return comparison(kind, shape, constant, delta)
        if kind not in ("max", "smaxdp"):
            raise unsupported(kind)
    default = tokens.integer("the default cost")
    costs = []
    for _ in range(tokens.integer("the number of tuples")):
        node = tokens.integer("a variable")
        if node not in scope:
            raise tokens.fail(f"variable {node} is not in the scope of this cost function")
        costs.append((scope.index(node), tokens.integer("a label"), float(tokens.integer("a cost"))))
    with tokens.blame():
        return maximum(shape, default, costs)


def write(energy: Energy, path: Path) -> bytes:
    """The file of an energy; ``EnergyFileError`` if an entry is no integer >= 0."""
    factors = list(factors_of(energy))
    total = 0
    for factor in factors:
        try:
            total += _largest(factor)
        except BadFactor as error:
            raise EnergyFileError(path, str(error)) from None
    top = total + 1
    if top > _LARGEST_COST:
        raise EnergyFileError(
            path, f"costs may sum to {total}, more than .wcsp files keep exactly: write .cfn"
        )
    labels = energy.n_labels.tolist()
    lines = [
        f"{_problem_name(path)} {len(labels)} {max(labels, default=0)} {len(factors)} {top}",
        " ".join(map(str, labels)),
    ]
    for factor in factors:
        lines += _function_lines(factor, top)
    return ("\n".join(lines) + "\n").encode()


def _problem_name(path: Path) -> str:
    return "_".join(path.name.split(".")[0].split()) or "energy"


def _largest(factor: Factor) -> int:
    """The largest finite entry; all must be integers >= 0."""
    allowed = factor.table[factor.table < np.inf]
    bad = allowed[(allowed < 0) | (allowed != np.floor(allowed))]
    if bad.size:
        raise BadFactor(
            f"entry {bad[0]:g} in the {name_of(factor)}: .wcsp files hold integers >= 0; write .cfn instead"
        )
    return int(allowed.max(initial=0))


def _function_lines(factor: Factor, top: int) -> list[str]:
    """The most frequent cost is the default."""
    table = np.where(factor.table < np.inf, factor.table, top)
    values, counts = np.unique(table, return_counts=True)
    default = values[np.argmax(counts)]
    where = np.argwhere(table != default)
    rows = np.column_stack([where, table[table != default]]).astype(np.int64)
    head = [len(factor.scope), *factor.scope, int(default), len(rows)]
    return [" ".join(map(str, row)) for row in [head, *rows.tolist()]]

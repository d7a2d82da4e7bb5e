"""WCSP files of toulbar2: cost functions with a default cost and a list of tuples, costs integers >= 0.

Costs of at least the upper bound in the header forbid. That bound says nothing else here: a labeling whose
costs sum to it is allowed, and merely worthless to toulbar2. The five comparators and ``max`` are read as
tables, ``salldiff`` and ``sgcc`` as terms over pairs; other global cost functions are refused.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from gapcut.inference.energy import Energy
from gapcut.inference.files.differences import DIFFERENCES, Differences
from gapcut.inference.files.errors import BadFactor, EnergyFileError
from gapcut.inference.files.factors import MOST_ENTRIES, Factor, FactorGraph, factors_of, name_of
from gapcut.inference.files.flat import FlatFactors, scopes_are_good, table_sizes
from gapcut.inference.files.intension import COMPARATORS, comparison, maximum, unsupported
from gapcut.inference.files.tokens import Tokens
from gapcut.inference.packing import spans
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
    labels = [_labels(tokens, u) for u in range(n_nodes)]
    with tokens.blame():
        graph = FactorGraph(labels)
    plain = _all_tuples(tokens, labels, n_functions)
    if plain is not None:
        with tokens.blame():
            return plain.forbid_from(float(top)).energy()
    shared: list[FloatArray] = []
    for _ in range(n_functions):
        _read_function(tokens, graph, shared, top)
    tokens.end("the last cost function")
    with tokens.blame():
        return graph.energy(float(top))


def _labels(tokens: Tokens, node: int) -> int:
    count = tokens.integer("a domain size", least=None)
    if count < 0:
        raise tokens.fail(f"variable {node} is an interval (domain size {count}), which is not supported")
    if count == 0:
        raise tokens.fail("a domain size is 0, expected at least 1")
    return count


def _all_tuples(tokens: Tokens, labels: list[int], n_functions: int) -> FlatFactors | None:
    """All functions at once, if each is a default cost and tuples, and nothing is wrong; None otherwise."""
    values = tokens.rest_as_integers()
    if values is None:
        return None
    words, at = values.tolist(), 0
    starts, orders, counts = [], [], []
    try:
        for _ in range(n_functions):
            order = words[at]
            count = words[at + order + 2]
            if order < 0 or count < 0:
                return None
            starts.append(at)
            orders.append(order)
            counts.append(count)
            at += order + 3 + count * (order + 1)
    except IndexError:
        return None
    begin, order = np.array(starts, dtype=np.int64), np.array(orders, dtype=np.int64)
    scope_at, n_labels = np.concatenate([[0], np.cumsum(order)]), np.array(labels, dtype=np.int64)
    members = values[spans(begin + 1, order)]
    if at != len(words) or not scopes_are_good(len(labels), scope_at, members) or order.max(initial=0) > 8:
        return None
    sizes, defaults = table_sizes(n_labels, scope_at, members), values[begin + order + 1]
    table_at = np.cumsum(sizes) - sizes
    if defaults.min(initial=0) < 0 or sizes.sum() > MOST_ENTRIES:
        return None
    entries = np.repeat(defaults.astype(np.float64), sizes)
    for o in np.unique(order).tolist():
        chosen = np.flatnonzero(order == o)
        count = np.array(counts, dtype=np.int64)[chosen]
        rows = values[spans(begin[chosen] + o + 3, count * (o + 1))].reshape(-1, o + 1)
        shapes = n_labels[members[scope_at[chosen][:, None] + np.arange(o)]]
        shape = np.repeat(shapes, count, axis=0)
        if (rows < 0).any() or (rows[:, :-1] >= shape).any():
            return None
        cell = np.zeros(len(rows), dtype=np.int64)
        for axis in range(o):
            cell = cell * shape[:, axis] + rows[:, axis]
        entries[np.repeat(table_at[chosen], count) + cell] = rows[:, -1]  # given twice: the last counts
    return FlatFactors(n_labels, scope_at, members, table_at, entries)


def _read_function(tokens: Tokens, graph: FactorGraph, shared: list[FloatArray], top: int) -> None:
    order = tokens.integer("the number of variables of a cost function", least=None)
    scope = tokens.integers(abs(order), "a variable of a cost function")
    where = tokens.at
    default = tokens.integer("the default cost", least=-1)
    if default == -1:
        _add_global(tokens, graph, scope, top)
        return
    count = tokens.integer("the number of tuples", least=None)
    try:
        shape = graph.shape(scope, stored=count < 0)
    except BadFactor as error:
        raise tokens.fail(str(error), where) from None
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


def _add_global(tokens: Tokens, graph: FactorGraph, scope: list[int], top: int) -> None:
    """A cost function given by its kind."""
    kind = tokens.word("the kind of a cost function")
    with tokens.blame():
        if kind not in (*COMPARATORS, "max", "smaxdp", *DIFFERENCES):
            raise unsupported(kind)
        if kind in DIFFERENCES:
            rule = Differences(kind, scope, tokens.word("the semantics"), tokens.integer("the cost"), top)
            if kind == "sgcc":
                cells = tokens.integers(3 * tokens.integer("the number of values"), "a value or bound")
                rule.bounds = list(zip(cells[::3], cells[1::3], cells[2::3], strict=True))
            rule.add_to(graph)
            return
        shape = graph.shape(scope)
        if kind in COMPARATORS:
            constant, delta = (tokens.integer("a parameter", least=None) for _ in range(2))
            graph.add(scope, comparison(kind, shape, constant, delta))
            return
    default = tokens.integer("the default cost")
    costs = []
    for _ in range(tokens.integer("the number of tuples")):
        node = tokens.integer("a variable")
        if node not in scope:
            raise tokens.fail(f"variable {node} is not in the scope of this cost function")
        costs.append((scope.index(node), tokens.integer("a label"), float(tokens.integer("a cost"))))
    with tokens.blame():
        graph.add(scope, maximum(shape, default, costs))


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

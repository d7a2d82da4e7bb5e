"""CFN files that are strict JSON of plain tables, as most large ones are: read at once. Whatever is not plain is left
to the reader of ``cfn.py``, which knows the whole format and says where something is wrong."""

from __future__ import annotations

import json
from typing import Any

import numpy as np

from gapcut.inference.files.factors import MOST_ENTRIES
from gapcut.inference.files.flat import FlatFactors, scopes_are_good, table_sizes
from gapcut.inference.files.tokens import as_number

_PARTS = ["problem", "variables", "functions"]
Pairs = list[tuple[str, Any]]


def read_strict(text: str) -> FlatFactors | None:
    """The factors with their signs and forbidden entries; None if the text is not of that kind."""
    try:
        root: Any = json.loads(text, object_pairs_hook=list)  # keeps names that stand twice
        if [name for name, _ in root] != _PARTS:
            return None
        problem, variables, functions = (part for _, part in root)
        bound = next(value for name, value in problem if name == "mustbe")
        counts = _counts(variables)
        limit = as_number(bound[1:])
        if bound[0] not in "<>" or limit is None or counts is None:
            return None
        sign = 1.0 if bound[0] == "<" else -1.0
        number: dict[str | int, int] = {u: u for u in range(len(counts))}
        for u, (name, _) in enumerate(variables):
            number[name] = u
            if name.isdigit():
                number[int(name)] = u
        factors = _factors(functions, number, counts, sign)
        return None if factors is None else factors.forbid_from(sign * limit)
    except (ValueError, TypeError, KeyError, IndexError, OverflowError, RecursionError, StopIteration):
        return None


def _counts(variables: Pairs) -> list[int] | None:
    """Label counts; None if a name stands twice or a domain is neither a size nor a list of names."""
    counts = [len(domain) if isinstance(domain, list) else domain for _, domain in variables]
    plain = all(type(count) is int and count > 0 for count in counts)
    return counts if plain and len({name for name, _ in variables}) == len(variables) else None


def _factors(
    functions: Pairs, number: dict[str | int, int], counts: list[int], sign: float
) -> FlatFactors | None:
    members: list[int] = []
    costs: list[float] = []
    orders, sizes = [], []
    for _, function in functions:
        (first, scope), (second, table) = function  # or an error: not plain
        if first != "scope" or second != "costs" or type(table) is not list:
            return None
        members += [number[u] for u in scope]
        costs += table
        orders.append(len(scope))
        sizes.append(len(table))
    entries = sign * np.array(costs, dtype=np.float64)
    at = np.concatenate([[0], np.cumsum(np.array(orders, dtype=np.int64))])
    labels, nodes = np.array(counts, dtype=np.int64), np.array(members, dtype=np.int64)
    size = np.array(sizes, dtype=np.int64)
    if entries.ndim != 1 or not np.isfinite(entries).all() or len(entries) > MOST_ENTRIES:
        return None
    if not scopes_are_good(len(labels), at, nodes) or max(orders, default=0) > 8:
        return None
    if (table_sizes(labels, at, nodes) != size).any():
        return None
    return FlatFactors(labels, at, nodes, np.cumsum(size) - size, entries)

"""CFN files of toulbar2, plain or gzipped: named variables, decimal costs, minimised or maximised.

A problem that is maximised becomes the energy ``-cost``. Entries that alone reach the bound of ``mustbe``
forbid (``FlatFactors.forbid_from``); otherwise the bound is not a term, labelings beyond it are allowed.
Names of variables and labels are not kept: nodes and labels are numbered in the order of the file. The
global cost function ``max`` and the five comparators are read as tables; others are refused.
"""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from gapcut.inference.energy import Energy
from gapcut.inference.files.differences import DIFFERENCES, Differences
from gapcut.inference.files.errors import BadFactor, EnergyFileError
from gapcut.inference.files.factors import FactorGraph, factors_of
from gapcut.inference.files.intension import COMPARATORS, comparison, maximum, unsupported
from gapcut.inference.files.relaxed_json import Document, Group, Item
from gapcut.inference.files.strict_cfn import read_strict
from gapcut.inference.files.tokens import as_integer, as_number
from gapcut.typing import FloatArray

_SECTIONS = ("problem", "variables", "functions")


@dataclass(frozen=True)
class _Variables:
    """Variables by name, and the labels of each by name."""

    number: dict[str, int]
    labels: list[dict[str, int]]
    counts: list[int]


@dataclass(frozen=True)
class _Function:
    """A cost function as it stands in the file: either a table, or the name of one that has it."""

    scope: list[int]
    shape: tuple[int, ...]
    table: FloatArray | None
    same_as: str
    where: Item


def read(data: bytes, path: Path) -> Energy:
    """The energy of a CFN file; ``EnergyFileError`` with the line if it is none."""
    text = data.decode("utf-8", errors="replace")
    plain = read_strict(text)
    if plain is not None:
        try:
            return plain.energy()
        except BadFactor as error:
            raise EnergyFileError(path, str(error)) from None
    document = Document(text, path)
    problem, variables, functions = _sections(document)
    sign, bound = _objective(document, problem)
    names = _variables(document, variables)
    with document.blame(variables):
        graph = FactorGraph(names.counts)
    read_functions = _functions(document, functions, names, graph, sign * bound)
    by_name = dict(read_functions)
    signed: dict[int, FloatArray] = {}
    for _, function in read_functions:
        table = _table(document, function, by_name)
        graph.add(function.scope, signed.setdefault(id(table), sign * table if sign < 0 else table))
    with document.blame(functions):
        return graph.energy(sign * bound)


def _sections(document: Document) -> tuple[Group, Group, Group]:
    root = document.root.items
    if len(root) != 1 or not isinstance(root[0], Group):
        where = root[0] if root else None
        raise document.fail("a CFN file is one object { problem variables functions }", where)
    parts = _without_tags(document, root[0], _SECTIONS)
    if len(parts) != 3:
        raise document.fail(
            f"expected 3 parts, problem, variables and functions, found {len(parts)}", root[0]
        )
    groups = [part for part in parts if isinstance(part, Group)]
    if len(groups) != 3:
        wrong = next(part for part in parts if isinstance(part, int))
        raise document.fail(f"expected a bracket, found {document.quote(wrong)}", wrong)
    return groups[0], groups[1], groups[2]


def _without_tags(document: Document, group: Group, tags: tuple[str, ...]) -> list[Item]:
    """Items of a group that are no field name."""
    return [item for item in group.items if not (isinstance(item, int) and document.text(item) in tags)]


def _objective(document: Document, problem: Group) -> tuple[float, float]:
    """(1 to minimise or -1 to maximise, the bound)."""
    for item in problem.items:
        text = document.text(item) if isinstance(item, int) else ""
        if text[:1] in ("<", ">"):
            bound = as_number(text[1:])
            if bound is None:
                raise document.fail(f"the bound {text[:30]!r} holds no number", item)
            return (1.0 if text[0] == "<" else -1.0), bound
    raise document.fail("the problem has no mustbe field such as <100.0", problem)


def _variables(document: Document, group: Group) -> _Variables:
    found = _Variables({}, [], [])
    items = iter(group.items)
    for item in items:
        name, domain = None, item
        if isinstance(item, int) and as_integer(document.text(item)) is None:
            name = document.text(item)
            domain = next(items, item)
            if domain is item:
                raise document.fail(f"variable {name!r} has no domain", item)
        if name is not None and name in found.number:
            raise document.fail(f"variable {name!r} stands twice", item)
        found.number[str(len(found.counts)) if name is None else name] = len(found.counts)
        _add_domain(document, domain, found)
    return found


def _add_domain(document: Document, domain: Item, found: _Variables) -> None:
    names: dict[str, int] = {}
    if isinstance(domain, Group):
        names = {document.text(atom): k for k, atom in enumerate(document.flat(domain))}
        count = len(names)
    else:
        count = document.integer(domain, "a domain size or a list of labels")
        if count < 0:
            raise document.fail(
                f"variable {len(found.counts)} is an interval (domain size {count}), which is not supported",
                domain,
            )
    if count == 0:
        raise document.fail("a domain is empty, expected at least one label", domain)
    found.labels.append(names)
    found.counts.append(count)


def _functions(
    document: Document, group: Group, names: _Variables, graph: FactorGraph, bound: float
) -> list[tuple[str, _Function]]:
    found: list[tuple[str, _Function]] = []
    name = ""
    for item in group.items:
        if isinstance(item, Group):
            function = None
            if not _add_differences(document, _fields(document, item), names, graph, bound):
                function = _function(document, item, names, graph)
            if function is not None:
                found.append((name, function))
            name = ""
        else:
            name = document.text(item)
    return found


def _add_differences(
    document: Document, fields: dict[str, Item], names: _Variables, graph: FactorGraph, bound: float
) -> bool:
    """Whether it is ``salldiff`` or ``sgcc``, which is added then. Their ``params`` are metric, cost and, of ``sgcc``,
    bounds ``[[label least most] ...]``."""
    where, params, scope = fields.get("type"), fields.get("params"), fields.get("scope")
    kind = document.text(where) if isinstance(where, int) else ""
    if kind not in DIFFERENCES or not isinstance(scope, Group):
        return False
    if not isinstance(params, Group):
        raise document.fail(f"function {kind!r} has no params in brackets", where)
    given = _fields(document, Group(params.at, params.items))
    metric, cost, bounds = given.get("metric"), given.get("cost"), given.get("bounds")
    if not isinstance(metric, int) or cost is None:
        raise document.fail(f"{kind} takes a metric and a cost", params)
    nodes = [_node(document, atom, names) for atom in document.flat(scope)]
    price = document.number(cost, "the cost")
    rule = Differences(kind, nodes, document.text(metric), price, bound)
    if kind == "sgcc":
        numbers = document.flat(bounds) if isinstance(bounds, Group) else []
        if not numbers or len(numbers) % 3:
            raise document.fail("bounds of sgcc are [label least most]", params)
        cells = [document.integer(atom, "a bound") for atom in numbers]
        rule.bounds = list(zip(cells[::3], cells[1::3], cells[2::3], strict=True))
    with document.blame(where):
        rule.add_to(graph)
    return True


def _function(document: Document, group: Group, names: _Variables, graph: FactorGraph) -> _Function:
    fields = _fields(document, group)
    if "scope" not in fields or not isinstance(fields["scope"], Group):
        raise document.fail("a function has no scope in brackets", group)
    scope = [_node(document, atom, names) for atom in document.flat(fields["scope"])]
    if isinstance(kind := fields.get("type"), int) and document.text(kind) not in (
        *COMPARATORS,
        "max",
        "smaxdp",
    ):
        with document.blame(kind):
            raise unsupported(document.text(kind)[:30])
    with document.blame(fields["scope"]):
        shape = graph.shape(scope, stored=isinstance(fields.get("costs"), int))
    if "type" in fields:
        return _Function(scope, shape, _intension(document, fields, scope, shape, names), "", group)
    costs = fields.get("costs")
    if costs is None:
        raise document.fail("a function has neither costs nor a type", group)
    if isinstance(costs, int):
        return _Function(scope, shape, None, document.text(costs), group)
    if "defaultcost" in fields:
        default = document.number(fields["defaultcost"], "the default cost")
        table = _sparse(document, costs, scope, shape, default, names)
    else:
        table = _dense(document, costs, shape)
    return _Function(scope, shape, table, "", group)


def _fields(document: Document, group: Group) -> dict[str, Item]:
    """Fields of a function by name; a bracket without a name is the scope."""
    fields: dict[str, Item] = {}
    items = iter(group.items)
    for item in items:
        if isinstance(item, Group):
            fields.setdefault("scope", item)
            continue
        tag = document.text(item)
        value = next(items, None)
        if value is None:
            raise document.fail(f"field {tag[:30]!r} has no value", item)
        fields["params" if tag == "parameters" else tag] = value
    return fields


def _node(document: Document, atom: int, names: _Variables) -> int:
    text = document.text(atom)
    number = names.number.get(text)
    if number is None:
        number = as_integer(text)
        if number is None or not 0 <= number < len(names.counts):
            raise document.fail(f"there is no variable {text[:30]!r}", atom)
    return number


def _label(document: Document, atom: int, node: int, names: _Variables) -> int:
    text = document.text(atom)
    number = names.labels[node].get(text)
    if number is None:
        number = as_integer(text)
        if number is None or not 0 <= number < names.counts[node]:
            raise document.fail(f"variable {node} has no label {text[:30]!r}", atom)
    return number


def _dense(document: Document, costs: Group, shape: tuple[int, ...]) -> FloatArray:
    atoms = document.flat(costs)
    if len(atoms) != math.prod(shape):
        raise document.fail(f"there are {len(atoms)} costs, the scope needs {math.prod(shape)}", costs)
    return document.numbers(atoms, "a cost").reshape(shape)


def _sparse(
    document: Document,
    costs: Group,
    scope: list[int],
    shape: tuple[int, ...],
    default: float,
    names: _Variables,
) -> FloatArray:
    table = np.full(shape, default)
    atoms, step = document.flat(costs), len(scope) + 1
    if len(atoms) % step:
        raise document.fail(f"costs come as tuples of {step - 1} labels and a cost, the last is cut", costs)
    for start in range(0, len(atoms), step):
        labels = zip(atoms[start : start + step - 1], scope, strict=True)
        where = tuple(_label(document, atom, node, names) for atom, node in labels)
        table[where] = document.number(atoms[start + step - 1], "a cost")
    return table


def _intension(
    document: Document,
    fields: dict[str, Item],
    scope: list[int],
    shape: tuple[int, ...],
    names: _Variables,
) -> FloatArray:
    where, params = fields["type"], fields.get("params")
    kind = document.text(where) if isinstance(where, int) else "?"
    with document.blame(where):
        if not isinstance(params, Group):
            raise document.fail(f"function {kind!r} has no params in brackets", where)
        if kind in COMPARATORS:
            values = [document.number(a, "a parameter") for a in document.flat(params)]
            if len(values) != 2:
                raise document.fail(f"{kind} takes 2 parameters, found {len(values)}", params)
            return comparison(kind, shape, *values)
        return _maximum(document, params, scope, shape, names)


def _maximum(
    document: Document, params: Group, scope: list[int], shape: tuple[int, ...], names: _Variables
) -> FloatArray:
    """``[defaultcost: cost, tuples: [[variable label cost] ...]]``."""
    items = _without_tags(document, params, ("defaultcost", "tuples"))
    if len(items) != 2 or not isinstance(items[1], Group):
        raise document.fail("max takes a defaultcost and tuples in brackets", params)
    default = document.number(items[0], "the default cost")
    atoms, costs = document.flat(items[1]), []
    if len(atoms) % 3:
        raise document.fail("tuples of max are [variable label cost]", items[1])
    for variable, label, cost in zip(atoms[::3], atoms[1::3], atoms[2::3], strict=True):
        node = _node(document, variable, names)
        if node not in scope:
            raise document.fail(f"variable {document.quote(variable)} is not in the scope", variable)
        value = document.number(cost, "a cost")
        costs.append((scope.index(node), _label(document, label, node, names), value))
    return maximum(shape, default, costs)


def _table(document: Document, function: _Function, by_name: dict[str, _Function]) -> FloatArray:
    """The table, which may be that of another function."""
    source, passed = function, 0
    while source.table is None:
        passed += 1
        target = by_name.get(source.same_as)
        if target is None or passed > len(by_name):
            raise document.fail(
                f"costs of a function named {source.same_as[:30]!r} do not exist", source.where
            )
        source = target
    if source.shape != function.shape:
        raise document.fail(
            f"the scope has label counts {function.shape}, function {function.same_as!r} {source.shape}",
            function.where,
        )
    return source.table


def write(energy: Energy, path: Path) -> bytes:
    """The file of an energy, as strict JSON; entries come back exactly.

    +inf is written as a cost that reaches the bound of ``mustbe`` in any labeling. toulbar2 keeps as many
    decimals as that bound shows: as many as the entries have, at most what 64 bits hold.
    """
    factors = list(factors_of(energy))
    allowed = [f.table[f.table < np.inf] for f in factors]
    least = math.fsum(min(0.0, float(a.min(initial=0.0))) for a in allowed)
    total = math.fsum(float(np.abs(a).max(initial=0.0)) for a in allowed)
    bound = math.ceil(total * (1 + 1e-9)) + 1
    forbidden = str(bound + math.ceil(-least * (1 + 1e-9)) + 1)
    tables = [[decimal(x, forbidden) for x in f.table.ravel().tolist()] for f in factors]
    places = max((len(text.partition(".")[2]) for table in tables for text in table), default=0)
    places = min(places, max(0, 17 - len(forbidden)))
    mustbe = f"<{bound}.{'0' * places}" if places else f"<{bound}"
    problem = json.dumps({"name": _problem_name(path), "mustbe": mustbe})
    variables = ", ".join(f'"v{u}": {count}' for u, count in enumerate(energy.n_labels.tolist()))
    functions = ",\n".join(
        f'"f{i}": {{"scope": [{", ".join(map(str, f.scope))}], "costs": [{", ".join(table)}]}}'
        for i, (f, table) in enumerate(zip(factors, tables, strict=True))
    )
    text = f'{{"problem": {problem},\n"variables": {{{variables}}},\n"functions": {{\n{functions}\n}}}}\n'
    return text.encode()


def decimal(value: float, forbidden: str) -> str:
    """The shortest decimal that reads back as ``value``, without exponent."""
    if value == math.inf:
        return forbidden
    return np.format_float_positional(value, unique=True, trim="-")


def _problem_name(path: Path) -> str:
    name = "".join(c if c.isalnum() or c in "_-" else "_" for c in path.name.split(".")[0])
    return f"e{name}" if not name[:1].isalpha() else name

"""HDF5 files of OpenGM 2, for models whose operator adds (the file does not say).

Layout, one group per model: ``header`` = version 2, 0, number of variables, of factors, of function types, then (type
id, number of functions) for each type, then the value type (0 float, 1 double, 2 unsigned, 3 integer);
``numbers-of-states``; for each type a group ``function-id-<id>`` with ``indices`` and ``values`` of all its functions
in a row; ``factors`` = for each (function, position of its type in the header, number of variables, variables).

Tables run with the first variable fastest (OpenGM's ``LastMajorOrder``). Read are explicit (16000), sparse (16001) and
Potts functions (16006); written are explicit ones, equal tables once.
"""

from __future__ import annotations

import io
import math
from pathlib import Path
from typing import Any

import numpy as np

from gapcut.extras import needed
from gapcut.inference.energy import Energy
from gapcut.inference.files.contents import MOST_BYTES, MOST_TIMES
from gapcut.inference.files.errors import BadFactor, EnergyFileError
from gapcut.inference.files.factors import MOST_ENTRIES, Factor, FactorGraph, factors_of
from gapcut.typing import AnyArray, FloatArray

_EXPLICIT, _SPARSE, _POTTS = 16000, 16001, 16006
_NAMES = {_EXPLICIT: "explicit", _SPARSE: "sparse", _POTTS: "Potts"}
_GROUP = "gm"


class _Cursor:
    """A position in an array; reading past its end is an error."""

    def __init__(self, array: AnyArray, name: str) -> None:
        self._array, self._name, self._at = array, name, 0

    def take(self, count: int) -> list[Any]:
        """The next entries."""
        if not 0 <= count <= len(self._array) - self._at:
            raise BadFactor(f"{self._name} ends after {len(self._array)} entries, more should follow")
        self._at += count
        values: list[Any] = self._array[self._at - count : self._at].tolist()
        return values

    def one(self) -> Any:
        """The next entry."""
        return self.take(1)[0]


def read(data: bytes, path: Path) -> Energy:
    """The energy of an OpenGM file; ``EnergyFileError`` if it is none."""
    h5py = _h5py()
    try:
        with h5py.File(io.BytesIO(data), "r") as file:
            return _model(h5py, _group(h5py, file))
    except BadFactor as error:
        raise EnergyFileError(path, str(error)) from None
    except (OSError, RuntimeError, KeyError, TypeError, AttributeError, ValueError, OverflowError) as error:
        first = " ".join(str(error).split())
        raise EnergyFileError(path, f"not a readable OpenGM file: {first}") from None


def _h5py() -> Any:
    return needed("h5py", "OpenGM files need", "hdf5")


def _group(h5py: Any, file: Any) -> Any:
    groups = [file, *(g for g in file.values() if isinstance(g, h5py.Group))]
    found = [g for g in groups if "header" in g]
    if len(found) != 1:
        raise BadFactor(f"expected one group with a header, found {len(found)}")
    return found[0]


def _array(h5py: Any, group: Any, name: str, integers: bool = True) -> AnyArray:
    data = group.get(name)
    if not isinstance(data, h5py.Dataset) or len(data.shape) != 1:
        raise BadFactor(f"there is no one-dimensional data set {name!r} in {group.name}")
    size, limit = (
        data.shape[0] * data.dtype.itemsize,
        max(MOST_BYTES, MOST_TIMES * data.id.get_storage_size()),
    )
    if data.shape[0] > MOST_ENTRIES or size > limit:
        raise BadFactor(
            f"{name} holds {data.shape[0]:,} entries, more than {min(MOST_ENTRIES, limit // 8):,}"
        )
    if data.dtype.kind not in ("iu" if integers else "iuf"):
        raise BadFactor(f"{name} holds {data.dtype}, expected {'integers' if integers else 'numbers'}")
    array: AnyArray = data[...]
    return array


def _model(h5py: Any, group: Any) -> Energy:
    header = _Cursor(_array(h5py, group, "header"), "header")
    major, minor, n_nodes, n_factors, n_types = header.take(5)
    if (major, minor) != (2, 0):
        raise BadFactor(f"version {major}.{minor} of the format is not supported, only 2.0")
    states = _array(h5py, group, "numbers-of-states") if n_nodes else np.zeros(0, dtype=np.int64)
    if len(states) != n_nodes:
        raise BadFactor(f"numbers-of-states holds {len(states)} entries, the header says {n_nodes}")
    graph = FactorGraph(states.tolist())
    pairs = [header.take(2) for _ in range(min(n_types, MOST_ENTRIES))]
    types = [_functions(h5py, group, *pair) for pair in pairs]
    factors = _Cursor(_array(h5py, group, "factors") if n_factors else np.zeros(0, dtype=int), "factors")
    for i in range(n_factors):
        function, kind, order = factors.take(3)
        scope = factors.take(order)
        if kind >= len(types) or function >= len(types[kind]):
            raise BadFactor(f"factor {i} uses function {function} of type {kind}, which does not exist")
        shape, table = graph.shape(scope, stored=True), types[kind][function]
        if table.shape != shape:
            raise BadFactor(f"factor {i} over label counts {shape} uses a function of shape {table.shape}")
        graph.add(scope, table)
    return graph.energy()


def _functions(h5py: Any, group: Any, kind: int, count: int) -> list[FloatArray]:
    """The tables of all functions of a type."""
    if not count:
        return []
    if kind not in _NAMES:
        raise BadFactor(
            f"function type {kind} is not supported: only explicit, sparse and Potts functions; "
            "save the model with explicit functions"
        )
    part = group.get(f"function-id-{kind}")
    if not isinstance(part, h5py.Group):
        raise BadFactor(f"there is no group function-id-{kind}")
    indices = _Cursor(_array(h5py, part, "indices"), f"function-id-{kind}/indices")
    values = _Cursor(_array(h5py, part, "values", integers=False), f"function-id-{kind}/values")
    room = MOST_ENTRIES
    tables = []
    for _ in range(count):
        shape = tuple(indices.take(2 if kind == _POTTS else indices.one()))
        room -= math.prod(shape)
        if room < 0 or min(shape, default=1) < 1 or len(shape) > 32:
            raise BadFactor(f"a function has shape {shape}: empty, or too large to read")
        tables.append(_table(kind, shape, indices, values))
    return tables


def _table(kind: int, shape: tuple[int, ...], indices: _Cursor, values: _Cursor) -> FloatArray:
    size = math.prod(shape)
    if kind == _EXPLICIT:
        return _first_fastest(np.array(values.take(size), dtype=np.float64), shape)
    if kind == _POTTS:
        equal, other = values.take(2)
        table = np.full(shape, float(other))
        np.fill_diagonal(table, equal)
        return table
    flat = np.full(size, float(values.one()))
    given = indices.one()
    where = np.array(indices.take(given), dtype=np.int64)
    if given and not (where.min() >= 0 and where.max() < size):
        raise BadFactor(f"a sparse function of {size} entries has an entry beyond them")
    flat[where] = values.take(given)
    return _first_fastest(flat, shape)


def _first_fastest(flat: FloatArray, shape: tuple[int, ...]) -> FloatArray:
    return np.ascontiguousarray(flat.reshape(shape, order="F"))


def write(energy: Energy, path: Path) -> bytes:
    """The file of an energy."""
    functions: dict[bytes, int] = {}
    indices, values, factors = [], [], []
    n_factors = 0
    for factor in factors_of(energy):
        scope, table = _sorted(factor)
        shape = np.array([table.ndim, *table.shape], dtype=np.uint64)
        flat = table.ravel(order="F")
        key = shape.tobytes() + flat.tobytes()
        if key not in functions:
            functions[key] = len(functions)
            indices.append(shape)
            values.append(flat)
        factors += [functions[key], 0, len(scope), *scope]
        n_factors += 1
    header = [2, 0, energy.n_nodes, n_factors, 1, _EXPLICIT, len(functions), 1]
    buffer = io.BytesIO()
    with _h5py().File(buffer, "w") as file:
        group = file.create_group(_GROUP)
        group["header"] = np.array(header, dtype=np.uint64)
        group["numbers-of-states"] = energy.n_labels.astype(np.uint64)
        if functions:
            group[f"function-id-{_EXPLICIT}/indices"] = np.concatenate(indices)
            group[f"function-id-{_EXPLICIT}/values"] = np.concatenate(values)
            group["factors"] = np.array(factors, dtype=np.uint64)
    return buffer.getvalue()


def _sorted(factor: Factor) -> tuple[list[int], FloatArray]:
    """OpenGM wants the variables of a factor in ascending order."""
    order = np.argsort(factor.scope, kind="stable")
    return [factor.scope[i] for i in order], factor.table.transpose(order)

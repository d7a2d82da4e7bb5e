"""A fitted model and its parameters as one ``.gapcut`` file, and back with every field checked."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import fields, replace
from pathlib import Path
from types import MappingProxyType, UnionType
from typing import Any, Literal, TypeVar, get_args, get_origin, get_type_hints

import numpy as np

from gapcut.certificates import Certificate, OneHotClaim, Record
from gapcut.data.labels import object_array, plain_value
from gapcut.features import FeaturePipeline
from gapcut.files import ModelFileError, blame, read_container
from gapcut.inference import CliqueWeights
from gapcut.model.chosen import Choice
from gapcut.model.fitted import DataSummary, FittedModel
from gapcut.model.labels import LabelCoder
from gapcut.stacking import Base
from gapcut.typing import AnyArray
from gapcut.version import __version__

T = TypeVar("T")
B = TypeVar("B", Certificate, OneHotClaim)

FORMAT = 1
"""Version of the file format; a reader refuses versions it does not know."""

_PIPELINE = "pipeline."
_CLIQUE = ("clique_tuples", "clique_weights")
_LARGEST_CLASSES = 64 << 20  # bytes
_SCALARS = (bool, int, float, str)


def pack_model(model: FittedModel, params: Mapping[str, Any]) -> tuple[dict[str, AnyArray], dict[str, Any]]:
    """Arrays and document of a model with the constructor parameters of its estimator, for a file of its own or a part
    of a larger one.

    Parameters that JSON cannot hold (a callback, a RandomState) are left out: the loaded estimator has their
    defaults. Raises ValueError for labels that are not int, str, bool or float, and for a base that arrays cannot hold.
    """
    arrays, pipeline = model.pipeline.to_state()
    kept = {name: _plain(value) for name, value in params.items() if _is_plain(value)}
    document = {
        "format": FORMAT,
        "gapcut": __version__,
        "params": kept,
        "classes": _class_list(model.coder.classes),
        "dtype": "object" if model.coder.classes.dtype == object else model.coder.classes.dtype.str,
        "message": model.message,
        "certificate": _certificate_fields(model.certificate),
        "history": [[_finite(v) for v in _fields(record).values()] for record in model.history],
        "data": _summary_fields(model.data),
        "pipeline": pipeline,
    }
    tensors = {"unary": model.unary, "pairwise": model.pairwise, **clique_tensors(model.cliques)}
    if model.base is not None:
        base_arrays, document["base"] = model.base.to_state()
        tensors |= {Base.prefix + name: array for name, array in base_arrays.items()}
    if model.temperature is not None:
        document["temperature"] = model.temperature
    if model.choice is not None:
        document["choice"] = model.choice.to_state()
    return {**tensors, **{_PIPELINE + name: array for name, array in arrays.items()}}, document


def read_model(path: Path) -> tuple[FittedModel, dict[str, Any]]:
    """The model and the parameters in a file.

    Raises ModelFileError for any file that :func:`pack_model` does not make.
    """
    arrays, document = read_container(path)
    if "kind" in document:
        raise ModelFileError(
            f"{path}: this is a model of {document['kind']!s:.20}, not of graphs: use gapcut label"
        )
    version = document.get("format")
    if version != FORMAT or isinstance(version, bool):
        raise ModelFileError(
            f"{path}: format version {str(version)[:40]} is not readable by gapcut {__version__}, which "
            f"knows version {FORMAT}: update gapcut"
        )
    with blame(path):
        return unpack_model(arrays, document)


def unpack_model(arrays: dict[str, AnyArray], document: dict[str, Any]) -> tuple[FittedModel, dict[str, Any]]:
    """What :func:`pack_model` packed; raises ValueError, TypeError and others for anything else: see :func:`blame`."""
    params = _expect(document, "params", dict)
    coder = _read_classes(_expect(document, "classes", list), _expect(document, "dtype", str))
    state = {name.removeprefix(_PIPELINE): a for name, a in arrays.items() if name.startswith(_PIPELINE)}
    stacked = {
        name.removeprefix(Base.prefix): a for name, a in arrays.items() if name.startswith(Base.prefix)
    }
    known = {"unary", "pairwise", *clique_names(arrays)} | {_PIPELINE + name for name in state}
    known |= {Base.prefix + name for name in stacked}
    extra = sorted(set(arrays) - known)
    if extra:
        raise ValueError(f"unknown array {extra[0]!r}")
    pipeline = FeaturePipeline.from_state(state, _expect(document, "pipeline", dict))
    n_labels, node_dim, edge_dim = coder.n_labels, len(pipeline.node_names), len(pipeline.edge_names)
    base = None
    if stacked:
        base = Base.from_state(stacked, _expect(document, "base", dict), pipeline.raw_columns)
        node_dim = len(base.columns_after(pipeline.node_names, coder.classes.tolist()))
        if base.n_classes != n_labels:
            raise ValueError(f"the base tells {base.n_classes} classes apart, not {n_labels}")
    model = FittedModel(
        coder=coder,
        pipeline=pipeline,
        unary=_weights(arrays, "unary", (n_labels, node_dim)),
        pairwise=_weights(arrays, "pairwise", (n_labels, n_labels, edge_dim)),
        cliques=_read_cliques(arrays, pipeline, n_labels),
        certificate=_read_certificate(_expect(document, "certificate", dict)),
        history=tuple(_read_record(row) for row in _expect(document, "history", list)),
        data=_read_summary(_expect(document, "data", dict)),
        message=_expect(document, "message", str),
        base=base,
        temperature=_read_temperature(document.get("temperature")),
        choice=Choice.from_state(_expect(document, "choice", dict)) if "choice" in document else None,
    )
    return model, params


def _weights(arrays: Mapping[str, AnyArray], name: str, shape: tuple[int, ...]) -> AnyArray:
    if name not in arrays:
        raise ValueError(f"array {name!r} is missing")
    array = arrays[name]
    if array.dtype != np.float64 or array.shape != shape:
        raise ValueError(
            f"array {name!r} is {array.dtype} of shape {array.shape}, not float64 of shape {shape}"
        )
    if not np.isfinite(array).all():
        raise ValueError(f"array {name!r} has entries that are NaN or infinite")
    return array


def clique_tensors(cliques: Sequence[CliqueWeights]) -> dict[str, AnyArray]:
    """The arrays of all clique groups."""
    return {
        f"{name}.{g}": getattr(group, name.removeprefix("clique_"))
        for g, group in enumerate(cliques)
        for name in _CLIQUE
    }


def clique_names(arrays: Mapping[str, AnyArray]) -> list[str]:
    """Those that could be theirs."""
    return [name for name in arrays if name.rpartition(".")[0] in _CLIQUE]


def _read_cliques(
    arrays: Mapping[str, AnyArray], pipeline: FeaturePipeline, n_labels: int
) -> tuple[CliqueWeights, ...]:
    names, orders = pipeline.clique_names, pipeline.raw_columns.orders
    if len(clique_names(arrays)) != len(_CLIQUE) * len(names):
        raise ValueError("the weights of cliques do not fit the clique groups of the feature steps")
    groups = []
    for g, (columns, order) in enumerate(zip(names, orders, strict=True)):
        tuples = arrays[f"clique_tuples.{g}"]
        if tuples.dtype != np.int64 or tuples.ndim != 2 or tuples.shape[1] != order:
            raise ValueError(f"array 'clique_tuples.{g}' is no table of tuples of {order} labels")
        if ((tuples < 0) | (tuples >= n_labels)).any() or len(np.unique(tuples, axis=0)) < len(tuples):
            raise ValueError(f"array 'clique_tuples.{g}' holds an illegal label or a tuple twice")
        groups.append(
            CliqueWeights(tuples, _weights(arrays, f"clique_weights.{g}", (len(tuples), len(columns))))
        )
    return tuple(groups)


def _class_list(classes: AnyArray) -> list[Any]:
    values: list[Any] = classes.tolist()
    for value in values:
        if type(value) not in _SCALARS or (isinstance(value, float) and not math.isfinite(value)):
            raise ValueError(
                f"label {value!r} cannot be saved: labels must be int, str, bool or finite float "
                "(map others to strings)"
            )
    return values


def _read_classes(values: list[Any], dtype: str) -> LabelCoder:
    for value in values:
        if type(value) not in _SCALARS:
            raise ValueError(f"class {value!r:.40} is no label")
    if dtype == "object":
        return LabelCoder.given(object_array(values))
    kind = np.dtype(dtype)
    if kind.kind not in "biufU" or kind.itemsize * len(values) > _LARGEST_CLASSES or kind.names is not None:
        raise ValueError(f"classes have the type {dtype!r:.40}")
    array = np.array(values, dtype=kind)
    if array.tolist() != values:
        raise ValueError(f"classes do not fit their type {dtype!r:.40}")
    return LabelCoder.given(array)


def _read_certificate(given: dict[str, Any]) -> Certificate:
    beside = given.get("one_hot")
    claim = {} if beside is None else {"one_hot": _in_order(_value_of(OneHotClaim, beside))}
    return _in_order(_value_of(Certificate, {**given, **claim}, infinite={"upper": math.inf}))


def _read_temperature(value: Any) -> float | None:
    if value is not None and not (type(value) is float and math.isfinite(value) and value > 0):
        raise ValueError("the temperature is no positive number")
    return value


def _certificate_fields(certificate: Certificate) -> dict[str, Any]:
    """The claim only where there is one."""
    fields_of = _fields(replace(certificate, one_hot=None))
    del fields_of["one_hot"]
    return (
        fields_of if certificate.one_hot is None else {**fields_of, "one_hot": _fields(certificate.one_hot)}
    )


def _read_record(row: Any) -> Record:
    names = [f.name for f in fields(Record)]
    if not isinstance(row, list) or len(row) != len(names):
        raise ValueError("a history record has the wrong length")
    ends = {"upper": math.inf, "lower": -math.inf}
    return _value_of(Record, dict(zip(names, row, strict=True)), infinite=ends)


def _summary_fields(data: DataSummary) -> dict[str, Any]:
    """Without what is said of samples alone, where it is none."""
    known = _fields(data)
    return known if data.sample else {n: v for n, v in known.items() if n not in ("sample", "left_out")}


def _read_summary(given: dict[str, Any]) -> DataSummary:
    summary = _value_of(DataSummary, given)
    counts = (summary.graphs, summary.nodes, summary.edges, summary.cliques, summary.sample, summary.left_out)
    if min(counts) < 0:
        raise ValueError("the training data's sizes are no counts")
    return summary


def _value_of(
    kind: type[T], given: Mapping[str, Any], infinite: Mapping[str, float] = MappingProxyType({})
) -> T:
    """``kind(**given)``, where null stands for what is ``infinite``. Raises ValueError for a value that is not of its
    field's type, TypeError for other fields."""
    hints = get_type_hints(kind)
    known = {name: infinite[name] for name, value in given.items() if value is None and name in infinite}
    for name, value in given.items():
        if name not in known and not _is_of(hints.get(name, object), value):
            raise ValueError(f"{name!r} of a {kind.__name__} is {value!r:.40}")
    return kind(**{**given, **known})


def _is_of(hint: Any, value: Any) -> bool:
    """Whole numbers are no truth values, and others are finite."""
    if get_origin(hint) in (Literal, UnionType):
        return any(value == h if get_origin(hint) is Literal else _is_of(h, value) for h in get_args(hint))
    return _is_number(value) if hint is float else hint is object or type(value) is hint


def _in_order(bracket: B) -> B:
    if bracket.lower > bracket.upper:
        raise ValueError("a lower bound is above its upper bound")
    return bracket


def _expect(document: Mapping[str, Any], name: str, kind: type) -> Any:
    if type(document.get(name)) is not kind:
        raise ValueError(f"{name!r} is missing or of the wrong type")
    return document[name]


def _fields(value: Any) -> dict[str, Any]:
    return {f.name: _plain(getattr(value, f.name)) for f in fields(value)}


def _finite(value: Any) -> Any:
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _is_number(value: Any) -> bool:
    return type(value) in (int, float) and math.isfinite(value)


def _is_plain(value: Any) -> bool:
    try:
        return _all_plain(value)
    except RecursionError:
        return False


def _all_plain(value: Any) -> bool:
    value = _unwrapped(value)
    if isinstance(value, list | tuple | range):
        return all(map(_all_plain, value))
    if isinstance(value, Mapping):
        return all(_all_plain(k) and _all_plain(v) for k, v in value.items())
    return value is None or type(value) in _SCALARS


def _plain(value: Any) -> Any:
    """JSON for a parameter: arrays and tuples become lists, NaN null, a mapping a tagged list of pairs."""
    value = _unwrapped(value)
    if isinstance(value, list | tuple | range):
        return [_plain(v) for v in value]
    if isinstance(value, Mapping):
        return {"pairs": [[_plain(k), _plain(v)] for k, v in value.items()]}
    return _finite(value)


def _unwrapped(value: Any) -> Any:
    return value.tolist() if isinstance(value, np.ndarray) else plain_value(value)


def read_param(value: Any) -> Any:
    """A parameter back from JSON."""
    if isinstance(value, dict):
        pairs = value.get("pairs")
        if not isinstance(pairs, list) or not all(isinstance(p, list) and len(p) == 2 for p in pairs):
            raise ValueError("a parameter is a malformed mapping")
        return {read_param(k): read_param(v) for k, v in pairs}
    return [read_param(v) for v in value] if isinstance(value, list) else value

"""Labels as people write them (ints, strings, anything hashable) to the codes 0..K-1 of the core, and back."""

from __future__ import annotations

import logging
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from gapcut.data import CliqueSet, tuple_codes
from gapcut.data.labels import plain_value, typed_values
from gapcut.typing import AnyArray, IntArray

_log = logging.getLogger(__name__)
UNLABELLED = -1
"""Code of a node without a label."""
UNKNOWN = -2
"""Code of a label outside the classes, where the caller allows that."""


@dataclass(frozen=True, eq=False)
class LabelCoder:
    """The label set of a model: code ``k`` stands for ``classes[k]``.

    ``classes`` (K,) distinct labels; their order is the order of all weight rows.
    """

    classes: AnyArray

    @classmethod
    def given(cls, classes: Iterable[Hashable]) -> LabelCoder:
        """The labels of ``classes=``, in that order.

        Raises ValueError for none, None or NaN, duplicates, and values that cannot be hashed.
        """
        values = [plain_value(v) for v in classes]
        if not values:
            raise ValueError("classes is empty: name at least one label, or leave classes=None")
        seen: dict[Hashable, None] = {}
        for value in values:
            _check_label(value, "classes")
            if value in seen:
                raise ValueError(f"classes names the label {value!r} twice: labels must be distinct")
            seen[value] = None
        if isinstance(classes, np.ndarray) and classes.dtype.kind in "iubUf":
            return cls(np.array(values, dtype=classes.dtype))
        return cls(typed_values(values))

    @classmethod
    def found(cls, labels: Sequence[AnyArray | None]) -> LabelCoder:
        """The sorted distinct labels of some graphs; labels of mixed types are grouped by type name.

        Raises ValueError if no node carries a label.
        """
        given = [np.asarray(y) for y in labels if y is not None]
        kinds = {y.dtype.kind for y in given if y.size}
        if kinds and (kinds <= set("iu") or len(kinds) == 1) and "O" not in kinds:
            values = np.unique(np.concatenate([y for y in given if y.size]))
            for value in values.tolist():
                _check_label(value, "labels")
            return cls(values)
        distinct: dict[Hashable, Hashable] = {}
        for y in given:
            for value in y.tolist():
                if value is not None:
                    _check_label(value, "labels")
                    _keep(distinct, plain_value(value))
        if not distinct:
            raise ValueError("no node of any graph has a label: give labels to fit")
        return cls(typed_values(_stable_order(list(distinct.values()))))

    @property
    def n_labels(self) -> int:
        """K."""
        return len(self.classes)

    @cached_property
    def _codes(self) -> dict[Hashable, int]:
        return {value: code for code, value in enumerate(self.classes.tolist())}

    def code(self, label: Hashable) -> int:
        """Code of one label, ``UNKNOWN`` if it is not among the classes."""
        return self._codes.get(plain_value(label), UNKNOWN)

    def encode(self, labels: AnyArray | None, n_nodes: int, graph: str, *, known: bool = True) -> IntArray:
        """(V,) codes, ``UNLABELLED`` where a label is None or ``labels`` is None.

        Raises ValueError naming ``graph`` and node for a label outside the classes, unless ``known`` is False.
        """
        if labels is None:
            return np.full(n_nodes, UNLABELLED, dtype=np.int64)
        labels = np.asarray(labels)
        if labels.dtype.kind == "O":
            codes = np.array(
                [UNLABELLED if v is None else self.code(v) for v in labels.tolist()], dtype=np.int64
            )
        else:
            values, inverse = np.unique(labels, return_inverse=True)
            table = np.array([self.code(v) for v in values.tolist()], dtype=np.int64)
            codes = table[inverse.reshape(-1)] if len(values) else np.empty(0, dtype=np.int64)
        wrong = np.flatnonzero(codes == UNKNOWN)
        if known and len(wrong):
            value = labels.tolist()[wrong[0]]
            raise ValueError(
                f"{graph}, node {wrong[0]}: label {value!r} is not one of the classes "
                f"{_listing(self.classes)}; "
                "add it to classes= or correct the data"
            )
        return codes

    def encode_all(
        self, labels: Sequence[AnyArray | None], offset: IntArray, name: Callable[[int], str]
    ) -> IntArray:
        """:meth:`encode` of many graphs, one below the other: graph i has the rows from ``offset[i]`` to
        ``offset[i + 1]``, and errors call it ``name(i)``. Labels of one kind are looked up all at once.
        """
        kinds = {None if y is None else y.dtype.kind for y in labels}
        if len(kinds) == 1 and not kinds & {None, "O"}:
            given = [y for y in labels if y is not None]
            codes = self.encode(np.concatenate(given), int(offset[-1]), "", known=False)
            if not (codes == UNKNOWN).any():
                return codes
        sizes = np.diff(offset).tolist()
        each = [self.encode(y, n, name(i)) for i, (y, n) in enumerate(zip(labels, sizes, strict=True))]
        return np.concatenate([np.empty(0, dtype=np.int64), *each])

    def encode_tuples(self, cliques: CliqueSet, group: int) -> IntArray:
        """(T, d) codes of the label tuples that get weights.

        A tuple with a label outside the classes can never be true, so its weights would stay at zero: it is left out,
        with a logged warning. Raises ValueError if none is left, or if "all" is too many.
        """
        codes = tuple_codes(cliques.tuples, cliques.order, self._codes, self.n_labels)
        given = self.n_labels if isinstance(cliques.tuples, str) else len(cliques.tuples)
        if not len(codes):
            raise ValueError(
                f"clique group {group}: every label tuple holds a label that is not one of the classes "
                f"{_listing(self.classes)}; correct the tuples, or add the labels to classes="
            )
        if not isinstance(cliques.tuples, str) and len(codes) < given:
            _log.warning(
                "clique group %d: %d of %d label tuples hold a label that is not one of the classes",
                *(group, given - len(codes), given),
            )
        return codes

    def decode(self, codes: AnyArray) -> AnyArray:
        """(V,) labels of the classes' own type."""
        return self.classes[np.asarray(codes, dtype=np.int64)]


def _check_label(value: Any, where: str) -> None:
    if value is None:
        raise ValueError(f"{where} contains None, which means an unlabelled node: remove it")
    if isinstance(value, float) and value != value:
        raise ValueError(f"{where} contains NaN: use None for an unlabelled node")
    try:
        hash(value)
    except TypeError:
        raise ValueError(
            f"{where} contains {value!r}, which cannot be hashed: use numbers, strings or tuples"
        ) from None


def _keep(distinct: dict[Hashable, Hashable], value: Hashable) -> None:
    """Equal labels of several types (0, 0.0, False) are one label; which type it has must not depend on "
    "the order."""
    known = distinct.setdefault(value, value)
    if type(value).__name__ < type(known).__name__:
        distinct[value] = value


def _stable_order(values: list[Any]) -> list[Any]:
    """Natural order where Python has one, else grouped by type name; the same for any order of the input."""
    totally_ordered = (bool, int, float, str, bytes, tuple)
    if all(isinstance(v, totally_ordered) for v in values):
        try:
            return sorted(values)
        except TypeError:
            pass
    groups: dict[str, list[Any]] = {}
    for value in values:
        groups.setdefault(f"{type(value).__module__}.{type(value).__qualname__}", []).append(value)
    if len(groups) == 1:
        return sorted(values, key=repr)
    return [value for name in sorted(groups) for value in _stable_order(groups[name])]


def _listing(classes: AnyArray, most: int = 12) -> str:
    shown = ", ".join(repr(v) for v in classes.tolist()[:most])
    return f"[{shown}{', ...' if len(classes) > most else ''}]"

"""What a feature step is: learned from training graphs, it maps the feature columns of a graph to others."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np

from gapcut.features.block import Block
from gapcut.features.passes import Passes
from gapcut.features.ranges import Ranges
from gapcut.typing import AnyArray

State = tuple[dict[str, AnyArray], dict[str, Any]]
"""Arrays and JSON-able values."""


@dataclass(frozen=True)
class Columns:
    """Names of the node, of the edge and of each clique group's feature columns."""

    node: tuple[str, ...]
    edge: tuple[str, ...]
    cliques: tuple[tuple[str, ...], ...] = ()
    orders: tuple[int, ...] = ()
    """Nodes of a clique of each group."""


class Step(ABC):
    """One step, in the manner of a scikit-learn transformer: settings at construction, ``fit``, ``transform``.

    ``settings`` names the constructor's arguments, ``learned`` the (n,) arrays that ``fit`` sets; both together are the
    whole state. Nodes, edges, labels and weights of a graph pass through; only feature columns change.
    """

    settings: ClassVar[tuple[str, ...]] = ()
    learned: ClassVar[tuple[str, ...]] = ()

    @abstractmethod
    def fit(self, blocks: Passes, columns: Columns) -> Self:
        """Learn from the blocks of all training graphs, whose feature columns have these names. ``blocks`` may be gone
        through several times; where they are not in memory each time costs reading them."""

    def ranges_after(self, known: Ranges) -> Ranges:
        """What is still known of the ranges of columns after this step, which is fitted."""
        return known.without("node", "edge")

    @abstractmethod
    def transform(self, block: Block) -> Block:
        """The block's graphs under the step's features; numbers may overflow, the pipeline refuses them."""

    @abstractmethod
    def rename(self, columns: Columns) -> Columns:
        """Names of the columns that ``transform`` returns, given those of the columns it takes."""

    def check(self, columns: Columns) -> None:  # noqa: B027 (most steps learn nothing)
        """Raise ValueError unless the learned arrays fit these input columns; for state read from a file."""

    def to_state(self) -> State:
        arrays = {name: np.array(getattr(self, name)) for name in self.learned}
        return arrays, {name: getattr(self, name) for name in self.settings}

    @classmethod
    def from_state(cls, arrays: dict[str, AnyArray], meta: dict[str, Any]) -> Self:
        missing = sorted((set(cls.learned) - set(arrays)) | (set(cls.settings) - set(meta)))
        if missing:
            raise ValueError(f"feature step {cls.__name__}: {missing[0]!r} is missing from its saved state")
        step = cls(**{name: meta[name] for name in cls.settings})
        for name in cls.learned:
            values = np.array(arrays[name])
            if values.ndim != 1 or values.dtype.kind not in "if" or not np.isfinite(values).all():
                raise ValueError(
                    f"feature step {cls.__name__}: saved array {name!r} is not a row of finite numbers"
                )
            setattr(step, name, values)
        return step

    def _demand(self, holds: bool, what: str) -> None:
        if not holds:
            raise ValueError(f"feature step {type(self).__name__}: saved state is inconsistent ({what})")

    def _demand_columns(self, name: str, available: int, *parallel: str) -> None:
        """The array ``name`` indexes that many columns; the arrays ``parallel`` are as long as it."""
        index = getattr(self, name)
        legal = index.dtype.kind == "i" and (not len(index) or (index.min() >= 0 and index.max() < available))
        self._demand(bool(legal), f"{name} does not index {available} columns")
        for other in parallel:
            self._demand(len(getattr(self, other)) == len(index), f"{other} and {name} differ in length")


def choice(name: str, value: Any, options: Sequence[Any]) -> Any:
    """The value, if it is one of the options (True is not 1); else ValueError naming them."""
    for option in options:
        if type(value) is type(option) and value == option:
            return value
    raise ValueError(f"{name} must be one of {', '.join(map(repr, options))}, not {value!r}")

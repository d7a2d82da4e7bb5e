"""What a labelling adds to a file, and under which names: output is the input with labels added.

Added are ``label``, ``segment`` (-1: none), ``confidence`` and, where the scan had labels before, ``truth``;
``original`` has them as they were where a file of classes made others of them. A column of the file keeps its name and
values, unless it is called ``label`` (``truth`` or ``original`` has its values) or is what an earlier labelling added,
which its header says. Where the file has a column of another name, ours is ``gapcut_<name>``.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np

from gapcut.scenes.clouds.class_map import ClassMap
from gapcut.scenes.clouds.cloud import NO_LABEL, PointCloud
from gapcut.scenes.clouds.errors import CloudError
from gapcut.scenes.clouds.las_classes import are_standard
from gapcut.scenes.clouds.names import Said, plain_name
from gapcut.scenes.clouds.table import Table, narrow_integer
from gapcut.typing import AnyArray, BoolArray


def with_original(labelled: PointCloud, labels: AnyArray | None) -> PointCloud:
    """With the labels as they were before a file of classes, which may join several and leave out others."""
    if labels is None:
        return labelled
    extra = {**labelled.extra, "original": labels}
    return labelled.replace(extra=extra, added=(*labelled.added, "original"))


@dataclass(frozen=True)
class Placed:
    """What a file takes: names of its columns that go, ours by name, what its header says afterwards."""

    dropped: frozenset[str]
    columns: Mapping[str, AnyArray]
    said: Said


@dataclass(frozen=True)
class Addition:
    """``columns`` by role, (M,) each, for M of the N points of a file: those of the mask ``rows`` (N,), or all (None).
    ``label_names`` of labels and truth; ``las`` (M,) what the classification of a LAS file becomes (None: it stays)."""

    columns: Mapping[str, AnyArray]
    label_names: Mapping[int, str]
    rows: BoolArray | None = None
    las: AnyArray | None = None

    @classmethod
    def of(
        cls, cloud: PointCloud, rows: BoolArray | None = None, classes: ClassMap | None = None
    ) -> Addition:
        """Of a labelled cloud (``added`` says what of it); LAS classes are those of ``classes``, else the labels
        where they are called as LAS calls them."""
        none = np.full(cloud.n_points, NO_LABEL, dtype=np.int64)
        values = {
            "label": none if cloud.labels is None else cloud.labels,
            "segment": none if cloud.segments is None else cloud.segments,
            **cloud.extra,
        }
        columns = {role: values[role] for role in cloud.added}
        whole = {k: narrow_integer(v) if v.dtype.kind == "i" else v for k, v in columns.items()}
        las = None
        if classes is not None:
            las = classes.las(whole["label"], cloud.label_names)
        elif are_standard(whole["label"], cloud.label_names):
            las = np.maximum(whole["label"], 0)
        return cls(whole, cloud.label_names, None if rows is None or rows.all() else rows, las)

    @property
    def n_points(self) -> int:
        """M."""
        return len(self.columns["label"])

    def check(self, n_points: int) -> None:
        """Raises CloudError for a file that does not hold the points that were labelled."""
        if n_points != (self.n_points if self.rows is None else len(self.rows)):
            raise CloudError(f"holds {n_points:,} points now: it was changed while it was labelled")

    def place(self, names: Iterable[str], said: Said, prefix: str = "") -> Placed:
        """Beside columns of these ``names``; ``prefix`` before ours."""
        kept = list(names)
        earlier = {said.added[role] for role in self.columns if role in said.added}
        dropped = {name for name in kept if name in earlier or name.removeprefix("scalar_") == "label"}
        taken = {plain_name(name) for name in kept if name not in dropped}
        added: dict[str, str] = {}
        for role in self.columns:
            name, count = role, 1
            while name in taken:
                name, count = f"gapcut_{role}" + ("" if count == 1 else f"_{count}"), count + 1
            taken.add(name)
            added[role] = prefix + name
        columns = {added[role]: values for role, values in self.columns.items()}
        new = Said(self.label_names, said.crs, {**said.added, **added})
        return Placed(frozenset(dropped), columns, new)

    def to_table(self, table: Table) -> Table:
        """The columns of a file with ours, for the file of another format."""
        self.check(len(table))
        table = (table if self.rows is None else table.select(self.rows)).to_write()
        placed = self.place(table.columns, table.said)
        kept = {name: values for name, values in table.columns.items() if name not in placed.dropped}
        return Table({**kept, **placed.columns}, placed.said)

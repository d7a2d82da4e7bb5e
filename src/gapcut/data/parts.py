"""A graph set as a folder: ``part-00000.npz``, ``part-00001.npz``, ... and an index of them, ``graphs.json``.

A part is a file of :mod:`gapcut.data.archive`. The index has what all graphs share (columns, their names, clique
groups, per-graph arrays) and for each part, in order, its counts and the SHA-256 of its file. Parts are written first
and the index last, each whole or not at all: what the index does not count is no part of the set. A part beyond its
count is one that a writer left behind, or is about to count; readers pass over it and the next append replaces it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any

import numpy as np

from gapcut.data import archive
from gapcut.data.archive import Contents
from gapcut.data.cliques import CliqueSet
from gapcut.data.errors import names_differ
from gapcut.data.graph import Graph
from gapcut.data.npz import GraphFileError, one_line
from gapcut.files import digest

INDEX = "graphs.json"

KIND, VERSION = "graphs in parts", 1
_NAME = re.compile(r"part-([0-9]{5,9})\.npz")
_LONGEST = 1 << 28  # bytes of an index, read at once


@dataclass(frozen=True)
class Part:
    """Counts of a part's graphs and their rows, and the SHA-256 of its file."""

    graphs: int
    nodes: int
    edges: int
    cliques: int
    sha256: str


@dataclass(frozen=True)
class Shared:
    """What all graphs of a folder have in common. ``cliques``: ``[order, columns, tuples]`` of each group; ``arrays``:
    names of the per-graph arrays."""

    node_features: int
    edge_features: int
    node_feature_names: list[str] | None
    edge_feature_names: list[str] | None
    cliques: list[list[Any]]
    arrays: list[str]

    @classmethod
    def of(cls, contents: Contents) -> Shared:
        """Of graphs that fit each other."""
        first = contents.graphs[0] if len(contents.graphs) else None
        node, edge = contents.node_feature_names, contents.edge_feature_names
        return cls(
            0 if first is None else first.node_dim,
            0 if first is None else first.edge_dim,
            None if node is None else list(node),
            None if edge is None else list(edge),
            [] if first is None else [[c.order, c.dim, _plain_tuples(c)] for c in first.cliques],
            sorted(contents.extras),
        )

    def differs(self, other: Shared, whose: str) -> str | None:
        """What is wrong with graphs that share this among graphs of ``whose``, which share ``other``."""
        for kind in ("node", "edge"):
            own, known = (getattr(s, f"{kind}_features") for s in (self, other))
            if own != known:
                return f"{own} {kind} features, but {whose} have {known}"
            own, known = (getattr(s, f"{kind}_feature_names") for s in (self, other))
            if own != known and (own is None or known is None):
                has, have = ("no names" if names is None else "names" for names in (own, known))
                return f"{has} of {kind} features, but {whose} have {have}"
            if own != known:
                return f"other names: {names_differ(kind, own, known, whose)}"
        if self.cliques != other.cliques:
            return f"other clique groups than {whose}"
        if self.arrays != other.arrays:
            return f"per-graph arrays {_listed(self.arrays)}, but {whose} have {_listed(other.arrays)}"
        return None


@dataclass(frozen=True)
class Index:
    """The parts of a folder in order, and what their graphs share."""

    shared: Shared
    parts: tuple[Part, ...] = ()

    def total(self, count: str) -> int:
        """Of ``graphs``, ``nodes``, ``edges`` or ``cliques`` in all parts."""
        return sum(getattr(part, count) for part in self.parts)


def part_path(folder: Path, number: int) -> Path:
    """Where part ``number`` is."""
    return folder / f"part-{number:05d}.npz"


def is_part(name: str) -> bool:
    """Whether a file is called as parts are."""
    return _NAME.fullmatch(name) is not None


def part_number(name: str) -> int:
    """Of a file that is called as parts are."""
    found = _NAME.fullmatch(name)
    assert found is not None
    return int(found[1])


def is_parts(path: Path) -> bool:
    """Whether it is a folder with an index of graphs in parts."""
    return (path / INDEX).is_file()


def read_index(folder: Path) -> Index:
    """The index of a folder; GraphFileError names the file and what is wrong with it, or with the files beside it."""
    path = folder / INDEX
    try:
        if path.stat().st_size > _LONGEST:
            raise ValueError("it is too long")
        document = json.loads(path.read_text(encoding="utf-8"))
        if document.get("kind") != KIND or document.get("version") != VERSION:
            raise ValueError(f"its kind is not {KIND!r}, version {VERSION}")
        index = Index(_shared(document["shared"]), tuple(map(_part, document["parts"])))
    except FileNotFoundError:
        raise FileNotFoundError(f"{path}: no such file") from None
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
        raise GraphFileError(f"{path}: not an index of graphs, or damaged ({one_line(error)})") from None
    names = {file.name for file in folder.glob("*.npz")}
    for number in range(len(index.parts)):
        if part_path(folder, number).name not in names:
            raise GraphFileError(f"{part_path(folder, number)}: missing, but {INDEX} counts it")
    strangers = sorted(name for name in names if not is_part(name))
    if strangers:
        raise GraphFileError(f"{folder / strangers[0]}: not a part of this folder: move it elsewhere")
    return index


def read_part(folder: Path, index: Index, number: int, limit: int | None, known: bool = False) -> Contents:
    """Graphs of a part; GraphFileError names its file if that is not the one that the index counts. ``known``: its
    digest was compared before."""
    path, part = part_path(folder, number), index.parts[number]
    try:
        if not known and digest(path) != part.sha256:
            raise GraphFileError(
                f"{path}: damaged or altered (its SHA-256 is not that of {INDEX}): copy it again"
            )
        found = archive.load(path, limit)
    except FileNotFoundError:
        raise GraphFileError(f"{path}: missing, but {INDEX} counts it") from None
    if counts(found.graphs) != (part.graphs, part.nodes, part.edges, part.cliques):
        raise GraphFileError(f"{path}: other counts of graphs, nodes, edges or cliques than in {INDEX}")
    found = fitted(found, index.shared)
    wrong = Shared.of(found).differs(index.shared, INDEX) if len(found.graphs) else None
    if wrong is not None:
        raise GraphFileError(f"{path}: {wrong}")
    return found


def read_parts(folder: Path, limit: int | None) -> Contents:
    """Graphs of all parts."""
    index = read_index(folder)
    names = (index.shared.node_feature_names, index.shared.edge_feature_names)
    if not index.parts:
        return Contents([], {name: np.empty(0) for name in index.shared.arrays}, *names)
    return joined([read_part(folder, index, i, limit) for i in range(len(index.parts))], folder)


def _part(document: Any) -> Part:
    values = {f.name: document[f.name] for f in fields(Part)}
    found = values.pop("sha256")
    if any(type(count) is not int or count < 0 for count in values.values()):
        raise ValueError("a count of a part is no number")
    if not isinstance(found, str) or re.fullmatch("[0-9a-f]{64}", found) is None:
        raise ValueError("the sha256 of a part is none")
    return Part(**values, sha256=found)


def _shared(document: Any) -> Shared:
    shared = Shared(**{f.name: document[f.name] for f in fields(Shared)})
    counts = (shared.node_features, shared.edge_features)
    names = (shared.node_feature_names, shared.edge_feature_names)
    sound = all(type(n) is int and n >= 0 for n in counts) and _are_strings(shared.arrays)
    sound = sound and all(
        given is None or (_are_strings(given) and len(given) == n)
        for given, n in zip(names, counts, strict=True)
    )
    if not sound:
        raise ValueError("counts or names of columns are wrong")
    _groups(shared)
    return shared


def _are_strings(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(v, str) for v in value)


def _groups(shared: Shared) -> tuple[CliqueSet, ...]:
    """The clique groups, without cliques; ValueError where the index made them up."""
    empty = [
        CliqueSet(np.empty((0, int(d)), dtype=np.int64), np.empty((0, int(columns))), tuples)
        for d, columns, tuples in shared.cliques
    ]
    return tuple(empty)


def _plain_tuples(group: CliqueSet) -> Any:
    return group.tuples if isinstance(group.tuples, str) else [list(labels) for labels in group.tuples]


def fitted(contents: Contents, shared: Shared) -> Contents:
    """Graphs of which none has an edge, or none a clique, with the columns and groups of the others."""
    graphs = list(contents.graphs)
    if graphs and not any(g.n_edges or g.edge_dim for g in graphs):
        rows = np.empty((0, shared.edge_features))
        graphs = [g.with_features(edge_features=rows) for g in graphs]
    if graphs and shared.cliques and not graphs[0].cliques:
        groups = _groups(shared)
        graphs = [g.with_features(cliques=groups) for g in graphs]
    names = contents.edge_feature_names
    if names is None and not any(g.n_edges for g in graphs):
        names = shared.edge_feature_names
    return replace(contents, graphs=graphs, edge_feature_names=names)


def counts(graphs: Sequence[Graph]) -> tuple[int, int, int, int]:
    """Graphs, nodes, edges and cliques."""
    counted = ((g.n_nodes, g.n_edges, g.n_cliques) for g in graphs)
    nodes, edges, cliques = map(sum, zip((0, 0, 0), *counted, strict=True))
    return len(graphs), nodes, edges, cliques


def joined(pieces: Sequence[Contents], folder: Path) -> Contents:
    """Graphs of several files, at least one, as those of one."""
    first = pieces[0]
    rows = {name: [piece.extras[name] for piece in pieces] for name in first.extras}
    extras = {name: archive.joined(values, name, folder) for name, values in rows.items()}
    return replace(first, graphs=[graph for piece in pieces for graph in piece.graphs], extras=extras)


def _listed(names: Iterable[str]) -> str:
    return ", ".join(names) or "none"

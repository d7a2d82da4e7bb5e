"""How node features are prepared where that is left open, by the training graphs alone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from gapcut.data import Graph, place
from gapcut.digits import percent
from gapcut.model.held_out import FOLDS, paired
from gapcut.model.labels import LabelCoder
from gapcut.model.settings import Settings
from gapcut.model.training import pipeline_of
from gapcut.typing import BoolArray, FloatArray, IntArray

_MOST_COLUMNS, _MOST_NODES = 200, 50_000
_PENALTIES = (1.0, 10.0, 100.0, 1000.0)


def choose_steps(graphs: Sequence[Graph], settings: Settings) -> tuple[Settings, str]:
    """Settings with what ``node_lift="auto"`` stands for on these graphs, and the reason in words.

    Columns of 0 and 1 are answers already and stay as they are. Others become stumps if a linear model of single nodes
    (least squares on class indicators, a ridge penalty, three folds of graphs) is more accurate with them on held-out
    nodes by more than one standard error; its columns are those of the node weights, sums over edges included.
    """
    if settings.node_lift != "auto":
        return settings, ""
    plain = replace(settings, node_lift="none")
    columns = graphs[0].node_dim
    if not columns or columns > _MOST_COLUMNS:
        return plain, ""
    seen = _Seen.of(graphs)
    if seen.sparse:
        return plain, ""
    if seen.binary:
        scale = "scale" if settings.standardize is True else settings.standardize
        return replace(plain, standardize=scale), "node features of 0 and 1 stay as they are"
    if len(seen.labelled) < 2:
        return plain, "no stumps: fewer than two graphs have labels"
    some = _some(graphs, seen.labelled)
    known = list(some.values())
    coder = (
        LabelCoder.given(settings.classes)
        if settings.classes is not None
        else LabelCoder.found([g.labels for g in known])
    )
    codes = np.concatenate([coder.encode(g.labels, g.n_nodes, place(i, g.name)) for i, g in some.items()])
    without = _right(known, codes, plain)
    with_them = _right(known, codes, replace(settings, node_lift="stumps"))
    nodes = np.add.reduceat(codes >= 0, np.cumsum([0, *(g.n_nodes for g in known[:-1])])).astype(np.float64)
    gain, error = paired(with_them - without, nodes)
    verdict = "stumps of node features" if gain > error else "no stumps"
    shares = (with_them.sum() / nodes.sum(), without.sum() / nodes.sum(), error)
    has, had, off = (percent(share, 1, "%") for share in shares)
    reason = (
        f"{verdict}: a linear model of single nodes has {has} right with them, {had} without "
        f"(standard error of the difference {off})"
    )
    return replace(settings, node_lift="stumps" if gain > error else "none"), reason


@dataclass(frozen=True)
class _Seen:
    """Of graphs, in one pass: whether any node features are sparse, whether all are 0 or 1, and number and nodes of
    those that have a label."""

    sparse: bool
    binary: bool
    labelled: list[tuple[int, int]]

    @classmethod
    def of(cls, graphs: Sequence[Graph]) -> _Seen:
        sparse, binary, labelled = False, True, []
        for number, graph in enumerate(graphs):
            sparse = sparse or graph.is_sparse
            binary = (
                not sparse and binary and bool(np.isin(np.asarray(graph.node_features), (0.0, 1.0)).all())
            )
            if graph.labels is not None and graph.labelled.any():
                labelled.append((number, graph.n_nodes))
        return cls(sparse, binary, labelled)


def _some(graphs: Sequence[Graph], labelled: Sequence[tuple[int, int]]) -> dict[int, Graph]:
    """The first of those that are ``labelled`` in a fixed random order, by number, up to about ``_MOST_NODES`` nodes,
    two at least."""
    order = np.random.default_rng(0).permutation(len(labelled))
    numbers, nodes = np.array(labelled)[order].T
    count = max(2, int((np.cumsum(nodes) - nodes < _MOST_NODES).sum()))
    wanted = numbers[:count].tolist()
    read = {number: graphs[number] for number in sorted(wanted)}  # in order: of a folder each part once
    return {number: read[number] for number in wanted}


def _right(graphs: Sequence[Graph], codes: IntArray, settings: Settings) -> FloatArray:
    """(n,) nodes of each graph that the linear model has right when it is held out, at its best penalty."""
    ready = pipeline_of(settings).fit_transform(graphs)
    seen = codes >= 0
    rows = np.concatenate([np.asarray(g.node_features) for g in ready])[seen]
    owner = np.repeat(np.arange(len(graphs)), [g.n_nodes for g in graphs])[seen]
    fold = np.random.default_rng(0).permutation(len(graphs)) % min(FOLDS, len(graphs))
    found = _held_out(rows, codes[seen], fold[owner])
    best = found[int(found.sum(axis=1).argmax())]
    return np.bincount(owner, best, len(graphs)).astype(np.float64)


def _held_out(rows: FloatArray, codes: IntArray, fold: IntArray) -> BoolArray:
    """(penalties, rows): which rows are right when their fold is held out."""
    middle = rows.mean(axis=0)
    spread = rows.std(axis=0)
    table = np.column_stack([(rows - middle) / np.where(spread > 0, spread, 1.0), np.ones(len(rows))])
    targets = np.eye(int(codes.max()) + 1)[codes]
    right = np.zeros((len(_PENALTIES), len(rows)), dtype=np.bool_)
    for f in range(int(fold.max()) + 1):
        out = fold == f
        values, vectors = np.linalg.eigh(table[~out].T @ table[~out])
        towards = vectors.T @ (table[~out].T @ targets[~out])
        asked = table[out] @ vectors
        for i, penalty in enumerate(_PENALTIES):
            scores = asked @ (towards / (np.maximum(values, 0.0) + penalty)[:, None])
            right[i, out] = scores.argmax(axis=1) == codes[out]
    return right

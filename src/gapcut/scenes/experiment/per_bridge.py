"""What was right bridge by bridge, and of the parts alone where bridges have surroundings."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from gapcut.digits import decimal, percent
from gapcut.scenes.bridges import CLASSES, LABELS
from gapcut.scenes.experiment.folds import FoldResult
from gapcut.scenes.experiment.scans import BridgeScan
from gapcut.typing import AnyArray, FloatArray, IntArray

METHODS = {"gapcut": "all of it", "node-only": "no relations", "forest only": "likeliest class of the forest"}
"""What labels the test bridges of a fold, and what that is."""

BRIDGE_COLUMNS = (
    "bridge",
    "parts seen",
    "unseen",
    *(f"{name}: right" for name in METHODS),
    "most often wrong",
)
METHOD_COLUMNS = (
    *("labelled by", "parts right", "worst fold", "points of parts right", "macro F1 of parts"),
    "surroundings right",
)
_WRONG = 3  # confusions shown of a bridge


def codes(result: FoldResult) -> dict[str, list[IntArray]]:
    """Of each method the labels that it gives to the nodes of each test bridge, as places in ``LABELS``."""
    said: dict[str, Sequence[AnyArray]] = {
        "gapcut": [s.labels for s in result.solutions],
        "node-only": result.alone,
        "forest only": result.likeliest,
    }
    return {
        name: [np.array([LABELS.index(str(label)) for label in labels], dtype=np.int64) for labels in graphs]
        for name, graphs in said.items()
    }


def bridge_rows(bridges: Sequence[BridgeScan], results: Sequence[FoldResult]) -> list[list[str]]:
    """One row a test bridge, in order of their numbers: parts, the share of them that each method has right, and what
    gapcut takes for what most often (surroundings too)."""
    found = {}
    for result in results:
        given = codes(result)
        for place, number in enumerate(result.test):
            truth = bridges[number].labels
            parts = truth < len(CLASSES)
            right = [percent((of[place] == truth)[parts].mean()) for of in given.values()]
            sizes = [f"{parts.sum()}", str(bridges[number].unseen)]
            found[number] = [bridges[number].name, *sizes, *right, _most_wrong(truth, given["gapcut"][place])]
    return [found[number] for number in sorted(found)]


def _most_wrong(truth: IntArray, guess: IntArray) -> str:
    pairs, count = np.unique(np.column_stack([truth, guess])[truth != guess], axis=0, return_counts=True)
    worst = np.argsort(-count, kind="stable")[:_WRONG]
    of = np.bincount(truth, minlength=len(LABELS))
    told = [
        f"{LABELS[a]} as {LABELS[b]} ({n} of {of[a]})"
        for (a, b), n in zip(pairs[worst], count[worst], strict=True)
    ]
    return ", ".join(told) or "nothing"


def method_rows(bridges: Sequence[BridgeScan], results: Sequence[FoldResult]) -> list[list[str]]:
    """One row a method: means over the folds of what is right of the parts, and of the surroundings; F1 is that of the
    parts of all folds together, the mean of the eleven classes."""
    out = []
    for name in METHODS:
        folds, counts = [], np.zeros((len(LABELS), len(LABELS)))
        for result in results:
            truth, guess, size = _nodes(bridges, result, name)
            parts = truth < len(CLASSES)
            right = truth == guess
            around = right[~parts].mean() if (~parts).any() else np.nan
            folds.append([right[parts].mean(), np.average(right[parts], weights=size[parts]), around])
            np.add.at(counts, (truth, guess), 1)
        parts_right, points_right, around_right = np.mean(folds, axis=0)
        cells = [percent(parts_right), percent(min(f[0] for f in folds)), percent(points_right)]
        out.append([name, *cells, decimal(_macro_f1(counts), 3, 1.0), percent(around_right)])
    return out


def _nodes(
    bridges: Sequence[BridgeScan], result: FoldResult, method: str
) -> tuple[IntArray, IntArray, FloatArray]:
    """Truth, labels and points of the nodes of all test bridges of a fold."""
    scans = [bridges[number] for number in result.test]
    size = np.concatenate([bridge.scan.size for bridge in scans]).astype(np.float64)
    return np.concatenate([b.labels for b in scans]), np.concatenate(codes(result)[method]), size


def _macro_f1(counts: FloatArray) -> float:
    """Of the classes of parts that occur; ``counts`` (L, L) by truth and label."""
    both = counts.sum(axis=0) + counts.sum(axis=1)
    known = np.flatnonzero(counts.sum(axis=1)[: len(CLASSES)])
    return float(np.mean(2 * np.diag(counts)[known] / both[known]))

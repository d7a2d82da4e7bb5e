"""Columns of a labelled file, made of the labels of its segments, a million points at a time."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from gapcut.scenes.clouds.addition import Addition
from gapcut.scenes.clouds.las_classes import are_standard
from gapcut.scenes.clouds.table import narrow_integer
from gapcut.scenes.labelling import SceneModel
from gapcut.scenes.labelling.model import CONFIDENCE, TRUTH, renumber_labels
from gapcut.scenes.tiles.plan import Plan
from gapcut.scenes.tiles.survey import ScanFile, Survey
from gapcut.typing import AnyArray, BoolArray, Float32Array, IntArray

_AT_ONCE = 1_000_000


@dataclass(frozen=True)
class Labelled:
    """``counts`` of points by label; ``segments`` that have any; mean ``confidence``; share of the points with a known
    earlier label that have it now (None without any), and their number."""

    counts: dict[int, int]
    segments: int
    confidence: float
    agreement: float | None
    compared: int


def write_columns(
    plan: Plan, scan: ScanFile, seen: Survey, model: SceneModel, labels: IntArray, sure: Float32Array
) -> tuple[Labelled, Callable[[BoolArray | None], Addition]]:
    """What is added to the file, as arrays in the scratch folder, for the labels (S,) and confidences (S,) of the
    segments; and what is told of it."""
    scratch, n = plan.scratch, plan.n_own
    segment = scratch.column("point_segment")
    names = dict(model.names)
    columns: dict[str, AnyArray] = {
        "label": scratch.column("label", np.int32, n),
        "segment": segment,
        CONFIDENCE: scratch.column("confidence", np.float32, n),
    }
    narrow = narrow_integer(labels)
    for rows in _parts(n):
        columns["label"][rows] = narrow[segment[rows]]
        columns[CONFIDENCE][rows] = sure[segment[rows]]
    same = compared = 0
    if seen.truth is not None:
        numbers, more = renumber_labels(seen.truth, seen.names, model.names)
        names |= more
        before = scratch.column("before_truth")
        columns[TRUTH] = scratch.column("truth", np.int32, n)
        for rows in _parts(n):
            truth = numbers[np.searchsorted(seen.truth, before[rows])]
            columns[TRUTH][rows] = truth
            known = np.isin(truth, model.numbers)
            compared += int(known.sum())
            same += int((truth == columns["label"][rows])[known].sum())
    if seen.original:
        columns["original"] = narrow_integer(scratch.column("before_original"))
    size = np.zeros(len(labels), dtype=np.int64)
    for rows in _parts(n):
        size += np.bincount(segment[rows], minlength=len(labels))
    counts = {int(k): int(size[labels == k].sum()) for k in np.unique(labels)}
    counts = {label: count for label, count in counts.items() if count}
    told = Labelled(
        counts,
        int(np.count_nonzero(size)),
        float(sure @ size / n),
        same / compared if compared else None,
        compared,
    )
    las = _classes(plan, scan, narrow, counts, names)
    return told, lambda kept: Addition(columns, names, None if kept is None or kept.all() else kept, las)


def _classes(
    plan: Plan, scan: ScanFile, labels: AnyArray, counts: dict[int, int], names: dict[int, str]
) -> AnyArray | None:
    """What the classification of a LAS file becomes; see :meth:`Addition.of`."""
    if scan.classes is not None:
        of_segment = scan.classes.las(labels, names)
    elif are_standard(np.asarray(list(counts)), names):
        of_segment = np.maximum(labels, 0).astype(np.uint8)
    else:
        return None
    column = plan.scratch.column("las", np.uint8, plan.n_own)
    segment = plan.scratch.column("point_segment")
    for rows in _parts(plan.n_own):
        column[rows] = of_segment[segment[rows]]
    return column


def _parts(n: int) -> Iterator[slice]:
    for start in range(0, n, _AT_ONCE):
        yield slice(start, min(n, start + _AT_ONCE))

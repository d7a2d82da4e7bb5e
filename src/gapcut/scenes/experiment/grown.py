"""Segments grown from the points beside true parts: the experiment with both."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from gapcut.certificates import gap_percent
from gapcut.digits import mean_and_spread, percent
from gapcut.scenes.bridges import LABELS
from gapcut.scenes.experiment.folds import FoldResult
from gapcut.scenes.experiment.scans import BridgeScan
from gapcut.scenes.experiment.settings import ExperimentSettings

SEGMENT_COLUMNS = (
    *("segments", "segments a bridge", "edges a bridge", "points right", "best possible", "segments right"),
    *("node-only", "forest only", "proven gap", "graphs proven", "train CPU s"),
)

_PER_SEGMENT = 10  # described points: grown segments are a seventh of the size of parts


def with_grown(settings: ExperimentSettings) -> ExperimentSettings:
    """The same with segments as a scan of one's own has them; features, learner and folds stay."""
    scene = replace(settings.scene, segments="grown", per_segment=_PER_SEGMENT)
    return replace(settings, scene=scene)


def segment_row(name: str, bridges: Sequence[BridgeScan], results: Sequence[FoldResult]) -> list[str]:
    """One row of ``SEGMENT_COLUMNS``: sizes, and means ± sample standard deviations over the folds.

    *best possible*: points right if every segment had the most frequent label of its points. *segments right*, and of
    them *node-only* and *forest only*, compare with that label.
    """
    sizes = [(b.scan.n_segments, len(b.scan.contacts.edges)) for b in bridges]
    segments, edges = np.mean(sizes, axis=0)
    best = [_best(bridges, r.test) for r in results]
    accuracy = [
        [r.points.accuracy for r in results],
        best,
        *([getattr(r, of).accuracy for r in results] for of in ("nodes", "node_only", "forest_only")),
    ]
    proven = [s.status == "optimal" for r in results for s in r.solutions]
    return [
        name,
        f"{segments:,.0f}",
        f"{edges:,.0f}",
        *(_spread(values) for values in accuracy),
        gap_percent(max(r.certificate.relative_gap for r in results)),
        percent(float(np.mean(proven)), 0),
        f"{np.mean([r.train_cpu_seconds for r in results]):.1f}",
    ]


def _best(bridges: Sequence[BridgeScan], numbers: Sequence[int]) -> float:
    counts = [bridges[i].scan.label_counts(len(LABELS)) for i in numbers]
    return float(sum(c.max(axis=1).sum() for c in counts) / sum(c.sum() for c in counts))


def _spread(values: Sequence[float]) -> str:
    spread = float(np.std(values, ddof=1)) if len(values) > 1 else 0.0
    return mean_and_spread(float(np.mean(values)), spread)

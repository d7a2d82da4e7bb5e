"""Whether a scan looks like the training scans: confidences are fitted on those, and say nothing about others."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from gapcut.scenes.labelling.scene import SegmentedScan
from gapcut.typing import Float32Array, FloatArray, IntArray

_KEPT, _ASKED = 1000, 5000
"""Rows of the training scans that are kept, and rows of a scan that are compared with them."""
_FAR = 0.9


@dataclass(frozen=True, eq=False)
class Familiar:
    """What the forest saw in training: ``rows`` (M, F) of described points over ``scale`` (F,), the standard deviation
    of each feature. A point is strange that is farther from all of them than ``radius``, which a tenth of the points of
    training scans are from those of the other ones; ``usual``: the largest share of strange points of one of these."""

    rows: Float32Array
    scale: Float32Array
    radius: float
    usual: float

    @classmethod
    def of(cls, scans: Sequence[SegmentedScan]) -> Familiar:
        """From two training scans or more."""
        each = -(-_KEPT // (len(scans) - 1))
        asked = [_rows(scan, _ASKED) for scan in scans]
        scale = np.maximum(np.concatenate(asked).std(axis=0), 1e-6).astype(np.float32)
        kept = [_rows(scan, each) / scale for scan in scans]
        away = []
        for i, rows in enumerate(asked):
            others = np.concatenate([other for k, other in enumerate(kept) if k != i])
            away.append(_nearest(rows / scale, others))
        radius = float(np.quantile(np.concatenate(away), _FAR))
        usual = max(float((distance > radius).mean()) for distance in away)
        return cls(np.concatenate(kept), scale, radius, usual)

    def strange(self, scan: SegmentedScan) -> float:
        """Share of strange points among those of a scan: about 0.1 for one like those of training."""
        return self.strange_among(_rows(scan, _ASKED))

    def strange_among(self, rows: Float32Array) -> float:
        """Share of strange ones among rows (M, F) of what the forest sees."""
        return float((_nearest(rows / self.scale, self.rows) > self.radius).mean())

    def unlike(self, share: float) -> bool:
        """Whether more is strange than in any of n training scans, as in one of n + 1 scans of their kind."""
        return share > self.usual


def _rows(scan: SegmentedScan, most: int) -> Float32Array:
    """At most so many rows of what the forest sees, evenly taken."""
    return scan.forest_rows(evenly(len(scan.sample), most))


def evenly(n: int, most: int = _ASKED) -> IntArray:
    """At most so many of the numbers 0 .. n - 1, evenly taken."""
    return np.linspace(0, n - 1, min(n, most)).astype(np.int64)


def _nearest(rows: Float32Array, others: Float32Array) -> FloatArray:
    """(N,) distance of each row to the nearest of the others."""
    square = (others.astype(np.float64) ** 2).sum(axis=1)
    found = [
        ((part**2).sum(axis=1)[:, None] - 2.0 * part @ others.T.astype(np.float64) + square).min(axis=1)
        for part in np.array_split(rows.astype(np.float64), -(-len(rows) // 1000))
    ]
    nearest: FloatArray = np.sqrt(np.maximum(np.concatenate(found), 0.0))
    return nearest

"""Cross-validation of several contenders on the same folds; a fit that fails is a row with its reason."""

from __future__ import annotations

import os
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from gapcut.certificates import Callback, Record
from gapcut.comparison.contenders import Contender
from gapcut.data import GraphSet
from gapcut.machine import Machine
from gapcut.metrics import Scores, pooled_scores, score_graphs
from gapcut.typing import IntArray

Part = tuple[str, GraphSet, GraphSet]
"""Name of a fold, graphs to train on, graphs to label."""

Fit = Callable[[Contender, GraphSet, str], Machine]
"""Fits a contender to training graphs; the text names contender and fold, for progress."""


@dataclass(frozen=True)
class FoldResult:
    """One fit and the ``scores`` of its labels of held-out graphs. ``seconds`` (wall clock) and ``cpu_seconds`` (all
    threads, child processes too) are of the fit. ``relative_gap`` is proven, inf where nothing is. ``impossible``:
    passes with an impossible violation."""

    fold: str
    scores: Scores
    seconds: float
    cpu_seconds: float
    passes: int
    relative_gap: float
    status: str
    impossible: int
    message: str

    @property
    def accuracy(self) -> float:
        return self.scores.accuracy

    @property
    def macro_precision(self) -> float:
        return self.scores.macro_precision

    @property
    def macro_recall(self) -> float:
        return self.scores.macro_recall


@dataclass(frozen=True)
class Row:
    """A contender on all folds. ``failure``: why it has no, or not all, folds; empty if it has.

    ``problem``: the learning problem its gap is about, empty without a fit.
    """

    contender: Contender
    problem: str
    folds: tuple[FoldResult, ...]
    failure: str = ""

    def mean(self, column: str) -> float:
        """Mean over folds, NaN without any."""
        return float(np.mean(self._values(column))) if self.folds else float("nan")

    def spread(self, column: str) -> float:
        """Sample standard deviation over folds, 0 for fewer than two."""
        return float(np.std(self._values(column), ddof=1)) if len(self.folds) > 1 else 0.0

    @property
    def pooled(self) -> Scores:
        """Of the nodes of all folds together; in a mean over folds, a class counts more where it is rare."""
        return pooled_scores([f.scores for f in self.folds])

    @property
    def reached_target(self) -> bool:
        """Whether every fold is proven to have its gap."""
        return not self.failure and all(f.status == "certified" for f in self.folds)

    @property
    def worst_gap(self) -> float:
        """The largest proven gap of a fold, inf where one has none, NaN without a fold."""
        return max((f.relative_gap for f in self.folds), default=float("nan"))

    @property
    def impossible(self) -> int:
        """Passes with an impossible violation, over all folds."""
        return sum(f.impossible for f in self.folds)

    @property
    def status(self) -> str:
        """``failed``, or the folds' status, counted where they differ."""
        if self.failure:
            return "failed"
        counts = Counter(f.status for f in self.folds)
        if len(counts) == 1:
            return next(iter(counts))
        return ", ".join(f"{count} {status}" for status, count in sorted(counts.items()))

    def _values(self, column: str) -> list[float]:
        return [getattr(f, column) for f in self.folds]


@dataclass(frozen=True)
class Comparison:
    """Rows in the order of the contenders; ``models``: the fitted models of the first whole row, one per fold."""

    rows: tuple[Row, ...]
    models: tuple[Machine, ...]

    @property
    def reference(self) -> Row | None:
        """The row that speed-ups refer to: the first without a failure."""
        return next((row for row in self.rows if not row.failure), None)

    def speed_up(self, row: Row) -> float:
        """Mean CPU seconds of the reference's training over the row's own (other work on the machine does not change
        them); NaN unless both reached their target in every fold, since a run that was stopped has no time."""
        reached = self.reference is not None and self.reference.reached_target and row.reached_target
        if self.reference is None or not reached or not row.mean("cpu_seconds") > 0:
            return float("nan")
        return self.reference.mean("cpu_seconds") / row.mean("cpu_seconds")


def cpu_clock() -> float:
    """CPU seconds of this process, all threads, and of its children that have ended."""
    return sum(os.times()[:4])


def cpu_limit(seconds: float) -> Callback:
    """Ends a fit after the first pass in which ``seconds`` of :func:`cpu_clock` are over, counted from this call."""
    end = cpu_clock() + seconds

    def over(record: Record) -> bool:
        return cpu_clock() >= end

    return over


def compare(
    graphs: GraphSet,
    folds: Sequence[tuple[str, IntArray]],
    contenders: Sequence[Contender],
    fit: Fit,
) -> Comparison:
    """Train every contender on all folds but one and label that one. ``folds``: names and graph numbers."""
    everything = np.arange(len(graphs))
    parts = [(name, graphs[np.setdiff1d(everything, test)], graphs[test]) for name, test in folds]
    return compare_parts(parts, contenders, fit)


def compare_parts(parts: Sequence[Part], contenders: Sequence[Contender], fit: Fit) -> Comparison:
    """The same where training graphs differ from fold to fold."""
    rows: list[Row] = []
    kept: tuple[Machine, ...] = ()
    for contender in contenders:
        row, models = _run(parts, contender, fit)
        rows.append(row)
        if not row.failure and not kept:
            kept = tuple(models)
    return Comparison(tuple(rows), kept)


def _run(parts: Sequence[Part], contender: Contender, fit: Fit) -> tuple[Row, list[Machine]]:
    results: list[FoldResult] = []
    models: list[Machine] = []
    failure = ""
    for name, training, held_out in parts:
        try:
            start, cpu = time.monotonic(), cpu_clock()
            svm = fit(contender, training, f"{contender.name}, fold {name}")
            seconds, cpu_seconds = time.monotonic() - start, cpu_clock() - cpu
            scores = score_graphs(held_out, svm.predict(held_out), svm.classes_)
        except Exception as error:  # whatever one contender does, the others get their rows
            reason = " ".join(str(error).split()) or type(error).__name__
            failure = f"fold {name}: {reason}"
            break
        models.append(svm)
        results.append(_result(name, svm, scores, seconds, cpu_seconds))
    problem = models[0].certificate_.problem if models else ""
    return Row(contender, problem, tuple(results), failure), models


def _result(fold: str, svm: Machine, scores: Scores, seconds: float, cpu_seconds: float) -> FoldResult:
    certificate = svm.certificate_
    return FoldResult(
        fold,
        scores,
        seconds,
        cpu_seconds,
        certificate.passes,
        certificate.relative_gap,
        certificate.status,
        svm.model_.impossible,
        svm.model_.message,
    )

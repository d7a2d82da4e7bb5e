"""Inference methods side by side on the held-out graphs of trained models."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from gapcut.data import GraphSet
from gapcut.inference import MethodName, solve
from gapcut.machine import Machine
from gapcut.metrics import score_graphs
from gapcut.typing import IntArray


@dataclass(frozen=True)
class MethodRow:
    """One inference method on all held-out graphs, each labelled by the model of its fold.

    ``energy``: mean over graphs; ``seconds``: in all, on one thread; ``optimal``: graphs proven optimal.
    """

    method: MethodName
    graphs: int
    accuracy: float
    energy: float
    seconds: float
    optimal: int
    failure: str = ""


def compare_methods(
    graphs: GraphSet,
    folds: Sequence[tuple[str, IntArray]],
    models: Sequence[Machine],
    methods: Sequence[MethodName],
    time_limit: float | None = None,
) -> list[MethodRow]:
    """One row per method, with the reason if it fails. ``models``: one per fold; ``time_limit``: seconds per graph."""
    return [_row(graphs, folds, models, method, time_limit) for method in methods]


def _row(
    graphs: GraphSet,
    folds: Sequence[tuple[str, IntArray]],
    models: Sequence[Machine],
    method: MethodName,
    time_limit: float | None,
) -> MethodRow:
    energies: list[float] = []
    optimal, seconds, right, total = 0, 0.0, 0.0, 0.0
    nan = float("nan")
    try:
        for (_, test), svm in zip(folds, models, strict=True):
            held_out, labels = graphs[test], []
            for graph in held_out:
                energy = svm.energy(graph)
                start = time.monotonic()
                found = solve(energy, method, time_limit=time_limit)
                seconds += time.monotonic() - start
                labels.append(svm.model_.coder.decode(found.labels))
                energies.append(found.energy)
                optimal += found.status == "optimal"
            scores = score_graphs(held_out, labels, svm.classes_)
            right += float(np.trace(scores.confusion))
            total += scores.nodes
    except Exception as error:  # the other methods still get their rows
        reason = " ".join(str(error).split()) or type(error).__name__
        return MethodRow(method, len(energies), nan, nan, seconds, optimal, reason)
    accuracy = right / total if total > 0 else nan
    return MethodRow(method, len(energies), accuracy, float(np.mean(energies)), seconds, optimal)

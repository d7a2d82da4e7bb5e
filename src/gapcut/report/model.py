"""The figures of a fitted model, written to a folder: what it confuses, how training closed in, what it learned."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from gapcut.machine import Machine
from gapcut.metrics import Scores
from gapcut.report.embed import PageFigure
from gapcut.report.figures import confusion_figure, convergence_figure, save_figure, weights_figure


def draw_model(
    folder: Path,
    model: Machine | None = None,
    scores: Scores | None = None,
    *,
    class_names: Sequence[str] | None = None,
    training: str = "Training",
    tested: str = "Confusion matrix",
    counted: str | None = None,
    most: int = 6,
    convergence: bool = True,
) -> list[PageFigure]:
    """Write ``confusion.png`` of ``scores``, ``convergence.png`` and ``weights.png`` of ``model``, as far as given.

    ``class_names``: of the model's classes, if those are numbers; ``training``, ``tested``: titles; ``counted``: what
    the scores count, in the plural; ``most``: edge features shown. Returns the figures as paths with captions.
    """
    figures = {}
    if scores is not None:
        what = counted or ("node weight" if scores.weighted else "nodes")
        figures["confusion.png"] = (
            confusion_figure(scores, tested, counted),
            f"True against predicted labels: {what}.",
        )
    if model is not None and convergence:
        figures["convergence.png"] = (
            convergence_figure(model.history_, training),
            f"{training}: the optimum lies between the two bounds, proven.",
        )
    if model is not None:
        names = model.classes_ if class_names is None else np.array(list(class_names), dtype=object)
        figures["weights.png"] = (
            weights_figure(model.pairwise_, names, model.pipeline_.edge_names, most),
            "What an edge says about the labels of its ends; blank: weight zero.",
        )
    folder.mkdir(parents=True, exist_ok=True)
    for name, (figure, _) in figures.items():
        save_figure(figure, folder / name)
    return [PageFigure(folder / name, caption) for name, (_, caption) in figures.items()]

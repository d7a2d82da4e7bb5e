"""What was learned and labelled as one page and as pictures: scenes, scores, weights, convergence, gaps."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from gapcut.certificates import at_least, at_most, in_table
from gapcut.digits import decimal, percent
from gapcut.machine import Machine
from gapcut.metrics import Scores, confusion_scores, score_labels
from gapcut.report.figures import save_figure
from gapcut.report.model import draw_model
from gapcut.report.page import PageTable, write_page
from gapcut.report.picture import scene_figure
from gapcut.report.scene_view import SceneView, all_scores_line, shown_labels
from gapcut.scenes.bridges.colours import hex_colours
from gapcut.scenes.clouds import PointCloud
from gapcut.scenes.labelling.corrections import segments_key
from gapcut.scenes.labelling.reasons import Reasons
from gapcut.typing import AnyArray, IntArray

Say = Callable[[str], None]
_SCENE_COLUMNS = (
    *("scene", "points", "segments", "edges", "accuracy", "macro F1", "what is right"),
    *("energy", "proven bound", "gap", "status", "mean confidence", "unlike training", "seconds"),
)
_PROVEN = {"energy": at_most, "bound": at_least, "gap": at_most}
"""Of a summary, and how what is read of it stays true."""


@dataclass(frozen=True, eq=False)
class RunScene:
    """A labelled scan: its ``cloud`` has labels, segments, and, where the truth is known, the attribute ``truth``;
    ``summary`` what ``gapcut label`` noted about it (may be empty), ``reasons`` of its segments."""

    cloud: PointCloud
    summary: Mapping[str, Any] = field(default_factory=dict)
    reasons: Reasons | None = None

    @property
    def truth(self) -> IntArray | None:
        """(N,) true labels, -1 where unknown; None without any."""
        given = self.cloud.extra.get("truth")
        if given is None:
            return None
        values = np.where(np.isfinite(given), given, -1).astype(np.int64)
        return values if (values >= 0).any() else None

    def view(self) -> SceneView:
        """What a page shows of it."""
        given = {"truth": self.truth, "prediction": self.cloud.labels, "segments": self.cloud.segments}
        given |= {"confidence": self.cloud.extra.get("confidence")}
        layers = {name: values for name, values in given.items() if values is not None}
        names = self.cloud.label_names
        about = (self.cloud.name or "scene", self.cloud.xyz, layers, names, hex_colours(names))
        segments = self.cloud.segments
        return SceneView(*about, reasons=self.reasons, key="" if segments is None else segments_key(segments))


def read_summary(path: Path) -> dict[str, Any]:
    """The summary in a file, empty where there is none; raises ValueError for a damaged one."""
    if not path.is_file():
        return {}
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except ValueError:
        raise ValueError(f"{path}: this summary is damaged: delete it or label the scan again") from None
    return found if isinstance(found, dict) else {}


def write_report(
    folder: Path,
    title: str,
    scenes: Sequence[RunScene] = (),
    model: Machine | None = None,
    class_names: Sequence[str] | None = None,
    points: int = 500_000,
    say: Say | None = None,
) -> list[str]:
    """Write ``report.html`` and PNG pictures into ``folder``; returns the paths.

    ``class_names`` of the model's classes, if they are numbers. Raises ValueError, OSError.
    """
    tell = say or (lambda line: None)
    scores = run_scores(scenes)
    tell("figures ...")
    figures = draw_model(folder, model, scores, class_names=class_names, counted="points")
    views = [scene.view() for scene in scenes]
    labels = shown_labels(views) if views else []
    written = [str(figure.content) for figure in figures]
    for view in views:
        for layer in ("truth", "prediction", "errors"):
            if layer in view.layers or (layer == "errors" and {"truth", "prediction"} <= set(view.layers)):
                stem = "".join(c if c.isalnum() or c in "-_" else "-" for c in view.name)
                tell(f"{stem}-{layer}.png ...")
                save_figure(scene_figure(view, layer, labels), folder / f"{stem}-{layer}.png")
                written.append(str(folder / f"{stem}-{layer}.png"))
    tell("report.html ...")
    tables = (
        [PageTable("Scenes", _SCENE_COLUMNS, [_row(s, v) for s, v in zip(scenes, views, strict=True)])]
        if scenes
        else []
    )
    if scores is not None:
        tables.append(_class_table(scores))
    notes = all_scores_line(views)
    notes += [] if model is None else [_certificate_note(model)]
    notes += [
        f"{scene.cloud.name}: {percent(scene.summary['strange'])} of the points are unlike those of training (of a "
        f"training scan at most {percent(scene.summary['strange_in_training'])}): its confidences may be too high."
        for scene in scenes
        if scene.summary.get("unlike_training")
    ]
    write_page(folder / "report.html", title, views, figures, tables, notes, scene_points=points)
    return [str(folder / "report.html"), *written]


def run_scores(scenes: Sequence[RunScene]) -> Scores | None:
    """Scores of all points whose true label is known, classes by name; None without any."""
    names: dict[int, str] = {}
    truths: list[AnyArray] = []
    guesses: list[AnyArray] = []
    for scene in scenes:
        truth, labels = scene.truth, scene.cloud.labels
        if truth is not None and labels is not None:
            names |= scene.cloud.label_names
            truths.append(truth[truth >= 0])
            guesses.append(labels[truth >= 0])
    if not truths:
        return None
    present = np.unique(np.concatenate([*truths, *guesses]))
    scores = score_labels(truths, guesses, present)
    return confusion_scores([names.get(label, str(label)) for label in present.tolist()], scores.confusion)


def _row(scene: RunScene, view: SceneView) -> list[object]:
    said, own = scene.summary, run_scores([scene])
    segments = scene.cloud.segments
    confidence = scene.cloud.extra.get("confidence")
    return [
        scene.cloud.name or "scene",
        scene.cloud.n_points,
        said.get("segments", None if segments is None else int(segments.max()) + 1),
        said.get("edges"),
        None if own is None else percent(own.accuracy),
        None if own is None else percent(own.macro_f1),
        view.score or "–",
        *(
            None if said.get(key) is None else in_table(said[key], rounded)
            for key, rounded in _PROVEN.items()
        ),
        said.get("status", "–"),
        None if confidence is None else percent(float(np.mean(confidence))),
        None if said.get("strange") is None else percent(said["strange"]),
        None if said.get("seconds") is None else decimal(said["seconds"], 1),
    ]


def _class_table(scores: Scores) -> PageTable:
    rows: list[list[object]] = [
        [str(c.label), *map(percent, (c.precision, c.recall, c.f1)), int(c.support)] for c in scores.classes
    ]
    means = (scores.macro_precision, scores.macro_recall, scores.macro_f1)
    rows.append(["mean", *map(percent, means), int(scores.nodes)])
    return PageTable(
        f"Classes: accuracy {percent(scores.accuracy)} of the points",
        ["class", "precision", "recall", "F1", "points"],
        rows,
    )


def _certificate_note(model: Machine) -> str:
    c = model.certificate_
    lower, upper = c.shown(6)
    return (
        f"Training, {c.problem}: {lower} <= optimum <= model <= {upper}, "
        f"relative gap {c.shown_gap()}, {c.status}."
    )

"""What the bridge experiment leaves in a folder: a page, tables, pictures, graphs and a model."""

from __future__ import annotations

from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from gapcut.files import json_text, write_text
from gapcut.inference.confidence import fit_temperature, flip_energies, label_probabilities
from gapcut.report.bridge_picture import bridge_figure
from gapcut.report.figures import save_figure
from gapcut.report.model import draw_model
from gapcut.report.page import PageFigure, PageTable, write_page
from gapcut.report.scene_view import SceneView, all_scores_line, score_line
from gapcut.scenes.bridges import CLASSES, LABELS, Bridge
from gapcut.scenes.bridges.colours import hex_colours
from gapcut.scenes.bridges.make import numbered_bridge
from gapcut.scenes.experiment import (
    BridgeScan,
    FoldResult,
    all_scores,
    headline,
    markdown_report,
    report_tables,
    result_document,
)
from gapcut.scenes.experiment.tables import nodes_word
from gapcut.scenes.labelling.reasons import explain
from gapcut.typing import FloatArray, IntArray

_SHOWN = 5  # bridges on the page


def write_report(
    folder: Path,
    bridges: Sequence[BridgeScan],
    results: Sequence[FoldResult],
    seed: int,
    pictures: int = 5,
    difficulty: str = "plain",
) -> tuple[dict[str, Any], list[str]]:
    """Write everything; the result as a document and the files, the page first.

    ``pictures``: how many test bridges of the first fold are drawn, the last ones; ``seed`` and ``difficulty`` made
    the bridges. Figures are left out without matplotlib.
    """
    document = result_document(bridges, results)
    texts = {"results.md": markdown_report(bridges, results), "results.json": json_text(document)}
    for name, text in texts.items():
        write_text(folder / name, text)
    figures = _figures(folder, results) if find_spec("matplotlib") else []
    models = [numbered_bridge(number, seed, difficulty) for number in results[0].test[-pictures:]]
    drawn = _pictures(folder, bridges, results[0], models) if find_spec("matplotlib") else []
    title, scenes = "Bridges: laser scans labelled part by part", _scenes(bridges, results[0])
    tables = [PageTable(title, *parts) for title, parts in report_tables(bridges, results).items()]
    tables.insert(
        1, PageTable("Test bridges shown", ["bridge", "what is right"], [[s.name, s.score] for s in scenes])
    )
    notes = [headline(results), *all_scores_line(scenes)]
    if any("confidence" in scene.layers for scene in scenes):
        notes.append("Confidence of a test bridge: its scale is fitted to the other test bridges.")
    write_page(folder / "report.html", title, scenes, figures, tables, notes)
    results[0].model.save(folder / "model.gapcut")
    names = ["report.html", *drawn, *(f.content.name for f in figures), *texts, "model.gapcut"]
    return document, [str(folder / name) for name in names]


def write_graphs(folder: Path, results: Sequence[FoldResult]) -> list[str]:
    """Write fold-N-train.npz and fold-N-test.npz; their paths."""
    files = []
    for i, result in enumerate(results, 1):
        for name, graphs in (("train", result.graphs.training), ("test", result.graphs.tests)):
            path = folder / f"fold-{i}-{name}.npz"
            graphs.save(path)
            files.append(str(path))
    return files


def _figures(folder: Path, results: Sequence[FoldResult]) -> list[PageFigure]:
    return draw_model(
        folder,
        results[0].model,
        all_scores(results),
        training="First fold" if len(results) > 1 else "Training",
        tested=f"{nodes_word(results[0].nodes.labels).capitalize()} of test bridges",
        most=4,
    )


def _pictures(
    folder: Path, bridges: Sequence[BridgeScan], result: FoldResult, models: Sequence[Bridge]
) -> list[str]:
    """Names of the files written: one per model of the last test bridges, each type once."""
    names, shown = [], list(zip(result.test, result.solutions, strict=True))
    for (number, solution), bridge in zip(shown[-len(models) :], models, strict=True):
        figure = bridge_figure(bridge, bridges[number], solution.labels)
        save_figure(figure, folder / f"bridge-{bridge.type}.png", dpi=100)
        names.append(f"bridge-{bridge.type}.png")
    return names


def _scenes(bridges: Sequence[BridgeScan], result: FoldResult) -> list[SceneView]:
    """Truth, prediction, confidence and parts of the first test bridges, and why their parts have their labels."""
    names, scenes = dict(enumerate(LABELS if result.nodes.labels[len(CLASSES) :] else CLASSES)), []
    numbers = np.array([LABELS.index(str(label)) for label in result.model.classes_])
    place = {str(label): code for code, label in enumerate(result.model.classes_)}
    shown = list(zip(result.test, result.graphs.tests, result.solutions, strict=True))
    codes = [np.array([place[str(label)] for label in solution.labels]) for *_, solution in shown]
    flips = [
        flip_energies(result.model.energy(graph), code)
        for (_, graph, _), code in zip(shown, codes, strict=True)
    ]
    truths = [np.array([place.get(LABELS[k], -1) for k in bridges[number].labels]) for number, *_ in shown]
    for i, (number, graph, _) in enumerate(shown[:_SHOWN]):
        heat = _temperature(flips, truths, i)
        reasons = explain(result.model, graph, codes[i], flips[i], heat).renumbered(numbers)
        scan, truth = bridges[number].scan, bridges[number].labels
        solid = scan.segment >= 0
        node = scan.segment[solid]
        layers = {"truth": truth[node], "prediction": reasons.labels[node], "segments": node}
        if np.isfinite(heat):
            layers["confidence"] = label_probabilities(flips[i], heat)[np.arange(len(truth)), codes[i]][node]
        about = (scan.name, scan.xyz[solid], layers, names, hex_colours(names), reasons)
        scenes.append(
            SceneView(*about, score_line(truth, reasons.labels, names, nodes_word(result.nodes.labels)))
        )
    return scenes


def _temperature(flips: Sequence[FloatArray], truths: Sequence[IntArray], left_out: int) -> float:
    """Of the confidences of one test bridge, fitted to the others, which the weights have not seen either; NaN where
    there are none."""
    others = [i for i in range(len(flips)) if i != left_out]
    if not others:
        return float("nan")
    truth = np.concatenate([truths[i] for i in others])
    return fit_temperature(np.concatenate([flips[i] for i in others]), truth, np.ones(len(truth)))

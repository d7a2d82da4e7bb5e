"""What the bridge experiment leaves in a folder: a page, tables, pictures, graphs and a model."""

from __future__ import annotations

from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from gapcut.files import json_text, write_text
from gapcut.report.bridge_picture import bridge_figure
from gapcut.report.figures import save_figure
from gapcut.report.model import draw_model
from gapcut.report.page import PageFigure, PageTable, write_page
from gapcut.report.scene_view import SceneView
from gapcut.scenes.bridges import CLASSES
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

_SHOWN = 5  # bridges on the page


def write_report(
    folder: Path,
    bridges: Sequence[BridgeScan],
    results: Sequence[FoldResult],
    seed: int,
    pictures: int = 5,
) -> tuple[dict[str, Any], list[str]]:
    """Write everything; the result as a document and the files, the page first.

    ``pictures``: how many test bridges of the first fold are drawn, the last ones. Figures are left out without
    matplotlib.
    """
    document = result_document(bridges, results)
    texts = {"results.md": markdown_report(bridges, results), "results.json": json_text(document)}
    for name, text in texts.items():
        write_text(folder / name, text)
    figures = _figures(folder, results) if find_spec("matplotlib") else []
    drawn = _pictures(folder, bridges, results[0], seed, pictures) if find_spec("matplotlib") else []
    tables = [PageTable(title, *parts) for title, parts in report_tables(bridges, results).items()]
    title, scenes = "Bridges: laser scans labelled part by part", _scenes(bridges, results[0])
    write_page(folder / "report.html", title, scenes, figures, tables, [headline(results)])
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
        tested="Parts of test bridges",
        most=4,
    )


def _pictures(
    folder: Path, bridges: Sequence[BridgeScan], result: FoldResult, seed: int, most: int
) -> list[str]:
    """Names of the files written: one per test bridge, each type once."""
    names = []
    for number, solution in list(zip(result.test, result.solutions, strict=True))[-most:]:
        bridge = numbered_bridge(number, seed)
        figure = bridge_figure(bridge, bridges[number], solution.labels)
        save_figure(figure, folder / f"bridge-{bridge.type}.png", dpi=100)
        names.append(f"bridge-{bridge.type}.png")
    return names


def _scenes(bridges: Sequence[BridgeScan], result: FoldResult) -> list[SceneView]:
    """Truth, prediction and parts of the first test bridges."""
    names = dict(enumerate(CLASSES))
    scenes = []
    for number, solution in list(zip(result.test, result.solutions, strict=True))[:_SHOWN]:
        scan, truth = bridges[number].scan, bridges[number].labels
        solid = scan.segment >= 0
        node = scan.segment[solid]
        guess = np.array([CLASSES.index(str(label)) for label in solution.labels])
        layers = {"truth": truth[node], "prediction": guess[node], "segments": node}
        scenes.append(SceneView(scan.name, scan.xyz[solid], layers, names, hex_colours(names)))
    return scenes

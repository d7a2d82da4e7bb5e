"""What the bridge experiment leaves in a folder: a page, tables, pictures, graphs and a model."""

from __future__ import annotations

import json
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from gapcut.cli.show import plain
from gapcut.files import write_atomically

if TYPE_CHECKING:
    from gapcut.report.page import PageTable
    from gapcut.report.scene_view import SceneView
    from gapcut.scenes.experiment import DescribedBridge, FoldResult

_SHOWN = 5  # bridges on the page


def write_report(
    folder: Path,
    bridges: Sequence[DescribedBridge],
    results: Sequence[FoldResult],
    seed: int,
    pictures: int = 5,
) -> tuple[dict[str, Any], list[str]]:
    """Write everything; the result as a document and the files, the page first.

    ``pictures``: how many test bridges of the first fold are drawn, the last ones. Figures are left out without
    matplotlib.
    """
    from gapcut.scenes.experiment import markdown_report, result_document

    document = plain(result_document(bridges, results))
    texts = {"results.md": markdown_report(bridges, results), "results.json": json.dumps(document, indent=2)}
    for name, text in texts.items():
        write_atomically(folder / name, lambda file, text=text: file.write(text.encode()))  # type: ignore[misc]
    figures = _figures(folder, results) if find_spec("matplotlib") else {}
    drawn = _pictures(folder, bridges, results[0], seed, pictures) if find_spec("matplotlib") else []
    _page(folder / "report.html", bridges, results, figures)
    results[0].model.save(folder / "model.gapcut")
    names = ["report.html", *drawn, *figures, *texts, "model.gapcut"]
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


def _figures(folder: Path, results: Sequence[FoldResult]) -> dict[str, str]:
    """File name -> caption, written to the folder."""
    from gapcut.report.figures import confusion_figure, convergence_figure, save_figure, weights_figure
    from gapcut.scenes.experiment import all_scores

    model = results[0].model
    several = len(results) > 1
    which = "First fold" if several else "Training"
    made = {
        "confusion.png": (
            confusion_figure(all_scores(results), "Parts of test bridges"),
            "True against predicted classes, parts of all test bridges.",
        ),
        "convergence.png": (
            convergence_figure(model.history_, which),
            f"{which}: the optimum lies between the two bounds, proven.",
        ),
        "weights.png": (
            weights_figure(model.pairwise_, model.classes_, model.pipeline_.edge_names, 4),
            "What an edge between two parts says about their classes; blank: weight zero.",
        ),
    }
    for name, (figure, _) in made.items():
        save_figure(figure, folder / name)
    return {name: caption for name, (_, caption) in made.items()}


def _pictures(
    folder: Path, bridges: Sequence[DescribedBridge], result: FoldResult, seed: int, most: int
) -> list[str]:
    """Names of the files written: one a test bridge, a type once."""
    from gapcut.report.figures import save_figure
    from gapcut.scenes.bridges import bridge_specs, make_bridge
    from gapcut.scenes.experiment.picture import bridge_figure

    names = []
    for number, solution in list(zip(result.test, result.solutions, strict=True))[-most:]:
        kind, variant = bridge_specs(number + 1)[number]
        figure = bridge_figure(make_bridge(kind, seed, variant), bridges[number], solution.labels)
        save_figure(figure, folder / f"bridge-{kind}.png", dpi=100)
        names.append(f"bridge-{kind}.png")
    return names


def _page(
    path: Path,
    bridges: Sequence[DescribedBridge],
    results: Sequence[FoldResult],
    figures: dict[str, str],
) -> None:
    """Truth, prediction and errors of the test bridges of the first fold, tables and figures."""
    from gapcut.report.page import PageFigure, write_page
    from gapcut.scenes.experiment import headline

    write_page(
        path,
        "Bridges: laser scans labelled part by part",
        _scenes(bridges, results[0]),
        [PageFigure(path.parent / name, caption) for name, caption in figures.items()],
        _tables(bridges, results),
        [headline(results)],
    )


def _scenes(bridges: Sequence[DescribedBridge], result: FoldResult) -> list[SceneView]:
    from gapcut.report.scene_view import SceneView
    from gapcut.scenes.bridges import CLASSES
    from gapcut.scenes.bridges.colours import COLOURS

    colours = {k: "#" + "".join(f"{c:02x}" for c in COLOURS[name]) for k, name in enumerate(CLASSES)}
    scenes = []
    for number, solution in list(zip(result.test, result.solutions, strict=True))[:_SHOWN]:
        bridge = bridges[number]
        solid = bridge.point_node >= 0
        node = bridge.point_node[solid]
        guess = np.array([CLASSES.index(str(label)) for label in solution.labels])
        layers = {"truth": bridge.label[node], "prediction": guess[node], "segments": node}
        xyz = bridge.xyz[solid].astype(np.float64)
        scenes.append(SceneView(bridge.name, xyz, layers, dict(enumerate(CLASSES)), colours))
    return scenes


def _tables(bridges: Sequence[DescribedBridge], results: Sequence[FoldResult]) -> list[PageTable]:
    from gapcut.report.page import PageTable
    from gapcut.scenes.experiment import tables

    return [
        PageTable("Folds", tables.COLUMNS, tables.shown_rows(results)),
        PageTable("Classes", tables.CLASS_COLUMNS, tables.class_rows(results)),
        PageTable("What lies on what", tables.ON_TOP_COLUMNS, tables.on_top_rows(results)),
        PageTable("Bridges", tables.TYPE_COLUMNS, tables.type_rows(bridges)),
    ]

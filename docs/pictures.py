"""Pictures of the documentation:
``python docs/pictures.py readme | bridges | field RUN | pages DEMO RUN SCAN | FOLDER ...``.

It needs gapcut[plot,scan], ``pages`` also playwright and chromium. ``readme``: docs/images/bridge.png, a generated
bridge from the side, labelled from node features alone and by a trained model, next to the bounds of the training run.
``bridges``: one bridge of each type. ``field``: bridges as one finds them, the scan of one, and a truss of the run in
that folder. ``pages``: screenshots of the pages in three folders, which ``gapcut demo``, and
``gapcut report`` for scans with and without truth, wrote. FOLDER, what ``gapcut bridges reproduce`` or
``benchmarks/compare.py`` wrote: that run's pictures, in fewer colours.
"""

import io
import os
import shutil
import sys
from dataclasses import replace
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
from matplotlib.patches import FancyBboxPatch, Patch
from PIL import Image

from gapcut import StructuredSVM, datasets
from gapcut.data import GraphSet
from gapcut.datasets.structure import build_bridge
from gapcut.report.picture import paint_points
from gapcut.report.scene_view import WRONG
from gapcut.scenes.bridges import LABELS, TYPES, make_bridge
from gapcut.scenes.bridges.colours import COLOURS as PARTS
from gapcut.scenes.bridges.picture import Camera, render
from gapcut.scenes.experiment import ExperimentSettings
from gapcut.scenes.scanner import scan_bridge

IMAGES = Path(__file__).parent / "images"
TILE = (720, 380)
TILES = [("girder", 0, 9.0), ("frame", 2, 9.0), ("arch", 0, 14.0), ("arch", 3, 9.0), ("truss", 3, 12.0)]
TILES += [("cable-stayed", 1, 9.0)]
FIELD = [("girder", 1), ("truss", 1), ("arch", 0)]
MOST_BYTES = 300_000
SEED, TRAIN, SHOWN, NODES = 0, 20, 23, 60
NOISE, HIDDEN = 1.6, 0.15
INK, UPPER, LOWER = "#2b2b2b", "#d55e00", "#0072b2"
OTHER_NAMES = {"connecting beam": "cross beam", "connection": "bearing", "arch": "chord"}
SHAPES = {  # width, bottom and top of a part, or of a pile of them
    "footing": (4.4, 0.0, 0.8),
    "column": (1.3, 0.8, 3.7),
    "abutment": (2.6, 0.0, 4.3),
    "pier cap": (3.8, 3.7, 4.3),
    "connection": (0.9, 4.3, 4.75),
    "girder": (9.6, 4.75, 5.4),
    "connecting beam": (1.2, 4.75, 5.4),
    "deck": (9.8, 5.4, 6.2),
    "railing": (9.6, 6.2, 6.6),
    "cable": (0.4, 6.2, 9.6),
    "arch": (9.8, 9.6, 10.3),
}
COLOURS = {name: tuple(c / 255 for c in PARTS[OTHER_NAMES.get(name, name)]) for name in SHAPES}
PILES = ("column", "abutment", "cable")

SCREENS = ((1400, 900), (390, 844))
SHRUNK, MOST_SCREEN = 1000, 120_000
VIEWS = {  # of a page: scene, layer and label of the point chosen, in light and in dark
    "demo": ((2, "prediction", "column"), (2, "errors", "column")),
    "run": ((1, "prediction", "vehicle"), (1, "errors", "vehicle")),
    "scan": ((0, "prediction", "facade"), (0, "confidence", "wire")),
}


def of_the_readme():
    graphs = datasets.make_planted(TRAIN + 10, NODES, noise=NOISE, hidden=HIDDEN, seed=SEED)
    train, test = graphs[:TRAIN], graphs[TRAIN:]
    bare_train, bare_test = without_edges(train), without_edges(test)
    alone = StructuredSVM(n_jobs=2).fit(bare_train)
    model = StructuredSVM(gap=1e-3, n_jobs=2).fit(train)
    shown = SHOWN - TRAIN
    plt.rcParams.update({"font.size": 10, "font.family": "DejaVu Sans", "text.color": INK})
    figure = plt.figure(figsize=(11.6, 5.4), facecolor="white")
    grid = figure.add_gridspec(2, 2, width_ratios=[1.75, 1], left=0.015, right=0.985, top=0.94, bottom=0.115)
    figure.subplots_adjust(wspace=0.14, hspace=0.2)
    bridge = side_view(test[shown])
    for row, svm, data, title in (
        (0, alone, bare_test, "Each part on its own"),
        (1, model, test, "Parts and relations, by gapcut"),
    ):
        labels = svm.predict([data[shown]])[0]
        accuracy = np.mean(np.concatenate(svm.predict(data)) == np.concatenate([g.labels for g in test]))
        draw_bridge(figure.add_subplot(grid[row, 0]), bridge, test[shown].labels, labels)
        wrong = int((labels != test[shown].labels).sum())
        figure.axes[-1].set_title(
            f"{title}: {wrong} of {NODES} wrong here, {100 * accuracy:.1f} % right on 10 test bridges",
            loc="left",
            fontsize=10.5,
        )
    draw_bounds(figure.add_subplot(grid[:, 1]), model)
    handles = [Patch(color=COLOURS[name], label=name) for name in COLOURS]
    handles.append(Patch(facecolor="white", edgecolor=WRONG, linewidth=1.8, label="wrong"))
    place = {"loc": "lower left", "bbox_to_anchor": (0.005, 0.0)}
    figure.legend(handles=handles, ncol=6, frameon=False, fontsize=9.5, columnspacing=1.4, **place)
    figure.savefig(IMAGES / "bridge.png", dpi=150)


def without_edges(graphs):
    return GraphSet(g.replace(edges=None, edge_features=None) for g in graphs)


def side_view(graph):
    """(V, 3) where the parts of a generated bridge are: the generator's first draws, made again."""
    rng = np.random.default_rng([SEED, SHOWN])
    bridge = build_bridge(datasets.PLANTED_CLASSES, NODES, rng)
    order = rng.permutation(NODES)
    assert (np.array(bridge.names)[order] == graph.labels).all()
    return np.array(bridge.positions)[order]


def draw_bridge(axes, positions, truth, labels):
    spots = [(name, *position[:2]) for name, position in zip(truth, positions, strict=True)]
    for i in np.lexsort((positions[:, 2], -positions[:, 1])):
        x, y, z = positions[i]
        width, bottom, top = SHAPES[truth[i]]
        if truth[i] in PILES:
            pile = sorted(positions[j, 2] for j, spot in enumerate(spots) if spot == spots[i])
            step = (top - bottom) / len(pile)
            bottom += step * pile.index(z)
            top = bottom + step
        right = labels[i] == truth[i]
        axes.add_patch(
            FancyBboxPatch(
                (x + 0.3 * y - width / 2, bottom + 0.17 * y),
                width,
                top - bottom,
                boxstyle="round,pad=0,rounding_size=0.1",
                facecolor=COLOURS[labels[i]],
                edgecolor="white" if right else WRONG,
                linewidth=0.7 if right else 1.9,
                zorder=2 if right else 3,
            )
        )
    x = positions[:, 0]
    axes.axhspan(-1.0, -0.02, color="#ece7df", zorder=0)
    axes.set_xlim(x.min() - 6, x.max() + 6)
    axes.set_ylim(-0.7, 10.9)
    axes.axis("off")


def draw_bounds(axes, model):
    history = model.history_
    seconds = np.array([r.seconds for r in history])
    upper, lower = np.array([r.upper for r in history]), np.array([r.lower for r in history])
    axes.fill_between(seconds, lower, upper, color="#8a8a8a", alpha=0.15, linewidth=0)
    axes.plot(seconds, upper, "o-", color=UPPER, markersize=3.5, linewidth=1.8)
    axes.plot(seconds, lower, "o-", color=LOWER, markersize=3.5, linewidth=1.8)
    span = upper.max() - lower.min()
    note(axes, "the model's objective, at most", (seconds[0], upper[0]), (8, 6), UPPER)
    note(axes, "any model's objective, at least", (seconds[1], lower[1]), (14, -6), LOWER)
    axes.set_ylim(lower.min() - 0.05 * span, upper.max() + 0.14 * span)
    axes.set_xlim(0, seconds[-1] * 1.03)
    axes.set_xlabel("seconds of training")
    axes.set_ylabel("objective", labelpad=2)
    proof = model.certificate_
    axes.set_title(f"Proven: within {proof.shown_gap()} of the global optimum", loc="left", fontsize=10.5)
    axes.spines[["top", "right"]].set_visible(False)
    axes.grid(True, color="#eeeeee")
    axes.set_axisbelow(True)


def note(axes, text, point, offset, colour):
    axes.annotate(text, point, offset, textcoords="offset points", color=colour)


def of_each_type():
    tiles = [
        render(make_bridge(type_, 0, variant), TILE, azimuth=-70, elevation=high, samples=2)
        for type_, variant, high in TILES
    ]
    rows = [np.concatenate(tiles[i : i + 2], axis=1) for i in (0, 2, 4)]
    write(Image.fromarray(np.concatenate(rows).astype(np.uint8)), IMAGES / "bridges.png")


def of_the_field(folder):
    """Three bridges as one finds them and the scan of the last, coloured by class; a truss of a run."""
    shown = [make_bridge(type_, 0, variant, difficulty="field") for type_, variant in FIELD]
    tiles = [render(bridge, TILE, azimuth=-65, elevation=16, samples=2) for bridge in shown]
    tiles.append(scanned(shown[-1]))
    rows = [np.concatenate(tiles[i : i + 2], axis=1) for i in (0, 2)]
    write(Image.fromarray(np.concatenate(rows).astype(np.uint8)), IMAGES / "bridges-field.png")
    write(Image.open(folder / "bridge-truss.png").convert("RGB"), IMAGES / "bridge-field-truss.png")


def scanned(bridge):
    """The points of a scan as measured, in the tile of its bridge."""
    settings = ExperimentSettings().of_difficulty("field").scanner
    scan = scan_bridge(bridge, 0, replace(settings, angular_step=0.2))
    camera = Camera.at(bridge, (2 * TILE[0], 2 * TILE[1]), -65, 16)
    at, depth = camera.project(scan.xyz)
    paint = np.array([PARTS[name] for name in (*LABELS, "terrain")])[scan.label]  # -1 is the terrain
    scale = camera.size[0] / 2 / camera.half / float(np.median(depth))
    image = paint_points(at, depth, paint, camera.size, scale, 1)
    return image.reshape(TILE[1], 2, TILE[0], 2, 3).mean(axis=(1, 3))


def of_a_run(folder):
    names = {f"bridge-{type_}.png": f"bridge-{type_}.png" for type_ in TYPES}
    names |= {"confusion.png": "bridge-confusion.png"}
    names |= {"office.png": "comparison-office.png", "office-confusion.png": "office-confusion.png"}
    for made, shown in names.items():
        if (folder / made).exists():
            write(Image.open(folder / made).convert("RGB"), IMAGES / shown)


def of_pages(folders):
    """What a page shows at first, on a screen and on a phone, light and dark, with a point chosen."""
    from playwright.sync_api import sync_playwright

    flags = ["--no-sandbox", "--use-gl=angle", "--use-angle=swiftshader", "--enable-unsafe-swiftshader"]
    program = os.environ.get("GAPCUT_CHROMIUM") or shutil.which("chromium")
    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=program, args=flags)
        for (kind, views), folder in zip(VIEWS.items(), folders, strict=True):
            for scheme, view in zip(("light", "dark"), views, strict=True):
                for width, height in SCREENS:
                    size = {"width": width, "height": height}
                    page = browser.new_page(viewport=size, color_scheme=scheme)
                    picture = screenshot(page, folder.absolute() / "report.html", *view, phone=width < 500)
                    write(picture, IMAGES / f"page-{kind}-{scheme}-{width}.png", MOST_SCREEN)
                    page.close()
        browser.close()


def screenshot(page, path, scene, layer, label, phone):
    """The page at the view; on a phone from the picture downwards. The point chosen is the one of that predicted label
    whose segment has the closest rival."""
    page.goto(f"{path.as_uri()}#scene={scene}&layer={layer}")
    while not page.evaluate("state.ready"):
        page.wait_for_timeout(50)
    page.evaluate(
        """(label) => {
          const scene = scenes.get(state.scene), codes = scene.layers.get("prediction");
          const wanted = page.labels.findIndex((l) => l.name === label), rivals = new Map();
          const rival = (s) => {
            if (!rivals.has(s)) rivals.set(s, reasonsOf(scene, s - 1).others[0].worse);
            return rivals.get(s);
          };
          let best = -1;
          codes.forEach((code, i) => {
            if (code !== wanted || !scene.segments[i]) return;
            if (best < 0 || rival(scene.segments[i]) < rival(scene.segments[best])) best = i;
          });
          keepPoint(best);
        }""",
        label,
    )
    if phone:
        page.evaluate("scrollTo(0, document.querySelector('.stage').getBoundingClientRect().top - 64)")
    page.wait_for_timeout(500)
    taken = Image.open(io.BytesIO(page.screenshot())).convert("RGB")
    height = round(taken.height * SHRUNK / taken.width)
    return taken if phone else taken.resize((SHRUNK, height), Image.Resampling.LANCZOS)


def write(image, path, most=MOST_BYTES):
    """As a PNG, of so few colours that it stays below so many bytes; octrees keep rare colours, as those of legends."""
    image.save(path, optimize=True)
    if path.stat().st_size < most:
        return
    for colours in (256, 128, 64, 32):
        few = image.quantize(colours, Image.Quantize.FASTOCTREE, dither=Image.Dither.NONE)
        few.save(path, optimize=True)
        if path.stat().st_size < most:
            return
    raise ValueError(f"{path} is too large even in 32 colours: make it smaller")


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    if sys.argv[1] in ("readme", "bridges"):
        (of_the_readme if sys.argv[1] == "readme" else of_each_type)()
    elif sys.argv[1] == "pages":
        of_pages([Path(given) for given in sys.argv[2:]])
    elif sys.argv[1] == "field":
        of_the_field(Path(sys.argv[2]))
    else:
        for given in sys.argv[1:]:
            of_a_run(Path(given))

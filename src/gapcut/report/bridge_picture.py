"""One bridge in five pictures: mesh, scan, truth, prediction, errors."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from gapcut.digits import percent
from gapcut.report.figures import new_figure
from gapcut.report.picture import draw_scale, paint_points
from gapcut.report.scene_view import RIGHT, WRONG
from gapcut.scenes.bridges import LABELS, Bridge
from gapcut.scenes.bridges.colours import COLOURS
from gapcut.scenes.bridges.picture import Camera, render
from gapcut.scenes.experiment import BridgeScan
from gapcut.scenes.experiment.tables import nodes_word
from gapcut.typing import AnyArray, FloatArray, IntArray

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_RIGHT_WRONG = np.array([[int(c[at : at + 2], 16) for at in (1, 3, 5)] for c in (RIGHT, WRONG)])
_PAINT = np.array([COLOURS[name] for name in LABELS])
_WIDTH = 1000
_ELEVATION, _AZIMUTH = 12.0, -64.0


def bridge_figure(model: Bridge, bridge: BridgeScan, prediction: AnyArray, samples: int = 2) -> Figure:
    """A matplotlib figure. ``prediction`` (V,) names of classes by node. Raises ImportError without matplotlib or
    embreex."""
    height = _height(model)
    camera = Camera.at(model, (_WIDTH, height), _AZIMUTH, _ELEVATION)
    scan = bridge.scan
    truth = bridge.labels
    guess = np.array([LABELS.index(str(label)) for label in prediction])
    panels = {"CAD model": render(model, camera.size, _AZIMUTH, _ELEVATION, samples=samples)}
    wrong = guess != truth
    errors = _RIGHT_WRONG[wrong.astype(np.int64)]
    share = percent(1.0 - float(wrong.mean()), 1)
    what = nodes_word([LABELS[k] for k in np.unique(truth)])
    views = {
        f"scan: {len(scan.xyz):,} points": None,
        f"truth: {len(guess)} {what}": _PAINT[truth],
        "prediction": _PAINT[guess],
        f"errors: {wrong.sum()} of them ({share} right)": errors,
    }
    for title, paint in views.items():
        panels[title] = _points(camera, bridge, paint, samples)
    rows = len(panels)
    figure = new_figure(_WIDTH / 100, (height * rows + 34 * rows + 60) / 100)
    for i, (title, image) in enumerate(panels.items()):
        axes = figure.add_subplot(rows, 1, i + 1)
        axes.imshow(image.astype(np.uint8), interpolation="none")
        axes.set_title(title, fontsize=10, loc="left", pad=3)
        axes.set_axis_off()
        if i == 1:  # on white; all panels have one camera
            draw_scale(axes, _pixels(camera, camera.project(scan.xyz)[1]), image.shape, " in the middle")
    _legend(figure, np.unique(np.concatenate([truth, guess])))
    return figure


def _height(model: Bridge) -> int:
    """Pixels of an image in which the structure fills width and height, within limits."""
    camera = Camera.at(model, (_WIDTH, _WIDTH), _AZIMUTH, _ELEVATION)
    seen, _ = camera.project(model.mesh.vertices)
    wide, high = np.ptp(seen, axis=0)
    return int(np.clip(_WIDTH * 1.12 * high / wide, 150, 460))


def _points(camera: Camera, bridge: BridgeScan, paint: IntArray | None, samples: int) -> IntArray:
    """Points by node colour; without one in grey, the terrain included."""
    scan = bridge.scan
    shown = slice(None) if paint is None else scan.segment >= 0
    xyz, node = scan.xyz[shown], scan.segment[shown]
    grey = np.where((node >= 0)[:, None], (120, 128, 138), COLOURS["terrain"])
    colours = grey if paint is None else paint[node]
    (width, height), (at, depth) = camera.size, camera.project(xyz)
    scale = samples * _pixels(camera, depth)
    radius = max(1, round(0.95 * bridge.voxel * scale))
    size = (width * samples, height * samples)
    image = paint_points(at * samples, depth, colours, size, scale, radius)
    pixels = image.reshape(height, samples, width, samples, 3).mean(axis=(1, 3))
    return np.asarray(np.rint(pixels), dtype=np.int64)


def _pixels(camera: Camera, depth: FloatArray) -> float:
    """Of a metre at the median depth."""
    return camera.size[0] / 2 / camera.half / float(np.median(depth))


def _legend(figure: Figure, classes: IntArray) -> None:
    from matplotlib.patches import Patch

    handles = [Patch(color=tuple(x / 255 for x in _PAINT[k]), label=LABELS[k]) for k in classes]
    handles.append(Patch(color=WRONG, label="(errors) wrong"))
    figure.legend(
        handles=handles, loc="outside lower center", ncols=6, frameon=False, fontsize=9, handlelength=1.2
    )

"""A still picture of a scene: points drawn from one side, nearest first, shaded from depth so that shape shows."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from gapcut.report.figures import new_figure
from gapcut.report.scene_view import SceneView, shown_labels
from gapcut.typing import AnyArray, FloatArray, IntArray

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_PITCH, _TURN = 0.5, -0.45
_RIGHT, _WRONG, _NONE = "#b9c0c9", "#d5301a", "#c3c7cd"
_FAR = np.inf


def scene_figure(
    view: SceneView, layer: str, labels: list[tuple[int, str, str]] | None = None, width: int = 1500
) -> Figure:
    """The points of a scene coloured by a layer, or by ``errors`` where there are ``truth`` and ``prediction``.

    ``labels`` (label, name, colour) as of :func:`gapcut.report.scene_view.shown_labels`, by default of this scene.
    The camera looks down at 29 degrees across the longer horizontal side; the structure fills the picture.
    """
    colours, legend = _colours(view, layer, labels or shown_labels([view]))
    picture = draw_points(view.xyz, colours, width)
    figure = new_figure(width / 130, width / 130 * picture.shape[0] / width + 0.75)
    axes = figure.add_subplot()
    axes.imshow(picture, interpolation="antialiased")
    axes.set_axis_off()
    axes.set_title(f"{view.name}: {layer}", fontsize=12, loc="left")
    if legend:
        from matplotlib.patches import Patch

        handles = [Patch(facecolor=colour, edgecolor="#00000040", label=name) for name, colour in legend]
        figure.legend(
            handles=handles, loc="outside lower left", ncols=min(8, len(handles)), frameon=False, fontsize=10
        )
    return figure


def _colours(
    view: SceneView, layer: str, labels: list[tuple[int, str, str]]
) -> tuple[AnyArray, list[tuple[str, str]]]:
    """(N, 3) colours of the points and (name, colour) of what occurs."""
    if layer == "errors":
        truth, guess = view.layers["truth"], view.layers["prediction"]
        code = np.where((truth < 0) | (guess < 0), 2, (truth != guess).astype(np.int64))
        entries = [("right", _RIGHT), ("wrong", _WRONG), ("no label", _NONE)]
        return _rgb([c for _, c in entries])[code], [entries[k] for k in np.unique(code)]
    values = view.layers[layer]
    if layer == "segments":
        shades = np.random.default_rng(1).integers(60, 225, (256, 3)).astype(np.uint8)
        return np.where(values[:, None] < 0, _rgb([_NONE]), shades[values % 256]), []
    known = np.array([label for label, _, _ in labels])
    place = np.minimum(np.searchsorted(known, values), len(known) - 1)
    code = np.where(values < 0, len(known), place)
    entries = [*((name, colour) for _, name, colour in labels), ("no label", _NONE)]
    return _rgb([c for _, c in entries])[code], [entries[k] for k in np.unique(code)]


def _rgb(colours: list[str]) -> AnyArray:
    return np.array([[int(c[at : at + 2], 16) for at in (1, 3, 5)] for c in colours], dtype=np.uint8)


def draw_points(xyz: FloatArray, colours: AnyArray, width: int = 1500, most: float = 0.75) -> AnyArray:
    """(H, width, 3) uint8 picture of points (N, 3) in their colours (N, 3), at most ``most`` times as high as wide."""
    right, up, back = _axes(xyz)
    x, y, z = xyz @ right, xyz @ up, xyz @ back
    ends = [np.quantile(v, [0.003, 0.997]) for v in (x, y)]
    spans = [max(float(e[1] - e[0]), 1e-9) for e in ends]
    margin = 1.06
    scale = min(width / spans[0], most * width / spans[1]) / margin
    height = max(64, min(int(most * width), round(margin * spans[1] * scale)))
    across, down = (x - ends[0].mean()) * scale, (ends[1].mean() - y) * scale
    at = np.column_stack([across + width / 2, down + height / 2]) + 0.5
    return paint_points(at, -z, colours, (width, height), scale)


def paint_points(
    at: FloatArray,
    depth: FloatArray,
    colours: AnyArray,
    size: tuple[int, int],
    scale: float,
    radius: int | None = None,
) -> AnyArray:
    """(H, W, 3) uint8 picture of points at pixels ``at`` (N, 2), right and down, nearer ones in front, on white.

    ``depth`` (N,) metres away from the camera, ``scale`` pixels a metre, ``radius`` in pixels (default: so that points
    in a plane close up).
    """
    width, height = size
    column, row = np.floor(at).astype(np.int64).T
    inside = (column >= 0) & (column < width) & (row >= 0) & (row < height)
    flat = row[inside] * width + column[inside]
    near, owner = _nearest(flat, depth[inside], width * height)
    if radius is None:
        radius = 1 if len(flat) > 3 * np.count_nonzero(np.isfinite(near)) else 2
    near, owner = _grown(near.reshape(height, width), owner.reshape(height, width), radius)
    picture = np.full((height, width, 3), 255.0)
    seen = owner >= 0
    picture[seen] = colours[inside][owner[seen]] * _shading(near, scale)[seen][:, None]
    return np.asarray(np.rint(picture), dtype=np.uint8)


def _axes(xyz: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Right, up and back of the camera."""
    flat = xyz[:, :2] - xyz[:, :2].mean(axis=0)
    xx, yy, xy = (flat[:, 0] ** 2).sum(), (flat[:, 1] ** 2).sum(), (flat[:, 0] * flat[:, 1]).sum()
    yaw = 0.5 * np.arctan2(2 * xy, xx - yy) + _TURN
    cy, sy, cp, sp = np.cos(yaw), np.sin(yaw), np.cos(_PITCH), np.sin(_PITCH)
    return np.array([cy, sy, 0.0]), np.array([-sp * sy, sp * cy, cp]), np.array([cp * sy, -cp * cy, sp])


def _nearest(flat: IntArray, depth: FloatArray, size: int) -> tuple[FloatArray, IntArray]:
    """Depth and number of the nearest point of every pixel; infinity and -1 where there is none."""
    order = np.lexsort((depth, flat))
    pixel, first = np.unique(flat[order], return_index=True)
    depths, owners = np.full(size, _FAR), np.full(size, -1, dtype=np.int64)
    depths[pixel] = depth[order][first]
    owners[pixel] = order[first]
    return depths, owners


def _grown(depth: FloatArray, owner: IntArray, radius: int) -> tuple[FloatArray, IntArray]:
    near, by = depth.copy(), owner.copy()
    for i in range(-radius, radius + 1):
        for j in range(-radius, radius + 1):
            if 0 < i * i + j * j <= radius * radius + 1:
                moved, whose = _moved(depth, i, j, _FAR), _moved(owner, i, j, -1)
                closer = moved < near
                near[closer], by[closer] = moved[closer], whose[closer]
    return near, by


def _moved(values: AnyArray, i: int, j: int, fill: float) -> AnyArray:
    out = np.full_like(values, fill)
    h, w = values.shape
    out[max(i, 0) : h + min(i, 0), max(j, 0) : w + min(j, 0)] = values[
        max(-i, 0) : h + min(-i, 0), max(-j, 0) : w + min(-j, 0)
    ]
    return out


def _shading(depth: FloatArray, scale: float) -> FloatArray:
    """Eye-dome lighting (Boucheny 2009): a pixel is darker the deeper it lies below those around it."""
    sunk = np.zeros_like(depth)
    with np.errstate(invalid="ignore"):
        for ring in (2, 4):
            for i, j in ((0, 1), (1, 0), (0, -1), (-1, 0), (1, 1), (1, -1), (-1, 1), (-1, -1)):
                other = _moved(depth, ring * i, ring * j, _FAR)
                step = np.where(np.isfinite(other) & np.isfinite(depth), (depth - other) * scale / ring, 0.0)
                sunk += np.clip(step, 0.0, 12.0) / ring
    return np.asarray(0.38 + 0.62 * np.exp(-0.035 * sunk))

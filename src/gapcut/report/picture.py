"""A still picture of a scene: points drawn from one side, nearest first, shaded from depth so that shape shows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from gapcut.report.figures import new_figure
from gapcut.report.scene_view import NO_LABEL, RIGHT, WRONG, SceneView, shown_labels
from gapcut.typing import AnyArray, BoolArray, FloatArray, IntArray

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_PITCH, _TURN = 0.5, -0.45
_STRIPE = 4  # pixels
_FAR = np.inf


def scene_figure(
    view: SceneView, layer: str, labels: list[tuple[int, str, str]] | None = None, width: int = 1500
) -> Figure:
    """The points of a scene coloured by a layer, or by ``errors`` where there are ``truth`` and ``prediction``.

    ``labels`` (label, name, colour) as of :func:`gapcut.report.scene_view.shown_labels`, by default of this scene.
    The camera looks down at 29 degrees across the longer horizontal side; the structure fills the picture.
    """
    colours, legend, unknown = _colours(view, layer, labels or shown_labels([view]))
    picture, metre = draw_points(view.xyz, colours, width, striped=unknown)
    figure = new_figure(width / 130, width / 130 * picture.shape[0] / width + 0.75)
    axes = figure.add_subplot()
    axes.imshow(picture, interpolation="antialiased")
    axes.set_axis_off()
    draw_scale(axes, metre, picture.shape[:2])
    axes.set_title(f"{view.name}: {layer}", fontsize=12, loc="left")
    if legend:
        from matplotlib.patches import Patch

        handles = [
            Patch(facecolor=colour, edgecolor="#00000040", label=name)
            if colour != NO_LABEL[0]
            else Patch(facecolor=colour, edgecolor=NO_LABEL[1], hatch="//////", linewidth=0, label=name)
            for name, colour in legend
        ]
        figure.legend(
            handles=handles, loc="outside lower left", ncols=min(8, len(handles)), frameon=False, fontsize=10
        )
    return figure


def draw_scale(axes: Any, metre: float, size: tuple[int, ...], about: str = "") -> None:
    """A bar of a round length at the lower left of a picture of ``size`` (height, width) pixels, ``metre`` of them a
    metre; ``about``: what else to say of the length."""
    most = 0.14 * size[1] / metre
    power = 10.0 ** np.floor(np.log10(most))
    length = float(max(k * power for k in (1, 2, 5) if k * power <= most))
    x, y = 0.02 * size[1] + np.array([0.0, length * metre]), 0.97 * size[0]
    axes.plot(x, [y, y], color="#1d232b", linewidth=2.5, solid_capstyle="butt", scalex=False, scaley=False)
    text = f"{length:g} m{about}" if length >= 1 else f"{100 * length:g} cm{about}"
    axes.annotate(text, (x[0], y), (0, 3), textcoords="offset points", fontsize=9, color="#1d232b")


def _colours(
    view: SceneView, layer: str, labels: list[tuple[int, str, str]]
) -> tuple[AnyArray, list[tuple[str, str]], BoolArray]:
    """(N, 3) colours of the points, (name, colour) of what occurs, (N,) which points have no label."""
    if layer == "errors":
        truth, guess = view.layers["truth"], view.layers["prediction"]
        code = np.where((truth < 0) | (guess < 0), 2, (truth != guess).astype(np.int64))
        entries = [("right", RIGHT), ("wrong", WRONG), ("no label", NO_LABEL[0])]
        return _rgb([c for _, c in entries])[code], [entries[k] for k in np.unique(code)], code == 2
    values = view.layers[layer]
    if layer == "segments":
        shades = np.random.default_rng(1).integers(60, 225, (256, 3)).astype(np.uint8)
        return np.where(values[:, None] < 0, _rgb([NO_LABEL[0]]), shades[values % 256]), [], values < 0
    known = np.array([label for label, _, _ in labels])
    place = np.minimum(np.searchsorted(known, values), len(known) - 1)
    code = np.where(values < 0, len(known), place)
    entries = [*((name, colour) for _, name, colour in labels), ("no label", NO_LABEL[0])]
    return _rgb([c for _, c in entries])[code], [entries[k] for k in np.unique(code)], values < 0


def _rgb(colours: list[str]) -> AnyArray:
    return np.array([[int(c[at : at + 2], 16) for at in (1, 3, 5)] for c in colours], dtype=np.uint8)


def draw_points(
    xyz: FloatArray,
    colours: AnyArray,
    width: int = 1500,
    most: float = 0.75,
    striped: BoolArray | None = None,
) -> tuple[AnyArray, float]:
    """(H, width, 3) uint8 picture of points (N, 3) in their colours (N, 3), at most ``most`` times as high as wide, and
    its pixels a metre; ``striped`` (N,) points that have no label."""
    right, up, back = _axes(xyz)
    x, y, z = xyz @ right, xyz @ up, xyz @ back
    ends = [np.quantile(v, [0.003, 0.997]) for v in (x, y)]
    spans = [max(float(e[1] - e[0]), 1e-9) for e in ends]
    margin = 1.06
    scale = min(width / spans[0], most * width / spans[1]) / margin
    height = max(64, min(int(most * width), round(margin * spans[1] * scale)))
    across, down = (x - ends[0].mean()) * scale, (ends[1].mean() - y) * scale
    at = np.column_stack([across + width / 2, down + height / 2]) + 0.5
    return paint_points(at, -z, colours, (width, height), scale, striped=striped), scale


def paint_points(
    at: FloatArray,
    depth: FloatArray,
    colours: AnyArray,
    size: tuple[int, int],
    scale: float,
    radius: int | None = None,
    striped: BoolArray | None = None,
) -> AnyArray:
    """(H, W, 3) uint8 picture of points at pixels ``at`` (N, 2), right and down, nearer ones in front, on white.

    ``depth`` (N,) metres away from the camera, ``scale`` pixels a metre, ``radius`` in pixels (default: so that points
    in a plane close up); ``striped`` (N,) points with dark stripes.
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
    shown = np.array(colours[inside][owner[seen]])
    if striped is not None:
        dark = striped[inside][owner[seen]] & (np.add(*np.nonzero(seen)) % (2 * _STRIPE) < _STRIPE)
        shown[dark] = _rgb([NO_LABEL[1]])
    picture[seen] = shown * _shading(near, scale)[seen][:, None]
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

"""One HTML file to look at: points in 3D with switches, tables and figures. It needs no network and no server."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from html import escape
from importlib.resources import files
from os import PathLike
from pathlib import Path
from typing import Any

from gapcut.files import write_atomically
from gapcut.report.embed import PageFigure, PageTable, data_uri, table_html
from gapcut.report.packing import MOST_POINTS, PackedScene, pack_scene, points_to_show
from gapcut.report.scene_view import NO_LABEL, RIGHT, WRONG, SceneView, shown_labels
from gapcut.report.words import words_html

SCENE_POINTS, PAGE_POINTS = MOST_POINTS, 1_200_000
"""Default limits: points of one scene and of a page, which keep a page under 15 MB."""

_SCRIPTS = (
    "camera.js",
    "renderer.js",
    "scene.js",
    "legend.js",
    "pick.js",
    "tools.js",
    "correct.js",
    "link.js",
    "page.js",
)


def write_page(
    path: str | PathLike[str],
    title: str,
    scenes: Sequence[SceneView] = (),
    figures: Sequence[PageFigure | Any] = (),
    tables: Sequence[PageTable] = (),
    notes: Sequence[str] = (),
    scene_points: int = SCENE_POINTS,
    page_points: int = PAGE_POINTS,
) -> None:
    """Write the page; the file appears whole or not at all.

    Scenes are thinned (at random, always the same points) to ``scene_points`` points each and ``page_points`` in all.
    ``notes`` are lines under the title. Labels have one colour in all scenes. Raises ValueError, OSError.
    """
    limits = points_to_show([scene.n_points for scene in scenes], scene_points, page_points)
    labels = shown_labels(scenes)
    packed = [
        pack_scene(scene, [label for label, _, _ in labels], most)
        for scene, most in zip(scenes, limits, strict=True)
    ]
    text = _fill(
        _template("page.html"),
        {
            "title": escape(title),
            "css": _template("page.css"),
            "notes": "".join(f"<p>{escape(note)}</p>" for note in notes),
            "viewer": _template("viewer.html") if scenes else "",
            "tables": "".join(table_html(t) for t in tables),
            "figures": _figures_html(figures),
            "words": words_html([name for t in tables for name in (t.title, *t.columns)]),
            "data": _data_html(packed, labels) if scenes else "",
            "scripts": "".join(f"<script>\n{_template(s)}</script>\n" for s in _SCRIPTS) if scenes else "",
        },
    )
    write_atomically(Path(path), lambda file: file.write(text.encode("utf-8")))


def _template(name: str) -> str:
    return files("gapcut.report").joinpath("web", name).read_text(encoding="utf-8")


def _fill(template: str, values: Mapping[str, str]) -> str:
    """The template with each ``{{key}}`` replaced once; what is put in is not searched for keys."""
    parts = []
    for piece in template.split("{{"):
        key, closed, rest = piece.partition("}}")
        parts.append(values[key] + rest if closed else piece)
    return "".join(parts)


def _figures_html(figures: Sequence[PageFigure | Any]) -> str:
    if not figures:
        return ""
    shown = [figure if isinstance(figure, PageFigure) else PageFigure(figure) for figure in figures]
    items = "".join(
        f'<figure><img alt="{escape(f.caption)}" src="{data_uri(f.content)}">'
        + (f"<figcaption>{escape(f.caption)}</figcaption>" if f.caption else "")
        + "</figure>"
        for f in shown
    )
    return f'<section><h2>Figures</h2><div class="figures">{items}</div></section>'


def _data_html(packed: Sequence[PackedScene], labels: Sequence[tuple[int, str, str]]) -> str:
    said = {
        "labels": [{"name": name, "colour": colour} for _, name, colour in labels],
        "scenes": [scene.meta for scene in packed],
        "colours": {"right": RIGHT, "wrong": WRONG, "none": NO_LABEL},
    }
    text = json.dumps(said).replace("<", "\\u003c")
    blobs = "".join(
        f'<script type="text/plain" id="{kind}-{i}">{content}</script>\n'
        for i, scene in enumerate(packed)
        for kind, content in (("scene", scene.base64), ("reasons", scene.reasons))
        if content
    )
    return f'<script type="application/json" id="page-data">{text}</script>\n{blobs}'


__all__ = ["PAGE_POINTS", "SCENE_POINTS", "PageFigure", "PageTable", "write_page"]

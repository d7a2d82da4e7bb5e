"""The page as a file: what is packed comes out again, what cannot be shown is refused, nothing is half written."""

from __future__ import annotations

import base64
import gzip
import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.spatial import cKDTree

from gapcut.report.embed import cell_text, data_uri
from gapcut.report.packing import points_to_show
from gapcut.report.page import PageFigure, PageTable, write_page
from gapcut.report.scene_view import (
    NO_LABEL,
    PALETTE,
    RIGHT,
    WRONG,
    SceneView,
    all_scores_line,
    score_line,
    shown_labels,
)
from gapcut.report.words import hinted, words_html
from gapcut.scenes.bridges.colours import COLOURS
from gapcut.scenes.clouds import PointCloud
from gapcut.scenes.labelling.reasons import Reasons


def scene(n: int = 2000, seed: int = 0, **layers: Any) -> SceneView:
    rng = np.random.default_rng(seed)
    xyz = rng.uniform(-10, 10, (n, 3)) * [3, 1, 0.5] + np.array([500_000, 6_000_000, 50])
    truth = rng.integers(-1, 4, n) * 10
    truth[truth < 0] = -1
    given = {"truth": truth, "prediction": rng.integers(0, 4, n) * 10, "segments": rng.integers(0, 400, n)}
    return SceneView(f"scene {seed}", xyz, {**given, **layers}, {0: "deck", 10: "</script>", 20: "column"})


def unpack(html: str, index: int) -> tuple[dict[str, Any], np.ndarray, dict[str, np.ndarray]]:
    """What the script of the page does, written a second time."""
    page = json.loads(re.search(r'id="page-data">(.*?)</script>', html, re.S).group(1))
    meta = page["scenes"][index]
    blob = re.search(rf'id="scene-{index}">(.*?)</script>', html, re.S).group(1)
    data = (
        np.frombuffer(gzip.decompress(base64.b64decode(blob)), np.uint8)
        .reshape(-1, meta["points"])
        .astype(np.int64)
    )
    steps = [data[2 * a] + 256 * data[2 * a + 1] for a in range(3)]
    places = np.stack([np.cumsum(s) % 65536 for s in steps], axis=1)
    xyz = np.array(meta["low"]) + places / 65535 * np.array(meta["extent"])
    layers = {name: data[6 + k] for k, name in enumerate(meta["layers"])}
    planes = data[6 + len(layers) :]
    assert len(planes) == meta["segment_bytes"]
    layers["segments"] = sum((256**k * plane for k, plane in enumerate(planes)), start=np.int64(-1))
    return page, xyz, layers


def test_points_and_labels_survive(tmp_path: Path) -> None:
    given = scene()
    write_page(tmp_path / "a.html", "A & B", [given])
    html = (tmp_path / "a.html").read_text()
    page, xyz, layers = unpack(html, 0)
    assert "<h1>A &amp; B</h1>" in html
    assert [label["name"] for label in page["labels"]] == ["deck", "</script>", "column", "30"]
    assert [label["colour"] for label in page["labels"]] == list(PALETTE[:4])
    centre = (given.xyz.min(axis=0) + given.xyz.max(axis=0)) / 2
    distance, nearest = cKDTree(xyz).query(given.xyz - centre)
    assert distance.max() < 0.001
    assert len(np.unique(nearest)) == given.n_points
    for key in ("truth", "prediction"):
        expected = np.where(given.layers[key] < 0, 255, given.layers[key] // 10)
        assert np.array_equal(layers[key][nearest], expected)
    assert np.array_equal(layers["segments"][nearest], given.layers["segments"])


def test_needs_no_network_and_closes_no_script_early(tmp_path: Path) -> None:
    write_page(tmp_path / "a.html", "t", [scene(50)], tables=[PageTable("<b>", ["x"], [["<i>"]])])
    html = (tmp_path / "a.html").read_text()
    assert not re.search(r"https?://", html)
    assert "default-src 'none'" in html
    assert "<b>" not in html
    assert "<i>" not in html
    assert html.count("<script") == html.count("</script>") == 2 + 9  # data and one scene, nine scripts


def test_thinning() -> None:
    assert points_to_show([10, 20], 100, 100) == [10, 20]
    assert points_to_show([1000, 5, 1000], 400, 600) == [297, 5, 298]
    assert points_to_show([1000], 400, 10_000) == [400]
    with pytest.raises(ValueError, match="at least one point a scene"):
        points_to_show([5, 5], 5, 1)


def test_thinned_page_says_so(tmp_path: Path) -> None:
    write_page(tmp_path / "a.html", "t", [scene(3000)], scene_points=1000)
    page, xyz, _ = unpack((tmp_path / "a.html").read_text(), 0)
    assert len(xyz) == page["scenes"][0]["points"] == 1000
    assert page["scenes"][0]["of"] == 3000


def test_equal_input_gives_equal_bytes(tmp_path: Path) -> None:
    for name in "ab":
        write_page(tmp_path / name, "t", [scene(500)], scene_points=300)
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()


def test_without_scenes(tmp_path: Path) -> None:
    write_page(tmp_path / "a.html", "t", notes=["a note"], tables=[PageTable("T", ["a", "b"], [["x", 1.5]])])
    html = (tmp_path / "a.html").read_text()
    assert "<canvas" not in html
    assert "<p>a note</p>" in html
    assert '<td class="number">1.5</td>' in html


def test_columns_of_written_numbers_are_aligned_right(tmp_path: Path) -> None:
    rows = [
        ["1", "91.28 %", "-", "24.4 cm", "-0.001", "95.9 % right"],
        ["mean", "7 %", "4,680.00", "–", "0", "-"],
    ]
    write_page(tmp_path / "a.html", "t", tables=[PageTable("T", ["a", "b", "c", "d", "e", "f"], rows)])
    html = (tmp_path / "a.html").read_text()
    for cell in ("91.28 %", "7 %", "4,680.00", "24.4 cm", "-0.001"):
        assert f'<td class="number">{cell}</td>' in html
    assert "<td>1</td>" in html
    assert "<td>95.9 % right</td>" in html


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: SceneView("s", np.zeros((0, 3))), r"scene 's': xyz has shape \(0, 3\)"),
        (lambda: SceneView("s", [[0, 0, np.nan]]), "scene 's': point 0 is not finite"),
        (lambda: SceneView("s", [[0, 0, 0]], {"truth": [0.5]}), "layer 'truth' has shape .1,. of float64"),
        (lambda: SceneView("s", [[0, 0, 0]], {"errors": [0]}), "makes a layer 'errors' itself"),
        (
            lambda: shown_labels([SceneView("s", np.zeros((300, 3)), {"truth": np.arange(300)})]),
            "300 different labels",
        ),
        (
            lambda: shown_labels([SceneView(n, [[0, 0, 0]], {"truth": [0]}, {0: n}) for n in "ab"]),
            "scene 'b': label 0 is 'b' here, but 'a' in another scene",
        ),
    ],
)
def test_refuses(make: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        make()


def test_a_failure_leaves_the_old_page(tmp_path: Path) -> None:
    path = tmp_path / "a.html"
    path.write_text("old")
    with pytest.raises(ValueError, match="table 'T': row 1 has 1 cells"):
        write_page(path, "t", tables=[PageTable("T", ["a", "b"], [[1, 2], [1]])])
    with pytest.raises(ValueError, match="neither PNG nor SVG"):
        write_page(path, "t", figures=[b"nothing"])
    assert path.read_text() == "old"
    assert [p.name for p in tmp_path.iterdir()] == ["a.html"]


def test_figures(tmp_path: Path) -> None:
    matplotlib = pytest.importorskip("matplotlib.figure")
    assert data_uri(matplotlib.Figure()).startswith("data:image/png;base64,iVBOR")
    svg = '<svg xmlns="http://www.w3.org/2000/svg"/>'
    (tmp_path / "a.svg").write_text(svg)
    assert data_uri(svg) == data_uri(tmp_path / "a.svg")
    write_page(tmp_path / "a.html", "t", figures=[PageFigure(svg, "caption & more"), svg])
    assert (tmp_path / "a.html").read_text().count("<figure>") == 2


def test_cells() -> None:
    shown = [
        cell_text(v)
        for v in (None, float("nan"), 12345, 0.123456, 1234567.8, True, "x", np.float32(0.5), np.int64(7))
    ]
    assert shown == ["–", "–", "12,345", "0.1235", "1,234,568", "True", "x", "0.5", "7"]


def test_of_cloud() -> None:
    cloud = PointCloud(np.zeros((3, 3)), labels=[0, 1, -1], label_names={0: "a"}, name="pier")
    view = SceneView.of_cloud(cloud, prediction=np.array([1, 1, 1]))
    assert (view.name, list(view.layers)) == ("pier", ["truth", "prediction"])


def test_scores_of_scenes_name_the_most_frequent_mistake() -> None:
    truth, guess = np.array([0, 0, 1, 1, 1, -1]), np.array([0, 1, 0, 0, 1, 0])
    names = {0: "rib", 1: "column"}
    line = score_line(truth, guess, names, "parts")
    assert line == "40.0 % of 5 parts right; most often wrong: column labelled rib (2)"
    assert score_line(truth[:1], guess[:1], names) == "100.0 % of 1 points right"
    assert score_line(truth[-1:], guess[-1:], names) == ""
    views = [
        SceneView("a", np.zeros((6, 3)), {"truth": truth, "prediction": guess}),
        SceneView("b", [[0, 0, 0]]),
    ]
    assert all_scores_line(views) == ["Right in each scene: a 40.0 %."]
    assert all_scores_line(views[1:]) == []


def test_no_class_looks_like_an_error_or_like_what_has_no_label() -> None:
    classes = {*PALETTE, *("#{:02x}{:02x}{:02x}".format(*colour) for colour in COLOURS.values())}
    assert not classes & {WRONG, RIGHT, *NO_LABEL}
    rgb = np.array([[int(c[at : at + 2], 16) for at in (1, 3, 5)] for c in (WRONG, *sorted(classes))])
    assert np.abs(rgb[1:] - rgb[0]).max(axis=1).min() > 60


def test_reasons_must_be_those_of_the_labels() -> None:
    n = 3
    numbers = {"relations": np.zeros((n, 1), np.int32), "neighbours": np.full((n, 1), -1, np.int32)}
    energies = {key: np.zeros((n, 1), np.float32) for key in ("worse", "by_relation", "by_neighbour")}
    labels = np.array([0, 1, 1], np.int32)
    own = np.zeros(n, np.float32)
    found = Reasons(("r",), labels, 1 - labels[:, None], own=own, **numbers, **energies)
    segments = np.array([0, 1, 2, -1])
    layers = {"prediction": np.array([0, 1, 1, 5]), "segments": segments}
    view = SceneView("s", np.zeros((4, 3)), layers, reasons=found)
    assert [label for label, _, _ in shown_labels([view])] == [0, 1, 5]
    for other in (
        {"prediction": np.array([1, 1, 1, 5])},
        {"segments": np.array([0, 1, 3, -1])},
    ):
        with pytest.raises(ValueError, match="scene 's': the reasons are those of another labelling"):
            SceneView("s", np.zeros((4, 3)), {**layers, **other}, reasons=found)
    with pytest.raises(ValueError, match="reasons need the layers"):
        SceneView("s", np.zeros((4, 3)), reasons=found)


def test_words_are_explained_once() -> None:
    assert hinted("points") == "points"
    assert hinted("Classes: <x>") == "Classes: &lt;x&gt;"
    assert re.fullmatch(r'<abbr title="[^"]+" tabindex="0">F1</abbr>', hinted("F1"))
    assert hinted("F1 <all>").startswith("F1 ")
    html = words_html(["Folds", "fold", "points", "gap", "fold"])
    assert html.count("<dt>") == 3
    assert words_html(["points"]) == ""

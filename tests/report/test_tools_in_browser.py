"""Why a label, measure, clip box, whole view, links to views, keys and what is read out: in headless Chromium."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from browser_pages import WRONG, Opened

from gapcut.report.page import PageTable, write_page
from gapcut.report.scene_view import SceneView
from gapcut.scenes.labelling.reasons import Reasons

FAR = 60.0  # m, of the few points that Fit leaves out


def plates(n: int = 6000) -> SceneView:
    """Plate 0 (x < 0, "deck") and plate 300 (x > 0, "wall"), 20 m by 6 m together, the first of the wall without truth;
    ten points far off."""
    rng = np.random.default_rng(0)
    xyz = np.c_[rng.uniform(-10, 10, n), rng.uniform(-3, 3, n), np.full(n, 4.0)]
    xyz[:10] = [FAR, 0.0, 4.0]
    right = xyz[:, 0] > 0
    truth = np.where((xyz[:, 0] > 8), -1, 0)
    layers = {"truth": truth, "prediction": right * 1, "segments": right * 300}
    layers["confidence"] = np.where(right, 0.6, 0.9)
    return SceneView("plates", xyz, layers, {0: "deck", 1: "wall", 2: "pier"}, reasons=reasons())


def reasons() -> Reasons:
    """Of 301 segments; the last is wall rather than deck by 1.25, of which 0.5 are its own, 0.875 "rests on"."""
    n = 301
    last = np.zeros(n, np.int32)
    last[-1] = 1
    others = np.where(last[:, None] == 1, [[0, 2]], [[1, 2]]).astype(np.int32)
    full = {
        "worse": [[1.25, 4000.0]],
        "own": 0.5,
        "by_relation": [[0.875, -0.25]],
        "by_neighbour": [[0.375, 0.0]],
    }
    energies = {
        key: np.broadcast_to(np.asarray(value, np.float32), (n, *np.shape(value)[1:])).copy()
        for key, value in full.items()
    }
    relations = np.tile(np.array([[1, 0]], np.int32), (n, 1))
    neighbours = np.tile(np.array([[300, -1]], np.int32), (n, 1))
    neighbours[-1] = [256, -1]
    numbers = {"relations": relations, "neighbours": neighbours}
    return Reasons(("beside", "rests on"), last, others, temperature=1.0, **numbers, **energies)


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("tools") / "a.html"
    write_page(place, "Plates", [plates()], tables=[PageTable("Folds", ["fold", "macro F1"], [[1, 0.5]])])
    return place


@pytest.fixture
def opened(browser: Any, path: Path) -> Iterator[Opened]:
    it = Opened(browser, path)
    it.page.set_viewport_size({"width": 800, "height": 500})
    yield it
    assert it.said == []
    it.context.close()


def rows(it: Opened, table: int) -> list[list[str]]:
    """The cells of a table of the panel."""
    found = it.page.locator("#details table").nth(table).locator("tr")
    return [[c for c in row.inner_text().split("\t") if c.strip()] for row in found.all()]


def test_the_point_chosen_says_why(opened: Opened) -> None:
    opened.page.locator("#top").click()
    wall = opened.page.evaluate("scenes.get(0).segments.indexOf(301)")
    x, y = opened.page.evaluate(f"pixelOf(placeOf(scenes.get(0), {wall}))")[:2]
    box = opened.page.locator("#view").bounding_box()
    opened.page.mouse.click(box["x"] + x, box["y"] + y)
    said = opened.page.locator("#details").inner_text()
    assert "Why wall, not deck" in said
    assert "300" in said
    assert rows(opened, 0) == [["deck", "+1.3", "17 %"], ["pier", "+4000", "< 1 %"]]  # 60 % times exp(-1.25)
    shares = rows(opened, 1)
    assert shares == [
        ["own features", "+0.50", "29 %"],
        ["rests on", "+0.88", "50 %"],
        ["beside", "−0.25", "14 %"],
        ["other relations", "+0.13", "7 %"],
    ]
    assert rows(opened, 2) == [["deck (segment 256)", "+0.38"]]
    assert "own features +0.50, rests on +0.88" in opened.page.locator("#spoken").inner_text()
    opened.page.keyboard.press("Escape")
    assert not opened.page.locator("#details").is_visible()


def test_keys_measure_between_two_points(opened: Opened) -> None:
    page = opened.page
    page.locator("#view").focus()
    for key in ("t", "m"):
        page.keyboard.press(key)
    assert page.locator("#measure").get_attribute("aria-pressed") == "true"
    page.keyboard.press("Enter")
    page.keyboard.press("Shift+ArrowRight")
    page.keyboard.press("Enter")
    opened.frames()
    ends = np.array(page.evaluate("measure.points.map((i) => placeOf(scenes.get(0), i))"))
    length = float(np.linalg.norm(ends[1] - ends[0]))
    assert length > 0.5
    assert page.locator("#measured").inner_text().startswith(f"{length:.2f} m apart")
    assert page.locator("#marks text").text_content() == f"{length:.2f} m"
    page.keyboard.press("Escape")
    opened.frames()
    assert page.locator("#marks line").count() == 0


def test_the_clip_box_cuts_points_away_from_view_and_cursor(opened: Opened) -> None:
    page = opened.page
    page.locator("#top").click()
    before = (opened.pixels().max(axis=2) < 225).mean()
    page.locator("#clip summary").click()
    page.locator("#clip-y-from").fill("500")
    assert "y: 0 to 3 m" in page.locator("#clip").inner_text()
    assert (opened.pixels().max(axis=2) < 225).mean() == pytest.approx(before / 2, rel=0.15)
    for i in page.evaluate(
        "[0.3, 0.4, 0.5, 0.6, 0.7].map((s) => pointAt(0.5 * byId('view').clientWidth, s * byId('view').clientHeight))"
    ):
        assert i < 0 or page.evaluate(f"placeOf(scenes.get(0), {i})[1]") >= -0.01
    page.locator("#clip-reset").click()
    assert (opened.pixels().max(axis=2) < 225).mean() == pytest.approx(before, rel=0.02)


def test_whole_shows_what_fit_leaves_out(opened: Opened) -> None:
    inside = f"(() => {{ const [x] = pixelOf([{FAR} - 25, 0, 0]); return x > 0 && x < byId('view').clientWidth; }})()"
    opened.page.locator("#fit").click()
    assert not opened.page.evaluate(inside)
    opened.page.locator("#whole").click()
    assert opened.page.evaluate(inside)


def test_a_link_opens_the_same_view(browser: Any, opened: Opened, path: Path) -> None:
    page = opened.page
    opened.press("#layers", "Truth")
    opened.press("#legend", "no label")
    page.evaluate(
        "(() => { keepPoint(5); moveClip(2, 1, 0.75); camera.turn(0.3, 0.2); camera.zoom(0.7); })()"
    )
    page.locator("#link").click()
    opened.until("location.hash.length > 10")
    told = page.evaluate("[viewHash(), camera.place]")
    other = Opened(browser, path, hash=page.evaluate("location.hash"))
    other.page.set_viewport_size({"width": 800, "height": 500})
    assert other.page.evaluate("viewHash()") == told[0]
    assert other.page.evaluate("camera.place") == pytest.approx(told[1], rel=1e-5)
    assert other.page.locator('#legend button[aria-pressed="false"]').inner_text().startswith("no label")
    assert other.page.locator("#details").is_visible()
    other.page.evaluate(
        "location.hash = '#scene=9&layer=confidence&sure=70&view=1,2&clip=x&point=1e9&measure=1'"
    )
    other.until("state.ready && state.layer === 'confidence'")  # what does not fit is passed over
    other.until("document.getElementById('most-sure')?.value === '70'")
    assert other.said == []
    other.context.close()


def test_what_has_no_label_is_striped_and_errors_have_a_colour_of_their_own(opened: Opened) -> None:
    opened.press("#layers", "Errors")
    assert opened.share(WRONG) > 0.01
    opened.press("#legend", "no label", modifiers=["Shift"])
    seen = opened.pixels()
    grey = (np.ptp(seen, axis=2) < 8) & (seen.max(axis=2) < 226)
    shades = seen[grey].mean(axis=1)
    assert (shades > 190).mean() > 0.15
    assert (shades < 150).mean() > 0.15


def test_words_have_hints_and_controls_have_names(opened: Opened) -> None:
    page = opened.page
    assert "one split" in page.locator("abbr", has_text="fold").last.get_attribute("title")
    assert "rare classes" in page.locator(".words").inner_text()
    nameless = """[...document.querySelectorAll('button, input, select, canvas')].filter((e) =>
      !(e.textContent.trim() || e.getAttribute('aria-label') || e.labels?.length)).length"""
    assert page.evaluate(nameless) == 0
    assert "at most" not in page.locator("#score").inner_text()
    assert "points right" in page.locator("#score").inner_text()
    page.keyboard.press("Tab")
    ring = "(() => { const s = getComputedStyle(document.activeElement); return s.outlineStyle + s.outlineWidth; })()"
    assert page.evaluate(ring) == "solid2px"

"""A segment is clicked, gets a class, and the file that the page saves is what training reads."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from browser_pages import BLUE, ORANGE, Opened

from gapcut.report.run import RunScene, write_report
from gapcut.scenes.clouds import PointCloud
from gapcut.scenes.labelling import apply_corrections, read_corrections

FLOOR, WALL, ROOF = 4, 7, 9


def plates(n: int = 4000) -> PointCloud:
    """Segment 3 (x < 0) and segment 300 (x > 0), both labelled floor; no point is a wall yet."""
    rng = np.random.default_rng(0)
    xyz = np.c_[rng.uniform(-10, 10, n), rng.uniform(-3, 3, n), np.full(n, 4.0)]
    segments = np.where(xyz[:, 0] > 0, 300, 3)
    names = {FLOOR: "floor", WALL: "wall", ROOF: "roof"}
    extra = {"confidence": np.full(n, 0.5, np.float32)}
    added = ("label", "segment", "confidence")
    return PointCloud(
        xyz, np.full(n, FLOOR), names, segments=segments, extra=extra, name="plates", added=added
    )


@pytest.fixture
def opened(browser: Any, tmp_path: Path) -> Any:
    write_report(tmp_path, "Plates", [RunScene(plates())])
    it = Opened(browser, tmp_path / "report.html")
    yield it
    it.context.close()


def keep(it: Opened, share: float) -> None:
    it.page.mouse.click(*it.place(share))
    it.until("!document.getElementById('details').hidden")


def saved(it: Opened, tmp_path: Path) -> Path:
    with it.page.expect_download() as waiting:
        it.page.locator("#save").click()
    assert waiting.value.suggested_filename == "plates.corrections.json"
    waiting.value.save_as(tmp_path / "c.json")
    return tmp_path / "c.json"


def test_a_corrected_and_a_confirmed_segment_are_learned_from(opened: Opened, tmp_path: Path) -> None:
    opened.page.locator("#top").click()
    assert not opened.page.locator("#corrections").is_visible()
    keep(opened, 0.7)
    assert opened.page.evaluate("scenes.get(0).segments[SHOWN.kept]") == 301
    before = opened.share(ORANGE)
    opened.page.locator("#correct").select_option("wall")
    assert opened.share(ORANGE) > before + 0.02
    assert opened.page.locator("#corrected").inner_text() == "1 segment checked, 1 of them changed."
    assert "wall" in opened.page.locator("#details dl").inner_text()
    assert opened.page.locator("#spoken").inner_text() == "Segment 300: wall"
    keep(opened, 0.3)
    opened.page.locator("#correct").select_option("floor")
    assert opened.page.locator("#corrected").inner_text() == "2 segments checked, 1 of them changed."
    path = saved(opened, tmp_path)
    assert opened.page.locator("#corrected").inner_text().endswith(", saved.")
    said = json.loads(path.read_text())["scans"][0]["segments"]
    assert said == [
        {"segment": 3, "class": "floor", "was": "floor"},
        {"segment": 300, "class": "wall", "was": "floor"},
    ]
    [cloud] = apply_corrections([plates()], read_corrections([path]))
    assert cloud.labels is not None
    assert np.array_equal(cloud.labels, np.where(plates().xyz[:, 0] > 0, WALL, FLOOR))
    assert opened.said == []


def test_undo_and_as_labelled_take_a_correction_back(opened: Opened) -> None:
    opened.page.locator("#top").click()
    keep(opened, 0.7)
    opened.page.keyboard.press("c")  # the picture has the focus after a click
    for way in ("undo", "choice"):
        opened.page.locator("#correct").select_option("roof")
        assert opened.page.evaluate("new Set(scenes.get(0).layers.get('prediction')).size") == 2
        if way == "undo":
            opened.page.locator("#undo").click()
        else:
            opened.page.locator("#correct").select_option("")
        assert opened.page.evaluate("new Set(scenes.get(0).layers.get('prediction')).size") == 1
        assert not opened.page.locator("#corrections").is_visible()
        assert opened.page.locator("#correct").input_value() == ""
    assert opened.share(BLUE) > 0.02
    assert opened.said == []


def test_pages_without_segments_of_a_labelling_offer_nothing(browser: Any, tmp_path: Path) -> None:
    cloud = plates()
    write_report(tmp_path, "Plates", [RunScene(cloud.replace(segments=None, added=("label", "confidence")))])
    it = Opened(browser, tmp_path / "report.html")
    it.page.locator("#top").click()
    keep(it, 0.7)
    assert it.page.locator("#correct").count() == 0
    it.context.close()
